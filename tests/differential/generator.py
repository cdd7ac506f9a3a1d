# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random data, queries and updates from one seeded source. Small vocabularies, so that things meet.

What the specification leaves open is not made: blank node ends of EXISTS' zero-length paths.
"""
from evaluator import Scope, TooLarge, Undetermined, evaluate, is_grouped, projected, visible_variables
from functions import truth
from syntax import (NS, Aggregate, Alternative, Bind, Bound, Call, Cast, Data, DeleteWhere, Exists, Filter, Graph, Group, In,
                    Inverse, Item, Manage, Minus, Modify, NotIn, Op, Optional_, Quads, Query, Repeat, Select, Sequence, Triples,
                    Union, Update, Values, sets_variable)
from terms import (BOOLEAN, DATE, DATE_TIME, DECIMAL, DOUBLE, FLOAT, INTEGER, STRING, XSD, ExpressionError, Term, Var, bnode, iri,
                   literal)

SUBJECTS = [iri(NS + name) for name in "abcd"]
PREDICATES = [iri(NS + name) for name in "pqr"]
GRAPHS = [iri(NS + name) for name in ("g1", "g2", "g3")]
BNODES = [bnode(name) for name in "xy"]
VARIABLES = [Var(name) for name in ("x", "y", "z", "X", "n")]
GRAPH_VARIABLES = [Var("g"), Var("h"), Var("x")]

NUMBERS = ([literal(text, INTEGER) for text in ("1", "01", "+1", "2", "-3", "0", "10", "9007199254740993", "9223372036854775808")] +
           [literal(text, DECIMAL) for text in ("1.0", "1.50", "2.5", "-0.5", "0.0", ".5", "0.333", "1234567890.123456789")] +
           [literal(text, DOUBLE) for text in ("1e0", "1.0E0", "2.5e0", "-1.5E3", "NaN", "INF", "0e0", "-0.0e0", "1E400")] +
           [literal("9007199254740993e0", DOUBLE), literal("1.5", FLOAT), literal("2", XSD + "int"),
            literal("7", XSD + "nonNegativeInteger"), literal("x", INTEGER)])
STRINGS = ([literal(text) for text in ("", "a", "b", "abc", "A", "1", "true", "a b", "\u00e9t\u00e9", "\U0001f600x", 'q"\\')] +
           [literal("2020-01-02")] +
           [literal(text, lang=tag) for text, tag in (("a", "en"), ("abc", "en"), ("a", "en-GB"), ("a", "de"), ("", "en"))])
TIMES = ([literal(text, DATE_TIME) for text in ("2020-01-02T03:04:05Z", "2020-01-02T03:04:05", "2020-01-02T04:04:05+01:00",
                                               "2020-01-02T03:04:05.250Z", "2020-01-05T00:00:00-05:30", "1999-12-31T23:59:59Z",
                                               "2020-01-02T03:04:05+00:00", "2020-01-02T03:04:05.000Z", "2020-02-30T00:00:00Z")] +
         [literal(text, DATE) for text in ("2020-01-02", "2020-01-02Z", "2020-01-05", "2019-02-28+02:00")])
OTHERS = ([literal(text, BOOLEAN) for text in ("true", "false", "1", "0", "maybe")] +
          [literal("v", NS + "type"), literal("w", NS + "type"), literal("1", NS + "type")])
KINDS = [(6, NUMBERS), (4, STRINGS), (2, TIMES), (2, OTHERS)]


class Generator:
    """@random: the only source of chance."""

    def __init__(self, random):
        self.random = random
        self.fresh = 0
        self.quads = ()
        self.forget()

    def forget(self):
        """Begins a request: no witness (terms that some variables have in one solution), the default graph is active."""
        self.fresh = 0
        self.witness = {}
        self.active = None

    def one(self, values):
        return self.random.choice(values)

    def chance(self, probability):
        return self.random.random() < probability

    def weighted(self, pairs):
        return self.random.choices([value for _, value in pairs], [weight for weight, _ in pairs])[0]

    def several(self, low, high, make):
        return tuple(make() for _ in range(self.random.randint(low, high)))

    def new_variable(self):
        self.fresh += 1
        return Var(f"v{self.fresh}")

    # --- data -----------------------------------------------------------------------------------------------------------

    def any_literal(self):
        return self.one(self.weighted(KINDS))

    def any_object(self):
        return self.weighted([(5, self.one(SUBJECTS)), (1, self.one(BNODES)), (6, self.any_literal()),
                              (3, literal(str(self.random.randint(0, 3)), INTEGER))])

    def quad(self):
        subject = self.weighted([(8, self.one(SUBJECTS)), (2, self.one(BNODES))])
        graph = self.weighted([(5, None), (2, GRAPHS[0]), (2, GRAPHS[1])])
        return (subject, self.one(PREDICATES), self.any_object(), graph)

    def data(self):
        n_least, n_most = self.weighted([(3, (0, 3)), (80, (6, 18)), (15, (30, 60))])
        self.quads = tuple(dict.fromkeys(self.several(n_least, n_most, self.quad)))
        return self.quads

    # --- triples and paths -----------------------------------------------------------------------------------------------

    def variable(self):
        return self.one(VARIABLES)

    def variable_for(self, term):
        """A variable that has @term in the witness."""
        known = [var for var, value in self.witness.items() if value == term]
        unused = [var for var in VARIABLES if var not in self.witness]
        if self.chance(0.06):
            return self.variable()
        if known and (self.chance(0.8) or not unused):
            return self.one(known)
        var = self.one(unused) if unused else self.new_variable()
        self.witness[var] = term
        return var

    def path(self, depth, in_exists):
        kind = self.weighted([(4, "iri"), (2, "inverse"), (3, "sequence"), (3, "alternative"), (3, "repeat"), (2, "not")])
        if depth <= 0 or kind == "iri":
            return self.one(PREDICATES)
        if kind == "inverse":
            return Inverse(self.path(depth - 1, in_exists))
        if kind == "sequence":
            return Sequence(self.path(depth - 1, in_exists), self.path(depth - 1, in_exists))
        if kind == "alternative":
            return Alternative(self.path(depth - 1, in_exists), self.path(depth - 1, in_exists))
        if kind == "repeat":
            return Repeat(self.path(depth - 1, in_exists), "+" if in_exists else self.one("*+?"))
        return NotIn(self.several(1, 3, lambda: Inverse(self.one(PREDICATES)) if self.chance(0.3) else self.one(PREDICATES)))

    def path_through(self, path, depth, in_exists):
        """A path that joins what @path joins, and more."""
        if depth == 0:
            return path
        other = self.path(1, in_exists)
        choices = [Alternative(path, other), Alternative(other, path), Repeat(path, "+"), Inverse(Inverse(path))]
        if not in_exists:
            choices += [Repeat(path, self.one("*?")), Sequence(path, Repeat(other, "*")), Sequence(Repeat(other, "?"), path)]
        path = self.one(choices)
        return self.path_through(path, depth - 1, in_exists)

    def triple_of(self, quad, label, in_exists, with_paths):
        """A pattern that @quad matches."""
        def part(term, variable_chance):
            if term.kind != "bnode" and not self.chance(variable_chance):
                return term
            return bnode(label) if label and self.chance(0.06) else self.variable_for(term)

        subject, predicate, object_, _ = quad
        if self.chance(0.12):
            return (part(subject, 0.7), self.variable_for(predicate), part(object_, 0.6))
        if with_paths and self.chance(0.2):
            following = [step for step in self.active_quads() if step[0] == object_]
            if following and self.chance(0.5):
                step = self.one(following)
                predicate, object_ = Sequence(predicate, step[1]), step[2]
            path = self.path_through(predicate, self.random.randint(0, 2), in_exists)
            if self.chance(0.25):
                return (part(object_, 0.8), Inverse(path), part(subject, 0.7))
            return (part(subject, 0.8), path, part(object_, 0.7))
        return (part(subject, 0.8), predicate, part(object_, 0.75))

    def triple(self, label, in_exists, with_paths=True):
        quads = self.active_quads()
        if quads and self.chance(0.88):
            known = set(self.witness.values())
            near = [quad for quad in quads if quad[0] in known or quad[2] in known]
            return self.triple_of(self.one(near if near and self.chance(0.75) else quads), label, in_exists, with_paths)
        predicate = self.weighted([(10, self.one(PREDICATES)), (2, self.variable()), (3 if with_paths else 0, None)])
        subject = self.weighted([(9, self.variable()), (3, self.one(SUBJECTS)), (0.6 if label else 0, bnode(label or "-"))])
        object_ = self.weighted([(8, self.variable()), (2, self.one(SUBJECTS)), (2, self.any_literal()),
                                 (0.6 if label else 0, bnode(label or "-"))])
        return (subject, self.path(2, in_exists) if predicate is None else predicate, object_)

    def active_quads(self):
        return [quad for quad in self.quads if quad[3] == self.active]

    def triples(self, in_exists=False):
        self.fresh += 1
        label = f"n{self.fresh}"
        n_most = 2 if in_exists else self.weighted([(40, 3), (3, 8), (1, 30)])
        return Triples(self.several(1 if n_most < 8 else n_most - 4, n_most, lambda: self.triple(label, in_exists, n_most < 30)))

    # --- expressions -----------------------------------------------------------------------------------------------------

    def constant(self):
        return self.one(self.weighted([(1, SUBJECTS), (3, NUMBERS), (3, STRINGS), (1, TIMES), (1, OTHERS)]))

    def operand(self, scope):
        """@scope: the variables that are likely to be bound."""
        return self.weighted([(7 if scope else 0, self.one(scope or VARIABLES)), (0.5, self.variable()), (3, self.constant())])

    def expression(self, scope, depth):
        if depth <= 0 or self.chance(0.15):
            return self.operand(scope)
        return self.weighted([(5, self.comparison), (3, self.logical), (4, self.arithmetic), (6, self.call), (2, self.membership),
                              (1.5, self.cast), (1.5, self.conditional), (1, self.negation)])(scope, depth - 1)

    def condition(self, scope, depth):
        make = self.weighted([(5, self.comparison), (3, self.logical), (3, self.call), (1.5, self.membership), (1, self.negation),
                              (1 if depth > 1 else 0, self.exists), (1, self.bound)])
        return make(scope, depth - 1)

    def likely(self, make, wanted):
        """One of some of @make()'s expressions that is @wanted where the witness is the solution."""
        dataset = {None: frozenset(quad[:3] for quad in self.quads if quad[3] is None)}
        for _ in range(8):
            expression = make()
            try:
                if wanted(evaluate(expression, self.witness, Scope(dataset, dataset[None], {}))) or self.chance(0.1):
                    break
            except (ExpressionError, TooLarge, Undetermined):
                if self.chance(0.1):
                    break
        return expression

    def filter(self, scope, depth):
        return Filter(self.likely(lambda: self.condition(scope, depth), truth))

    def bind(self, scope):
        var = self.new_variable()
        expression = self.likely(lambda: self.expression(scope, 2), lambda term: True)
        try:
            self.witness[var] = evaluate(expression, self.witness, Scope({None: frozenset()}, frozenset(), {}))
        except (ExpressionError, TooLarge, Undetermined):
            pass
        return Bind(expression, var)

    def volatile(self):
        """An expression on a term that differs at each evaluation, the same for all of them."""
        name = self.one(["RAND", "NOW", "BNODE", "UUID", "STRUUID"])
        var = self.new_variable()
        test = {"RAND": Op("<", (var, literal("1", INTEGER))), "NOW": Op(">", (var, literal("2020-01-01T00:00:00Z", DATE_TIME))),
                "BNODE": Call("isBlank", (var, )), "UUID": Call("STRLEN", (Call("STR", (var, )), )),
                "STRUUID": Call("STRLEN", (var, ))}[name]
        same = Call("sameTerm", (var, var))
        return Group((Bind(Call(name, ()), var), Bind(test, self.new_variable()), Filter(same)))

    def bound(self, scope, _depth):
        return Call("BOUND", (self.one(scope or VARIABLES), ))

    def comparison(self, scope, depth):
        return Op(self.one(["=", "!=", "<", "<=", ">", ">="]), (self.expression(scope, depth), self.expression(scope, depth)))

    def logical(self, scope, depth):
        return Op(self.one(["&&", "||"]), (self.condition(scope, depth), self.condition(scope, depth)))

    def arithmetic(self, scope, depth):
        if self.chance(0.1):
            return Op(self.one("-+"), (self.expression(scope, depth), ))
        return Op(self.one("+-*/"), (self.expression(scope, depth), self.expression(scope, depth)))

    def negation(self, scope, depth):
        return Op("!", (self.condition(scope, depth), ))

    def membership(self, scope, depth):
        return In(self.chance(0.4), self.expression(scope, depth), self.several(0, 3, lambda: self.expression(scope, depth - 1)))

    def cast(self, scope, depth):
        return Cast(self.one([STRING, INTEGER, DECIMAL, DOUBLE, FLOAT, BOOLEAN, DATE_TIME, DATE]), self.expression(scope, depth))

    def conditional(self, scope, depth):
        if self.chance(0.5):
            return Call("COALESCE", self.several(1, 3, lambda: self.expression(scope, depth)))
        return Call("IF", (self.condition(scope, depth), self.expression(scope, depth), self.expression(scope, depth)))

    def exists(self, scope, depth):
        return Exists(self.chance(0.4), self.exists_group(scope, depth))

    def text(self, scope, depth):
        """Most often a string."""
        return self.weighted([(4, Call("STR", (self.operand(scope), ))), (3, self.operand(scope)), (2, self.one(STRINGS)),
                              (1, self.expression(scope, depth))])

    def call(self, scope, depth):
        text, other = self.text(scope, depth), self.one(STRINGS)
        value = self.expression(scope, depth)
        number = self.weighted([(2, literal(str(self.random.randint(-1, 4)), INTEGER)), (1, self.one(NUMBERS))])
        name, arguments = self.weighted([
            (3, (self.one(["isIRI", "isBlank", "isLiteral", "isNumeric", "STR", "LANG", "DATATYPE"]), (value, ))),
            (1, ("sameTerm", (value, self.expression(scope, depth)))),
            (2, (self.one(["ABS", "CEIL", "FLOOR", "ROUND"]), (value, ))),
            (2, (self.one(["STRLEN", "UCASE", "LCASE", "ENCODE_FOR_URI", "MD5", "SHA1", "SHA256"]), (text, ))),
            (2, (self.one(["STRSTARTS", "STRENDS", "CONTAINS", "STRBEFORE", "STRAFTER"]), (text, other))),
            (1, ("CONCAT", self.several(0, 3, lambda: self.text(scope, 0)))),
            (1, ("SUBSTR", (text, number))),
            (1, ("SUBSTR", (text, number, self.one(NUMBERS[:5])))),
            (1, ("LANGMATCHES", (Call("LANG", (value, )), literal(self.one(["en", "*", "de", "EN-gb"]))))),
            (1, ("REGEX", (text, literal(self.one(["^a", "b$", "a.c", "[a-c]+", "", "B"]))))),
            (1, ("REGEX", (text, literal(self.one(["^A", "B$", "[A-C]+"])), literal("i")))),
            (1, ("REPLACE", (text, literal(self.one(["a", "b+", "(a)(b)"])), literal(self.one(["", "x", "yy", "$0-", "a$"]))))),
            (2, (self.one(["YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS", "TZ", "TIMEZONE"]), (self.operand(scope), ))),
            (1, ("STRDT", (text, iri(self.one([INTEGER, NS + "type", STRING]))))),
            (1, ("STRLANG", (text, literal(self.one(["en", "EN", "fr-CA"]))))),
            (0.5, ("IRI", (self.one([self.one(SUBJECTS), literal(NS + "a")]), ))),
        ])
        return Call(name, arguments)

    # --- patterns --------------------------------------------------------------------------------------------------------

    def exists_group(self, scope, depth):
        elements = [self.triples(in_exists=True)] if self.chance(0.9) else []
        inner = list(dict.fromkeys(scope + self.variables_of(tuple(elements))))
        kind = self.weighted([(4, None), (4, "filter"), (1, "union"), (1, "graph"), (1, "bind"), (1, "nested"), (2, "optional"),
                              (2, "minus"), (1, "values"), (1, "select"), (1, "grouped")])
        if kind == "filter":
            elements.append(self.filter(inner, min(depth, 1)))
        elif kind == "union":
            elements.append(Union((Group((self.triples(True), )), Group((self.triples(True), self.filter(inner, 0))))))
            elements += [self.filter(inner, 1)] if self.chance(0.3) else []
        elif kind == "graph":
            elements.append(self.graph(lambda: self.with_outer_part(inner)))
        elif kind == "bind":
            elements.append(self.bind(inner))
            elements.append(self.filter(inner + [elements[-1].var], 0))
        elif kind == "nested":
            elements.append(Group((self.triples(True), self.filter(inner, 0))))
        elif kind in ("optional", "minus"):
            elements += self.several(1, 2, lambda: self.outer_part(inner, 1))
            elements += [self.filter(self.variables_of(tuple(elements)), 1)] if self.chance(0.6) else []
        elif kind == "values":
            elements.append(self.values(inner))
        elif kind in ("select", "grouped"):
            elements.append(self.exists_select(scope, kind == "grouped"))
        if depth >= 0 and self.chance(0.15):
            elements.append(Filter(Exists(self.chance(0.4), self.exists_group(inner, -1))))
        return Group(tuple(elements))

    def outer_part(self, scope, depth):
        """An OPTIONAL or MINUS that may name variables of the patterns around the EXISTS."""
        elements = [self.triples(True)]
        if depth > 0 and self.chance(0.2):
            elements.append(self.outer_part(scope, depth - 1))
        if self.chance(0.3):
            elements.append(self.filter(list(dict.fromkeys(scope + self.variables_of(tuple(elements)))), 0))
        return self.one([Optional_, Minus])(Group(tuple(elements)))

    def with_outer_part(self, scope):
        return Group((self.triples(True), ) + self.several(0, 1, lambda: self.outer_part(scope, 0)))

    def exists_select(self, scope, is_grouped):
        where = self.with_outer_part(scope)
        names = self.variables_of(where)
        if not is_grouped:
            return Select(where, "", tuple(Item(var, None) for var in names[:2]))
        key = self.one(scope + names or VARIABLES)
        having = Op(self.one(["<", ">", "="]), (self.aggregate(scope + names), self.one(NUMBERS[:6])))
        return Select(where, "", (Item(key, None), ), (Item(key, None), ), (having, ))

    def variables_of(self, element):
        return visible_variables(element)

    def values(self, scope):
        variables = tuple(self.random.sample(sorted(set(scope) | set(VARIABLES[:2])), self.random.randint(1, 2)))
        def row():
            return tuple(None if self.chance(0.2) else self.any_object_constant() for _ in variables)

        rows = self.several(0, 2, row)
        known = tuple(self.witness.get(var) for var in variables)
        if all(term is None or term.kind != "bnode" for term in known) and self.chance(0.8):
            rows += (known, )
        return Values(variables, rows)

    def any_object_constant(self):
        small = literal(str(self.random.randint(0, 3)), INTEGER)
        return self.weighted([(2, self.one(SUBJECTS)), (1, self.any_literal()), (1, small)])

    def element(self, scope, depth):
        kinds = [(5, "triples"), (4, "filter"), (2, "bind"), (1.5, "values")]
        if depth > 0:
            kinds += [(4, "optional"), (2, "union"), (2, "minus"), (2, "graph"), (1.5, "select"), (1, "group")]
        kind = self.weighted(kinds)
        if kind == "triples":
            return self.triples()
        if kind == "filter":
            return self.filter(scope, 2)
        if kind == "bind":
            return self.bind(scope)
        if kind == "values":
            return self.values(scope)
        if kind == "optional":
            return Optional_(self.group(depth - 1, scope))
        if kind == "union":
            return Union(self.several(2, 3, lambda: self.group(depth - 1, scope)))
        if kind == "minus":
            return Minus(self.group(depth - 1, scope))
        if kind == "graph":
            return self.graph(lambda: self.group(depth - 1, scope))
        return self.select(depth - 1) if kind == "select" else self.group(depth - 1, scope)

    def group(self, depth, outer=()):
        """@outer: variables of the patterns around, which filters may name: bound or not is what is tested."""
        elements = []
        for index in range(self.random.randint(1, 3) if self.chance(0.97) else 0):
            scope = self.variables_of(tuple(elements))
            hints = scope + list(outer) if self.chance(0.25) else scope
            elements.append(self.triples() if index == 0 and self.chance(0.75) else self.element(hints, depth))
        if self.chance(0.03):
            made = self.volatile()
            visible = [Item(element.var, None) for element in made.elements[1:2]]
            elements.append(Select(made, "", tuple(visible)))
        return Group(tuple(elements))

    # --- SELECT ----------------------------------------------------------------------------------------------------------

    def aggregate(self, scope):
        name = self.weighted([(4, "COUNT"), (3, "SUM"), (2, "AVG"), (2, "MIN"), (2, "MAX"), (0.5, "SAMPLE"), (1, "GROUP_CONCAT")])
        argument = self.one(scope or VARIABLES) if self.chance(0.7) else self.expression(scope, 1)
        if name == "COUNT" and self.chance(0.4):
            argument = None
        if name == "GROUP_CONCAT":
            return Aggregate(name, argument, self.chance(0.3), self.one([None, "", ", "]))
        return Aggregate(name, argument, self.chance(0.3))

    def aggregate_expression(self, scope, keys):
        aggregate = self.aggregate(scope)
        kind = self.weighted([(6, "plain"), (1, "sum"), (1, "coalesce"), (1, "key")])
        if kind == "sum":
            return Op(self.one("+-*"), (aggregate, self.one(NUMBERS[:6])))
        if kind == "coalesce":
            return Call("COALESCE", (aggregate, self.constant()))
        return Op(self.one(["+", "="]), (self.one(keys), aggregate)) if kind == "key" and keys else aggregate

    def grouped(self, where, scope):
        keys = []
        for _ in range(self.weighted([(2, 0), (4, 1), (2, 2)])):
            if self.chance(0.7):
                keys.append(Item(self.one(scope or VARIABLES), None))
            else:
                keys.append(Item(self.expression(scope, 1), self.new_variable()))
        names = list(dict.fromkeys(key.var or key.expression for key in keys))
        items = [Item(name, None) for name in names if self.chance(0.8)]
        for _ in range(self.random.randint(0 if items else 1, 2)):
            items.append(Item(self.aggregate_expression(scope, names), self.new_variable()))
        having = (Op(self.one(["<", ">", "!="]), (self.aggregate(scope), self.one(NUMBERS[:6]))), ) if self.chance(0.25) else ()
        return Select(where, "", tuple(items), tuple(keys) or None, having)

    def plain(self, where, scope):
        if self.chance(0.25) and scope:
            return Select(where, self.one(["", "DISTINCT"]))
        chosen = self.random.sample(scope, self.random.randint(1, len(scope))) if scope else []
        items = [Item(var, None) for var in chosen]
        while self.chance(0.3) or not items:
            make = self.exists if self.chance(0.06) else self.expression
            items.append(Item(make(scope, 2), self.new_variable()))
        return Select(where, "DISTINCT" if self.chance(0.25) else "", tuple(items))

    def graph(self, make):
        before, self.active = self.active, self.one(GRAPHS[:2])
        name = self.active if self.chance(0.4) else self.one(GRAPH_VARIABLES) if self.chance(0.9) else self.one(GRAPHS)
        if isinstance(name, Var):
            self.witness.setdefault(name, self.active)
        group = make()
        self.active = before
        return Graph(name, group)

    def select(self, depth):
        where = self.group(depth)
        scope = self.variables_of(where)
        select = self.grouped(where, scope) if self.chance(0.22) else self.plain(where, scope)
        grouped = is_grouped(select)
        visible = projected(select)
        if self.chance(0.35) and visible:
            names = self.random.sample(visible, self.random.randint(1, len(visible)))
            order = [Item(name, None, self.chance(0.4)) for name in names]
            if select.modifier == "" and self.chance(0.2):
                order.insert(0, Item(self.aggregate(scope) if grouped else self.expression(scope, 1), None, self.chance(0.4)))
            select = select._replace(order=tuple(order))
            if self.chance(0.4):
                select = select._replace(limit=self.random.randint(0, 5), offset=self.one([None, None, 0, 1, 2]))
        if not grouped and self.chance(0.08):
            select = select._replace(values=self.values(scope))
        return select

    def query(self):
        self.forget()
        depth = self.weighted([(3, 1), (5, 2), (3, 3)])
        form = self.weighted([(16, "SELECT"), (1.5, "ASK"), (1.5, "CONSTRUCT")])
        if form == "SELECT":
            query = Query(self.select(depth))
        elif form == "ASK":
            query = Query(Select(self.group(depth)), form)
        else:
            query = Query(Select(self.group(depth)), form, self.several(1, 2, lambda: self.triple("t", False, with_paths=False)))
        if self.chance(0.12):
            query = query._replace(default_graphs=tuple(self.random.sample(GRAPHS, self.random.randint(0, 3))),
                                   named_graphs=tuple(self.random.sample(GRAPHS, self.random.randint(0, 2))))
        return query

    def twin(self, node):
        """The same request with other constants: a plan made for one may serve the other."""
        if isinstance(node, Term):
            for pool in (SUBJECTS, NUMBERS, STRINGS, TIMES):
                if node in pool and self.chance(0.6):
                    return self.one([term for term in pool if (term.datatype, not term.lang) == (node.datatype, not node.lang)])
            return node
        if not isinstance(node, tuple):
            return node
        parts = [self.twin(part) for part in node]
        return type(node)(*parts) if hasattr(node, "_fields") else tuple(parts)

    def bound_query(self):
        """A query with a parameter, or without where no variable can be one."""
        query = self.query()
        scope = [var for var in self.variables_of(query.select.where) if not sets_variable(query.select, var)]
        if query.form != "SELECT" or not scope:
            return query
        var = self.one(scope)
        term = self.witness.get(var)
        fits = term is not None and term.kind != "bnode" and self.chance(0.8)
        return Bound(query, var, term if fits else self.any_object_constant())

    # --- updates ---------------------------------------------------------------------------------------------------------

    def template(self, label):
        def triple():
            return self.triple(label, False, with_paths=False)
        return tuple(Quads(self.weighted([(4, None), (2, self.one(GRAPHS)), (1, Var("g"))]), self.several(1, 2, triple))
                     for _ in range(self.random.randint(1, 2)))

    def ground(self, with_bnodes):
        """@with_bnodes: their labels are new ones: no two INSERT DATA may share one."""
        *triple, graph = self.quad()
        if not with_bnodes and any(term.kind == "bnode" for term in triple):
            return self.ground(with_bnodes)
        return Quads(graph, (tuple(bnode(f"{term.lexical}{self.fresh}") if term.kind == "bnode" else term for term in triple), ))

    def modify(self):
        depth = self.random.randint(0, 2)
        where = self.group(depth)
        kind = self.weighted([(3, "both"), (2, "insert"), (2, "delete")])
        modify = Modify(() if kind == "insert" else self.template(None), () if kind == "delete" else self.template("t"), where)
        if self.chance(0.25):
            modify = modify._replace(with_graph=self.one(GRAPHS))
        if self.chance(0.15):
            modify = modify._replace(using=tuple(self.random.sample(GRAPHS, self.random.randint(1, 2))),
                                     using_named=tuple(self.random.sample(GRAPHS, self.random.randint(0, 2))))
        return modify

    def manage(self):
        verb = self.weighted([(2, "CLEAR"), (1, "DROP"), (1, "COPY"), (1, "MOVE"), (1, "ADD")])
        if verb in ("CLEAR", "DROP"):
            return Manage(verb, (self.one(["DEFAULT", "NAMED", "ALL"] + 2 * GRAPHS), ), True)
        source, target = self.random.sample(["DEFAULT"] + GRAPHS[:2], 2)
        return Manage(verb, (source, target), True)

    def delete_where(self):
        quads = self.template(None)
        return DeleteWhere(quads)

    def operation(self):
        kind = self.weighted([(2, "insert"), (2, "delete"), (6, "modify"), (2, "where"), (1.5, "manage")])
        self.fresh += 1
        if kind == "insert":
            return Data("INSERT DATA", self.several(1, 3, lambda: self.ground(True)))
        if kind == "delete":
            return Data("DELETE DATA", self.several(1, 3, lambda: self.ground(False)))
        if kind == "modify":
            return self.modify()
        return self.delete_where() if kind == "where" else self.manage()

    def update(self):
        self.forget()
        return Update(self.several(1, 3, self.operation))
