-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Star: two dimensions, one with half of its rows.
SELECT s_nationkey, count(*)
FROM lineitem, part, supplier
WHERE l_partkey = p_partkey AND l_suppkey = s_suppkey AND p_container LIKE 'JUMBO%' AND s_acctbal > 4500
GROUP BY s_nationkey
ORDER BY s_nationkey
