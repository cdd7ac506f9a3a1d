/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * queryd.conf and its drop-ins: limits, a few settings of the daemon, and what sandboxed applications may do.
 *
 * Place: room base. Files are read in order, later ones win: queryd.conf, then the *.conf of queryd.conf.d by name.
 * Invariant: a configuration never keeps the daemon from starting: what is not understood is logged and left out.
 */
#pragma once

#include <glib.h>

#include "daemon/base/limits.h"

typedef struct QdAccess QdAccess;

/* The objects of TinySPARQL on our bus name (docs/tinysparql.md). */
typedef enum QdTrackerMode {
    QD_TRACKER_OFF,
    QD_TRACKER_ON,
    QD_TRACKER_UNION, /* the default graph of its queries is all graphs together */
} QdTrackerMode;

typedef struct QdConfig {
    QdLimits limits;        /* [Limits]: a key for each row of the table of limits */
    int log_level;          /* [Daemon] log_level=: a syslog level */
    QdTrackerMode tracker;  /* [Daemon] tinysparql= */
    GHashTable *access;     /* [Access …]: "APPLICATION STORE" → QdAccess */
    char **service_allow;   /* (nullable) [Service] allow=: for queryd-service alone; all files together */
    char **service_private; /* (nullable) [Service] private= */
    GPtrArray *warnings;    /* of char*: one line each, with file and key */
} QdConfig;

/**
 * qd_config_load:
 * @path: (nullable): the main file; NULL: queryd/queryd.conf in the user's configuration directory
 *
 * Reads @path and the directory "@path.d". Missing files are as good as empty ones. Blocks on the disk.
 *
 * Thread: main.
 *
 * Returns: (transfer full): defaults, overridden by what the files say
 */
QdConfig *qd_config_load(const char *path);

/**
 * qd_config_free:
 * @self: (nullable) (transfer full): a configuration
 *
 * Returns: NULL
 */
QdConfig *qd_config_free(QdConfig *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdConfig, qd_config_free)

/**
 * qd_config_get_access:
 * @self: a configuration
 * @application: the id of a sandboxed application
 * @store: the name of a store
 *
 * Returns: (transfer full): what it is granted there, which is nothing unless the files say so without a mistake
 */
QdAccess *qd_config_get_access(const QdConfig *self, const char *application, const char *store);

/* config-access.c: a group whose name begins with "Access"; @text: the file, for the lines of mistakes. */
gboolean qd_config_is_access_group(const char *group);
void qd_config_read_access(QdConfig *self, const char *path, const char *text, GKeyFile *file, const char *group);
/* One line for the log. */
void qd_config_warn(QdConfig *self, const char *format, ...) G_GNUC_PRINTF(2, 3);

/**
 * qd_config_parse_size:
 * @text: a decimal number, with K, M or G after it for powers of 1024
 * @ret_value: (out): the value
 *
 * Thread: any.
 *
 * Returns: 0, -EINVAL when @text is no number, -ERANGE when it does not fit
 */
int qd_config_parse_size(const char *text, guint64 *ret_value);
