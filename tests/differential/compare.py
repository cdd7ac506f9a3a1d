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


def refine(rows, marks):
    """A colour for each blank node that depends on its places and @marks only, not on its name."""
    colours = {term: marks.get(term, 0) for row in rows for term in row if is_bnode(term)}
    for _ in range(4):
        seen = {node: [] for node in colours}
        for row in rows:
            shape = repr(tuple(("_", colours[term]) if is_bnode(term) else term for term in row))
            for place, term in enumerate(row):
                if is_bnode(term):
                    seen[term].append((place, shape, tuple(row.index(other) for other in row)))
        colours = {node: hash((colours[node], tuple(sorted(places)))) for node, places in seen.items()}
    return colours


def classes_of(colours):
    classes = {}
    for node, colour in colours.items():
        classes.setdefault(colour, []).append(node)
    return classes


def equal_bags(expected, got, marks=((), ())):
    """Blank nodes by bijection: where colours do not tell them apart, one pair after another is tried."""
    ours, theirs = (classes_of(refine(rows, dict(marked))) for rows, marked in zip((expected, got), marks))
    if {colour: len(nodes) for colour, nodes in ours.items()} != {colour: len(nodes) for colour, nodes in theirs.items()}:
        return False
    names = {node: other for colour, nodes in ours.items() for node, other in zip(nodes, theirs[colour])}
    if Counter(tuple(names.get(term, term) for term in row) for row in expected) == Counter(got):
        return True
    open_classes = [colour for colour, nodes in ours.items() if len(nodes) > 1]
    if not open_classes:
        return False
    colour = min(open_classes, key=lambda colour: len(ours[colour]))
    mark = len(marks[0]) + 1
    ours_marked = marks[0] + ((ours[colour][0], mark), )
    return any(equal_bags(expected, got, (ours_marked, marks[1] + ((node, mark), ))) for node in theirs[colour])


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
