-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Promotion effect. TPC-H specification 3.0.1, clause 2.4.14, with the values of its validation.
SELECT 100.00 * sum(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END)
       / sum(l_extendedprice * (1 - l_discount)) AS promo_revenue
FROM lineitem, part
WHERE l_partkey = p_partkey AND l_shipdate >= '1995-09-01' AND l_shipdate < date('1995-09-01', '+1 month')
