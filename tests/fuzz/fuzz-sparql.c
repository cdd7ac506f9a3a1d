/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzz target: SPARQL texts, as queries and as updates, through parser, algebra and SQL generator. Bits of the first byte choose:
 * 1 an update, 2 no base (which would be the first text in the arena), 4 by a template.
 *
 * For any text there is a plan or an error that says why not.
 */
#include <stddef.h>
#include <stdint.h>

#include "daemon/plan/compile.h"
#include "daemon/sparql/fingerprint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    QdLimits limits;
    QdSparqlOptions options = { .limits = &limits };
    g_autoptr(QdFingerprint) template = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(QdSparqlPlan) plan = NULL;
    gboolean is_update;

    if (size == 0)
        return 0;
    qd_limits_init(&limits);
    is_update = (data[0] & 1) != 0;
    options.base = (data[0] & 2) == 0 ? "http://example.org/" : NULL;
    if ((data[0] & 4) != 0 && size <= QD_FINGERPRINT_TEXT_MAX)
        options.fingerprint = template = qd_fingerprint_new((const char *) data + 1, size - 1);
    (void) qd_sparql_is_update((const char *) data + 1, size - 1, is_update);
    plan = qd_sparql_compile((const char *) data + 1, size - 1, is_update, &options, NULL, &error);
    g_assert_true((plan == NULL) == (error != NULL));
    g_assert_true(plan == NULL || is_update || plan->query.sql != NULL);
    return 0;
}
