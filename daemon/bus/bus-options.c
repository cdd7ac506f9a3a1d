/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Options a{sv} of a method into QdCallOptions.
 *
 * One table: key, type, the methods that know it, the setter. data/org.queryd.Query1.xml tells callers the same.
 */
#include <string.h>

#include "client-lib/wire/wire-record.h"
#include "daemon/base/error.h"
#include "daemon/bus/bus-args.h"

typedef union OptionValue {
    const char *text;
    uint32_t number;
    int boolean;
    char **texts; /* freed by the caller */
} OptionValue;

typedef struct OptionInfo {
    const char *key;
    char type; /* of D-Bus; SD_BUS_TYPE_ARRAY: of texts */
    guint id;  /* QD_TAKES() of a class that takes it */
    gboolean (*set)(QdCallOptions *options, const OptionValue *value, GError **error);
} OptionInfo;

static gboolean
refuse_text(const char *key, const char *text, const char *expected, GError **error)
{
    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "option '%s' cannot be '%.40s', expected %s", key, text, expected);
    return FALSE;
}

static gboolean
set_transport(QdCallOptions *options, const OptionValue *value, GError **error)
{
    /* "auto" is the fastest that is two-way: the reader says that it understands rings. */
    if (qd_transport_from_name(g_str_equal(value->text, "auto") ? "ring" : value->text, &options->transport))
        return TRUE;

    return refuse_text("transport", value->text, "'socketpair', 'ring', 'pipe', 'vmsplice' or 'auto'", error);
}

static gboolean
set_page_size(QdCallOptions *options, const OptionValue *value, GError **error)
{
    uint32_t size = value->number;

    if (size < QW_PAGE_SIZE_MIN || size > QW_PAGE_SIZE_MAX || (size & (size - 1)) != 0) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "option 'page_size' cannot be %u, expected a power of two from %u to %u", size,
                     QW_PAGE_SIZE_MIN, QW_PAGE_SIZE_MAX);
        return FALSE;
    }

    options->page_size = size;
    return TRUE;
}

static gboolean
set_access(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->access_write = g_str_equal(value->text, "write");
    if (options->access_write || g_str_equal(value->text, "read"))
        return TRUE;

    return refuse_text("access", value->text, "'read' or 'write'", error);
}

static gboolean
set_durability(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->relaxed_durability = g_str_equal(value->text, "relaxed");
    if (options->relaxed_durability || g_str_equal(value->text, "full"))
        return TRUE;

    return refuse_text("durability", value->text, "'full' or 'relaxed'", error);
}

static gboolean
set_error_details(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->error_details = value->boolean;
    return TRUE;
}

static gboolean
set_timeout(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->has_timeout = TRUE;
    options->timeout_msec = value->number;
    return TRUE;
}

static gboolean
set_max_rows(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->max_rows = value->number;
    return TRUE;
}

static gboolean
set_max_bytes(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->max_bytes = value->number;
    return TRUE;
}

static gboolean
set_table(QdCallOptions *options, const OptionValue *value, GError **error)
{
    if (value->text[0] == '\0')
        return refuse_text("table", value->text, "the name of a table", error);

    options->table = g_strdup(value->text);
    return TRUE;
}

static gboolean
set_graph(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->graph = g_strdup(value->text);
    return TRUE;
}

static gboolean
set_base(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->base = g_strdup(value->text);
    return TRUE;
}

static gboolean
set_media_type(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->media_type = g_strdup(value->text);
    return TRUE;
}

static gboolean
set_replace(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->replace = value->boolean;
    return TRUE;
}

static gboolean
set_check_only(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->check_only = value->boolean;
    return TRUE;
}

static gboolean
set_analyze(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->analyze = value->boolean;
    return TRUE;
}

static gboolean
set_create(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->create = value->boolean;
    return TRUE;
}

static gboolean
set_header(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->header = value->boolean;
    return TRUE;
}

static gboolean
set_quick(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->quick = value->boolean;
    return TRUE;
}

static gboolean
set_warm(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->warm = value->boolean;
    return TRUE;
}

static gboolean
set_tokenizer(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->full_text.tokenizer = g_strdup(value->text);
    return TRUE;
}

static gboolean
set_add(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->full_text.add = g_strdupv(value->texts);
    return TRUE;
}

static gboolean
set_remove(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->full_text.remove = g_strdupv(value->texts);
    return TRUE;
}

static gboolean
set_all(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->full_text.has_all = TRUE;
    options->full_text.all = value->boolean;
    return TRUE;
}

static gboolean
set_rebuild(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->full_text.rebuild = value->boolean;
    return TRUE;
}

static gboolean
set_check(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->full_text.check = value->boolean;
    return TRUE;
}

static gboolean
set_text_transactions(QdCallOptions *options, const OptionValue *value, GError **error)
{
    options->refuses_control = !value->boolean;
    return TRUE;
}

static const OptionInfo option_table[] = {
    { "transport", 's', QD_TAKES(TRANSPORT), set_transport },
    { "page_size", 'u', QD_TAKES(PAGE_SIZE), set_page_size },
    { "access", 's', QD_TAKES(ACCESS), set_access },
    { "timeout_ms", 'u', QD_TAKES(TIMEOUT), set_timeout },
    { "max_rows", 'u', QD_TAKES(MAX_ROWS), set_max_rows },
    { "max_bytes", 'u', QD_TAKES(MAX_BYTES), set_max_bytes },
    { "durability", 's', QD_TAKES(DURABILITY), set_durability },
    { "error_details", 'b', QD_TAKES(ERROR_DETAILS), set_error_details },
    { "text_transactions", 'b', QD_TAKES(TEXT_TRANSACTIONS), set_text_transactions },
    { "media_type", 's', QD_TAKES(MEDIA_TYPE), set_media_type },
    { "analyze", 'b', QD_TAKES(ANALYZE), set_analyze },
    { "table", 's', QD_TAKES(TABLE), set_table },
    { "create", 'b', QD_TAKES(CREATE), set_create },
    { "header", 'b', QD_TAKES(HEADER), set_header },
    { "graph", 's', QD_TAKES(GRAPH), set_graph },
    { "base", 's', QD_TAKES(BASE), set_base },
    { "replace", 'b', QD_TAKES(REPLACE), set_replace },
    { "check_only", 'b', QD_TAKES(CHECK_ONLY), set_check_only },
    { "quick", 'b', QD_TAKES(QUICK), set_quick },
    { "warm", 'b', QD_TAKES(WARM), set_warm },
    { "tokenizer", 's', QD_TAKES(FULL_TEXT), set_tokenizer },
    { "add", 'a', QD_TAKES(FULL_TEXT), set_add },
    { "remove", 'a', QD_TAKES(FULL_TEXT), set_remove },
    { "all", 'b', QD_TAKES(FULL_TEXT), set_all },
    { "rebuild", 'b', QD_TAKES(FULL_TEXT), set_rebuild },
    { "check", 'b', QD_TAKES(FULL_TEXT), set_check },
};

static const OptionInfo *
find_option(const char *key, const QdCallClass *class, GError **error)
{
    for (guint i = 0; i < G_N_ELEMENTS(option_table); i++) {
        if (!g_str_equal(option_table[i].key, key))
            continue;
        if ((option_table[i].id & class->options) != 0)
            return &option_table[i];
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "this method has no option '%s'", key);
        return NULL;
    }

    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "unknown option '%.40s'", key);
    return NULL;
}

static gboolean
read_option(sd_bus_message *message, const OptionInfo *info, QdCallOptions *options, GError **error)
{
    const char type[] = { info->type, info->type == 'a' ? 's' : '\0', '\0' };
    g_auto(GStrv) texts = NULL;
    const char *given_type;
    OptionValue value;

    if (sd_bus_message_peek_type(message, NULL, &given_type) <= 0 || !g_str_equal(given_type, type)) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "option '%s' has the type '%s'", info->key, type);
        return FALSE;
    }
    if (sd_bus_message_enter_container(message, 'v', type) <= 0 ||
        (info->type == 'a' ? sd_bus_message_read_strv(message, &texts) < 0
                           : sd_bus_message_read_basic(message, info->type, &value) <= 0)) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "option '%s': malformed value", info->key);
        return FALSE;
    }
    if (info->type == 'a')
        value.texts = texts;
    if (!info->set(options, &value, error))
        return FALSE;

    (void) sd_bus_message_exit_container(message);
    return TRUE;
}

static gboolean
read_entry(sd_bus_message *message, QdCall *call, guint *seen, GError **error)
{
    const OptionInfo *info;
    const char *key;
    guint bit;

    if (!qd_bus_read_text(message, "options", &key, error))
        return FALSE;
    info = find_option(key, call->class, error);
    if (info == NULL)
        return FALSE;

    bit = 1u << (info - option_table);
    if ((*seen & bit) != 0) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "option '%s' is given twice", key);
        return FALSE;
    }
    *seen |= bit;

    return read_option(message, info, &call->options, error);
}

gboolean
qd_bus_read_options(sd_bus_message *message, QdCall *call, GError **error)
{
    guint seen = 0;
    int r;

    call->options.header = TRUE;
    call->options.quick = TRUE;

    r = sd_bus_message_enter_container(message, 'a', "{sv}");
    while (r >= 0 && (r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
        if (!read_entry(message, call, &seen, error))
            return FALSE;
        r = sd_bus_message_exit_container(message);
    }
    if (r >= 0)
        r = sd_bus_message_exit_container(message);
    if (r < 0) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "options: malformed argument");
        return FALSE;
    }

    return TRUE;
}
