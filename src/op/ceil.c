// y = the least whole number not below a, elementwise.
#include "op/elementwise.h"

WF_ELEMENTWISE_F1(ceil, wf_ceil(a), ceil(a), NULL, WF_OP_ZERO_GRADIENT)
