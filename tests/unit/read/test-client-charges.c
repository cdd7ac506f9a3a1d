/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a client is charged for, and what the processes of an application have together.
 */
#include "daemon/read/client.h"

static void
test_charge(void)
{
    g_autoptr(QdClient) client = qd_client_new("a");

    g_assert_true(qd_client_charge_many(client, QD_CHARGE_RING, 3, 4));
    g_assert_false(qd_client_charge_many(client, QD_CHARGE_RING, 2, 4));
    g_assert_true(qd_client_charge(client, QD_CHARGE_RING, 4));
    g_assert_false(qd_client_charge(client, QD_CHARGE_RING, 4));
    qd_client_discharge_many(client, QD_CHARGE_RING, 4);
    g_assert_cmpint(client->charges[QD_CHARGE_RING], ==, 0);
}

static void
test_application(void)
{
    g_autoptr(QdClient) alone = qd_client_new("alone");
    QdClient *first = qd_client_new("first");
    g_autoptr(QdClient) second = qd_client_new("second");

    qd_client_join(first, NULL);
    qd_client_join(second, first);
    g_assert_true(qd_client_charge(alone, QD_CHARGE_CHANNEL, 1));
    g_assert_true(qd_client_charge(first, QD_CHARGE_CHANNEL, 2));
    g_assert_true(qd_client_charge(first, QD_CHARGE_CHANNEL, 2));
    g_assert_false(qd_client_charge(first, QD_CHARGE_CHANNEL, 2));
    g_assert_true(qd_client_charge(second, QD_CHARGE_CHANNEL, 2));
    g_assert_true(qd_client_charge(second, QD_CHARGE_SNAPSHOT, 2));
    g_assert_cmpuint(qd_client_count_channels(alone), ==, 1);
    g_assert_cmpuint(qd_client_count_channels(first), ==, 3);
    g_assert_cmpuint(qd_client_count_channels(second), ==, 3);
    qd_client_discharge_many(first, QD_CHARGE_CHANNEL, 2);
    qd_client_unref(first);
    g_assert_cmpuint(qd_client_count_channels(second), ==, 1);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/read/client/charge", test_charge);
    g_test_add_func("/read/client/application", test_application);
    return g_test_run();
}
