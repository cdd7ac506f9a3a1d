/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The translation of XPath's regular expressions to PCRE2's language.
 *
 * Place: room functions, pure; used by regex.c.
 */
#pragma once

#include <glib.h>

/**
 * qd_regex_translate:
 * @pattern: an XPath regular expression, UTF-8
 * @skip_space: flag x: white space outside classes is nothing
 * @out: gets the pattern for PCRE2 with UTF, DOLLAR_ENDONLY and MATCH_UNSET_BACKREF
 *
 * Returns: FALSE when @pattern is none of XPath's regular expressions
 */
gboolean qd_regex_translate(const char *pattern, gsize n_bytes, gboolean skip_space, GString *out);
