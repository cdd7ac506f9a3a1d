-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Star: a snowflake, from facts over customers to a region.
SELECT n_name, count(*), sum(l_quantity)
FROM lineitem, orders, customer, nation, region
WHERE l_orderkey = o_orderkey AND o_custkey = c_custkey AND c_nationkey = n_nationkey AND n_regionkey = r_regionkey
  AND r_name = 'AFRICA' AND c_mktsegment = 'MACHINERY'
GROUP BY n_name
ORDER BY n_name
