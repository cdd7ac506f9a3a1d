-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Order priority checking. TPC-H specification 3.0.1, clause 2.4.4, with the values of its validation.
SELECT o_orderpriority, count(*) AS order_count
FROM orders
WHERE o_orderdate >= '1993-07-01' AND o_orderdate < date('1993-07-01', '+3 months')
  AND EXISTS (SELECT * FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)
GROUP BY o_orderpriority
ORDER BY o_orderpriority
