# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a failing case small: tries every smaller tree and every smaller data set, as long as the case still fails the same way."""
from syntax import Filter, Group, Item, Query, Select
from terms import Term, Var

EXPRESSION_SORTS = ("Op", "Call", "Cast", "In", "Exists", "Aggregate")
PATH_SORTS = ("Inverse", "Sequence", "Alternative", "Repeat", "NotIn")
PATTERN_SORTS = ("Group", "Triples", "Union", "Optional_", "Minus", "Graph", "Filter", "Bind", "Values", "Select")


def sort_of(node):
    """What may stand in the place of @node."""
    name = type(node).__name__
    if name in PATTERN_SORTS:
        return "pattern"
    if name in EXPRESSION_SORTS:
        return "expression"
    if name in PATH_SORTS:
        return "path"
    return "term" if isinstance(node, (Term, Var)) else name


def is_node(value):
    return hasattr(value, "_fields") and not isinstance(value, Term)


def is_triple(values):
    """No list of anything else begins with a term and has three members, but for wide rows of VALUES."""
    return len(values) == 3 and isinstance(values[0], (Term, Var))


def descendants(node, sorts):
    """The nearest nodes inside @node of one of @sorts."""
    for child in node:
        if sort_of(child) in sorts:
            yield child
        elif isinstance(child, tuple) and not isinstance(child, Term):
            yield from descendants(child, sorts)


def smaller_lists(values):
    for size in (len(values) // 2, 1):
        if size and size < len(values) + (size == 1):
            for start in range(0, len(values), size):
                yield values[:start] + values[start + size:]


def replacements(node):
    """Smaller things for the place of @node itself."""
    sort = sort_of(node)
    if sort == "expression":
        yield from descendants(node, ("expression", "term"))
    elif sort == "path":
        yield from descendants(node, ("path", "term"))
    elif isinstance(node, Group):
        for element in node.elements:
            if isinstance(element, Group):
                yield element
            if isinstance(element, (Group, Filter)):
                continue
            for inner in descendants(element, ("pattern", )):
                if isinstance(inner, Group):
                    yield Group(tuple(other for e in node.elements for other in (inner.elements if e is element else (e, ))))
    elif isinstance(node, Select):
        yield from (node._replace(**change) for change in
                    ({"modifier": ""}, {"order": ()}, {"limit": None, "offset": None}, {"offset": None}, {"values": None},
                     {"having": ()},
                     {"items": ()}, {"items": (), "group": None, "having": (), "order": (), "limit": None, "offset": None}))
    elif isinstance(node, Query):
        yield node._replace(default_graphs=(), named_graphs=())


def variants(node):
    """Every tree that is one step smaller than @node."""
    if isinstance(node, (Term, str)) or not isinstance(node, tuple):
        return
    if is_node(node):
        yield from replacements(node)
        for name, value in zip(node._fields, node):
            for smaller in variants(value):
                if allowed(node, name, smaller):
                    yield node._replace(**{name: smaller})
        return
    if not is_triple(node):
        yield from smaller_lists(node)
    for index, value in enumerate(node):
        for smaller in variants(value):
            yield node[:index] + (smaller, ) + node[index + 1:]


def allowed(node, name, value):
    """Keeps trees printable."""
    kind = type(node).__name__
    if name == "arguments":
        return len(value) == len(node.arguments) or (kind == "Call" and node.name in ("CONCAT", "COALESCE") and value)
    if name in ("members", "variables", "patterns", "branches", "rows", "triples", "operations") and not value:
        return kind == "In" or name in ("operations", "rows")
    if kind == "Values" and name == "variables":
        return False
    if name == "group" and kind == "Select" and value == ():
        return False
    return not (isinstance(node, Item) and isinstance(value, tuple) and not is_node(value))


def size_of(node):
    if isinstance(node, tuple) and not isinstance(node, Term):
        return 1 + sum(size_of(part) for part in node)
    return 1 if node else 0


def shrink(request, dataset, still_fails, budget=600):
    """The smallest request and quads found with at most @budget trials. @dataset: a tuple of quads."""
    progress = True
    while progress and budget > 0:
        progress = False
        for smaller in list(smaller_lists(dataset)):
            budget -= 1
            if budget > 0 and still_fails(request, smaller):
                dataset, progress = smaller, True
                break
        for smaller in variants(request):
            if size_of(smaller) >= size_of(request):
                continue
            budget -= 1
            if budget <= 0:
                break
            if still_fails(smaller, dataset):
                request, progress = smaller, True
                break
    return request, dataset
