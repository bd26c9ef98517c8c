// The reader of FANN's files.
#include "fuzz.h"

FUZZ_READER("fann", .n_classes = 0)
