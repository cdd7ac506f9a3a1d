/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names in Namespaces in XML 1.0: the classes are those of Turtle's names, but for a few marks of punctuation.
 */
#include "daemon/rdfio/xml-name.h"

#include "daemon/rdf/code-point.h"

static gboolean
is_start(gunichar c)
{
    return c == '_' || qd_code_point_is_pn_base(c);
}

static gboolean
is_inner(gunichar c)
{
    return c == '.' || c == '-' || qd_code_point_is_pn(c);
}

gsize
qd_xml_name_find_last(const char *text, gsize n_bytes)
{
    gsize start = n_bytes;
    gsize i = n_bytes;

    while (i > 0) {
        gunichar c;
        gsize size = 1;

        while (size < i && size < 4 && ((guchar) text[i - size] & 0xc0) == 0x80)
            size++;
        if (qd_code_point_decode(text + i - size, size, &c) != size || !is_inner(c))
            break;
        i -= size;
        if (is_start(c))
            start = i;
    }
    return start;
}

gboolean
qd_xml_name_check(const char *text, gsize n_bytes)
{
    return n_bytes > 0 && qd_xml_name_find_last(text, n_bytes) == 0;
}
