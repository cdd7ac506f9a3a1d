/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each attribute has one "=" outside of quotes. A tag that has it elsewhere is not well-formed, which libxml2 says.
 */
#include "daemon/rdfio/xml-open-tag.h"

#include <string.h>

static void
look_at(QdXmlOpenTag *self, char c)
{
    if (self->quote != '\0')
        self->quote = c == self->quote ? '\0' : self->quote;
    else if (c == '"' || c == '\'')
        self->quote = c;
    else if (c == '=')
        self->n_attributes++;
}

guint
qd_xml_open_tag_count(QdXmlOpenTag *self, guint64 start, const char *text, gsize n_bytes)
{
    if (n_bytes < 2 || text[0] != '<' || strchr("!?/", text[1]) != NULL)
        return 0;

    if (start != self->start || n_bytes < self->n_seen)
        *self = (QdXmlOpenTag){ .start = start };
    for (; self->n_seen < n_bytes; self->n_seen++)
        look_at(self, text[self->n_seen]);
    return self->n_attributes;
}
