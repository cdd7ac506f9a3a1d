-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Forecasting revenue change. TPC-H specification 3.0.1, clause 2.4.6, with the values of its validation.
SELECT sum(l_extendedprice * l_discount) AS revenue
FROM lineitem
WHERE l_shipdate >= '1994-01-01' AND l_shipdate < date('1994-01-01', '+1 year')
  AND l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 AND l_quantity < 24
