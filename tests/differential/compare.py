# SPDX-License-Identifier: LGPL-2.1-or-later
"""Equality of results: bags of rows up to the names of blank nodes, and the order that ORDER BY demands.

The lexical form of a computed number is not prescribed: such numbers are compared by datatype and 12 significant digits.
"""
import itertools
from collections import Counter

from evaluator import compare_keys
from terms import DECIMAL, DOUBLE, FLOAT, INTEGER, Number, Term, get_value

DIGITS = {FLOAT: 5, DOUBLE: 12, DECIMAL: 12, INTEGER: 18}


def number_key(term):
    value = get_value(term) if term is not None and term.kind == "literal" else None
    if not isinstance(value, Number):
        return None
    return (value.type, f"{float(value.value):.{DIGITS[value.type]}g}".replace("-0", "0") if float(value.value) == 0 else
            f"{float(value.value):.{DIGITS[value.type]}g}")


def loosen(rows, given):
    """Numbers that are not among the @given terms become their value's key."""
    def loose(term):
        return term if term in given else number_key(term) or term

    return [tuple(loose(term) for term in row) for row in rows]


def is_bnode(term):
    return isinstance(term, Term) and term.kind == "bnode"


def refine(rows):
    """A signature for each blank node that no renaming changes."""
    colours = {term: 0 for row in rows for term in row if is_bnode(term)}
    for _ in range(4):
        seen = {node: [] for node in colours}
        for row in rows:
            shape = tuple(("_", colours[term]) if is_bnode(term) else term for term in row)
            for place, term in enumerate(row):
                if is_bnode(term):
                    seen[term].append((place, repr(shape), tuple(row.index(other) for other in row)))
        colours = {node: hash((colours[node], tuple(sorted(places)))) for node, places in seen.items()}
    return colours


def masked(rows, colours):
    return Counter(tuple(("_", colours[term]) if is_bnode(term) else term for term in row) for row in rows)


def renamed(rows, names):
    return Counter(tuple(names.get(term, term) for term in row) for row in rows)


def equal_bags(expected, got):
    """Blank nodes by bijection: candidates have the same signature; ties are tried out."""
    if len(expected) != len(got):
        return False
    ours, theirs = refine(expected), refine(got)
    if masked(expected, ours) != masked(got, theirs):
        return False
    classes = {}
    for side, colours in enumerate((ours, theirs)):
        for node, colour in colours.items():
            classes.setdefault(colour, ([], []))[side].append(node)
    if any(len(a) != len(b) for a, b in classes.values()):
        return False
    wanted = Counter(got)
    choices = [[list(zip(a, order)) for order in itertools.permutations(b)] for a, b in classes.values()]
    for choice in itertools.islice(itertools.product(*choices), 50000):
        if renamed(expected, dict(itertools.chain.from_iterable(choice))) == wanted:
            return True
    return False


def same_rows(expected, got, given):
    if Counter(expected) == Counter(got):
        return True
    return equal_bags(expected, got) or equal_bags(loosen(expected, given), loosen(got, given))


def ordered_as(rows, keys, got, given):
    """Whether @got, a permutation of @rows, has no two rows the wrong way round. Rows with blank nodes prove nothing."""
    known = {}
    for row, key in zip(loosen(rows, given), keys):
        if not any(is_bnode(term) for term in row):
            known.setdefault(row, []).append(key)
    sequence = [known[row][0] for row in loosen(got, given) if len(set(known.get(row, ()))) == 1]
    return not any(compare_keys(a, b) == 1 for a, b in itertools.combinations(sequence, 2))
