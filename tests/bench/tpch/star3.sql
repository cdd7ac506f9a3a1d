-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Star: facts first, as CROSS JOIN asks for, and dimensions that keep almost nothing.
SELECT count(*)
FROM lineitem CROSS JOIN orders ON l_orderkey = o_orderkey CROSS JOIN part ON l_partkey = p_partkey
     CROSS JOIN supplier ON l_suppkey = s_suppkey
WHERE o_orderdate = '1995-01-04' AND p_brand = 'Brand#11' AND s_acctbal < 0
