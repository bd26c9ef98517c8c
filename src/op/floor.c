// y = the greatest whole number not above a, elementwise.
#include "op/elementwise.h"

WF_ELEMENTWISE_F1(floor, wf_floor(a), floor(a), NULL, WF_OP_ZERO_GRADIENT)
