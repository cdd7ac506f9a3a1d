/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parser of the command line, and its help. What it knows of verbs and options are their rows (verbs.h, option.h).
 */
#include "client-lib/queryctl/arguments.h"

#include <string.h>

#include "client-lib/queryctl/hint.h"
#include "client-lib/queryctl/verbs.h"

static void
parameter_clear(gpointer data)
{
    QctlParameter *parameter = data;

    g_free(parameter->name);
    g_free(parameter->text);
}

static QctlArguments *
arguments_new(void)
{
    QctlArguments *self = g_new0(QctlArguments, 1);

    self->words = g_ptr_array_new_with_free_func(g_free);
    self->parameters = g_array_new(FALSE, TRUE, sizeof(QctlParameter));
    g_array_set_clear_func(self->parameters, parameter_clear);
    self->timeout_msec = -1;
    return self;
}

QctlArguments *
qctl_arguments_free(QctlArguments *self)
{
    if (self == NULL)
        return NULL;

    g_ptr_array_unref(self->words);
    g_array_unref(self->parameters);
    g_free(self->file);
    g_free(self->output.file);
    g_free(self->output.null_text);
    g_free(self->store);
    g_free(self->tokenizer);
    g_free(self->place.direct);
    g_free(self->place.remote);
    g_free(self->place.update_url);
    g_free(self->place.token_file);
    g_free(self->place.netrc);
    g_free(self->place.socket);
    g_free(self->transfer.table);
    g_free(self->transfer.delimiter);
    g_free(self->transfer.graph);
    g_free(self->transfer.base);
    g_free(self->transfer.rdf_terms);
    g_free(self->transfer.encoding);
    g_free(self->transfer.types);
    g_free(self->media_type);
    g_free(self);
    return NULL;
}

/* Finding ------------------------------------------------------------------------------------------------------------- */

const QctlVerb *
qctl_arguments_find_verb(const char *name)
{
    for (const QctlVerb *const *verb = qctl_verbs_list(); *verb != NULL; verb++)
        if (g_str_equal((*verb)->name, name))
            return *verb;
    return NULL;
}

static void
add_options(GPtrArray *found, const QctlOption *const *options)
{
    for (; *options != NULL; options++)
        if (!g_ptr_array_find(found, *options, NULL))
            g_ptr_array_add(found, (gpointer) *options);
}

GPtrArray *
qctl_arguments_list_options(const QctlVerb *verb)
{
    GPtrArray *found = g_ptr_array_new();

    if (verb != NULL)
        add_options(found, verb->options);
    for (const QctlVerb *const *any = qctl_verbs_list(); verb == NULL && *any != NULL; any++)
        add_options(found, (*any)->options);
    add_options(found, QCTL_OPTIONS(QCTL_COMMON_OPTIONS));
    return found;
}

static bool
is_spelled(const QctlOption *option, const char *word)
{
    gsize n = strlen(option->name);

    if (word[1] != '-')
        return option->letter != 0 && option->letter == word[1];
    return strncmp(word + 2, option->name, n) == 0 && (word[2 + n] == 0 || word[2 + n] == '=');
}

const QctlOption *
qctl_arguments_find_option(const char *word)
{
    g_autoptr(GPtrArray) options = qctl_arguments_list_options(NULL);

    for (guint i = 0; i < options->len; i++)
        if (is_spelled(options->pdata[i], word))
            return options->pdata[i];
    return NULL;
}

bool
qctl_arguments_is_option(const char *word)
{
    return word[0] == '-' && word[1] != 0 && (word[1] != '-' || !g_ascii_isspace(word[2]));
}

/* Checks -------------------------------------------------------------------------------------------------------------- */

bool
qctl_arguments_refuse(const QctlArguments *self, GError **error)
{
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "usage: queryctl %s%s%s", self->verb->name,
                self->verb->arguments[0] != 0 ? " " : "", self->verb->arguments);
    return false;
}

static bool
check_n_words(const QctlArguments *self, GError **error)
{
    guint n_max = self->verb->reads_statements && self->file != NULL ? 0 : self->verb->n_words_max;
    bool in_file = self->verb->reads_statements && self->file != NULL;

    if (self->words->len >= self->verb->n_words_min && self->words->len <= n_max)
        return true;

    (void) qctl_arguments_refuse(self, error);
    if (self->words->len > n_max)
        g_prefix_error(error, "'%s' is too much%s%s%s; ", (const char *) self->words->pdata[n_max],
                       in_file ? " beside --file '" : "", in_file ? self->file : "", in_file ? "'" : "");
    return false;
}

static bool
check_remote(const QctlArguments *self, GError **error)
{
    const QctlPlace *place = &self->place;

    if (place->remote == NULL && (place->update_url != NULL || place->token_file != NULL || place->netrc != NULL)) {
        g_set_error_literal(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                            "'--update-url', '--token-file' and '--netrc' are for '--remote'");
        return false;
    }
    if (place->remote != NULL && (self->store != NULL || self->watch || self->transaction)) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "'--remote' asks an endpoint without the daemon, '--%s' needs it",
                    self->store != NULL ? "store"
                    : self->watch       ? "watch"
                                        : "transaction");
        return false;
    }
    return true;
}

static bool
check_options(const QctlArguments *self, const GPtrArray *used, GError **error)
{
    g_autoptr(GPtrArray) known = qctl_arguments_list_options(self->verb);

    for (guint i = 0; i < used->len; i++) {
        if (g_ptr_array_find(known, used->pdata[i], NULL))
            continue;
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION, "'%s' has no option '--%s'", self->verb->name,
                    ((const QctlOption *) used->pdata[i])->name);
        return false;
    }
    if (self->place.direct != NULL && (self->store != NULL || self->watch)) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "'--direct' reads a file without the daemon, '--%s' needs it",
                    self->watch ? "watch" : "store");
        return false;
    }
    return check_remote(self, error);
}

static bool
check_format(const QctlArguments *self, GError **error)
{
    QctlRemoteFormats taken = self->verb->remote_formats;

    if (self->output.format != QCTL_FORMAT_REMOTE || taken == QCTL_REMOTE_ALL ||
        (taken == QCTL_REMOTE_RDF && qctl_format_is_rdf(self->output.remote_format)) ||
        (taken == QCTL_REMOTE_PLAIN && self->parameters->len == 0 && !self->watch))
        return true;

    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                "the format '%s' is for 'sparql' without parameters, for 'export', and of RDF for 'import'",
                self->output.remote_format);
    return false;
}

/* Parsing ------------------------------------------------------------------------------------------------------------- */

static void
refuse_option(const char *word, GError **error)
{
    g_autoptr(GPtrArray) options = qctl_arguments_list_options(NULL);
    const char *name = word[1] == '-' ? word + 2 : word;
    QctlSuggestion suggestion = { .typed = name };

    for (guint i = 0; i < options->len; i++)
        qctl_suggestion_try(&suggestion, ((const QctlOption *) options->pdata[i])->name);
    if (suggestion.best != NULL)
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION, "unknown option '%s'; did you mean '--%s'?", word,
                    suggestion.best);
    else
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION, "unknown option '%s'", word);
}

static void
refuse_verb(const char *word, GError **error)
{
    QctlSuggestion suggestion = { .typed = word };

    for (const QctlVerb *const *verb = qctl_verbs_list(); *verb != NULL; verb++)
        qctl_suggestion_try(&suggestion, (*verb)->name);
    if (suggestion.best != NULL)
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "unknown verb '%s'; did you mean '%s'?", word, suggestion.best);
    else
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "unknown verb '%s'", word);
}

/* Takes argv[*i], an option, and its value, which may be the next one. Returns: (nullable): the option */
static const QctlOption *
parse_option(QctlArguments *self, int argc, const char *const *argv, int *i, GError **error)
{
    const char *word = argv[*i];
    bool is_long = word[1] == '-';
    const char *equals = is_long ? strchr(word, '=') : NULL;
    const QctlOption *option = qctl_arguments_find_option(word);
    const char *value = NULL;

    if (option == NULL) {
        refuse_option(word, error);
        return NULL;
    }
    if (equals != NULL)
        value = equals + 1;
    else if (!is_long && word[2] != 0)
        value = word + 2;
    if (option->argument == NULL && value != NULL) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "option '--%s' takes no value", option->name);
        return NULL;
    }
    if (option->argument != NULL && value == NULL) {
        if (*i + 1 >= argc) {
            g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "option '--%s' needs %s", option->name, option->argument);
            return NULL;
        }
        value = argv[++*i];
    }
    return qctl_option_set(option, self, value, error) ? option : NULL;
}

/* The first word is the verb. */
static bool
take_word(QctlArguments *self, const char *word, GError **error)
{
    if (self->verb != NULL) {
        g_ptr_array_add(self->words, g_strdup(word));
        return true;
    }
    self->verb = qctl_arguments_find_verb(word);
    if (self->verb == NULL)
        refuse_verb(word, error);
    return self->verb != NULL;
}

/* @used: gets the options. */
static bool
parse_words(QctlArguments *self, int argc, const char *const *argv, GPtrArray *used, GError **error)
{
    bool only_words = false;

    for (int i = 1; i < argc; i++) {
        if (!only_words && g_str_equal(argv[i], "--")) {
            only_words = true;
        } else if (!only_words && qctl_arguments_is_option(argv[i])) {
            const QctlOption *option = parse_option(self, argc, argv, &i, error);

            if (option == NULL)
                return false;
            g_ptr_array_add(used, (gpointer) option);
        } else if (!take_word(self, argv[i], error)) {
            return false;
        }
    }
    return true;
}

QctlArguments *
qctl_arguments_parse(int argc, const char *const *argv, GError **error)
{
    g_autoptr(QctlArguments) self = arguments_new();
    g_autoptr(GPtrArray) used = g_ptr_array_new();

    if (!parse_words(self, argc, argv, used, error))
        return NULL;
    if (self->help || self->version)
        return g_steal_pointer(&self);
    if (self->verb == NULL) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "a verb is missing");
        return NULL;
    }
    if (!check_options(self, used, error))
        return NULL;
    if (self->place.remote != NULL)
        self->sparql = true;
    if (self->verb->prepare != NULL)
        self->verb->prepare(self);
    if (!check_n_words(self, error) || !check_format(self, error) || (self->verb->check != NULL && !self->verb->check(self, error)))
        return NULL;
    return g_steal_pointer(&self);
}

/* Help ---------------------------------------------------------------------------------------------------------------- */

static void
put_verbs(GString *out)
{
    g_string_append(out, "\nVerbs:\n");
    for (const QctlVerb *const *verb = qctl_verbs_list(); *verb != NULL; verb++) {
        g_string_append_printf(out, "  %-8s %s\n", (*verb)->name, (*verb)->help);
        if ((*verb)->arguments[0] != 0)
            g_string_append_printf(out, "             %s\n", (*verb)->arguments);
    }
}

static void
put_options(GString *out, const QctlVerb *verb)
{
    g_autoptr(GPtrArray) options = qctl_arguments_list_options(verb);

    g_string_append(out, "\nOptions:\n");
    for (guint i = 0; i < options->len; i++) {
        const QctlOption *option = options->pdata[i];
        g_autofree char *left = g_strdup_printf("%s%s%s", option->name, option->argument != NULL ? " " : "",
                                                option->argument != NULL ? option->argument : "");

        if (option->letter != 0)
            g_string_append_printf(out, "  -%c, --%-22s %s\n", option->letter, left, option->help);
        else
            g_string_append_printf(out, "      --%-22s %s\n", left, option->help);
    }
}

char *
qctl_arguments_get_help(const QctlVerb *verb)
{
    GString *out = g_string_new(NULL);

    if (verb != NULL) {
        g_string_append_printf(out, "Usage: queryctl %s [OPTION…]%s%s\n\n%s\n", verb->name, verb->arguments[0] != 0 ? " " : "",
                               verb->arguments, verb->help);
    } else {
        g_string_append(out, "Usage: queryctl [OPTION…] VERB [ARGUMENT…]\n\nSQL and SPARQL for the queryd of this session.\n");
        put_verbs(out);
    }
    put_options(out, verb);
    g_string_append(out,
                    "\nData goes to standard output, all else to standard error. Exit status: 0 done, 1 query error, 2 usage,\n"
                    "3 no daemon, 4 timeout, 5 read-only or denied, 130 interrupted. More in queryctl(1).\n");
    return g_string_free(out, FALSE);
}
