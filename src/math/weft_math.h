// Every function of src/math: see each header. doc/arithmetic.md has the measured errors.
#ifndef WF_MATH_WEFT_MATH_H
#define WF_MATH_WEFT_MATH_H

#include "math/activation.h"
#include "math/compare.h"
#include "math/dialect.h"
#include "math/divide.h"
#include "math/error_function.h"
#include "math/exponential.h"
#include "math/half.h"
#include "math/hyperbolic.h"
#include "math/integer.h"
#include "math/logarithm.h"
#include "math/philox.h"
#include "math/power.h"
#include "math/rounding.h"
#include "math/square_root.h"
#include "math/trigonometric.h"

#endif
