/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parameters a{sv} of a statement into QdParameters.
 *
 * One function for each D-Bus type that a value may have. Whether a key belongs to the statement is the engine's question;
 * here a key is refused only when it comes twice.
 */
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/bus/bus-args.h"

static gboolean
read_integer(sd_bus_message *message, char type, int64_t *ret_integer)
{
    union {
        uint8_t y;
        int16_t n;
        uint16_t q;
        int32_t i;
        uint32_t u;
        int64_t x;
    } value;

    if (sd_bus_message_read_basic(message, type, &value) <= 0)
        return FALSE;

    switch (type) {
    case 'y':
        *ret_integer = value.y;
        break;
    case 'n':
        *ret_integer = value.n;
        break;
    case 'q':
        *ret_integer = value.q;
        break;
    case 'i':
        *ret_integer = value.i;
        break;
    case 'u':
        *ret_integer = value.u;
        break;
    default: /* 'x'; D-Bus characters, not our enum */
        *ret_integer = value.x;
        break;
    }
    return TRUE;
}

static gboolean
read_unsigned(sd_bus_message *message, const char *key, QwValue *ret_value, GError **error)
{
    uint64_t number;

    if (sd_bus_message_read_basic(message, 't', &number) <= 0)
        return FALSE;

    if (number > INT64_MAX) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "parameter '%s': %" G_GUINT64_FORMAT " is above the largest integer of SQL",
                     key, number);
        return FALSE;
    }

    *ret_value = (QwValue){ .type = QW_TYPE_INTEGER, .integer = (int64_t) number };
    return TRUE;
}

static gboolean
read_null(sd_bus_message *message, const char *key, QwValue *ret_value, GError **error)
{
    const char *signature;

    if (sd_bus_message_read_basic(message, 'g', &signature) <= 0)
        return FALSE;

    if (signature[0] != '\0') {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "parameter '%s': the only value of type 'g' is the empty one, for NULL", key);
        return FALSE;
    }

    *ret_value = (QwValue){ .type = QW_TYPE_NULL };
    return TRUE;
}

static gboolean
read_bytes(sd_bus_message *message, QwValue *ret_value)
{
    const void *data;
    size_t n_bytes;

    if (sd_bus_message_read_array(message, 'y', &data, &n_bytes) < 0)
        return FALSE;

    *ret_value = (QwValue){ .type = QW_TYPE_BLOB, .data = data, .n_bytes = (uint32_t) n_bytes };
    return TRUE;
}

/* (lexical form, datatype, language); a term without either is a plain string. */
static gboolean
read_term(sd_bus_message *message, QwValue *ret_value)
{
    const char *lexical;
    const char *datatype;
    const char *language;

    if (sd_bus_message_read(message, "(sss)", &lexical, &datatype, &language) <= 0)
        return FALSE;

    *ret_value = (QwValue){ .type = QW_TYPE_TEXT, .data = lexical, .n_bytes = (uint32_t) strlen(lexical) };
    if (g_str_equal(datatype, "@id")) {
        ret_value->type = QW_TYPE_IRI;
    } else if (g_str_equal(datatype, "@bnode")) {
        ret_value->type = QW_TYPE_BNODE;
    } else if (language[0] != '\0') {
        ret_value->type = QW_TYPE_LITERAL_LANG;
        ret_value->tag = language;
    } else if (datatype[0] != '\0') {
        ret_value->type = QW_TYPE_LITERAL_TYPED;
        ret_value->tag = datatype;
    }
    if (ret_value->tag != NULL)
        ret_value->n_tag_bytes = (uint32_t) strlen(ret_value->tag);
    return TRUE;
}

static gboolean
read_text(sd_bus_message *message, QwValue *ret_value)
{
    const char *text;

    if (sd_bus_message_read_basic(message, 's', &text) <= 0)
        return FALSE;

    *ret_value = (QwValue){ .type = QW_TYPE_TEXT, .data = text, .n_bytes = (uint32_t) strlen(text) };
    return TRUE;
}

/* SQL has none: 1 and 0. */
static gboolean
read_boolean(sd_bus_message *message, QdLanguage language, QwValue *ret_value)
{
    int is_true;

    if (sd_bus_message_read_basic(message, 'b', &is_true) <= 0)
        return FALSE;

    if (language == QD_LANGUAGE_SPARQL)
        qd_parameters_set_boolean(ret_value, is_true);
    else
        *ret_value = (QwValue){ .type = QW_TYPE_INTEGER, .integer = is_true };
    return TRUE;
}

static gboolean
read_number(sd_bus_message *message, char type, QwValue *ret_value)
{
    *ret_value = (QwValue){ .type = type == 'd' ? QW_TYPE_FLOAT : QW_TYPE_INTEGER };
    if (type == 'd')
        return sd_bus_message_read_basic(message, 'd', &ret_value->real) > 0;

    return read_integer(message, type, &ret_value->integer);
}

static gboolean
is_known_type(const char *type)
{
    return (strlen(type) == 1 && strchr("bynqiuxtdsg", type[0]) != NULL) || g_str_equal(type, "ay") || g_str_equal(type, "(sss)");
}

/* The views in @ret_value live as long as the message. */
static gboolean
read_value(sd_bus_message *message, QdLanguage language, const char *key, const char *type, QwValue *ret_value, GError **error)
{
    g_autoptr(GError) local_error = NULL;
    gboolean ok;

    if (!is_known_type(type)) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER,
                     "parameter '%s': no value can have the type '%.20s'; there are b y n q i u x t d s ay, g and (sss)", key,
                     type);
        return FALSE;
    }

    if (g_str_equal(type, "t"))
        ok = read_unsigned(message, key, ret_value, &local_error);
    else if (g_str_equal(type, "g"))
        ok = read_null(message, key, ret_value, &local_error);
    else if (g_str_equal(type, "b"))
        ok = read_boolean(message, language, ret_value);
    else if (g_str_equal(type, "ay"))
        ok = read_bytes(message, ret_value);
    else if (g_str_equal(type, "(sss)"))
        ok = read_term(message, ret_value);
    else if (g_str_equal(type, "s"))
        ok = read_text(message, ret_value);
    else
        ok = read_number(message, type[0], ret_value);
    if (ok)
        return TRUE;

    if (local_error != NULL)
        g_propagate_error(error, g_steal_pointer(&local_error));
    else
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "parameter '%s': malformed value of type '%s'", key, type);
    return FALSE;
}

static gboolean
read_entry(sd_bus_message *message, QdLanguage language, QdParameters *parameters, GHashTable *keys, GError **error)
{
    const char *key;
    const char *type;
    QwValue value;

    if (!qd_bus_read_text(message, "parameters", &key, error))
        return FALSE;
    if (!g_hash_table_add(keys, (gpointer) key)) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "parameter '%s' is given twice", key);
        return FALSE;
    }
    if (sd_bus_message_peek_type(message, NULL, &type) <= 0 || sd_bus_message_enter_container(message, 'v', type) <= 0) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "parameter '%s': malformed value", key);
        return FALSE;
    }
    if (!read_value(message, language, key, type, &value, error))
        return FALSE;

    qd_parameters_add(parameters, key, &value);
    (void) sd_bus_message_exit_container(message);
    return TRUE;
}

static void
unref_message(void *message)
{
    sd_bus_message_unref(message);
}

/* A value may have 64 MiB: it stays where it came, since the message is kept for the answer. */
QdParameters *
qd_bus_read_parameters(sd_bus_message *message, QdLanguage language, GError **error)
{
    g_autoptr(QdParameters) parameters = qd_parameters_new_views(sd_bus_message_ref(message), unref_message);
    g_autoptr(GHashTable) keys = g_hash_table_new(g_str_hash, g_str_equal);
    int r;

    r = sd_bus_message_enter_container(message, 'a', "{sv}");
    while (r >= 0 && (r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
        if (!read_entry(message, language, parameters, keys, error))
            return NULL;
        r = sd_bus_message_exit_container(message);
    }
    if (r >= 0)
        r = sd_bus_message_exit_container(message);
    if (r < 0) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "parameters: malformed argument");
        return NULL;
    }

    return g_steal_pointer(&parameters);
}
