#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tables of TPC-H: rows by the rules of its specification, clause 4.2.3, with shorter comments. For tests/bench/tpch.py.

The same scale gives the same rows always.
"""
import datetime
import random

START = datetime.date(1992, 1, 1)
LAST_ORDER_DAY = (datetime.date(1998, 12, 31) - START).days - 151
CURRENT = "1995-06-17"
DAYS = [(START + datetime.timedelta(days=i)).isoformat() for i in range(LAST_ORDER_DAY + 200)]

REGIONS = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"]
NATIONS = [("ALGERIA", 0), ("ARGENTINA", 1), ("BRAZIL", 1), ("CANADA", 1), ("EGYPT", 4), ("ETHIOPIA", 0), ("FRANCE", 3),
           ("GERMANY", 3), ("INDIA", 2), ("INDONESIA", 2), ("IRAN", 4), ("IRAQ", 4), ("JAPAN", 2), ("JORDAN", 4), ("KENYA", 0),
           ("MOROCCO", 0), ("MOZAMBIQUE", 0), ("PERU", 1), ("CHINA", 2), ("ROMANIA", 3), ("SAUDI ARABIA", 4), ("VIETNAM", 2),
           ("RUSSIA", 3), ("UNITED KINGDOM", 3), ("UNITED STATES", 1)]
COLOURS = ("almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood chartreuse chocolate coral "
           "cornsilk cream cyan dark deep dim dodger drab firebrick floral forest frosted gainsboro ghost goldenrod green grey "
           "honeydew hot indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon medium metallic midnight "
           "mint misty moccasin navajo navy olive orange orchid pale papaya peach peru pink plum powder puff purple red rose "
           "rosy royal saddle salmon sandy seashell sienna sky slate smoke snow spring steel tan thistle tomato turquoise "
           "violet wheat white yellow").split()
TYPES = [f"{a} {b} {c}" for a in ("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO")
         for b in ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED") for c in ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER")]
CONTAINERS = [f"{a} {b}" for a in ("SM", "LG", "MED", "JUMBO", "WRAP")
              for b in ("CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM")]
SEGMENTS = ["AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"]
PRIORITIES = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"]
INSTRUCTIONS = ["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"]
MODES = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"]
WORDS = ("packages requests accounts deposits foxes ideas theodolites instructions dependencies excuses platelets asymptotes "
         "courts dolphins special pending unusual express furious sly careful blithe quick fluffy slow quiet ruthless thin close "
         "sleep wake are cajole haggle nag use boost affix detect integrate").split()

SCHEMA = """
CREATE TABLE region(r_regionkey INTEGER PRIMARY KEY, r_name TEXT, r_comment TEXT);
CREATE TABLE nation(n_nationkey INTEGER PRIMARY KEY, n_name TEXT, n_regionkey INTEGER, n_comment TEXT);
CREATE TABLE supplier(s_suppkey INTEGER PRIMARY KEY, s_name TEXT, s_address TEXT, s_nationkey INTEGER, s_phone TEXT,
                      s_acctbal REAL, s_comment TEXT);
CREATE TABLE customer(c_custkey INTEGER PRIMARY KEY, c_name TEXT, c_address TEXT, c_nationkey INTEGER, c_phone TEXT,
                      c_acctbal REAL, c_mktsegment TEXT, c_comment TEXT);
CREATE TABLE part(p_partkey INTEGER PRIMARY KEY, p_name TEXT, p_mfgr TEXT, p_brand TEXT, p_type TEXT, p_size INTEGER,
                  p_container TEXT, p_retailprice REAL, p_comment TEXT);
CREATE TABLE partsupp(ps_partkey INTEGER, ps_suppkey INTEGER, ps_availqty INTEGER, ps_supplycost REAL, ps_comment TEXT,
                      PRIMARY KEY(ps_partkey, ps_suppkey));
CREATE TABLE orders(o_orderkey INTEGER PRIMARY KEY, o_custkey INTEGER, o_orderstatus TEXT, o_totalprice REAL, o_orderdate TEXT,
                    o_orderpriority TEXT, o_clerk TEXT, o_shippriority INTEGER, o_comment TEXT);
CREATE TABLE lineitem(l_orderkey INTEGER, l_partkey INTEGER, l_suppkey INTEGER, l_linenumber INTEGER, l_quantity REAL,
                      l_extendedprice REAL, l_discount REAL, l_tax REAL, l_returnflag TEXT, l_linestatus TEXT, l_shipdate TEXT,
                      l_commitdate TEXT, l_receiptdate TEXT, l_shipinstruct TEXT, l_shipmode TEXT, l_comment TEXT,
                      PRIMARY KEY(l_orderkey, l_linenumber));
CREATE INDEX lineitem_part ON lineitem(l_partkey, l_suppkey);
CREATE INDEX orders_customer ON orders(o_custkey);
CREATE INDEX customer_nation ON customer(c_nationkey);
CREATE INDEX supplier_nation ON supplier(s_nationkey);
CREATE INDEX partsupp_supplier ON partsupp(ps_suppkey)
"""


class Tables:
    """Each method gives the rows of the table of its name."""

    def __init__(self, scale):
        self.random = random.Random(20260101)
        self.n_suppliers = max(100, int(10_000 * scale))
        self.n_parts = max(200, int(200_000 * scale))
        self.n_customers = max(150, int(150_000 * scale))
        self.n_orders = 10 * self.n_customers

    def _text(self, n_words):
        return " ".join(self.random.choices(WORDS, k=n_words))

    def _phone(self, nation):
        parts = [self.random.randrange(100, 1000), self.random.randrange(100, 1000), self.random.randrange(1000, 10000)]
        return "-".join(map(str, [nation + 10] + parts))

    def _balance(self):
        return self.random.randrange(-99_999, 1_000_000) / 100

    def _supplier_of(self, part, i):
        n = self.n_suppliers
        return (part + i * (n // 4 + (part - 1) // n)) % n + 1

    @staticmethod
    def _price(part):
        return (90_000 + (part // 10) % 20_001 + 100 * (part % 1000)) / 100

    def region(self):
        return [(i, name, self._text(5)) for i, name in enumerate(REGIONS)]

    def nation(self):
        return [(i, name, region, self._text(5)) for i, (name, region) in enumerate(NATIONS)]

    def supplier(self):
        for i in range(1, self.n_suppliers + 1):
            nation = self.random.randrange(25)
            comment = "Customer " + self._text(1) + " Complaints" if i % 1999 == 7 else self._text(6)
            yield i, f"Supplier#{i:09}", self._text(2), nation, self._phone(nation), self._balance(), comment

    def customer(self):
        for i in range(1, self.n_customers + 1):
            nation = self.random.randrange(25)
            yield (i, f"Customer#{i:09}", self._text(2), nation, self._phone(nation), self._balance(), self.random.choice(SEGMENTS),
                   self._text(7))

    def part(self):
        for i in range(1, self.n_parts + 1):
            maker = self.random.randrange(1, 6)
            yield (i, " ".join(self.random.sample(COLOURS, 5)), f"Manufacturer#{maker}",
                   f"Brand#{maker}{self.random.randrange(1, 6)}", self.random.choice(TYPES), self.random.randrange(1, 51),
                   self.random.choice(CONTAINERS), self._price(i), self._text(2))

    def partsupp(self):
        for part in range(1, self.n_parts + 1):
            for i in range(4):
                cost = self.random.randrange(100, 100_001) / 100
                yield part, self._supplier_of(part, i), self.random.randrange(1, 10_000), cost, self._text(8)

    def _lines(self, order, day):
        for number in range(1, self.random.randrange(1, 8) + 1):
            part = self.random.randrange(1, self.n_parts + 1)
            quantity = self.random.randrange(1, 51)
            shipped = day + self.random.randrange(1, 122)
            received = DAYS[shipped + self.random.randrange(1, 31)]
            yield (order, part, self._supplier_of(part, self.random.randrange(4)), number, float(quantity),
                   round(quantity * self._price(part), 2), self.random.randrange(11) / 100, self.random.randrange(9) / 100,
                   self.random.choice("RA") if received <= CURRENT else "N", "O" if DAYS[shipped] > CURRENT else "F",
                   DAYS[shipped], DAYS[day + self.random.randrange(30, 91)], received, self.random.choice(INSTRUCTIONS),
                   self.random.choice(MODES), self._text(4))

    def orders_and_lines(self):
        """(row of orders, rows of lineitem) for each order; a third of the customers has none."""
        for i in range(self.n_orders):
            key = i // 8 * 32 + i % 8 + 1
            customer = self.random.randrange(1, self.n_customers + 1)
            while customer % 3 == 0:
                customer = self.random.randrange(1, self.n_customers + 1)
            day = self.random.randrange(LAST_ORDER_DAY)
            lines = list(self._lines(key, day))
            total = round(sum(line[5] * (1 + line[7]) * (1 - line[6]) for line in lines), 2)
            states = {line[9] for line in lines}
            yield ((key, customer, states.pop() if len(states) == 1 else "P", total, DAYS[day], self.random.choice(PRIORITIES),
                    f"Clerk#{self.random.randrange(1, 1000):09}", 0, self._text(8)), lines)
