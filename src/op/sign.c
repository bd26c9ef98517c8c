// y = -1, 0 or 1; a zero keeps its sign and NaN stays, elementwise.
#include "op/elementwise.h"

WF_ELEMENTWISE_N1(sign,
                  a > 0.0f   ? 1.0f
                  : a < 0.0f ? -1.0f
                             : a,
                  (T)(a > 0    ? 1
                      : a == 0 ? 0
                               : -1),
                  a > 0.0   ? 1.0
                  : a < 0.0 ? -1.0
                            : a,
                  NULL, WF_OP_ZERO_GRADIENT)
