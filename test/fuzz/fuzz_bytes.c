// The text reader: bytes.
#include "fuzz.h"

FUZZ_READER("text", .context = 4, .is_bytes = true)
