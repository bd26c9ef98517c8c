// CRC-32C (Castagnoli, reflected polynomial 0x82f63b78), as TFRecord files use it.
#ifndef WF_IO_CRC32C_H
#define WF_IO_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t wf_crc32c(const void *data, size_t size_bytes);
// Turned right by 15 bits plus 0xa282ead8: a CRC of data that hold CRCs says something again.
uint32_t wf_crc32c_masked(const void *data, size_t size_bytes);

#endif
