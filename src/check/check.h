// The check engine: cases of ops, each compared bit for bit with ref and with float64, forward and
// backward. Drives `weft check` and the op tests. An op's file adds its cases through this header's
// first half, which is all that op/ may see of check/.
#ifndef WF_CHECK_CHECK_H
#define WF_CHECK_CHECK_H

#include "op/check_case.h"

#endif
