// CRC-32C, four bits at a time: the data are small.
#include "io/crc32c.h"

uint32_t wf_crc32c(const void *data, size_t size_bytes)
{
    static const uint32_t table[16] = {
        0x00000000u, 0x105ec76fu, 0x20bd8edeu, 0x30e349b1u, 0x417b1dbcu, 0x5125dad3u,
        0x61c69362u, 0x7198540du, 0x82f63b78u, 0x92a8fc17u, 0xa24bb5a6u, 0xb21572c9u,
        0xc38d26c4u, 0xd3d3e1abu, 0xe330a81au, 0xf36e6f75u,
    };
    const uint8_t *bytes = data;
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < size_bytes; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

uint32_t wf_crc32c_masked(const void *data, size_t size_bytes)
{
    const uint32_t crc = wf_crc32c(data, size_bytes);
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}
