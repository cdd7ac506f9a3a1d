/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two forms of the compression of blocks: plain C, and x86's SHA instructions, which do two rounds at a time.
 */
#include "daemon/base/sha256.h"

#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

#define LENGTH_OFFSET (QD_SHA256_BLOCK_BYTES - 8)

/* The fractional parts of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

typedef void (*CompressFunc)(uint32_t state[8], const uint8_t *data, size_t n_blocks);

static uint32_t
rotate(uint32_t x, int n)
{
    return (x >> n) | (x << (32 - n));
}

static uint32_t
get_big_endian(const uint8_t *p)
{
    return (uint32_t) p[0] << 24 | (uint32_t) p[1] << 16 | (uint32_t) p[2] << 8 | p[3];
}

static void
compress_plainly(uint32_t state[8], const uint8_t *data, size_t n_blocks)
{
    for (; n_blocks > 0; n_blocks--, data += QD_SHA256_BLOCK_BYTES) {
        uint32_t w[64];
        uint32_t s[8];

        for (int i = 0; i < 16; i++)
            w[i] = get_big_endian(data + 4 * i);
        for (int i = 16; i < 64; i++)
            w[i] = w[i - 16] + (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ (w[i - 15] >> 3)) + w[i - 7] +
                   (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ (w[i - 2] >> 10));
        memcpy(s, state, sizeof s);
        for (int i = 0; i < 64; i++) {
            uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
            uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
            uint32_t a = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + choice + constants[i] + w[i];
            uint32_t b = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + majority;

            memmove(s + 1, s, 7 * sizeof *s);
            s[4] += a;
            s[0] = a + b;
        }
        for (int i = 0; i < 8; i++)
            state[i] += s[i];
    }
}

#ifdef __x86_64__
/* The instructions want the state as (f e b a) and (h g d c), and four words of the message at a time. */
__attribute__((target("sha,sse4.1"))) static void
compress_by_instructions(uint32_t state[8], const uint8_t *data, size_t n_blocks)
{
    const __m128i swap_bytes = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i abcd = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *) state), 0xb1);
    __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *) (state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(abcd, efgh, 8);
    __m128i cdgh = _mm_blend_epi16(efgh, abcd, 0xf0);

    for (; n_blocks > 0; n_blocks--, data += QD_SHA256_BLOCK_BYTES) {
        const __m128i abef_before = abef;
        const __m128i cdgh_before = cdgh;
        __m128i w[4];

#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            __m128i k;

            if (i < 4)
                w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *) (data + 16 * i)), swap_bytes);
            else
                w[i & 3] = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]),
                                                              _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4)),
                                                w[(i + 3) & 3]);
            k = _mm_add_epi32(w[i & 3], _mm_loadu_si128((const __m128i *) (constants + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, k);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(k, 0x0e));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    abcd = _mm_shuffle_epi32(abef, 0x1b);
    efgh = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *) state, _mm_blend_epi16(abcd, efgh, 0xf0));
    _mm_storeu_si128((__m128i *) (state + 4), _mm_alignr_epi8(efgh, abcd, 8));
}

static CompressFunc
choose_compress(void)
{
    unsigned int a, b, c, d;

    if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_1) != 0 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA) != 0)
        return compress_by_instructions;
    return compress_plainly;
}
#else
static CompressFunc
choose_compress(void)
{
    return compress_plainly;
}
#endif

static void
compress(uint32_t state[8], const uint8_t *data, size_t n_blocks)
{
    static CompressFunc chosen; /* atomic: whoever comes first finds out, the others would find the same */
    CompressFunc func = __atomic_load_n(&chosen, __ATOMIC_RELAXED);

    if (func == NULL) {
        func = choose_compress();
        __atomic_store_n(&chosen, func, __ATOMIC_RELAXED);
    }
    func(state, data, n_blocks);
}

void
qd_sha256_init(QdSha256 *self)
{
    /* the fractional parts of the square roots of the first 8 primes */
    static const uint32_t start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

    memcpy(self->state, start, sizeof start);
    self->n_bytes = 0;
}

void
qd_sha256_update(QdSha256 *self, const void *data, size_t n_bytes)
{
    const uint8_t *p = data;
    size_t n_kept = self->n_bytes % QD_SHA256_BLOCK_BYTES;

    if (n_bytes == 0)
        return;
    self->n_bytes += n_bytes;
    if (n_kept > 0) {
        size_t n = QD_SHA256_BLOCK_BYTES - n_kept < n_bytes ? QD_SHA256_BLOCK_BYTES - n_kept : n_bytes;

        memcpy(self->block + n_kept, p, n);
        p += n;
        n_bytes -= n;
        if (n_kept + n < QD_SHA256_BLOCK_BYTES)
            return;
        compress(self->state, self->block, 1);
    }
    compress(self->state, p, n_bytes / QD_SHA256_BLOCK_BYTES);
    memcpy(self->block, p + n_bytes / QD_SHA256_BLOCK_BYTES * QD_SHA256_BLOCK_BYTES, n_bytes % QD_SHA256_BLOCK_BYTES);
}

void
qd_sha256_finish(QdSha256 *self, uint8_t ret_hash[QD_SHA256_BYTES])
{
    uint64_t n_bits = 8 * self->n_bytes;
    size_t n = self->n_bytes % QD_SHA256_BLOCK_BYTES;

    self->block[n++] = 0x80;
    if (n > LENGTH_OFFSET) {
        memset(self->block + n, 0, QD_SHA256_BLOCK_BYTES - n);
        compress(self->state, self->block, 1);
        n = 0;
    }
    memset(self->block + n, 0, LENGTH_OFFSET - n);
    for (int i = 0; i < 8; i++)
        self->block[LENGTH_OFFSET + i] = (uint8_t) (n_bits >> (56 - 8 * i));
    compress(self->state, self->block, 1);
    for (int i = 0; i < QD_SHA256_BYTES; i++)
        ret_hash[i] = (uint8_t) (self->state[i / 4] >> (24 - 8 * (i % 4)));
}

void
qd_sha256_to_hex(const uint8_t hash[QD_SHA256_BYTES], char ret_hex[2 * QD_SHA256_BYTES + 1])
{
    static const char digits[] = "0123456789abcdef";

    for (int i = 0; i < QD_SHA256_BYTES; i++) {
        ret_hex[2 * i] = digits[hash[i] >> 4];
        ret_hex[2 * i + 1] = digits[hash[i] & 15];
    }
    ret_hex[2 * QD_SHA256_BYTES] = '\0';
}
