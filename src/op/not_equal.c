// z = a != b; with a NaN true, elementwise.
#include "op/elementwise.h"

WF_ELEMENTWISE_C2(not_equal, a != b, WF_OP_COMMUTATIVE)
