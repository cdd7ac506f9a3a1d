-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Small-quantity-order revenue. TPC-H specification 3.0.1, clause 2.4.17, with the values of its validation.
SELECT sum(l_extendedprice) / 7.0 AS avg_yearly
FROM lineitem, part
WHERE p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container = 'MED BOX'
  AND l_quantity < (SELECT 0.2 * avg(l_quantity) FROM lineitem WHERE l_partkey = p_partkey)
