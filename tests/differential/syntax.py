# SPDX-License-Identifier: LGPL-2.1-or-later
"""Syntax trees of queries and updates, and their text in SPARQL.

Trees are named tuples, so that the shrinker can walk through any of them. to_text() prints with no more brackets than the grammar's
precedences ask for: the parser is under test too.
"""
import re
from typing import NamedTuple, Optional

from terms import BOOLEAN, DECIMAL, DOUBLE, INTEGER, LANG_STRING, STRING, XSD, Term, Var

NS = "http://example.org/"
PROLOGUE = f"PREFIX : <{NS}>\nPREFIX xsd: <{XSD}>\n"


# --- paths ------------------------------------------------------------------------------------------------------------------

class Inverse(NamedTuple):
    path: object


class Sequence(NamedTuple):
    first: object
    second: object


class Alternative(NamedTuple):
    first: object
    second: object


class Repeat(NamedTuple):
    path: object
    sign: str  # * + ?


class NotIn(NamedTuple):
    members: tuple  # Term, or Inverse of a Term


# --- patterns ---------------------------------------------------------------------------------------------------------------

class Group(NamedTuple):
    elements: tuple


class Triples(NamedTuple):
    patterns: tuple  # (s, p, o)


class Union(NamedTuple):
    branches: tuple


class Optional_(NamedTuple):
    group: Group


class Minus(NamedTuple):
    group: Group


class Graph(NamedTuple):
    name: object
    group: Group


class Filter(NamedTuple):
    expression: object


class Bind(NamedTuple):
    expression: object
    var: Var


class Values(NamedTuple):
    variables: tuple
    rows: tuple  # of tuples of Term or None


class Item(NamedTuple):
    expression: object
    var: Optional[Var]  # None: the expression is a variable, or a key of GROUP BY or ORDER BY
    descending: bool = False


class Select(NamedTuple):
    where: Group
    modifier: str = ""  # DISTINCT, REDUCED
    items: tuple = ()  # none: *
    group: Optional[tuple] = None  # Items
    having: tuple = ()
    order: tuple = ()
    limit: Optional[int] = None
    offset: Optional[int] = None
    values: Optional[Values] = None


class Query(NamedTuple):
    select: Select
    form: str = "SELECT"  # ASK, CONSTRUCT
    template: tuple = ()
    default_graphs: tuple = ()
    named_graphs: tuple = ()


class Bound(NamedTuple):
    """A query that is run with a parameter."""
    query: Query
    var: Var
    term: Term


# --- updates ----------------------------------------------------------------------------------------------------------------

class Quads(NamedTuple):
    graph: object  # None: the default graph
    triples: tuple


class Data(NamedTuple):
    verb: str  # INSERT DATA, DELETE DATA
    quads: tuple


class Modify(NamedTuple):
    delete: tuple  # of Quads
    insert: tuple
    where: Group
    with_graph: object = None
    using: tuple = ()
    using_named: tuple = ()


class DeleteWhere(NamedTuple):
    quads: tuple


class Manage(NamedTuple):
    verb: str  # CLEAR, DROP, CREATE, COPY, MOVE, ADD
    arguments: tuple  # a graph's IRI, DEFAULT, NAMED, ALL
    silent: bool = False


class Update(NamedTuple):
    operations: tuple


# --- expressions ------------------------------------------------------------------------------------------------------------

class Op(NamedTuple):
    sign: str
    arguments: tuple


class Call(NamedTuple):
    name: str
    arguments: tuple
    distinct: bool = False


class Cast(NamedTuple):
    datatype: str
    argument: object


class In(NamedTuple):
    negated: bool
    needle: object
    members: tuple


class Exists(NamedTuple):
    negated: bool
    group: Group


class Aggregate(NamedTuple):
    name: str
    argument: object  # None: *
    distinct: bool = False
    separator: Optional[str] = None


PRECEDENCE = {"||": 1, "&&": 2, "=": 3, "!=": 3, "<": 3, ">": 3, "<=": 3, ">=": 3, "+": 4, "-": 4, "*": 5, "/": 5}
UNARY, PRIMARY = 6, 7


def quoted(text):
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join(escapes.get(char, char) for char in text) + '"'


def to_ntriples(term):
    if term.kind == "iri":
        return f"<{term.lexical}>"
    if term.kind == "bnode":
        return "_:" + term.lexical
    if term.lang:
        return quoted(term.lexical) + "@" + term.lang
    return quoted(term.lexical) + ("" if term.datatype == STRING else f"^^<{term.datatype}>")


SHORT_FORMS = {INTEGER: r"[+-]?[0-9]+", DECIMAL: r"[+-]?[0-9]*\.[0-9]+", DOUBLE: r"[+-]?[0-9]+\.[0-9]*[eE][+-]?[0-9]+",
               BOOLEAN: "true|false"}


def print_term(term):
    """The short forms of SPARQL where there are some."""
    if isinstance(term, Var):
        return "?" + term
    if term.kind == "iri" and re.fullmatch(re.escape(NS) + "[a-z][a-z0-9]*", term.lexical):
        return ":" + term.lexical[len(NS):]
    if term.kind != "literal" or term.datatype in (STRING, LANG_STRING):
        return to_ntriples(term)
    if re.fullmatch(SHORT_FORMS.get(term.datatype, "(?!)"), term.lexical):
        return term.lexical
    datatype = f"xsd:{term.datatype[len(XSD):]}" if term.datatype.startswith(XSD) else f"<{term.datatype}>"
    return quoted(term.lexical) + "^^" + datatype


def print_path(path, level=0):
    """@level: 0 alternatives, 1 members of a sequence, 2 what takes a sign, 3 what takes one and may have none."""
    if isinstance(path, Term):
        return print_term(path)
    if isinstance(path, Alternative):
        text, own = f"{print_path(path.first)}|{print_path(path.second, 1)}", 0
    elif isinstance(path, Sequence):
        text, own = f"{print_path(path.first, 1)}/{print_path(path.second, 2)}", 1
    elif isinstance(path, Inverse):
        text, own = "^" + print_path(path.path, 3), 2
    elif isinstance(path, Repeat):
        text, own = print_path(path.path, 4) + path.sign, 3
    else:
        members = [print_path(member, 2) for member in path.members]
        text, own = "!" + (members[0] if len(members) == 1 else "(" + "|".join(members) + ")"), 4
    return f"({text})" if own < level else text


def print_arguments(arguments):
    return "(" + ", ".join(print_expression(argument) for argument in arguments) + ")"


def print_operator(expression, level):
    if len(expression.arguments) == 1:
        text, own = expression.sign + " " + print_expression(expression.arguments[0], PRIMARY), UNARY
    else:
        own = PRECEDENCE[expression.sign]
        left, right = expression.arguments
        text = f"{print_expression(left, own + 1 if own == 3 else own)} {expression.sign} {print_expression(right, own + 1)}"
    return f"({text})" if own < level else text


def print_aggregate(expression):
    inner = "*" if expression.argument is None else print_expression(expression.argument)
    if expression.separator is not None:
        inner += "; SEPARATOR = " + quoted(expression.separator)
    return f"{expression.name}({'DISTINCT ' if expression.distinct else ''}{inner})"


def print_expression(expression, level=0):
    if isinstance(expression, (Term, Var)):
        return print_term(expression)
    if isinstance(expression, Op):
        return print_operator(expression, level)
    if isinstance(expression, Call):
        return expression.name + print_arguments(expression.arguments)
    if isinstance(expression, Cast):
        return f"xsd:{expression.datatype[len(XSD):]}({print_expression(expression.argument)})"
    if isinstance(expression, Aggregate):
        return print_aggregate(expression)
    if isinstance(expression, In):
        sign = "NOT IN" if expression.negated else "IN"
        text = f"{print_expression(expression.needle, 4)} {sign} {print_arguments(expression.members)}"
        return f"({text})" if level > 3 else text
    return f"{'NOT ' if expression.negated else ''}EXISTS {print_group(expression.group, 0)}"


def print_triple(triple):
    subject, predicate, object_ = triple
    verb = print_term(predicate) if isinstance(predicate, Var) else print_path(predicate)
    return f"{print_term(subject)} {verb} {print_term(object_)}"


def print_values(values):
    head = " ".join(print_term(var) for var in values.variables)
    rows = " ".join("(" + " ".join("UNDEF" if term is None else print_term(term) for term in row) + ")" for row in values.rows)
    return f"VALUES ({head}) {{ {rows} }}"


def print_element(element, depth):
    if isinstance(element, Triples):
        return " ".join(print_triple(triple) + " ." for triple in element.patterns)
    if isinstance(element, Group):
        return print_group(element, depth)
    if isinstance(element, Union):
        return " UNION ".join(print_group(branch, depth) for branch in element.branches)
    if isinstance(element, Optional_):
        return "OPTIONAL " + print_group(element.group, depth)
    if isinstance(element, Minus):
        return "MINUS " + print_group(element.group, depth)
    if isinstance(element, Graph):
        return f"GRAPH {print_term(element.name)} {print_group(element.group, depth)}"
    if isinstance(element, Filter):
        return f"FILTER ({print_expression(element.expression)})"
    if isinstance(element, Bind):
        return f"BIND ({print_expression(element.expression)} AS {print_term(element.var)})"
    if isinstance(element, Values):
        return print_values(element)
    return "{ " + print_select(element, depth + 1) + " }"


def print_group(group, depth):
    pad = "  " * (depth + 1)
    lines = [pad + print_element(element, depth + 1) for element in group.elements]
    return "{\n" + "\n".join(lines) + "\n" + "  " * depth + "}" if lines else "{}"


def print_item(item):
    if item.var is None:
        return print_term(item.expression) if isinstance(item.expression, Var) else f"({print_expression(item.expression)})"
    return f"({print_expression(item.expression)} AS {print_term(item.var)})"


def print_modifiers(select):
    parts = []
    if select.group:
        parts.append("GROUP BY " + " ".join(print_item(item) for item in select.group))
    if select.having:
        parts.append("HAVING " + " ".join(f"({print_expression(condition)})" for condition in select.having))
    if select.order:
        parts.append("ORDER BY " + " ".join(("DESC" if item.descending else "ASC") + f"({print_expression(item.expression)})"
                                            for item in select.order))
    if select.limit is not None:
        parts.append(f"LIMIT {select.limit}")
    if select.offset is not None:
        parts.append(f"OFFSET {select.offset}")
    if select.values:
        parts.append(print_values(select.values))
    return parts


def print_select(select, depth=0, head=None, dataset=""):
    if head is None:
        items = " ".join(print_item(item) for item in select.items) or "*"
        head = " ".join(part for part in ("SELECT", select.modifier, items) if part)
    return " ".join([head + dataset, "WHERE", print_group(select.where, depth)] + print_modifiers(select))


def print_query(query):
    head = None
    if query.form == "ASK":
        head = "ASK"
    elif query.form == "CONSTRUCT":
        head = "CONSTRUCT { " + " ".join(print_triple(triple) + " ." for triple in query.template) + " }"
    dataset = "".join(f" FROM {print_term(name)}" for name in query.default_graphs)
    dataset += "".join(f" FROM NAMED {print_term(name)}" for name in query.named_graphs)
    return PROLOGUE + print_select(query.select, 0, head, dataset) + "\n"


def print_quads(quads):
    parts = []
    for block in quads:
        triples = " ".join(print_triple(triple) + " ." for triple in block.triples)
        parts.append(triples if block.graph is None else f"GRAPH {print_term(block.graph)} {{ {triples} }}")
    return "{ " + " ".join(parts) + " }"


def print_manage(operation):
    def name(argument):
        return argument if isinstance(argument, str) else "GRAPH " + print_term(argument)

    words = [operation.verb, "SILENT" if operation.silent else "", " TO ".join(name(argument) for argument in operation.arguments)]
    return " ".join(word for word in words if word)


def print_operation(operation):
    if isinstance(operation, Data):
        return f"{operation.verb} {print_quads(operation.quads)}"
    if isinstance(operation, DeleteWhere):
        return "DELETE WHERE " + print_quads(operation.quads)
    if isinstance(operation, Manage):
        return print_manage(operation)
    parts = [f"WITH {print_term(operation.with_graph)}"] if operation.with_graph else []
    if operation.delete:
        parts.append("DELETE " + print_quads(operation.delete))
    if operation.insert or not operation.delete:
        parts.append("INSERT " + print_quads(operation.insert))
    parts += [f"USING {print_term(name)}" for name in operation.using]
    parts += [f"USING NAMED {print_term(name)}" for name in operation.using_named]
    return " ".join(parts) + " WHERE " + print_group(operation.where, 0)


def substitute(node, var, term):
    """@node with @term in the places of @var, which nothing in it may set."""
    if node == var and isinstance(node, Var):
        return term
    if isinstance(node, Item) and node.var is None and node.expression == var:
        return Item(term, var, node.descending)
    if not isinstance(node, tuple) or isinstance(node, Term):
        return node
    parts = [substitute(part, var, term) for part in node]
    return type(node)(*parts) if hasattr(node, "_fields") else tuple(parts)


def sets_variable(node, var):
    """Whether @var is the target of an AS, in VALUES, a key of GROUP BY, or left to SELECT *."""
    if not isinstance(node, tuple) or isinstance(node, Term):
        return False
    if isinstance(node, Select) and (not node.items or var in [key.expression for key in node.group or ()]):
        return True
    if (isinstance(node, (Bind, Item)) and node.var == var) or (isinstance(node, Values) and var in node.variables):
        return True
    return any(sets_variable(part, var) for part in node)


def to_text(request):
    if isinstance(request, Bound):
        return print_query(request.query)
    if isinstance(request, Query):
        return print_query(request)
    return PROLOGUE + " ;\n".join(print_operation(operation) for operation in request.operations) + "\n"
