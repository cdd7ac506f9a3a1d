/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of datatypes.
 */
#include "daemon/rdf/xsd-type.h"

#include <string.h>

static void
test_names(void)
{
    for (guint i = QD_XSD_STRING; i < QD_N_XSD_TYPES; i++) {
        const char *iri = qd_xsd_type_get_iri((QdXsdType) i);

        g_assert_nonnull(iri);
        g_assert_cmpuint(qd_xsd_type_from_iri(iri, strlen(iri)), ==, i);
        g_assert_cmpuint(qd_xsd_type_from_iri(iri, strlen(iri) - 1), !=, i);
    }
    g_assert_cmpuint(qd_xsd_type_from_iri("http://example.org/", 19), ==, QD_XSD_OTHER);
    g_assert_cmpuint(qd_xsd_type_from_iri("", 0), ==, QD_XSD_OTHER);
}

static void
test_families(void)
{
    g_assert_true(qd_xsd_type_is_integer(QD_XSD_UNSIGNED_BYTE));
    g_assert_false(qd_xsd_type_is_integer(QD_XSD_DECIMAL));
    g_assert_true(qd_xsd_type_is_numeric(QD_XSD_DECIMAL));
    g_assert_true(qd_xsd_type_is_numeric(QD_XSD_DOUBLE));
    g_assert_false(qd_xsd_type_is_numeric(QD_XSD_DATE));
    g_assert_true(qd_xsd_type_is_date_time(QD_XSD_G_DAY));
    g_assert_true(qd_xsd_type_is_duration(QD_XSD_YEAR_MONTH_DURATION));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rdf/xsd-type/names", test_names);
    g_test_add_func("/rdf/xsd-type/families", test_families);
    return g_test_run();
}
