/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoding and checking a program.
 */
#include "daemon/functions/program.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/rdf/term-blob.h"

typedef struct Decoder {
    QdProgram *program;
    const guint8 *p;
    const guint8 *end;
    guint depth;
    GError **error;
} Decoder;

static gboolean decode_node(Decoder *decoder);

static gboolean
fail(Decoder *decoder, const char *what)
{
    qd_error_set(decoder->error, QW_ERROR_BAD_PARAMETER, "not an expression program: %s", what);
    return FALSE;
}

static gboolean
take(Decoder *decoder, gpointer target, gsize n_bytes)
{
    if ((gsize) (decoder->end - decoder->p) < n_bytes)
        return fail(decoder, "it ends too early");

    memcpy(target, decoder->p, n_bytes);
    decoder->p += n_bytes;
    return TRUE;
}

static gboolean
decode_arg(Decoder *decoder, QdProgramNode *node)
{
    guint16 index;

    if (!take(decoder, &index, sizeof index))
        return FALSE;

    node->arg = GUINT16_FROM_LE(index);
    decoder->program->n_args = MAX(decoder->program->n_args, node->arg + 1);
    return TRUE;
}

static gboolean
decode_id(Decoder *decoder, QdProgramNode *node)
{
    if (!take(decoder, &node->id, sizeof node->id))
        return FALSE;

    node->id = GINT64_FROM_LE(node->id);
    return TRUE;
}

static gboolean
decode_const(Decoder *decoder, QdProgramNode *node)
{
    guint32 size;
    QdTerm term;

    if (!take(decoder, &size, sizeof size))
        return FALSE;
    size = GUINT32_FROM_LE(size);
    if ((gsize) (decoder->end - decoder->p) < size)
        return fail(decoder, "it ends too early");
    if (!qd_term_blob_parse(decoder->p, size, &term))
        return fail(decoder, "a constant is no term");

    decoder->p += size;
    node->value = qd_value_from_term(&term);
    return TRUE;
}

static gboolean
decode_children(Decoder *decoder, QdProgramNode *node)
{
    const QdExpressionOpInfo *info = qd_expression_op_get_info(node->op);
    guint8 n_children;

    if (!take(decoder, &n_children, sizeof n_children))
        return FALSE;
    if (n_children < info->min || n_children > info->max)
        return fail(decoder, "an operator has too few or too many children");
    if (++decoder->depth > QD_EXPRESSION_DEPTH_MAX) {
        qd_error_set(decoder->error, QW_ERROR_TOO_COMPLEX, "expression is nested more than %d deep", QD_EXPRESSION_DEPTH_MAX);
        return FALSE;
    }
    node->n_children = n_children;
    for (guint i = 0; i < n_children; i++)
        if (!decode_node(decoder))
            return FALSE;
    decoder->depth--;
    return TRUE;
}

static gboolean
decode_node(Decoder *decoder)
{
    GArray *nodes = decoder->program->nodes;
    QdProgramNode node = { .n_children = 0 };
    guint index = nodes->len;
    gboolean good;
    guint8 op;

    if (!take(decoder, &op, sizeof op))
        return FALSE;
    if (op < QD_EXPRESSION_ARG || op >= QD_N_EXPRESSION_OPS)
        return fail(decoder, "an operator is not known");
    if (index >= QD_EXPRESSION_NODES_MAX) {
        qd_error_set(decoder->error, QW_ERROR_TOO_COMPLEX, "expression has more than %d parts", QD_EXPRESSION_NODES_MAX);
        return FALSE;
    }
    node.op = (QdExpressionOp) op;
    g_array_append_val(nodes, node);
    good = node.op == QD_EXPRESSION_ARG     ? decode_arg(decoder, &node)
           : node.op == QD_EXPRESSION_ID    ? decode_id(decoder, &node)
           : node.op == QD_EXPRESSION_CONST ? decode_const(decoder, &node)
                                            : decode_children(decoder, &node);
    node.end = nodes->len;
    g_array_index(nodes, QdProgramNode, index) = node;
    return good;
}

QdProgram *
qd_program_new(const guint8 *bytes, gsize n_bytes, GError **error)
{
    g_autoptr(QdProgram) self = g_new0(QdProgram, 1);
    Decoder decoder = { .program = self, .error = error };

    self->bytes = g_memdup2(bytes, n_bytes);
    self->nodes = g_array_new(FALSE, FALSE, sizeof(QdProgramNode));
    decoder.p = self->bytes;
    decoder.end = self->bytes + n_bytes;
    if (!decode_node(&decoder))
        return NULL;
    if (decoder.p != decoder.end) {
        fail(&decoder, "bytes follow its end");
        return NULL;
    }

    return g_steal_pointer(&self);
}

QdProgram *
qd_program_free(QdProgram *self)
{
    if (self == NULL)
        return NULL;

    g_clear_pointer(&self->nodes, g_array_unref);
    g_free(self->bytes);
    g_free(self);
    return NULL;
}
