// z = what the division of a by b, toward zero, leaves; n rem 0 = 0, elementwise.
#include "op/elementwise.h"

WF_ELEMENTWISE_I2(rem, (T)(b == 0 || ((T)-1 < (T)1 && b == (T)-1) ? 0 : a % b), 0)
