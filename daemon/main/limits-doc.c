/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One row for each limit: a line of a Markdown table or an entry of a manual page.
 */
#include "daemon/main/limits-doc.h"

#include "daemon/base/limits.h"

/* Bytes that are whole KiB, MiB or GiB as the configuration takes them: 64M. */
static char *
format_value(const QdLimitInfo *info, guint64 value)
{
    static const char suffixes[] = { 'K', 'M', 'G' };
    guint64 number = value;
    char suffix[2] = "";

    if (g_str_equal(info->unit, "bytes"))
        for (guint i = 0; i < G_N_ELEMENTS(suffixes) && number > 0 && number % 1024 == 0; i++) {
            number /= 1024;
            suffix[0] = suffixes[i];
        }

    return g_strdup_printf("%" G_GUINT64_FORMAT "%s", number, suffix);
}

static void
append_row(GString *text, gboolean markdown, const QdLimitInfo *info)
{
    g_autofree char *value = format_value(info, info->value);
    g_autofree char *min = format_value(info, info->min);
    g_autofree char *max = format_value(info, info->max);
    const char *error = qw_error_get_name(info->error);

    if (markdown)
        g_string_append_printf(text, "| `%s` | %s | %s | %s | %s … %s | %s |\n", info->name, info->description, value, info->unit,
                               min, max, error);
    else
        g_string_append_printf(text, "*%s* = %s\n\t%c%s.%s%s Between %s and %s. Error: %s.\n\n", info->name, value,
                               g_ascii_toupper(info->description[0]), info->description + 1, info->unit[0] != '\0' ? " In " : "",
                               g_str_equal(info->unit, "ms")      ? "milliseconds."
                               : g_str_equal(info->unit, "bytes") ? "bytes."
                                                                  : "",
                               min, max, error);
}

char *
qd_limits_doc_make(const char *format)
{
    g_autoptr(GString) text = g_string_new(NULL);
    gboolean markdown = g_str_equal(format, "markdown");

    if (!markdown && !g_str_equal(format, "man"))
        return NULL;

    if (markdown)
        g_string_append(text, "| limit | what it bounds | default | unit | range | error |\n|---|---|---|---|---|---|\n");
    for (guint i = 0; i < QD_N_LIMITS; i++)
        append_row(text, markdown, qd_limit_get_info(i));

    return g_string_free(g_steal_pointer(&text), FALSE);
}
