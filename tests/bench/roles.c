/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of roles; those of tests/demo/helper.h belong to it.
 */
#include "tests/bench/roles.h"

#include "tests/bench/crew.h"
#include "tests/bench/dbus-broker.h"
#include "tests/bench/insert-crew.h"
#include "tests/bench/reference-gdbus.h"
#include "tests/bench/reference-sd-bus.h"
#include "tests/demo/helper.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} roles[] = {
    { "hold", helper_main },
    { "repeat", helper_main },
    { "long", helper_main },
    { CREW_ROLE, crew_serve },
    { CREW_WRITER_ROLE, crew_serve_writer },
    { INSERT_CREW_ROLE, insert_crew_serve },
    { INSERT_CREW_SQLITE_ROLE, insert_crew_serve_sqlite },
    { DBUS_BROKER_ROLE, dbus_broker_serve },
    { REFERENCE_SD_BUS_ROLE, reference_sd_bus_serve },
    { REFERENCE_GDBUS_ROLE, reference_gdbus_serve },
};

gboolean
role_is_known(const char *name)
{
    for (gsize i = 0; i < G_N_ELEMENTS(roles); i++)
        if (g_str_equal(roles[i].name, name))
            return TRUE;
    return FALSE;
}

int
role_main(int argc, char **argv)
{
    for (gsize i = 0; i < G_N_ELEMENTS(roles); i++)
        if (g_str_equal(roles[i].name, argv[1]))
            return roles[i].run(argc, argv);
    return 2;
}
