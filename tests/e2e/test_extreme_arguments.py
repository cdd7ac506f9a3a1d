# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every function of SPARQL with arguments that are as large, small or odd as they can be: an answer or an error, and soon."""
import time

import pytest

from harness import SLOWER, BusError

XSD = "http://www.w3.org/2001/XMLSchema#"
TIMEOUT_MS = 2000
LATE_SECONDS = 0.6 * SLOWER  # what a busy machine may add to the deadline
UNARY = ["STR", "LANG", "DATATYPE", "IRI", "isIRI", "isBlank", "isLiteral", "isNumeric", "STRLEN", "UCASE", "LCASE",
         "ENCODE_FOR_URI",
         "ABS", "ROUND", "CEIL", "FLOOR", "YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS", "TIMEZONE", "TZ", "MD5", "SHA1",
         "SHA256", "SHA384", "SHA512", "BNODE", "-", "!", f"<{XSD}integer>", f"<{XSD}decimal>", f"<{XSD}double>", f"<{XSD}float>",
         f"<{XSD}boolean>", f"<{XSD}string>", f"<{XSD}dateTime>", f"<{XSD}date>", f"<{XSD}duration>"]
BINARY = ["STRSTARTS", "STRENDS", "CONTAINS", "STRBEFORE", "STRAFTER", "langMatches", "STRLANG", "REGEX",
          "sameTerm", "SUBSTR", "CONCAT"]
OPERATORS = ["+", "-", "*", "/", "=", "!=", "<", ">="]
VALUES = [f'"{lexical}"^^<{XSD}{name}>' for name, lexical in [
    ("integer", "99999999999999999999999999999999999999"), ("integer", "-99999999999999999999999999999999999999"),
    ("integer", "9" * 5000), ("decimal", "0." + "0" * 37 + "1"), ("decimal", "9" * 38), ("double", "1e308"), ("double", "-INF"),
    ("double", "NaN"), ("double", "4.9e-324"), ("float", "3.4e38"), ("dateTime", "-999999999-12-31T23:59:59.999999999999-14:00"),
    ("dateTime", "999999999-12-31T24:00:00+14:00"), ("date", "0000-01-01"), ("duration", "-P999999999999Y"),
    ("dayTimeDuration", "P999999999999DT0.000000000001S"), ("gMonthDay", "--02-29Z"), ("boolean", "maybe")]]
VALUES += ["<http://e/a>", '""', '"x"@en', '"\\u0000"', '"' + "aé😀" * 30000 + '"', '"' + "ab" * 150000 + '"', '"(" ',
           '"[a-z-[b]]+"']


@pytest.fixture(scope="module")
def expressions():
    found = [f"{name}({value})" for name in UNARY for value in VALUES]
    found += [f"{name}({a}, {b})" for name in BINARY for a in VALUES for b in VALUES[-8:]]
    found += [f"({a} {operator} {b})" for operator in OPERATORS for a in VALUES[:18] for b in VALUES[:18]]
    return found


def test_single_calls(bus, expressions):
    """In batches by size, so that one statement stays below its limit of text."""
    batch, size, n = [], 0, 0
    for expression in expressions + [None]:
        if expression is not None and size + len(expression) < 600000 and len(batch) < 60:
            batch.append(expression)
            size += len(expression)
            continue
        select = " ".join(f"({e} AS ?v{i})" for i, e in enumerate(batch))
        start = time.monotonic()
        try:
            (row,) = bus.query(f"SELECT {select} {{}}", language="sparql", timeout_ms=TIMEOUT_MS, max_bytes=16 << 20)
            assert len(row) == len(batch)
            n += 1
        except BusError as error:
            assert error.name in ("TooBig", "TooComplex", "Timeout"), (error, batch[0][:100])
        assert time.monotonic() - start < TIMEOUT_MS / 1000 + LATE_SECONDS, batch[0][:100]
        batch, size = [expression], len(expression or "")
    assert n > 40


@pytest.mark.parametrize("where", [
    # each doubles its text until the limit on a value stops it
    "BIND(REPLACE(?x, 'a', '$0$0$0$0$0$0$0$0') AS ?y) BIND(REPLACE(?y, 'a', '$0$0$0$0$0$0$0$0') AS ?z) "
    "BIND(REPLACE(?z, 'a', '$0$0$0$0$0$0$0$0') AS ?v)",
    "BIND(CONCAT(?x,?x,?x,?x,?x,?x,?x,?x) AS ?y) BIND(CONCAT(?y,?y,?y,?y,?y,?y,?y,?y) AS ?z) "
    "BIND(CONCAT(?z,?z,?z,?z,?z,?z,?z,?z) AS ?v)",
    "BIND(ENCODE_FOR_URI(CONCAT(?x,?x,?x)) AS ?y) BIND(ENCODE_FOR_URI(CONCAT(?y,?y,?y)) AS ?z) "
    "BIND(ENCODE_FOR_URI(CONCAT(?z,?z,?z)) AS ?v)",
    # quadratic for a naive engine
    "BIND(REGEX(?x, '(a|ab|b)*[cd]') AS ?v)",
    "BIND(REPLACE(?x, '[ab]*?c', '') AS ?v)",
    "BIND(STRBEFORE(?x, CONCAT(SUBSTR(?x, 1, 100000), 'c')) AS ?v)",
])
def test_bombs(bus, where):
    text = "ab" * 150000
    start = time.monotonic()
    try:
        bus.query(f'SELECT (STRLEN(STR(?v)) AS ?n) {{ VALUES ?x {{ "{text}" }} {where} }}', language="sparql",
                  timeout_ms=TIMEOUT_MS)
    except BusError as error:
        assert error.name in ("TooBig", "TooComplex", "Timeout", "NoMemory"), error
    assert time.monotonic() - start < TIMEOUT_MS / 1000 + LATE_SECONDS
    assert bus.query("SELECT (1 AS ?one) {}", language="sparql")
