/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of documented differences.
 */
#include "tests/sql/exclusions.h"

#include <string.h>

/* All words that are not NULL have to be in the errors, or the text. */
static const struct {
    const char *name;
    const char *in_text;
    const char *their_error; /* "": none */
    const char *our_error;   /* "": none */
    gboolean needs_last;
} exclusions[N_EXCLUSIONS] = {
    { "a statement that changes nothing is no update", NULL, NULL, "statement changes nothing: run it as a query", FALSE },
    { "rowids after the greatest are random", NULL, NULL, NULL, TRUE },
};

static gboolean
matches(const char *words, const char *text)
{
    if (words == NULL)
        return TRUE;
    if (words[0] == '\0')
        return text == NULL;
    return text != NULL && strstr(text, words) != NULL;
}

int
exclusion_find(const char *text, const Outcome *expected, const Outcome *actual, gboolean has_last)
{
    for (int i = 0; i < N_EXCLUSIONS; i++)
        if ((has_last || !exclusions[i].needs_last) && matches(exclusions[i].in_text, text) &&
            matches(exclusions[i].their_error, expected->error) && matches(exclusions[i].our_error, actual->error))
            return i;
    return -1;
}

const char *
exclusion_get_name(int exclusion)
{
    return exclusions[exclusion].name;
}
