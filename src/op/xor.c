// z = a xor b, bit by bit, elementwise.
#include "op/elementwise.h"

WF_ELEMENTWISE_I2(xor, (T)(a ^ b), WF_OP_COMMUTATIVE)
