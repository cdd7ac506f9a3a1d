/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The format of sqllogictest, as far as it is used: "statement ok", "statement error", "query", "hash-threshold", "skipif",
 * "onlyif" and "halt". Of our own "begin", "commit", "rollback", "batch", "end", "counts", and before a record "bind" with its
 * parameters, a{sv} in GVariant's text format.
 */
#include "tests/sql/script.h"

#include <string.h>

static void
step_free(gpointer data)
{
    Step *step = data;

    g_free(step->text);
    g_clear_pointer(&step->bound, g_variant_unref);
    g_free(step->expectation);
    g_free(step->sort);
    g_free(step);
}

Script *
script_new(void)
{
    Script *self = g_new0(Script, 1);

    self->steps = g_ptr_array_new_with_free_func(step_free);
    return self;
}

Script *
script_free(Script *self)
{
    if (self == NULL)
        return NULL;

    g_ptr_array_unref(self->steps);
    g_free(self);
    return NULL;
}

Step *
script_add(Script *self, StepKind kind, guint32 way, char *text)
{
    Step *step = g_new0(Step, 1);

    step->kind = kind;
    step->way = way;
    step->text = text;
    g_ptr_array_add(self->steps, step);
    return step;
}

Script *
script_pick(const Script *self, const guint8 *keep)
{
    Script *picked = script_new();

    picked->counts = self->counts;
    for (guint i = 0; i < self->steps->len; i++) {
        const Step *step = self->steps->pdata[i];

        if (keep[i])
            script_add(picked, step->kind, step->way, g_strdup(step->text))->bound = step->bound != NULL
                                                                                         ? g_variant_ref(step->bound)
                                                                                         : NULL;
    }
    return picked;
}

static const char *const words[] = {
    [STEP_QUERY] = "query",       [STEP_UPDATE] = "statement ok", [STEP_BEGIN] = "begin",   [STEP_COMMIT] = "commit",
    [STEP_ROLLBACK] = "rollback", [STEP_BATCH] = "batch",         [STEP_END_BATCH] = "end", [STEP_MARK] = "counts",
};

char *
script_print(const Script *self)
{
    g_autoptr(GString) text = g_string_new(self->counts ? "counts\n\n" : "");

    for (guint i = 0; i < self->steps->len; i++) {
        const Step *step = self->steps->pdata[i];

        if (step->bound != NULL) {
            g_autofree char *bound = g_variant_print(step->bound, TRUE);

            g_string_append_printf(text, "bind %s\n", bound);
        }
        g_string_append_printf(text, "%s way=%u\n", words[step->kind], step->way);
        if (step->text != NULL)
            g_string_append_printf(text, "%s\n", step->text);
        if (step->kind == STEP_QUERY)
            g_string_append(text, "----\n");
        g_string_append_c(text, '\n');
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* Reading ----------------------------------------------------------------------------------------------------------------- */

/* Lines up to an empty one, or to "----", which is taken, too. */
static char *
take_text(char **lines, guint *at, gboolean *ret_has_values)
{
    g_autoptr(GString) text = g_string_new(NULL);

    *ret_has_values = FALSE;
    for (; lines[*at] != NULL && lines[*at][0] != '\0'; (*at)++) {
        if (g_str_equal(lines[*at], "----")) {
            *ret_has_values = TRUE;
            (*at)++;
            break;
        }
        g_string_append_printf(text, "%s%s", text->len > 0 ? "\n" : "", lines[*at]);
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static guint32
get_way(char **head)
{
    for (guint i = 1; head[i] != NULL; i++)
        if (g_str_has_prefix(head[i], "way="))
            return (guint32) g_ascii_strtoull(head[i] + strlen("way="), NULL, 10);
    return G_MAXUINT32;
}

static void
read_query(Script *self, char **head, char **lines, guint *at)
{
    gboolean has_values;
    Step *step = script_add(self, STEP_QUERY, get_way(head), take_text(lines, at, &has_values));

    if (!has_values)
        return;
    step->sort = g_strdup(head[1] != NULL && head[2] != NULL ? head[2] : "nosort");
    step->expectation = take_text(lines, at, &has_values);
    if (step->expectation[0] == '\0')
        g_clear_pointer(&step->expectation, g_free);
}

/* A record that begins at @at. FALSE: its word is not known. */
static gboolean
read_record(Script *self, char **lines, guint *at, gboolean skips)
{
    g_auto(GStrv) head = g_strsplit(lines[*at], " ", -1);
    gboolean has_values;

    (*at)++;
    if (skips) {
        g_free(take_text(lines, at, &has_values));
        if (has_values)
            g_free(take_text(lines, at, &has_values));
        return TRUE;
    }
    if (g_str_equal(head[0], "query")) {
        read_query(self, head, lines, at);
        return TRUE;
    }
    if (g_str_equal(head[0], "statement")) {
        char *text = take_text(lines, at, &has_values);

        script_add(self, STEP_UPDATE, get_way(head), text)->fails = g_strcmp0(head[1], "error") == 0;
        return TRUE;
    }
    if (g_str_equal(head[0], "counts"))
        return self->counts = TRUE;
    for (StepKind kind = STEP_BEGIN; kind <= STEP_END_BATCH; kind++)
        if (g_str_equal(head[0], words[kind]))
            return script_add(self, kind, 0, NULL) != NULL;
    return g_str_equal(head[0], "hash-threshold");
}

Script *
script_read(const char *path, GError **error)
{
    g_autoptr(Script) self = script_new();
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;
    g_autoptr(GVariant) bound = NULL;
    gboolean skips = FALSE;

    if (!g_file_get_contents(path, &text, NULL, error))
        return NULL;
    lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i] != NULL; i++)
        (void) g_strchomp(lines[i]);
    for (guint at = 0; lines[at] != NULL;) {
        const char *line = lines[at];

        if (line[0] == '\0' || line[0] == '#') {
            at++;
        } else if (g_str_has_prefix(line, "halt")) {
            break;
        } else if (g_str_has_prefix(line, "skipif ") || g_str_has_prefix(line, "onlyif ")) {
            skips = skips || (g_str_has_prefix(line + strlen("skipif "), "sqlite") == (line[0] == 's'));
            at++;
        } else if (g_str_has_prefix(line, "bind ")) {
            g_clear_pointer(&bound, g_variant_unref);
            bound = g_variant_parse(G_VARIANT_TYPE_VARDICT, line + strlen("bind "), NULL, NULL, error);
            if (bound == NULL)
                return NULL;
            at++;
        } else if (read_record(self, lines, &at, skips)) {
            if (bound != NULL && self->steps->len > 0)
                ((Step *) self->steps->pdata[self->steps->len - 1])->bound = g_steal_pointer(&bound);
            skips = FALSE;
        } else {
            g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s:%u: no record begins with '%s'", path, at + 1, line);
            return NULL;
        }
    }
    return g_steal_pointer(&self);
}
