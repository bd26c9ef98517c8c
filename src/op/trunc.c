// y = the whole part of a, elementwise.
#include "op/elementwise.h"

WF_ELEMENTWISE_F1(trunc, wf_trunc(a), trunc(a), NULL, WF_OP_ZERO_GRADIENT)
