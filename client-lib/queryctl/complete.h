/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What may come next on a command line: for the completions of shells.
 *
 * Place: layer B; called by queryctl-main.c only, for "queryctl --complete WORD…".
 */
#pragma once

/**
 * qctl_complete:
 * @words: what stands after "queryctl", up to the cursor; the last one is what is being typed, perhaps ""
 *
 * Prints a line for each word that may stand there: the word, a tab, its help. Words that do not begin as the last one are
 * printed, too. The line ":files" stands for all files. Tables and stores are the daemon's; when it cannot say, there are none.
 *
 * Returns: the exit code
 */
int qctl_complete(int n_words, const char *const *words);
