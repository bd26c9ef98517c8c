// y = the bits of a inverted; of bool, the other one, elementwise.
#include "op/elementwise.h"

WF_ELEMENTWISE_I1(not, (T)(~a), 0)
