/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files in other encodings than UTF-8, for import.
 *
 * Place: layer B, within client-lib/queryctl/transfer.
 */
#pragma once

#include <glib.h>

/* (nullable): the encoding that the first bytes of the file @fd say, if it is not UTF-8 */
const char *qctl_encoding_find(int fd);

/* Whether the first @n_bytes of the file @fd are UTF-8; TRUE where they cannot be read again. */
gboolean qctl_encoding_is_utf8(int fd, gsize n_bytes);

/**
 * qctl_encoding_convert:
 * @fd: what to read, from its offset on; borrowed
 * @encoding: its encoding, as iconv names it
 * @error: (nullable): location for an error
 *
 * Writes all of it as UTF-8 to a temporary file without a name. So what cannot be converted is an error before the daemon reads.
 *
 * Returns: a descriptor at the begin of that file; -1 on error
 */
int qctl_encoding_convert(int fd, const char *encoding, GError **error);
