/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests are charged to their client, who gets a share of what there is for all.
 */
#include "daemon/runtime/context.h"

#include "daemon/read/client.h"
#include "tests/unit/store/store-fixture.h"

#define KIB 1024

static void
test_share_of_requests(void)
{
    QdContext context = { 0 };
    g_autoptr(QdClient) first = qd_client_new("first");
    g_autoptr(QdClient) second = qd_client_new("second");
    g_autoptr(GError) error = NULL;

    qd_limits_init(&context.limits);
    context.limits.values[QD_LIMIT_REQUEST_BYTES] = 800 * KIB;
    context.limits.values[QD_LIMIT_REQUEST_BYTES_PER_CLIENT] = 700 * KIB;
    g_assert_true(qd_context_charge_request(&context, first, 600 * KIB, &error));
    g_assert_false(qd_context_charge_request(&context, first, 1, &error));
    store_assert_error(error, QW_ERROR_LIMIT_EXCEEDED, "the limit 'request_bytes' is 819200 bytes");
    g_clear_error(&error);
    g_assert_true(qd_context_charge_request(&context, second, 150 * KIB, &error));
    g_assert_false(qd_context_charge_request(&context, second, KIB, NULL));
    g_assert_true(qd_context_charge_request(&context, NULL, 50 * KIB, &error)); /* of a caller that is not known yet */
    g_assert_no_error(error);
    g_assert_cmpint(context.n_request_bytes, ==, 800 * KIB);
    qd_context_discharge_request(&context, first, 600 * KIB);
    qd_context_discharge_request(&context, second, 150 * KIB);
    qd_context_discharge_request(&context, NULL, 50 * KIB);
    g_assert_cmpint(context.n_request_bytes, ==, 0);
    g_assert_cmpuint(qd_client_get_n_charged(first, QD_CHARGE_REQUEST_BYTES), ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/runtime/context/share-of-requests", test_share_of_requests);
    return g_test_run();
}
