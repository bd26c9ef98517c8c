// The reader of CIFAR's binary files.
#include "fuzz.h"

FUZZ_READER("cifar", .n_classes = 0)
