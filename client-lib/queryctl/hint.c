/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The line of an error with a caret under it, and "did you mean …?" by the distance of Damerau and Levenshtein.
 */
#include "client-lib/queryctl/hint.h"

#include <string.h>

#define BEFORE_MAX 60 /* code points shown in front of the place */
#define AFTER_MAX 40
#define MAX_CHARACTERS 63 /* of a name; longer ones are like none */
#define MAX_DISTANCE 2

/* The place ------------------------------------------------------------------------------------------------------------ */

/* (nullable): a tab is shown as one blank, so that the caret stands below its character */
static const char *
find_line(const char *text, guint line)
{
    for (; line > 1 && text != NULL; line--) {
        text = strchr(text, '\n');
        text = text != NULL ? text + 1 : NULL;
    }
    return text;
}

static void
append_part(GString *out, const char *start, const char *end)
{
    for (const char *p = start; p < end; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);

        g_string_append_unichar(out, g_unichar_isprint(c) ? c : ' ');
    }
}

char *
qctl_place_show(const char *text, guint line, guint column)
{
    const char *start = g_utf8_validate(text, -1, NULL) && line > 0 && column > 0 ? find_line(text, line) : NULL;
    const char *end = start != NULL ? strchrnul(start, '\n') : NULL;
    glong n = start != NULL ? g_utf8_strlen(start, end - start) : 0;
    glong before = MIN((glong) column - 1, BEFORE_MAX);
    g_autoptr(GString) out = NULL;
    const char *from, *to;

    if (start == NULL || (glong) column > n + 1) /* one after the last: the end of the text */
        return NULL;
    from = g_utf8_offset_to_pointer(start, (glong) column - 1 - before);
    to = g_utf8_offset_to_pointer(start, MIN(n, (glong) column - 1 + AFTER_MAX));
    out = g_string_new("  ");
    append_part(out, from, to);
    g_string_append_printf(out, "\n  %*s^\n", (int) before, "");
    return g_string_free(g_steal_pointer(&out), FALSE);
}

/* Names ---------------------------------------------------------------------------------------------------------------- */

/* Optimal string alignment, over three rows of its table. */
static guint
get_distance(const char *a, const char *b)
{
    gsize n_a = strlen(a), n_b = strlen(b);
    guint rows[3][MAX_CHARACTERS + 1];

    if (n_a > MAX_CHARACTERS || n_b > MAX_CHARACTERS)
        return G_MAXUINT;
    for (guint k = 0; k <= n_b; k++)
        rows[0][k] = k;
    for (guint i = 1; i <= n_a; i++) {
        guint *row = rows[i % 3];
        const guint *last = rows[(i + 2) % 3];
        const guint *before = rows[(i + 1) % 3];

        row[0] = i;
        for (guint k = 1; k <= n_b; k++) {
            guint other = last[k - 1] + (a[i - 1] != b[k - 1] ? 1 : 0);

            row[k] = MIN(other, MIN(last[k], row[k - 1]) + 1);
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                row[k] = MIN(row[k], before[k - 2] + 1);
        }
    }
    return rows[n_a % 3][n_b];
}

void
qctl_suggestion_try(QctlSuggestion *self, const char *name)
{
    guint distance = get_distance(self->typed, name);

    if (distance > MAX_DISTANCE || distance * 2 >= strlen(name))
        return;
    if (self->best != NULL && self->distance <= distance)
        return;
    self->best = name;
    self->distance = distance;
}
