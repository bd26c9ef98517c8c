// z = a == b; with a NaN false, elementwise.
#include "op/elementwise.h"

WF_ELEMENTWISE_C2(equal, a == b, WF_OP_COMMUTATIVE)
