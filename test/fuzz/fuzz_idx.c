// The IDX reader: images alone.
#include "fuzz.h"

FUZZ_READER("idx", .n_classes = 0)
