/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For a store whose internal tables another program has changed: the user decides that it is salvaged, the daemon does not.
 */
#include "daemon/main/salvage-command.h"

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/base/config.h"
#include "daemon/read/evaluation.h"
#include "daemon/store/database.h"

static int
print_result(const QdRecoveryResult *result)
{
    int r = printf("%" PRIu64 " rows are salvaged, %" PRIu64 " of them doubtful, %" PRIu64 " rows and %" PRIu64
                   " pages are lost.\nThe old file: %s\nThe report: %s\n",
                   result->n_rows, result->n_doubtful_rows, result->n_lost_rows, result->n_lost_pages, result->aside,
                   result->report);

    return r >= 0 && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int
qd_salvage_command_run(const char *directory, const char *config_path)
{
    g_autofree char *path = g_build_filename(directory, "queryd.db", NULL);
    QdConfig *config = qd_config_load(config_path);
    QdDatabaseRepair repair = { .damaged = TRUE };
    g_autoptr(QdDatabase) database = NULL;
    g_autoptr(GError) error = NULL;
    int r = EXIT_FAILURE;

    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        fprintf(stderr, "queryd: there is no database '%s'\n", path);
    else if ((database = qd_database_open_repaired(directory, &config->limits, qd_evaluation_register, &repair, &error)) == NULL)
        fprintf(stderr, "queryd: %s\n", error->message);
    else if (repair.result.aside == NULL)
        fprintf(stderr, "queryd: store '%s' cannot be written\n", directory);
    else
        r = print_result(&repair.result);
    qd_recovery_result_clear(&repair.result);
    g_free(repair.kept_folder);
    g_strfreev(repair.foreign);
    (void) qd_config_free(config);
    return r;
}
