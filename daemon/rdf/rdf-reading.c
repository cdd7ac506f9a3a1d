/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Labels of blank nodes, the same in each reader.
 */
#include "daemon/rdf/rdf-reading.h"

#include <string.h>

void
qd_rdf_append_label(GString *out, const char *label, gsize n_bytes)
{
    const gsize n_prefix = strlen(QD_RDF_ANONYMOUS_PREFIX);

    if (n_bytes >= n_prefix && memcmp(label, QD_RDF_ANONYMOUS_PREFIX, n_prefix) == 0) {
        g_string_append(out, QD_RDF_ANONYMOUS_PREFIX "x");
        label += n_prefix;
        n_bytes -= n_prefix;
    } else if (n_bytes > 0 && label[n_bytes - 1] == '.') {
        g_string_append_printf(out, QD_RDF_ANONYMOUS_PREFIX "y%.*se", (int) n_bytes, label);
        return;
    }
    g_string_append_len(out, label, (gssize) n_bytes);
    if (n_bytes > 0 && label[n_bytes - 1] == '.')
        g_string_append_c(out, 'e');
}
