/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Update, UpdateArray and UpdateBlank: one transaction of all updates that came, which are translated first.
 */
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/base/limits.h"
#include "daemon/call/call-private.h"
#include "daemon/runtime/context.h"
#include "daemon/tracker/tracker-classes.h"
#include "daemon/tracker/tracker-frame.h"
#include "daemon/tracker/tracker-text.h"

static gboolean
translate(QdCall *call, QdCallStatement *statement, gboolean names_blank_nodes, GError **error)
{
    const QdTrackerProfile profile = { .parameters = statement->parameters,
                                       .is_update = TRUE,
                                       .names_blank_nodes = names_blank_nodes,
                                       .union_default_graph = call->options.union_default_graph };
    g_auto(QdTrackerText) text = { 0 };

    if (!qd_tracker_text_init(&text, statement->text, &profile, error))
        return FALSE;

    statement->run_text = g_string_free(g_steal_pointer(&text.text), FALSE);
    statement->run_dataset = g_steal_pointer(&text.dataset);
    g_ptr_array_extend_and_steal(call->result.messages, g_steal_pointer(&text.blank_nodes));
    return TRUE;
}

static void
add_variant(QdParameters *parameters, const char *key, GVariant *variant)
{
    QwValue value = { .type = QW_TYPE_NULL };

    if (g_variant_is_of_type(variant, G_VARIANT_TYPE_STRING)) {
        gsize length;

        value.type = QW_TYPE_TEXT;
        value.data = g_variant_get_string(variant, &length);
        value.n_bytes = (uint32_t) length;
    } else if (g_variant_is_of_type(variant, G_VARIANT_TYPE_INT64)) {
        value = (QwValue){ .type = QW_TYPE_INTEGER, .integer = g_variant_get_int64(variant) };
    } else if (g_variant_is_of_type(variant, G_VARIANT_TYPE_INT32)) {
        value = (QwValue){ .type = QW_TYPE_INTEGER, .integer = g_variant_get_int32(variant) };
    } else if (g_variant_is_of_type(variant, G_VARIANT_TYPE_DOUBLE)) {
        value = (QwValue){ .type = QW_TYPE_FLOAT, .real = g_variant_get_double(variant) };
    } else if (g_variant_is_of_type(variant, G_VARIANT_TYPE_BOOLEAN)) {
        qd_parameters_set_boolean(&value, g_variant_get_boolean(variant));
    } else if (g_variant_is_of_type(variant, G_VARIANT_TYPE_BYTESTRING)) {
        qd_tracker_set_tagged(&value, g_variant_get_data(variant), g_variant_get_size(variant));
    }
    qd_parameters_add(parameters, key, &value);
}

static QdParameters *
parse_parameters(const QdTrackerOperation *operation, GError **error)
{
    g_autoptr(QdParameters) parameters = qd_parameters_new();
    g_autoptr(GError) failure = NULL;
    g_autoptr(GVariant) dict = g_variant_parse(G_VARIANT_TYPE_VARDICT, operation->parameters,
                                               operation->parameters + operation->n_parameters, NULL, &failure);
    GVariantIter iter;
    const char *key;
    GVariant *value;

    if (dict == NULL) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "the parameters of an update: %s", failure->message);
        return NULL;
    }
    g_variant_iter_init(&iter, dict);
    while (g_variant_iter_loop(&iter, "{&sv}", &key, &value))
        add_variant(parameters, key, value);
    return g_steal_pointer(&parameters);
}

static gboolean
add_operation(QdCall *call, const QdTrackerOperation *operation, GError **error)
{
    g_autoptr(QdParameters) parameters = NULL;
    g_autofree char *text = NULL;

    if (operation->is_rdf) {
        qd_error_set(error, QW_ERROR_UNSUPPORTED, "RDF in an array of updates; Deserialize takes it");
        return FALSE;
    }
    if (memchr(operation->text, '\0', operation->n_text) != NULL ||
        !g_utf8_validate_len(operation->text, operation->n_text, NULL)) {
        qd_error_set(error, QW_ERROR_SYNTAX, "the text of an update is no UTF-8");
        return FALSE;
    }
    if (operation->n_parameters > 0) {
        parameters = parse_parameters(operation, error);
        if (parameters == NULL)
            return FALSE;
    }
    text = g_strndup(operation->text, operation->n_text);
    qd_call_add_statement(call, QD_LANGUAGE_SPARQL, text, g_steal_pointer(&parameters));
    return TRUE;
}

/* The bus has seen that all of it is there. */
static gboolean
read_input(QdCall *call, GError **error)
{
    const QdLimits *limits = &call->private->context->limits;
    gsize n_bytes;
    const guint8 *data = g_bytes_get_data(call->input, &n_bytes);
    QdTrackerOperation operation;
    QdTrackerFrameStatus status;
    QdTrackerFrame frame;

    qd_tracker_frame_init(&frame, call->class == &qd_tracker_update_array_call, n_bytes);
    while ((status = qd_tracker_frame_next(&frame, data, n_bytes, &operation, error)) == QD_TRACKER_FRAME_OPERATION) {
        if (call->statements->len >= qd_limits_get(limits, QD_LIMIT_BATCH_STATEMENTS)) {
            qd_limit_set_error(error, limits, QD_LIMIT_BATCH_STATEMENTS, "too many updates at once");
            return FALSE;
        }
        if (!add_operation(call, &operation, error))
            return FALSE;
    }
    return status == QD_TRACKER_FRAME_END;
}

static void
run_all(QdCall *call, gboolean names_blank_nodes, GError **error)
{
    if (!read_input(call, error))
        return;
    for (guint i = 0; i < call->statements->len; i++)
        if (!translate(call, &g_array_index(call->statements, QdCallStatement, i), names_blank_nodes, error))
            return;
    qd_call_run_update(call, error);
}

static void
run_update(QdCall *call, GError **error)
{
    run_all(call, FALSE, error);
}

static void
run_update_blank(QdCall *call, GError **error)
{
    run_all(call, TRUE, error);
}

const QdCallClass qd_tracker_update_call = { .name = "Tracker3.Update", .run = run_update, .write = qd_call_write_update };
const QdCallClass qd_tracker_update_array_call = { .name = "Tracker3.UpdateArray",
                                                   .run = run_update,
                                                   .write = qd_call_write_update };
const QdCallClass qd_tracker_update_blank_call = { .name = "Tracker3.UpdateBlank",
                                                   .run = run_update_blank,
                                                   .write = qd_call_write_update };
