# SPDX-License-Identifier: LGPL-2.1-or-later
"""A naive evaluator of SPARQL 1.1 by the definitions of §18: every operator makes its whole multiset, in the order of the text.

A solution is a dict from Var to Term; a graph is a set of triples; a dataset maps a graph's name (None: the default graph) to it.
What the specification leaves open raises Undetermined, what grows too large TooLarge: such a query is no test.
"""
import itertools
from typing import NamedTuple

import functions
from functions import FUNCTIONS, truth
from syntax import (Aggregate, Alternative, Bind, Call, Cast, Exists, Filter, Graph, Group, In, Inverse, Minus, Op, Optional_,
                    Repeat, Select, Sequence, Triples, Union, Values)
from terms import (DATE_TIME, DOUBLE, ExpressionError, Term, Undetermined, Var, bnode, boolean, compare_for_sort, equals,
                   integer, iri, less, literal)

MAX_SOLUTIONS = 4000
VOLATILE = ("RAND", "NOW", "BNODE", "UUID", "STRUUID")
SERIALS = itertools.count()
UUID_START = "12345678-9ab"
UNFORESEEN = ("23456789", UUID_START)
ORDERS = {"<": (-1, ), "<=": (-1, 0), ">": (1, ), ">=": (1, 0)}


class TooLarge(Exception):
    """Too much work for a test."""


class Scope(NamedTuple):
    """Where a pattern is evaluated."""
    dataset: dict
    graph: frozenset  # the active graph
    outer: dict  # the solution that EXISTS substitutes, §18.6


def limited(solutions):
    if len(solutions) > MAX_SOLUTIONS:
        raise TooLarge()
    return solutions


# --- the algebra's operators, §18.5 -----------------------------------------------------------------------------------------

def compatible(a, b):
    return all(b.get(var, term) == term for var, term in a.items())


def join(left, right):
    if len(left) * len(right) > 100 * MAX_SOLUTIONS:
        raise TooLarge()
    return limited([{**a, **b} for a in left for b in right if compatible(a, b)])


def left_join(left, right, condition):
    """@condition: of a solution, the filter's truth."""
    result = []
    for a in left:
        matching = [merged for merged in join([a], right) if condition(merged)]
        result += matching or [a]
    return limited(result)


def minus(left, right):
    return [a for a in left if not any(compatible(a, b) and a.keys() & b.keys() for b in right)]


# --- basic graph patterns and paths, §18.3, §18.4 ---------------------------------------------------------------------------

def is_variable(part):
    """Blank nodes of a query are variables that nobody sees."""
    return isinstance(part, Var) or part.kind == "bnode"


def resolve(part, solution):
    return solution.get(part) if is_variable(part) else part


def nodes(graph):
    return {triple[0] for triple in graph} | {triple[2] for triple in graph}


def reach(path, graph, start):
    """ALP: the nodes that any number of steps reaches, @start with them."""
    seen, todo = set(), [start]
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo += [end for _, end in eval_path(path, graph, node, None)]
    return seen


def eval_repeat(path, graph, start, end):
    if start is None and end is not None:
        return [(a, b) for b, a in eval_repeat(Repeat(Inverse(path.path), path.sign), graph, end, None)]
    starts = [start] if start is not None else nodes(graph)
    pairs = set()
    for node in starts:
        steps = {reached for _, reached in eval_path(path.path, graph, node, None)}
        if path.sign == "?":
            ends = steps | {node}
        elif path.sign == "*":
            ends = reach(path.path, graph, node)
        else:
            ends = set().union(*(reach(path.path, graph, step) for step in steps))
        pairs |= {(node, reached) for reached in ends}
    return [pair for pair in pairs if end is None or pair[1] == end]


def eval_not_in(path, graph, start, end):
    forward = {member for member in path.members if isinstance(member, Term)}
    backward = {member.path for member in path.members if not isinstance(member, Term)}
    pairs = []
    if forward or not backward:
        pairs += [(s, o) for s, p, o in graph if p not in forward]
    if backward:
        pairs += [(o, s) for s, p, o in graph if p not in backward]
    return [(a, b) for a, b in pairs if start in (None, a) and end in (None, b)]


def eval_path(path, graph, start, end):
    """The multiset of pairs that @path joins; None stands for a variable's end."""
    if isinstance(path, Term):
        pairs = [(s, o) for s, p, o in graph if p == path and start in (None, s) and end in (None, o)]
    elif isinstance(path, Inverse):
        pairs = [(b, a) for a, b in eval_path(path.path, graph, end, start)]
    elif isinstance(path, Alternative):
        pairs = eval_path(path.first, graph, start, end) + eval_path(path.second, graph, start, end)
    elif isinstance(path, Sequence):
        seconds = eval_path(path.second, graph, None, end)
        pairs = [(a, c) for a, b in eval_path(path.first, graph, start, None) for b2, c in seconds if b == b2]
    elif isinstance(path, Repeat):
        pairs = eval_repeat(path, graph, start, end)
    else:
        pairs = eval_not_in(path, graph, start, end)
    return limited(pairs)


def match_triple(triple, graph, solution, outer):
    """The ways to extend @solution, which has the values of @outer, so that @triple is in @graph."""
    subject, predicate, object_ = triple
    if isinstance(predicate, (Term, Var)):
        wanted = [resolve(part, solution) for part in triple]
        found = [t for t in graph if all(want in (None, part) for want, part in zip(wanted, t))]
    else:
        pairs = eval_path(predicate, graph, resolve(subject, outer), resolve(object_, outer))
        ends = {part: outer[part] for part in (subject, object_) if part in outer}
        if any(term not in nodes(graph) for term in ends.values()) and pairs:
            raise Undetermined()  # a path of no length, at a term that a join would not find
        found = [(start, None, end) for start, end in pairs]
    for binding in found:
        extended = dict(solution)
        for part, term in zip(triple, binding):
            if term is not None and is_variable(part) and extended.setdefault(part, term) != term:
                break
        else:
            yield extended


def eval_triples(patterns, scope):
    """A variable that has a value outside of EXISTS is that term here, and none of a solution (§18.6)."""
    solutions = [dict(scope.outer)]
    for triple in patterns:
        solutions = limited([extended for solution in solutions
                             for extended in match_triple(triple, scope.graph, solution, scope.outer)])
    return [{var: term for var, term in solution.items() if isinstance(var, Var) and var not in scope.outer}
            for solution in solutions]


# --- graph patterns, §18.2.2 ------------------------------------------------------------------------------------------------

def eval_optional(left, group, scope):
    """§18.2.2.6: the filters of the optional group itself see the variables of both sides."""
    conditions = [element.expression for element in group.elements if isinstance(element, Filter)]
    rest = Group(tuple(element for element in group.elements if not isinstance(element, Filter)))
    return left_join(left, eval_group(rest, scope),
                     lambda solution: all(holds(condition, solution, scope) for condition in conditions))


def eval_graph(element, scope):
    name = element.name
    if isinstance(name, Var) and name in scope.outer:
        name = scope.outer[name]
    if isinstance(name, Term):
        return eval_group(element.group, scope._replace(graph=scope.dataset[name])) if name in scope.dataset else []
    result = []
    for graph_name, graph in scope.dataset.items():
        if graph_name is not None:
            result += join(eval_group(element.group, scope._replace(graph=graph)), [{name: graph_name}])
    return limited(result)


def eval_bind(element, solutions, scope):
    result = []
    for solution in solutions:
        try:
            result.append({**solution, element.var: evaluate(element.expression, {**scope.outer, **solution}, scope)})
        except ExpressionError:
            result.append(solution)
    return result


def eval_values(values):
    return [{var: term for var, term in zip(values.variables, row) if term is not None} for row in values.rows]


def eval_element(element, scope):
    if isinstance(element, Triples):
        return eval_triples(element.patterns, scope)
    if isinstance(element, Group):
        return eval_group(element, scope)
    if isinstance(element, Union):
        return limited([solution for branch in element.branches for solution in eval_group(branch, scope)])
    if isinstance(element, Graph):
        return eval_graph(element, scope)
    if isinstance(element, Values):
        return [row for row in eval_values(element) if compatible(row, scope.outer)]
    seen = {item.expression for item in element.items if item.var is None} if element.items else set(projected(element))
    rows, _ = eval_select(element, scope._replace(outer={var: term for var, term in scope.outer.items() if var in seen}))
    return rows


def holds(condition, solution, scope):
    try:
        return truth(evaluate(condition, environment(solution, scope), scope))
    except ExpressionError:
        return False


def eval_group(group, scope):
    solutions = [{}]
    for element in group.elements:
        if isinstance(element, Optional_):
            solutions = eval_optional(solutions, element.group, scope)
        elif isinstance(element, Minus):
            solutions = minus(solutions, eval_group(element.group, scope))
        elif isinstance(element, Bind):
            solutions = eval_bind(element, solutions, scope)
        elif not isinstance(element, Filter):
            solutions = join(solutions, eval_element(element, scope))
    for element in group.elements:
        if isinstance(element, Filter):
            solutions = [solution for solution in solutions if holds(element.expression, solution, scope)]
    return solutions


# --- expressions, §17 -------------------------------------------------------------------------------------------------------

class Members(dict):
    """A group's keys as a solution, with the solutions that it is made of."""

    def __init__(self, keys, solutions):
        super().__init__(keys)
        self.solutions = solutions


def eval_logical(sign, arguments, solution, scope):
    """§17.2: an error is the result only where the other side does not decide."""
    decisive = sign == "||"
    results = set()
    for argument in arguments:
        try:
            results.add(truth(evaluate(argument, solution, scope)))
        except ExpressionError:
            results.add(None)
    if decisive in results:
        return boolean(decisive)
    if None in results:
        raise ExpressionError("undecided")
    return boolean(not decisive)


def eval_op(expression, solution, scope):
    sign, arguments = expression
    if sign in ("||", "&&"):
        return eval_logical(sign, arguments, solution, scope)
    terms = [evaluate(argument, solution, scope) for argument in arguments]
    if len(terms) == 1:
        if sign == "!":
            return boolean(not truth(terms[0]))
        return functions.negate(terms[0]) if sign == "-" else functions.keep_number(terms[0])
    if sign in ("=", "!="):
        return boolean(equals(*terms) == (sign == "="))
    return boolean(less(*terms, ORDERS[sign])) if sign in ORDERS else functions.compute(sign, *terms)


def eval_in(expression, solution, scope):
    """§17.4.1.9: as = joined by ||"""
    needle = evaluate(expression.needle, solution, scope)
    failed = False
    for member in expression.members:
        try:
            if equals(needle, evaluate(member, solution, scope)):
                return boolean(not expression.negated)
        except ExpressionError:
            failed = True
    if failed:
        raise ExpressionError("undecided")
    return boolean(expression.negated)


def make_volatile(name, arguments):
    """A term that nobody can foretell: tests ask only what is true of each, see UNFORESEEN."""
    if name == "RAND":
        return literal("1.23456789E-1", DOUBLE)
    if name == "NOW":
        return literal("2026-01-01T00:00:00.123456789Z", DATE_TIME)
    if name == "BNODE":
        if arguments:
            functions.get_simple(arguments[0])
        return bnode(f"made-{next(SERIALS)}")
    text = f"urn:uuid:{UUID_START}{next(SERIALS):024}"
    return iri(text) if name == "UUID" else literal(text[len("urn:uuid:"):])


def eval_call(expression, solution, scope):
    name, arguments = expression.name, expression.arguments
    if name == "BOUND":
        return boolean(isinstance(arguments[0], Term) or arguments[0] in solution)
    if name == "IF":
        chosen = arguments[1] if truth(evaluate(arguments[0], solution, scope)) else arguments[2]
        return evaluate(chosen, solution, scope)
    if name == "COALESCE":
        for argument in arguments:
            try:
                return evaluate(argument, solution, scope)
            except ExpressionError:
                continue
        raise ExpressionError("nothing left")
    if name in VOLATILE:
        return make_volatile(name, [evaluate(argument, solution, scope) for argument in arguments])
    return FUNCTIONS[name](*(evaluate(argument, solution, scope) for argument in arguments))


def evaluate(expression, solution, scope):
    """A Term, or ExpressionError."""
    if isinstance(expression, Var):
        if expression not in solution:
            raise ExpressionError("unbound")
        return solution[expression]
    if isinstance(expression, Term):
        return expression
    if isinstance(expression, Op):
        return eval_op(expression, solution, scope)
    if isinstance(expression, Call):
        return eval_call(expression, solution, scope)
    if isinstance(expression, Cast):
        return functions.cast(expression.datatype, evaluate(expression.argument, solution, scope))
    if isinstance(expression, In):
        return eval_in(expression, solution, scope)
    if isinstance(expression, Exists):
        found = eval_group(expression.group, scope._replace(outer=dict(solution)))
        return boolean(any(compatible(solution, row) for row in found) != expression.negated)
    return eval_aggregate(expression, solution, scope)


# --- aggregates, §18.5.1 ----------------------------------------------------------------------------------------------------

def choose_extreme(terms, sign):
    """The member that ORDER BY would put first (@sign -1) or last."""
    for candidate in terms:
        if all(other == candidate or compare_for_sort(candidate, other) == sign for other in terms):
            return candidate
    raise Undetermined()


def add_up(terms):
    total = integer(0)
    for term in terms:
        total = functions.compute("+", total, term)
    return total


def concat_group(terms, separator):
    texts = [functions.to_string(term).lexical for term in terms]
    if len(set(texts)) > 1:
        raise Undetermined()
    return literal(separator.join(texts))


def eval_members(expression, solutions, scope):
    """The values of the argument and whether one was an error."""
    terms, failed = [], False
    for solution in solutions:
        try:
            terms.append(evaluate(expression.argument, {**scope.outer, **solution}, scope))
        except ExpressionError:
            failed = True
    return list(dict.fromkeys(terms)) if expression.distinct else terms, failed


def eval_aggregate(expression, group, scope):
    if expression.argument is None:
        rows = group.solutions
        return integer(len({frozenset(row.items()) for row in rows}) if expression.distinct else len(rows))
    terms, failed = eval_members(expression, group.solutions, scope)
    if expression.name == "COUNT":
        return integer(len(terms))
    if expression.name in ("MIN", "MAX", "SAMPLE"):
        if not terms:
            raise ExpressionError("no member")
        if expression.name == "SAMPLE":
            if len(set(terms)) > 1:
                raise Undetermined()
            return terms[0]
        return choose_extreme(terms, -1 if expression.name == "MIN" else 1)
    if failed:
        raise ExpressionError("a member is an error")
    if expression.name == "GROUP_CONCAT":
        return concat_group(terms, " " if expression.separator is None else expression.separator)
    total = add_up(terms)
    return total if expression.name == "SUM" or not terms else functions.compute("/", total, integer(len(terms)))


def find_aggregates(node):
    if isinstance(node, Aggregate):
        return True
    return isinstance(node, tuple) and not isinstance(node, (Term, Exists)) and any(find_aggregates(part) for part in node)


# --- SELECT, §18.2.4, §18.2.5 -----------------------------------------------------------------------------------------------

def is_grouped(select):
    return select.group is not None or find_aggregates((select.items, select.having, select.order))


def make_groups(select, solutions, scope):
    groups = {}
    keys = select.group or ()
    for solution in solutions:
        bound = eval_items(keys, solution, scope)
        groups.setdefault(frozenset(bound.items()), []).append(solution)
    if not groups and not keys:
        groups[frozenset()] = []
    return [Members(dict((var, term) for var, term in key if isinstance(var, Var)), members) for key, members in groups.items()]


def environment(solution, scope):
    """What an expression sees. A group is never inside EXISTS."""
    return solution if isinstance(solution, Members) else {**scope.outer, **solution}


def eval_items(items, solution, scope):
    """What the expressions give, by their variables, or by their places where they have none."""
    bound = {}
    for index, item in enumerate(items):
        name = item.var or (item.expression if isinstance(item.expression, Var) else index)
        try:
            bound[name] = evaluate(item.expression, environment(solution, scope), scope)
        except ExpressionError:
            continue
    return bound


def visible_variables(node):
    """The variables in scope of a pattern, §18.2.1, in the order of their appearance."""
    if isinstance(node, Var):
        return [node]
    if isinstance(node, (Filter, Minus, Term)) or not isinstance(node, tuple):
        return []
    if isinstance(node, Bind):
        return [node.var]
    if isinstance(node, Values):
        return list(node.variables)
    if isinstance(node, Select):
        return projected(node)
    return list(dict.fromkeys(var for part in node for var in visible_variables(part)))


def projected(select):
    if select.items:
        return [item.var or item.expression for item in select.items]
    return list(dict.fromkeys(visible_variables(select.where) + list(select.values.variables if select.values else ())))


def compare_keys(a, b):
    """Of two rows' keys, as (term or None, descending): -1, 0, 1; None where the order is not said."""
    for (x, descending), (y, _) in zip(a, b):
        result = compare_for_sort(x, y) if x != y else 0
        if result != 0:
            return -result if result and descending else result
    return 0


def sort_rows(rows, keys):
    """Insertion sort by a partial order; also whether the order is total but for equal rows."""
    total, ordered = True, []
    for row, key in zip(rows, keys):
        place = len(ordered)
        for index, (other_row, other_key) in enumerate(ordered):
            result = compare_keys(key, other_key)
            total = total and (result not in (None, 0) or row == other_row)
            if result == -1:
                place = min(place, index)
        ordered.insert(place, (row, key))
    return [row for row, _ in ordered], total


def eval_projection(select, solution, scope):
    """The solution with the values of the SELECT expressions; a later one may use an earlier one."""
    extended = solution
    for item in select.items:
        if item.var is not None:
            merged = {**extended, **eval_items((item, ), extended, scope)}
            extended = Members(merged, solution.solutions) if isinstance(solution, Members) else merged
    return extended


def eval_select(select, scope):
    """The rows, and for each its sort key."""
    solutions = eval_group(select.where, scope)
    if is_grouped(select):
        solutions = make_groups(select, solutions, scope)
        solutions = [group for group in solutions if all(holds(condition, group, scope) for condition in select.having)]
    if select.values:
        solutions = join_values(solutions, eval_values(select.values))
    variables = projected(select)
    rows, keys = [], []
    for solution in solutions:
        extended = eval_projection(select, solution, scope)
        found = [eval_items((item._replace(var=Var("key")), ), extended, scope).get(Var("key")) for item in select.order]
        keys.append(tuple((term, item.descending) for term, item in zip(found, select.order)))
        rows.append({var: extended[var] for var in variables if var in extended})
    if select.modifier:
        if select.modifier == "REDUCED" or select.order:
            keys = [()] * len(rows) if not select.order else keys
        firsts = {}
        for row, key in zip(rows, keys):
            firsts.setdefault(frozenset(row.items()), (row, key))
        rows, keys = [row for row, _ in firsts.values()], [key for _, key in firsts.values()]
    return slice_rows(select, rows, keys)


def slice_rows(select, rows, keys):
    if select.limit is None and not select.offset:
        return rows, keys
    start = select.offset or 0
    end = len(rows) if select.limit is None else start + select.limit
    if not (start == 0 and end >= len(rows)) and start < len(rows) and end > 0:
        rows, total = sort_rows(rows, keys)
        if not total:
            raise Undetermined()
        keys = [()] * len(rows)
    return rows[start:end], keys[start:end]


def join_values(solutions, table):
    merged = []
    for solution, row in itertools.product(solutions, table):
        if compatible(solution, row):
            both = {**solution, **row}
            merged.append(Members(both, solution.solutions) if isinstance(solution, Members) else both)
    return merged


# --- queries ----------------------------------------------------------------------------------------------------------------

def make_dataset(dataset, default_graphs, named_graphs):
    """§13.2"""
    if not default_graphs and not named_graphs:
        return dataset
    chosen = {name: dataset.get(name, frozenset()) for name in named_graphs}
    return {None: frozenset().union(*(dataset.get(name, frozenset()) for name in default_graphs)), **chosen}


def instantiate(template, solutions, make_bnode):
    """§16.2: what is no triple is left out; blank nodes are new for each solution."""
    triples = set()
    for index, solution in enumerate(solutions):
        for triple in template:
            terms = [make_bnode(part.lexical, index) if isinstance(part, Term) and part.kind == "bnode" else resolve(part, solution)
                     for part in triple]
            if None not in terms and terms[0].kind != "literal" and terms[1].kind == "iri":
                triples.add(tuple(terms))
    return triples


def fresh_bnode(label, index):
    return bnode(f"{label}-{index}")


def run_query(query, dataset):
    """SELECT: (variables, rows, keys); ASK: a bool; CONSTRUCT: a set of triples."""
    chosen = make_dataset(dataset, query.default_graphs, query.named_graphs)
    rows, keys = eval_select(query.select, Scope(chosen, chosen[None], {}))
    if any(mark in term.lexical for row in rows for term in row.values() for mark in UNFORESEEN):
        raise Undetermined()
    if query.form == "ASK":
        return bool(rows)
    if query.form == "CONSTRUCT":
        return instantiate(query.template, rows, fresh_bnode)
    return projected(query.select), rows, keys
