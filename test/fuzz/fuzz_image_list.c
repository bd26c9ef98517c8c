// Lists of path,label: the pictures are not there, which is told of.
#include "fuzz.h"

FUZZ_READER("images", .is_skipping_bad = true)
