# SPDX-License-Identifier: LGPL-2.1-or-later
"""Queries that join repeated paths with patterns over a hierarchy: generated data and queries for the naive evaluator, and real
ontologies, with the evaluator made fast enough for them by indexes.

hierarchy.py [N] [SEED] [--only NUMBER] [--minutes M] [FILE.nt…]: N queries over each file (N-Triples, .xz too), for at most M
minutes each; what takes above two seconds is printed. Without a file: *.nt.xz of the folder in QUERYD_RDF_SAMPLES, or of
../shared/rdf-samples.

Joins are timed, not the size of what they ask for: over a real file at most MAX_COUNTED solutions are counted, and a part is
connected by a variable that is bound in every solution of what is before it, since an unbound one is joined with everything.
"""
import argparse
import contextlib
import glob
import lzma
import os
import random
import sys
import time
from collections import Counter, defaultdict

import evaluator
from compare import same_rows
from daemon_side import Daemon, DaemonError, parse_lines
from evaluator import TooLarge, Undetermined
from syntax import (NS, Aggregate, Alternative, Call, Exists, Filter, Graph, Group, Inverse, Item, Minus, Optional_, Query, Repeat,
                    Select, Sequence, Triples, Union, Values, to_text)
from terms import Term, Var, iri, literal

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TYPE = iri("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
CLASS, SUB, PART, NAME = (iri(NS + name) for name in ("Class", "sub", "part", "name"))
SLOW_SECONDS = 2
CHECK_SECONDS = 1  # for the evaluator; what it does not finish is timed only
MAX_SOLUTIONS = 30000
MAX_ROWS = 300  # that are compared one by one, more by their number
MAX_COUNTED = 200000
DEADLINE_MS = 6000
N_WORST = 5  # times that are printed


# --- data -------------------------------------------------------------------------------------------------------------------

def make_quads(chance):
    """A small hierarchy with second parents, a second relation and a part of it in a graph."""
    classes = [iri(f"{NS}c{i}") for i in range(chance.randint(5, 25))]
    quads = []
    for i, term in enumerate(classes):
        quads.append((term, TYPE, CLASS if chance.random() < 0.8 else PART, None))
        quads += [(term, SUB, chance.choice(classes[:i]), None) for _ in range(chance.randint(1, 2)) if i > 0]
        if chance.random() < 0.4:
            quads.append((term, PART, chance.choice(classes), None))
        if chance.random() < 0.6:
            quads.append((term, NAME, literal(f"n{chance.randint(0, 4)}"), None))
    graph = iri(NS + "g1")
    quads += [(*quad[:3], graph) for quad in quads if chance.random() < 0.4]
    return tuple(dict.fromkeys(quads))


class Vocabulary:
    """What queries over a set of triples name."""

    def __init__(self, triples):
        subjects, objects = defaultdict(set), defaultdict(set)
        counts = Counter(p for _, p, _ in triples)
        for s, p, o in triples:
            subjects[p].add(s)
            if o.kind != "literal":
                objects[p].add(o)
        known = [p for p, _ in counts.most_common(25)]
        self.links = [p for p in known if len(subjects[p] & objects[p]) > 2 and p.lexical != TYPE.lexical][:5] or known[:1]
        self.others = [p for p in known if p not in self.links and p.lexical != TYPE.lexical] or known
        self.type = next((p for p in counts if p.lexical == TYPE.lexical), TYPE)
        self.types = [o for o, _ in Counter(o for _, p, o in triples if p is self.type and o.kind == "iri").most_common(6)]
        nodes = [term for p in self.links for term in subjects[p] | objects[p] if term.kind == "iri"]
        self.constants = sorted(set(nodes)) or [CLASS]
        self.hubs = [term for term, _ in Counter(o for _, p, o in triples if p in self.links and o.kind == "iri").most_common(40)]


# --- queries ----------------------------------------------------------------------------------------------------------------

def sure_variables(elements):
    """What every solution of @elements binds, in order."""
    found = []
    for element in elements:
        if isinstance(element, Union):
            arms = [sure_variables(arm.elements) for arm in element.branches]
            found += [name for name in arms[0] if all(name in arm for arm in arms)]
        elif isinstance(element, (Triples, Values, Select, Graph)):
            found += evaluator.visible_variables(Group((element, )))
    return list(dict.fromkeys(found))


def is_connected(elements):
    """Whether each part shares what is sure to be bound before it, if anything is."""
    sure = [set(sure_variables(elements[:i])) for i in range(len(elements))]
    return all(not before or isinstance(element, (Filter, Minus)) or before & set(evaluator.visible_variables(Group((element, ))))
               for before, element in zip(sure, elements))


class Hierarchies:
    """@chance: the only source of chance. Every pattern shares a variable with what is before it, most often; always with
    @bounded, for data of any size."""

    def __init__(self, chance, vocabulary, bounded):
        self.random, self.vocabulary, self.bounded = chance, vocabulary, bounded
        self.fresh = 0
        self.loose = []  # variables that may be unbound

    def one(self, values):
        return self.random.choice(values)

    def weighted(self, *pairs):
        return self.random.choices([value for _, value in pairs], [weight for weight, _ in pairs])[0]

    def link(self):
        return self.vocabulary.links[0] if self.random.random() < 0.6 else self.one(self.vocabulary.links)

    def new(self):
        self.fresh += 1
        return Var(f"v{self.fresh}")

    def constant(self):
        return self.one(self.vocabulary.hubs if self.vocabulary.hubs and self.random.random() < 0.5 else self.vocabulary.constants)

    def path(self):
        sign = self.weighted((3, "*"), (4, "+"), (1, "?"))
        repeated = Repeat(self.weighted((6, self.link()), (1, Inverse(self.link())), (1, Alternative(self.link(), self.link())),
                                        (1, Sequence(self.link(), self.link())),
                                        (1, Alternative(self.link(), Inverse(self.one(self.vocabulary.others))))), sign)
        return self.weighted((7, repeated), (1, Inverse(repeated)), (1, Sequence(self.link(), repeated)),
                             (1, Sequence(repeated, self.link())), (1, Sequence(repeated, self.one(self.vocabulary.others))),
                             (1, Alternative(repeated, self.one(self.vocabulary.others))))

    def pattern(self, scope, with_path=0.45):
        """A triple that starts or ends at a variable of @scope, and the variables that it adds."""
        start = self.one(scope)
        if self.random.random() < with_path:
            end = self.weighted((6, self.new()), (3, self.constant()), (1, self.one(scope + self.loose)))
            path = self.path()
            return (start, path, end) if self.random.random() < 0.7 else (end, path, start)
        return self.weighted((3, (start, self.vocabulary.type, self.one(self.vocabulary.types or [CLASS]))),
                             (3, (start, self.one(self.vocabulary.others), self.new())),
                             (2, (start, self.link(), self.new())), (1, (self.new(), self.link(), start)))

    def triples(self, scope, n_most, with_path=0.45):
        made = []
        for _ in range(self.random.randint(1, n_most)):
            made.append(self.pattern(scope, with_path))
            scope = scope + [part for part in made[-1] if isinstance(part, Var)]
        self.random.shuffle(made)
        return Triples(tuple(made))

    def subselect(self, scope):
        inner = Group((self.triples([self.one(scope)], 2, 0.6), ))
        names = evaluator.visible_variables(inner)
        kind = self.weighted((3, ""), (3, "DISTINCT"), (2, "group"))
        if kind != "group":
            return Select(inner, kind, tuple(Item(name, None) for name in names[:2]))
        key = self.one([name for name in names if name in scope] or names)
        return Select(inner, "", (Item(key, None), Item(Aggregate("COUNT", None, False, None), self.new())), (Item(key, None), ))

    def values(self, scope):
        return Values((self.one(scope), ), tuple((self.constant(), ) for _ in range(self.random.randint(1, 4))))

    def element(self, scope):
        make = self.weighted((4, "triples"), (3, "optional"), (2, "union"), (2, "minus"), (3, "exists"), (3, "select"),
                             (2, "values"), (0 if self.bounded else 1, "graph"))
        if self.bounded:
            scope = [self.one(scope)]
        if make == "triples":
            return self.triples(scope, 2)
        if make == "optional":
            return Optional_(Group((self.triples(scope, 2, 0.6), )))
        if make == "union":
            start = [self.one(scope)]
            return Union((Group((self.triples(start, 2, 0.6), )), Group((self.triples(start, 1), ))))
        if make == "minus":
            return Minus(Group((self.triples(scope, 2, 0.6), )))
        if make == "exists":
            inner = self.subselect(scope) if self.random.random() < 0.2 else self.triples(scope, 2, 0.6)
            return Filter(Exists(self.random.random() < 0.5, Group((inner, ))))
        if make == "select":
            return self.subselect(scope)
        return self.values(scope) if make == "values" else Graph(iri(NS + "g1"), Group((self.triples(scope, 2), )))

    def group(self):
        """Connected patterns and what is joined with them, in any order."""
        self.fresh = 0
        scope = [self.new()]
        elements = [self.triples(scope, 2)]
        for _ in range(self.random.randint(1, 3)):
            visible = evaluator.visible_variables(Group(tuple(elements))) or scope
            scope = sure_variables(elements) if self.bounded else visible
            self.loose = [name for name in visible if name not in scope]
            elements.append(self.element(scope))
        if self.random.random() < 0.3:
            shuffled = self.random.sample(elements, len(elements))
            elements = shuffled if not self.bounded or is_connected(shuffled) else elements
        return Group(tuple(elements))

    def query(self):
        return Query(Select(self.group()))


class Node(Term):
    """A term of which there is one object, so that it is compared as one."""
    __slots__ = ()
    __hash__ = object.__hash__
    __eq__ = object.__eq__
    __ne__ = object.__ne__


def unite(triples):
    """The same triples with one object for each term."""
    nodes = {}
    return [tuple(nodes.setdefault(term, Node(*term)) for term in triple) for triple in triples]


# --- the evaluator with indexes ---------------------------------------------------------------------------------------------

class Index(frozenset):
    """A graph that finds triples by what is known of them."""

    def __new__(cls, triples):
        self = super().__new__(cls, triples)
        self.ways = {}
        self.nodes = {triple[0] for triple in self} | {triple[2] for triple in self}
        return self

    def find(self, wanted):
        way = tuple(place for place, part in enumerate(wanted) if part is not None)
        if way not in self.ways:
            self.ways[way] = defaultdict(list)
            for triple in self:
                self.ways[way][tuple(triple[place] for place in way)].append(triple)
        return self.ways[way].get(tuple(wanted[place] for place in way), ())


class Clock:
    """When the evaluator gives up."""
    ends = 0


def check_time(solutions):
    if len(solutions) > MAX_SOLUTIONS or time.monotonic() > Clock.ends:
        raise TooLarge()
    return solutions


def fast_match_triple(triple, graph, solution, outer):
    """As match_triple(), from what @solution binds. A variable is no node that the graph has not."""
    subject, predicate, object_ = triple
    check_time(())
    if isinstance(predicate, (Term, Var)):
        wanted = [evaluator.resolve(part, solution) for part in triple]
        found = graph.find(wanted)
    else:
        ends = [evaluator.resolve(part, solution) for part in (subject, object_)]
        apart = [part for part, end in zip((subject, object_), ends)
                 if evaluator.is_variable(part) and end is not None and end not in graph.nodes]
        if any(part in outer for part in apart):
            raise Undetermined()
        if apart:
            return
        found = [(start, None, end) for start, end in PATHS(predicate, graph, *ends)]
    for binding in found:
        extended = dict(solution)
        for part, term in zip(triple, binding):
            if term is not None and evaluator.is_variable(part) and extended.setdefault(part, term) != term:
                break
        else:
            yield extended


PATHS = evaluator.eval_path


def fast_eval_path(path, graph, start, end):
    check_time(())
    if isinstance(path, Term):
        return [(s, o) for s, _, o in graph.find((start, path, end))]
    if isinstance(path, Sequence) and (start is not None or end is None):
        firsts = fast_eval_path(path.first, graph, start, None)
        seconds = {middle: fast_eval_path(path.second, graph, middle, end) for middle in {b for _, b in firsts}}
        return check_time([(a, c) for a, b in firsts for _, c in seconds[b]])
    if isinstance(path, Sequence):
        seconds = fast_eval_path(path.second, graph, None, end)
        firsts = {middle: fast_eval_path(path.first, graph, None, middle) for middle in {b for b, _ in seconds}}
        return check_time([(a, c) for b, c in seconds for a, _ in firsts[b]])
    return PATHS(path, graph, start, end)


def bucket(rows, others):
    """The variables that all of both bind, and the rows of @others by them."""
    shared = [var for var in (set.intersection(*map(set, rows)) if rows else ())
              if others and all(var in other for other in others)]
    found = defaultdict(list)
    for other in others:
        found[tuple(other[var] for var in shared)].append(other)
    return lambda row: found.get(tuple(row[var] for var in shared), ())


def fast_join(left, right):
    partners = bucket(left, right)
    merged = []
    for a in left:
        merged += [{**a, **b} for b in partners(a) if evaluator.compatible(a, b)]
        check_time(merged)
    return merged


def fast_left_join(left, right, condition):
    partners = bucket(left, right)
    result = []
    for a in left:
        matching = [merged for merged in ({**a, **b} for b in partners(a) if evaluator.compatible(a, b)) if condition(merged)]
        result += matching or [a]
        check_time(result)
    return result


def fast_minus(left, right):
    partners = bucket(left, right)
    check_time(left)
    return [a for a in left if not any(evaluator.compatible(a, b) and a.keys() & b.keys() for b in partners(a))]


FAST = {"match_triple": fast_match_triple, "eval_path": fast_eval_path, "join": fast_join, "left_join": fast_left_join,
        "minus": fast_minus, "limited": check_time, "nodes": lambda graph: graph.nodes}


@contextlib.contextmanager
def indexed():
    """The evaluator's definitions, by index and hash, while inside."""
    kept = {name: getattr(evaluator, name) for name in FAST}
    for name, function in FAST.items():
        setattr(evaluator, name, function)
    try:
        yield
    finally:
        for name, function in kept.items():
            setattr(evaluator, name, function)


def plain(term):
    return Term(*term) if term is not None else None


# --- real ontologies --------------------------------------------------------------------------------------------------------

class Trial:
    """One file's queries: (seconds, number, text) of each, and what differed."""

    def __init__(self, daemon, triples, check_seconds):
        self.daemon, self.check_seconds = daemon, check_seconds
        self.dataset = {None: Index(triples)}
        self.times, self.failures = [], []
        self.n_compared = self.n_rows_compared = 0

    def expected(self, query):
        """The rows, or None where they are too many or take too long."""
        Clock.ends = time.monotonic() + self.check_seconds
        try:
            variables, rows, _ = evaluator.run_query(query, self.dataset)
        except (TooLarge, Undetermined, RecursionError):
            return None, None
        return variables, rows

    def count(self, text):
        start = time.monotonic()
        answer = self.daemon.query(text, "SELECT", timeout_ms=DEADLINE_MS)
        return time.monotonic() - start, int(answer[1][0]["n"].lexical)

    def run(self, number, query):
        text = to_text(query)
        count = text.replace("SELECT *", "SELECT (COUNT(*) AS ?n) { { SELECT *", 1) + f" LIMIT {MAX_COUNTED} }} }}"
        variables, rows = self.expected(query)
        start = time.monotonic()
        try:
            seconds, n_rows = self.count(count)
            if rows is not None and len(rows) <= MAX_ROWS:
                answer = self.daemon.query(text, "SELECT")
        except DaemonError as error:
            self.times.append((time.monotonic() - start, number, f"{error} {text}"))
            if rows is not None:
                self.failures.append((number, str(error), text))
            return
        self.times.append((seconds, number, f"{n_rows} rows {'' if rows is not None else 'unchecked '}{text}"))
        if rows is None:
            return
        self.n_compared += 1
        if n_rows != len(rows):
            self.failures.append((number, f"{len(rows)} rows expected, {n_rows} came", text))
        elif len(rows) <= MAX_ROWS:
            self.n_rows_compared += 1
            expected = [tuple(plain(row.get(name)) for name in variables) for row in rows]
            got = [tuple(row.get(str(name)) for name in variables) for row in answer[1]]
            if not any(term and term.kind == "bnode" for row in expected for term in row) and not same_rows(expected, got, set()):
                self.failures.append((number, "other rows", text))


def find_samples():
    folder = os.environ.get("QUERYD_RDF_SAMPLES") or os.path.join(os.path.dirname(ROOT), "shared", "rdf-samples")
    return sorted(glob.glob(os.path.join(folder, "*.nt.xz")))


def read_triples(path):
    opened = lzma.open if path.endswith(".xz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        return parse_lines(file.read())


def run_file(daemon, path, arguments):
    triples = unite(read_triples(path))
    daemon.load([(*triple, None) for triple in triples])
    vocabulary = Vocabulary(triples)
    trial = Trial(daemon, triples, arguments.check)
    ends = time.monotonic() + arguments.minutes * 60
    for number in range(arguments.n):
        if arguments.only in (None, number) and time.monotonic() < ends:
            query = Hierarchies(random.Random(f"{arguments.seed}/{number}"), vocabulary, True).query()
            trial.run(number, query)
            if trial.times and trial.times[-1][0] > SLOW_SECONDS:
                print("--- {1} took {0:.1f} s: {2}".format(*trial.times[-1]), flush=True)
    slow = [entry for entry in trial.times if entry[0] > SLOW_SECONDS]
    for number, what, text in trial.failures:
        print(f"--- {number} differs: {what}\n{text}")
    worst = sorted(entry[0] for entry in trial.times)
    print(f"{os.path.basename(path)}: {len(worst)} of {arguments.n} queries of seed {arguments.seed} ran, "
          f"{trial.n_compared} compared ({trial.n_rows_compared} row by row), {len(trial.failures)} differ, "
          f"{len(slow)} above {SLOW_SECONDS} s; median {worst[len(worst) // 2] * 1000:.1f} ms, "
          f"99 % {worst[len(worst) * 99 // 100] * 1000:.0f} ms, worst "
          f"{' '.join(f'{seconds:.2f}' for seconds in worst[:-N_WORST - 1:-1])} s", flush=True)
    return not trial.failures and not slow


def main():
    parser = argparse.ArgumentParser(description="paths joined with patterns over real hierarchies")
    parser.add_argument("n", nargs="?", type=int, default=200, help="queries of each file")
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--check", type=float, default=CHECK_SECONDS, help="seconds that the evaluator has for a query")
    parser.add_argument("--only", type=int, metavar="NUMBER")
    parser.add_argument("--minutes", type=float, default=20, help="for each file; later queries are left out")
    arguments = parser.parse_intermixed_args()
    files = arguments.files or find_samples()
    if not files:
        print("hierarchy: skipped: no *.nt.xz in the folder that QUERYD_RDF_SAMPLES names, or in ../shared/rdf-samples")
        return 0
    daemon = Daemon()
    try:
        with indexed():
            passed = [run_file(daemon, path, arguments) for path in files]
    finally:
        sys.stdout.flush()
        with contextlib.redirect_stdout(sys.stderr):
            daemon.finish()
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
