// What WAV and AIFF files say of themselves, checked before they are read. Stage: io.
#ifndef WF_IO_SOUND_CHUNKS_H
#define WF_IO_SOUND_CHUNKS_H

#include "base/error.h"

// Every chunk up to the samples is whole, and the samples are PCM or float; of other formats nothing is said.
// A length of 2^32 - 1 or 0 of the samples is what a program writes that streams: they go to the end of the file
// then. Where it is 0, out_open_length is the place of its four bytes, else 0.
// Errors: WEFT_ERR_FORMAT.
weft_status wf_sound_chunks_check(const char *path, const uint8_t *data, size_t size,
                                  size_t *out_open_length, weft_error *err);

#endif
