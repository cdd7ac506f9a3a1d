-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Star: three dimensions by key, each of which keeps a few rows.
SELECT count(*), sum(l_extendedprice)
FROM lineitem, part, supplier, orders
WHERE l_partkey = p_partkey AND l_suppkey = s_suppkey AND l_orderkey = o_orderkey
  AND p_size = 7 AND s_nationkey = 3 AND o_orderpriority = '1-URGENT'
