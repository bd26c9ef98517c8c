// The text reader: characters.
#include "fuzz.h"

FUZZ_READER("text", .context = 4, .stride = 3)
