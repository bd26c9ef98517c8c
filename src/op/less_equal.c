// z = a <= b; with a NaN false, elementwise.
#include "op/elementwise.h"

WF_ELEMENTWISE_C2(less_equal, a <= b, 0)
