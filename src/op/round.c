// y = the nearest whole number, half to even, elementwise.
#include "op/elementwise.h"

WF_ELEMENTWISE_F1(round, wf_round_even(a), rint(a), NULL, WF_OP_ZERO_GRADIENT)
