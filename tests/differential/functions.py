# SPDX-License-Identifier: LGPL-2.1-or-later
"""SPARQL's functions, casts and arithmetic on terms (SPARQL 1.1 §17.4, §17.5). An error is an ExpressionError."""
import hashlib
import math
import re
import urllib.parse
from fractions import Fraction

from terms import (BOOLEAN, DATE, DATE_TIME, DECIMAL, DURATION, EXACT, FLOAT, INTEGER, LANG_STRING, PROMOTION, STRING,
                   ExpressionError, Number, Time, Undetermined, boolean, format_number, format_real, from_number, get_value,
                   integer, iri, is_string, literal, parse_number, parse_time, promote, round_float)


MAX_EXACT = 10**27  # beyond, an implementation may have too few digits


def get_number(term):
    value = get_value(term)
    if not isinstance(value, Number):
        raise ExpressionError("no number")
    return value


def get_string(term):
    if not is_string(term):
        raise ExpressionError("no string")
    return term.lexical


def get_simple(term):
    if term.kind != "literal" or term.datatype != STRING:
        raise ExpressionError("no simple string")
    return term.lexical


def like(term, text):
    """@text with the language or datatype of the string @term."""
    return literal(text, lang=term.lang) if term.lang else literal(text)


def get_compatible(a, b):
    """§17.4.3.1.2"""
    get_string(a), get_string(b)
    if b.lang and b.lang != a.lang:
        raise ExpressionError("incompatible strings")
    return a.lexical, b.lexical


def truth(term):
    """The effective boolean value, §17.2.2."""
    value = get_value(term)
    if isinstance(value, bool):
        return value
    if isinstance(value, Number):
        return value.value == value.value and value.value != 0
    if is_string(term):
        return term.lexical != ""
    if term.kind == "literal" and term.datatype in (BOOLEAN, *PROMOTION):
        return False  # ill-typed
    raise ExpressionError("no truth value")


# --- arithmetic -------------------------------------------------------------------------------------------------------------

def divide_reals(a, b):
    if b != 0:
        return a / b
    if a == 0 or a != a:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1, b)


def compute(sign, a, b):
    if isinstance(get_value(a), Time) and isinstance(get_value(b), Time):
        raise Undetermined()  # an extension may subtract them
    kind, x, y = promote(get_number(a), get_number(b))
    if sign == "/":
        kind = DECIMAL if kind == INTEGER else kind
        if kind == DECIMAL and y == 0:
            raise ExpressionError("division by zero")
        value = x / y if kind == DECIMAL else divide_reals(x, y)
    else:
        value = x + y if sign == "+" else x - y if sign == "-" else x * y
    if kind in EXACT and abs(value) > MAX_EXACT:
        raise Undetermined()
    return from_number(Number(kind, round_float(value) if kind == FLOAT else value))


def negate(term):
    number = get_number(term)
    return from_number(Number(number.type, -number.value))


def keep_number(term):
    """The unary plus."""
    number = get_number(term)
    return term if term.datatype == number.type else from_number(number)


def round_half_up(value):
    return math.floor(value + Fraction(1, 2))


def round_number(term, exact):
    """@exact: of a Fraction, an integer. A real keeps infinities, NaN and the sign of zero."""
    number = get_number(term)
    if number.type in EXACT:
        return from_number(Number(number.type, Fraction(exact(number.value))))
    if number.value != number.value or math.isinf(number.value) or number.value == 0:
        return from_number(number)
    return from_number(Number(number.type, math.copysign(float(exact(Fraction(number.value))), number.value)))


def absolute(term):
    number = get_number(term)
    return from_number(Number(number.type, abs(number.value)))


# --- strings ----------------------------------------------------------------------------------------------------------------

def substring(text, start, length=None):
    """fn:substring: positions p from 1 with round(start) <= p < round(start) + round(length)."""
    def rounded(term):
        value = get_number(term).value
        return value if isinstance(value, float) and not math.isfinite(value) else round_half_up(Fraction(value))

    get_string(text)
    first = rounded(start)
    last = math.inf if length is None else first + rounded(length)
    return like(text, "".join(char for position, char in enumerate(text.lexical, 1) if first <= position < last))


def string_before(text, part):
    whole, piece = get_compatible(text, part)
    return like(text, whole[:whole.index(piece)]) if piece in whole else literal("")


def string_after(text, part):
    whole, piece = get_compatible(text, part)
    return like(text, whole[whole.index(piece) + len(piece):]) if piece in whole else literal("")


def concatenate(*parts):
    text = "".join(get_string(part) for part in parts)
    return like(parts[0], text) if parts and len({part.lang for part in parts}) == 1 else literal(text)


def language_matches(tag, range_):
    tag, range_ = get_simple(tag).lower(), get_simple(range_).lower()
    return boolean(tag != "" if range_ == "*" else tag == range_ and tag != "" or range_ != "" and tag.startswith(range_ + "-"))


def compile_pattern(pattern, flags):
    options = {"i": re.I, "s": re.S, "m": re.M}
    try:
        return re.compile(get_simple(pattern), sum(options[flag] for flag in (get_simple(flags) if flags else "")))
    except re.error:
        raise ExpressionError("no regular expression") from None


def matches(text, pattern, flags=None):
    return boolean(compile_pattern(pattern, flags).search(get_string(text)) is not None)


def replace(text, pattern, replacement, flags=None):
    compiled = compile_pattern(pattern, flags)
    get_string(text)
    if compiled.search(""):
        raise ExpressionError("the pattern matches nothing")
    if re.search(r"\\(?![\\$])|\$(?![0-9])", get_simple(replacement)):
        raise ExpressionError("no replacement")
    return like(text, compiled.sub(re.sub(r"\$([0-9])", r"\\g<\1>", get_simple(replacement)), text.lexical))


def digest(algorithm):
    return lambda text: literal(hashlib.new(algorithm, get_simple(text).encode()).hexdigest())


# --- terms ------------------------------------------------------------------------------------------------------------------

def to_string(term):
    if term.kind == "bnode":
        raise ExpressionError("a blank node has no text")
    return literal(term.lexical)


def language(term):
    if term.kind != "literal":
        raise ExpressionError("no literal")
    return literal((term.lang or "").lower())


def datatype(term):
    if term.kind != "literal":
        raise ExpressionError("no literal")
    return iri(term.datatype)


def to_iri(term):
    return term if term.kind == "iri" else iri(get_simple(term))


def make_typed(lexical, type_):
    get_simple(lexical)
    if type_.kind != "iri" or type_.lexical == LANG_STRING:
        raise ExpressionError("no datatype")
    return literal(lexical.lexical, type_.lexical)


def make_language_string(lexical, tag):
    if not re.fullmatch("[a-zA-Z]+(-[a-zA-Z0-9]+)*", get_simple(tag)):
        raise ExpressionError("no language tag")
    return literal(get_simple(lexical), lang=tag.lexical)


# --- times ------------------------------------------------------------------------------------------------------------------

def time_field(index):
    def get(term):
        value = get_value(term)
        if not isinstance(value, Time) or (value.type == DATE and index > 2):
            raise ExpressionError("no such field")
        return from_number(Number(DECIMAL if index == 5 else INTEGER, Fraction(value.fields[index])))
    return get


def zone_text(term):
    value = get_value(term)
    if not isinstance(value, Time):
        raise ExpressionError("no time")
    return literal(value.fields[6] or "")


def zone_duration(term):
    value = get_value(term)
    if not isinstance(value, Time) or value.zone_minutes is None:
        raise ExpressionError("no zone")
    hours, minutes = divmod(abs(value.zone_minutes), 60)
    text = "PT" + (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "")
    return literal(("-" if value.zone_minutes < 0 else "") + ("PT0S" if text == "PT" else text), DURATION)


# --- casts ------------------------------------------------------------------------------------------------------------------

def number_as_text(number):
    """XPath's cast to xsd:string."""
    if number.type in EXACT:
        return format_number(number).removesuffix(".0")
    if number.value == 0:
        return "-0" if math.copysign(1, number.value) < 0 else "0"
    if math.isfinite(number.value) and 1e-6 <= abs(number.value) < 1e6:
        mantissa, exponent = format_real(number.value, number.type == FLOAT).split("E")
        return format_number(Number(DECIMAL, Fraction(mantissa) * Fraction(10) ** int(exponent))).removesuffix(".0")
    return format_number(number)


def cast_to_string(term):
    value = get_value(term)
    if term.kind == "iri" or isinstance(value, str):
        return literal(term.lexical)
    if isinstance(value, bool):
        return literal("true" if value else "false")
    if isinstance(value, Number):
        return literal(number_as_text(value))
    if isinstance(value, Time):
        text = re.sub(r"\.([0-9]*[1-9])?0*", lambda match: "." + match.group(1) if match.group(1) else "", term.lexical)
        return literal(re.sub(r"[+-]00:00$", "Z", text))
    if term.kind == "literal" and not term.lang:
        raise Undetermined()  # §17.5 knows no such type; an extension may cast it
    raise ExpressionError("no cast to string")


def cast_number(number, target):
    if target == BOOLEAN:
        return boolean(number.value == number.value and number.value != 0)
    if target not in PROMOTION:
        raise ExpressionError("no such cast")
    value = number.value
    if target in EXACT:
        if isinstance(value, float):
            if not math.isfinite(value):
                raise ExpressionError("not finite")
            value = Fraction(value if target == INTEGER else number_as_text(number))
        return from_number(Number(target, Fraction(math.trunc(value)) if target == INTEGER else value))
    return from_number(Number(target, round_float(float(value)) if target == FLOAT else float(value)))


def cast_time(time, target):
    year, month, day, _, _, _, zone = time.fields
    if time.type == target:
        return None
    if target not in (DATE, DATE_TIME):
        raise ExpressionError("no such cast")
    zone = "Z" if zone in ("+00:00", "-00:00") else zone or ""
    return literal(f"{year:04}-{month:02}-{day:02}" + ("T00:00:00" if target == DATE_TIME else "") + zone, target)


def cast_text(text, target):
    text = text.strip(" \t\r\n")
    if target == BOOLEAN:
        if text not in ("true", "false", "0", "1"):
            raise ExpressionError("no boolean")
        return boolean(text in ("true", "1"))
    if target in (DATE, DATE_TIME):
        value = parse_time(text, target)
        return cast_to_same(literal(text, target), value)
    value = parse_number(text, target)
    if value is None:
        raise ExpressionError("not of this form")
    return from_number(value)


def cast_to_same(term, value):
    if value is None:
        raise ExpressionError("not of this form")
    return literal(cast_to_string(term).lexical, term.datatype)


def cast(target, term):
    """§17.5"""
    if target == STRING:
        return cast_to_string(term)
    value = get_value(term)
    if isinstance(value, bool):
        if target == BOOLEAN and term != boolean(value):
            raise Undetermined()  # "1" or "true"
        return term if target == BOOLEAN else cast_number(Number(INTEGER, Fraction(value)), target)
    if isinstance(value, str):
        return cast_text(value, target)
    if isinstance(value, Number):
        return cast_number(value, target)
    if isinstance(value, Time):
        return cast_time(value, target) or cast_to_same(term, value)
    raise ExpressionError("no such cast")


def test(function):
    return lambda *arguments: boolean(function(*arguments))


FUNCTIONS = {
    "isIRI": test(lambda term: term.kind == "iri"),
    "isURI": test(lambda term: term.kind == "iri"),
    "isBlank": test(lambda term: term.kind == "bnode"),
    "isLiteral": test(lambda term: term.kind == "literal"),
    "isNumeric": test(lambda term: isinstance(get_value(term), Number)),
    "sameTerm": test(lambda a, b: a == b),
    "STR": to_string, "LANG": language, "DATATYPE": datatype, "IRI": to_iri, "URI": to_iri,
    "STRDT": make_typed, "STRLANG": make_language_string,
    "ABS": absolute,
    "CEIL": lambda term: round_number(term, math.ceil),
    "FLOOR": lambda term: round_number(term, math.floor),
    "ROUND": lambda term: round_number(term, round_half_up),
    "STRLEN": lambda text: integer(len(get_string(text))),
    "UCASE": lambda text: like(text, get_string(text).upper()),
    "LCASE": lambda text: like(text, get_string(text).lower()),
    "SUBSTR": substring, "STRBEFORE": string_before, "STRAFTER": string_after, "CONCAT": concatenate,
    "STRSTARTS": test(lambda text, part: str.startswith(*get_compatible(text, part))),
    "STRENDS": test(lambda text, part: str.endswith(*get_compatible(text, part))),
    "CONTAINS": test(lambda text, part: str.__contains__(*get_compatible(text, part))),
    "ENCODE_FOR_URI": lambda text: literal(urllib.parse.quote(get_string(text), safe="-_.~")),
    "LANGMATCHES": language_matches, "REGEX": matches, "REPLACE": replace,
    "MD5": digest("md5"), "SHA1": digest("sha1"), "SHA256": digest("sha256"), "SHA384": digest("sha384"),
    "SHA512": digest("sha512"),
    "YEAR": time_field(0), "MONTH": time_field(1), "DAY": time_field(2), "HOURS": time_field(3), "MINUTES": time_field(4),
    "SECONDS": time_field(5), "TZ": zone_text, "TIMEZONE": zone_duration,
}
