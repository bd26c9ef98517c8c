// z = a or b, bit by bit, elementwise.
#include "op/elementwise.h"

WF_ELEMENTWISE_I2(or, (T)(a | b), WF_OP_COMMUTATIVE)
