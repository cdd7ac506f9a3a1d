/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Wire values as terms.
 */
#include "daemon/format/results-cell.h"

#include <string.h>

#include "client-lib/text/text-utf8.h"
#include "daemon/rdf/xsd-number.h"

static void
set_typed(QdResultsCell *self, const char *datatype)
{
    self->term = (QdTerm){ .kind = QD_TERM_TYPED,
                           .lexical = self->scratch->str,
                           .n_lexical = self->scratch->len,
                           .qualifier = datatype,
                           .n_qualifier = strlen(datatype) };
}

static void
set_number(QdResultsCell *self, const QdNumber *number)
{
    char text[QD_NUMBER_TEXT_BYTES];
    gsize n = qd_number_format(number, text);

    g_string_append_len(self->scratch, text, (gssize) n);
    set_typed(self, qd_xsd_type_get_iri(number->type));
}

/* Texts of SQL may be any bytes. */
static void
set_text(QdResultsCell *self, QdTermKind kind, const QwValue *value)
{
    self->term = (QdTerm){ .kind = kind,
                           .lexical = value->data,
                           .n_lexical = value->n_bytes,
                           .qualifier = value->tag,
                           .n_qualifier = value->tag != NULL ? value->n_tag_bytes : 0 };
    if (qw_text_span_utf8(value->data, value->n_bytes) == value->n_bytes)
        return;

    (void) qw_text_append_lossy(self->scratch, value->data, value->n_bytes);
    self->term.lexical = self->scratch->str;
    self->term.n_lexical = self->scratch->len;
}

void
qd_results_cell_set(QdResultsCell *self, const QwValue *value)
{
    g_autofree char *base64 = NULL;
    QdNumber number;

    g_string_truncate(self->scratch, 0);
    self->bound = TRUE;
    switch (value->type) {
    case QW_TYPE_NULL:
        self->bound = FALSE;
        return;
    case QW_TYPE_INTEGER:
        number = qd_number_from_int64(value->integer);
        set_number(self, &number);
        return;
    case QW_TYPE_FLOAT:
        number = qd_number_from_double(value->real);
        set_number(self, &number);
        return;
    case QW_TYPE_BLOB:
        base64 = g_base64_encode((const guchar *) value->data, value->n_bytes);
        g_string_append(self->scratch, base64);
        set_typed(self, QD_XSD_NAMESPACE "base64Binary");
        return;
    case QW_TYPE_TEXT:
        set_text(self, QD_TERM_STRING, &(QwValue){ .data = value->data, .n_bytes = value->n_bytes });
        return;
    case QW_TYPE_IRI:
        set_text(self, QD_TERM_IRI, &(QwValue){ .data = value->data, .n_bytes = value->n_bytes });
        return;
    case QW_TYPE_BNODE:
        set_text(self, QD_TERM_BNODE, &(QwValue){ .data = value->data, .n_bytes = value->n_bytes });
        return;
    case QW_TYPE_LITERAL_LANG:
        set_text(self, QD_TERM_LANG_STRING, value);
        return;
    case QW_TYPE_LITERAL_TYPED:
        set_text(self, QD_TERM_TYPED, value);
        return;
    }
    g_assert_not_reached();
}
