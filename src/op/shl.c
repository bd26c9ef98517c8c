// z = a shifted left by b bits; 0 when b is the width or more, or negative, elementwise.
#include "op/elementwise.h"

WF_ELEMENTWISE_I2(shl, (T)((U)b < 8 * sizeof(T) ? (U)a << (U)b : 0), 0)
