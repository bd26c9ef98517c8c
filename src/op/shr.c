// z = a shifted right by b bits, the sign kept; all sign when b is the width or more, or negative, elementwise.
#include "op/elementwise.h"

// A shift by the width is two shifts: one alone is undefined.
WF_ELEMENTWISE_I2(shr, (T)((U)b < 8 * sizeof(T) ? a >> (U)b : a >> (8 * sizeof(T) - 1) >> 1), 0)
