/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzz target: queryd.conf. From any file the daemon gets limits within their bounds and a level.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <syslog.h>
#include <unistd.h>

#include "daemon/base/config.h"
#include "daemon/base/fd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_auto(QdFd) fd = memfd_create("config", MFD_CLOEXEC);
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
    g_autoptr(QdConfig) config = NULL;

    g_assert_cmpint(write(fd, data, size), ==, (gssize) size);
    config = qd_config_load(path);
    for (guint i = 0; i < QD_N_LIMITS; i++) {
        g_assert_cmpuint(qd_limits_get(&config->limits, i), >=, qd_limit_get_info(i)->min);
        g_assert_cmpuint(qd_limits_get(&config->limits, i), <=, qd_limit_get_info(i)->max);
    }
    g_assert_cmpint(config->log_level, >=, LOG_ERR);
    g_assert_cmpint(config->log_level, <=, LOG_DEBUG);
    return 0;
}
