/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hashes as names.
 */
#include "daemon/base/sha256.h"

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
