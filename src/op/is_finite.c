// y = a is neither NaN nor infinite; integers always are, elementwise.
#include "op/elementwise.h"

WF_ELEMENTWISE_C1(is_finite, wf_is_finite(a), a * 0 == 0, isfinite(a) != 0, 0)
