# SPDX-License-Identifier: LGPL-2.1-or-later
"""RDF terms and the values of XML Schema that SPARQL's operators know, exact and slow.

A term is a tuple; two terms are the same when the tuples are equal (language tags are kept in lower case). get_value() gives what
an operator computes with: numbers are Fractions or floats, times are Fractions of a second with an optional zone.
"""
import math
import re
import struct
from fractions import Fraction
from typing import NamedTuple, Optional

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
STRING, BOOLEAN = XSD + "string", XSD + "boolean"
INTEGER, DECIMAL, FLOAT, DOUBLE = XSD + "integer", XSD + "decimal", XSD + "float", XSD + "double"
DATE_TIME, DATE, DURATION = XSD + "dateTime", XSD + "date", XSD + "dayTimeDuration"
LANG_STRING = RDF + "langString"
INTEGER_RANGES = {INTEGER: (None, None), XSD + "int": (-2**31, 2**31 - 1), XSD + "byte": (-128, 127),
                  XSD + "nonNegativeInteger": (0, None), XSD + "negativeInteger": (None, -1)}
PROMOTION = [INTEGER, DECIMAL, FLOAT, DOUBLE]
EXACT = (INTEGER, DECIMAL)
MAX_ZONE_SECONDS = 14 * 3600

NUMBER_FORMS = {
    INTEGER: re.compile(r"[+-]?[0-9]+"),
    DECIMAL: re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)"),
    DOUBLE: re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?INF|NaN"),
}
NUMBER_FORMS[FLOAT] = NUMBER_FORMS[DOUBLE]
ZONE = r"(Z|[+-](?:0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)?"
TIME_FORMS = {
    DATE: re.compile(r"(-?[0-9]{4})-([0-9]{2})-([0-9]{2})" + ZONE),
    DATE_TIME: re.compile(r"(-?[0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?)" + ZONE),
}


class ExpressionError(Exception):
    """SPARQL's error value."""


class Undetermined(Exception):
    """The specification allows several answers."""


class Var(str):
    """A variable, by its name."""


class Term(NamedTuple):
    kind: str  # iri, bnode, literal
    lexical: str
    datatype: Optional[str] = None
    lang: Optional[str] = None


class Number(NamedTuple):
    type: str  # one of PROMOTION
    value: object  # Fraction, or float for FLOAT and DOUBLE


class Time(NamedTuple):
    type: str
    seconds: Fraction  # local, from a fixed day
    zone_minutes: Optional[int]
    fields: tuple


def iri(text):
    return Term("iri", text)


def bnode(label):
    return Term("bnode", label)


def literal(lexical, datatype=STRING, lang=None):
    return Term("literal", lexical, LANG_STRING, lang.lower()) if lang else Term("literal", lexical, datatype)


def boolean(value):
    return literal("true" if value else "false", BOOLEAN)


def is_string(term):
    return term.kind == "literal" and term.datatype in (STRING, LANG_STRING)


# --- lexical forms to values ------------------------------------------------------------------------------------------------

def round_float(value):
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def parse_number(text, datatype):
    """A Number, or None for a form that the datatype does not have."""
    kind = INTEGER if datatype in INTEGER_RANGES else datatype
    if kind not in NUMBER_FORMS or not NUMBER_FORMS[kind].fullmatch(text):
        return None
    if kind not in EXACT:
        value = float(text.replace("INF", "inf"))
        return Number(kind, round_float(value) if kind == FLOAT else value)
    value = Fraction(text)
    low, high = INTEGER_RANGES.get(datatype, (None, None))
    if (low is not None and value < low) or (high is not None and value > high):
        return None
    return Number(kind, value)


def days_from_civil(year, month, day):
    """Days of the proleptic Gregorian calendar, by counting leap years and months of 30.6 days."""
    if month <= 2:
        year, month = year - 1, month + 12
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * (month - 3) + 2) // 5 + day


def days_in_month(year, month):
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


def parse_time(text, datatype):
    match = TIME_FORMS[datatype].fullmatch(text)
    if not match:
        return None
    year, month, day = (int(field) for field in match.group(1, 2, 3))
    hour, minute, second = 0, 0, Fraction(0)
    if datatype == DATE_TIME:
        hour, minute, second = int(match.group(4)), int(match.group(5)), Fraction(match.group(6))
    if not 1 <= month <= 12 or not 1 <= day <= days_in_month(year, month) or hour > 23 or minute > 59 or second >= 60:
        return None
    zone = match.group(match.lastindex) if text[-1] == "Z" or text[-6] in "+-" and text[-3] == ":" else None
    zone_minutes = None
    if zone is not None:
        zone_minutes = 0 if zone == "Z" else int(zone[0] + "1") * (int(zone[1:3]) * 60 + int(zone[4:6]))
    seconds = days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second
    return Time(datatype, seconds, zone_minutes, (year, month, day, hour, minute, second, zone))


def get_value(term):
    """str, bool, Number or Time; None for a literal of an unknown datatype or an ill-typed one, and for IRIs and blank nodes."""
    if term.kind != "literal" or term.lang:
        return None
    if term.datatype == DURATION:
        raise Undetermined()  # SPARQL 1.1 has TIMEZONE() and no operator on what it gives
    if term.datatype == STRING:
        return term.lexical
    if term.datatype == BOOLEAN:
        return {"true": True, "1": True, "false": False, "0": False}.get(term.lexical)
    if term.datatype in TIME_FORMS:
        return parse_time(term.lexical, term.datatype)
    return parse_number(term.lexical, term.datatype)


# --- values to lexical forms ------------------------------------------------------------------------------------------------

def format_decimal(value):
    """At most 18 digits behind the point, at least one."""
    scaled = abs(value) * 10**18
    digits = str(int(scaled + Fraction(1, 2))).rjust(19, "0")
    text = digits[:-18] + "." + (digits[-18:].rstrip("0") or "0")
    return "-" + text if value < 0 and text != "0.0" else text


def format_real(value, single=False):
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "INF" if value > 0 else "-INF"
    text = f"{value:.16e}"
    for digits in range(17):
        text = f"{value:.{digits}e}"
        if (round_float(float(text)) if single else float(text)) == value:
            break
    mantissa, exponent = text.split("e")
    whole, _, fraction = mantissa.partition(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}E{int(exponent)}"


def format_number(number):
    if number.type == INTEGER:
        return str(int(number.value))
    if number.type == DECIMAL:
        return format_decimal(number.value)
    return format_real(number.value, number.type == FLOAT)


def from_number(number):
    return literal(format_number(number), number.type)


def integer(value):
    return literal(str(value), INTEGER)


# --- comparison -------------------------------------------------------------------------------------------------------------

def promote(a, b):
    """The type of both after promotion, and their values in it."""
    kind = max(a.type, b.type, key=PROMOTION.index)
    values = [number.value if kind in EXACT else float(number.value) for number in (a, b)]
    if kind == FLOAT:
        values = [round_float(value) for value in values]
    return kind, values[0], values[1]


def compare_times(a, b):
    """-1, 0, 1; None when it depends on the zone that one of them lacks."""
    def shifted(time, zone_seconds):
        return time.seconds - (time.zone_minutes * 60 if time.zone_minutes is not None else zone_seconds)

    if (a.zone_minutes is None) == (b.zone_minutes is None):
        orders = {order(shifted(a, 0), shifted(b, 0))}
    else:
        orders = {order(shifted(a, zone), shifted(b, zone)) for zone in (-MAX_ZONE_SECONDS, 0, MAX_ZONE_SECONDS)}
    return orders.pop() if len(orders) == 1 else None


def order(a, b):
    return (a > b) - (a < b)


def compare_values(a, b):
    """Of two literals: -1, 0, 1, "unordered" with NaN, or None where operators know no order."""
    x, y = get_value(a), get_value(b)
    if x is None or y is None:
        return None
    if isinstance(x, Number) and isinstance(y, Number):
        _, x, y = promote(x, y)
        return "unordered" if x != x or y != y else order(x, y)
    if isinstance(x, Time) and isinstance(y, Time):
        return compare_times(x, y) if x.type == y.type else None
    if type(x) is type(y) and isinstance(x, (bool, str)):
        return order(x, y)
    return None


def equals(a, b):
    """The operator "=": §17.4.1.7 and the operators on values that are tried before it (§17.3)."""
    if a.kind != "literal" or b.kind != "literal":
        return a == b
    x, y = get_value(a), get_value(b)
    if isinstance(x, Time) and isinstance(y, Time) and x.type == y.type:
        result = compare_times(x, y)
        if result is None:
            raise ExpressionError("zone unknown")
        return result == 0
    result = compare_values(a, b)
    if result is not None:
        return result == 0
    if a == b:
        return True
    if a.lang or b.lang or (x is not None and y is not None):
        return False  # known values of disjoint value spaces
    raise ExpressionError("not known to differ")


def less(a, b, wanted):
    """One of the operators < <= > >=: @wanted holds the results of order() that satisfy it."""
    result = compare_values(a, b)
    if result is None:
        raise ExpressionError("no order")
    return result in wanted


def compare_for_sort(a, b):
    """§15.1: -1, 0, 1, or None where the order is not said. None as a term is "unbound"."""
    ranks = [0 if term is None else ("bnode", "iri", "literal").index(term.kind) + 1 for term in (a, b)]
    if ranks[0] != ranks[1]:
        return order(*ranks)
    if a == b:
        return 0
    if a.kind == "iri":
        return order(a.lexical, b.lexical)
    result = compare_values(a, b) if a.kind == "literal" else None
    return None if result == "unordered" else result
