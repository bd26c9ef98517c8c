// z = a and b, bit by bit, elementwise.
#include "op/elementwise.h"

WF_ELEMENTWISE_I2(and, (T)(a &b), WF_OP_COMMUTATIVE)
