/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The verbs. Each takes the session, does its work, reports its errors, and returns the exit code.
 *
 * Place: layer B; called by queryctl-main.c only.
 */
#pragma once

#include "client-lib/queryctl/session.h"

/* verb-sql.c */
int qctl_verb_sql(QctlSession *session);
int qctl_verb_sparql(QctlSession *session);
int qctl_verb_update(QctlSession *session);
int qctl_verb_explain(QctlSession *session);

/* verb-watch.c */
int qctl_verb_watch(QctlSession *session);
/* Also for sql and sparql with --watch: one statement. */
int qctl_watch(QctlSession *session, const char *text);

/* verb-transfer.c */
int qctl_verb_import(QctlSession *session);
int qctl_verb_export(QctlSession *session);
int qctl_verb_backup(QctlSession *session);

/* For sparql: the daemon writes the result of @query to @fd, in a format that only it knows. */
bool qctl_export(QctlSession *session, int fd, const char *query, const char *format, GError **error);

/* verb-manage.c */
int qctl_verb_ls(QctlSession *session);
int qctl_verb_prefixes(QctlSession *session);
int qctl_verb_stats(QctlSession *session);
int qctl_verb_status(QctlSession *session);
int qctl_verb_cancel(QctlSession *session);
int qctl_verb_check(QctlSession *session);
int qctl_verb_optimize(QctlSession *session);

/* verb-fulltext.c */
int qctl_verb_fulltext(QctlSession *session);

/* verb-store.c */
int qctl_verb_store(QctlSession *session);

/* shell.c */
int qctl_verb_shell(QctlSession *session);

/* For the shell: the tables whose names match the GLOB @pattern (nullable), as `ls` prints them. */
int qctl_list_tables(QctlSession *session, QctlSink *sink, const char *pattern);
