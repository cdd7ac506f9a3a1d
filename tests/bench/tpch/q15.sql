-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Top supplier. TPC-H specification 3.0.1, clause 2.4.15, with the values of its validation.
WITH revenue(supplier_no, total_revenue) AS (
    SELECT l_suppkey, sum(l_extendedprice * (1 - l_discount))
    FROM lineitem
    WHERE l_shipdate >= '1996-01-01' AND l_shipdate < date('1996-01-01', '+3 months')
    GROUP BY l_suppkey)
SELECT s_suppkey, s_name, s_address, s_phone, total_revenue
FROM supplier, revenue
WHERE s_suppkey = supplier_no AND total_revenue = (SELECT max(total_revenue) FROM revenue)
ORDER BY s_suppkey
