#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random SPARQL through the real daemon and through a naive evaluator of the specification: the answers must be equal.

differential.py [N] [SEED] [--only CASE] [--hierarchies]: N queries and updates (default 300). A case has a name,
such as 7-12: given with the same seed to --only, it runs alone. A failing case is made small,
then printed: data, request, what was expected and what came. One of six sets of data is a hierarchy, all with --hierarchies.
"""
import argparse
import contextlib
import random
import sys
import time
import zlib

from compare import ordered_as, same_rows
from daemon_side import Daemon, DaemonError, to_nquads
from evaluator import TooLarge, Undetermined, run_query
from generator import Generator
from hierarchy import Hierarchies, Vocabulary, make_quads
from shrink import shrink
from syntax import Bound, Query, print_term, sets_variable, substitute, to_text
from terms import Term, Var
from updates import Store

CASES_PER_DATASET = 25
UPDATE_SHARE = 0.12
TWIN_SHARE = 0.2
BOUND_SHARE = 0.15
WARM_EVERY = 2  # one of so many queries finds a plan that was made for other constants, by a hash of its text
CHANNEL_EVERY = 3  # one of so many SELECTs goes through a channel, by a hash of its text
MAX_ROWS = 400
HIERARCHY_EVERY = 6  # one of so many sets of data is a hierarchy


class Difference(Exception):
    """kind: what shrinking must keep."""

    def __init__(self, kind, expected, got):
        super().__init__(kind)
        self.kind, self.expected, self.got = kind, expected, got


def make_dataset(quads):
    dataset = {None: set()}
    for subject, predicate, object_, name in quads:
        dataset.setdefault(name, set()).add((subject, predicate, object_))
    return {name: frozenset(triples) for name, triples in dataset.items()}


def terms_of(node):
    if isinstance(node, Term):
        yield node
    elif isinstance(node, tuple):
        for part in node:
            yield from terms_of(part)


def show_row(row):
    return "  " + (" ".join("-" if term is None else print_term(term) for term in row) or "()")


def show_rows(variables, rows):
    return " ".join("?" + name for name in variables) + "\n" + "\n".join(show_row(row) for row in rows[:25])


class Expected:
    """What the evaluator says of a request; Undetermined and TooLarge pass through."""

    def __init__(self, request, quads):
        self.given = set(terms_of(quads)) | set(terms_of(request))
        if isinstance(request, Bound):
            if sets_variable(request.query.select, request.var):
                raise Undetermined()
            request = request.query._replace(select=substitute(request.query.select, request.var, request.term))
        self.request = request
        if isinstance(request, Query):
            self.result = run_query(request, make_dataset(quads))
            if request.form == "SELECT" and len(self.result[1]) > MAX_ROWS:
                raise TooLarge()
        else:
            store = Store(make_dataset(quads))
            store.apply(request)
            self.result = list(store.quads())

    def check(self, got):
        """Raises Difference."""
        if not isinstance(self.request, Query):
            self.check_quads([quad if len(quad) == 4 else (*quad, None) for quad in got])
        elif self.request.form == "SELECT":
            self.check_rows(got)
        elif self.request.form == "CONSTRUCT":
            self.check_quads(got)
        elif got != self.result:
            raise Difference("answer", str(self.result), str(got))

    def check_quads(self, got):
        expected = [tuple(quad) for quad in self.result]
        if not same_rows(expected, got, self.given):
            raise Difference("quads", show_rows((), sorted(expected, key=repr)), show_rows((), sorted(got, key=repr)))

    def check_rows(self, got):
        variables, solutions, keys = self.result
        if set(got[0]) != set(variables):
            raise Difference("variables", " ".join(variables), " ".join(got[0]))
        expected = [tuple(solution.get(name) for name in variables) for solution in solutions]
        rows = [tuple(solution.get(Var(name)) for name in variables) for solution in got[1]]
        shown = show_rows(variables, expected), show_rows(variables, rows)
        if not same_rows(expected, rows, self.given):
            raise Difference("rows", *shown)
        if not ordered_as(expected, keys, rows, self.given):
            raise Difference("order", *shown)


class Runner:
    """Runs cases on one daemon, with its data loaded once for all cases that share them."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.loaded = None
        self.n_skipped = 0

    def load(self, quads):
        if self.loaded != quads:
            self.loaded = None
            self.daemon.load(quads)
            self.loaded = quads

    def ask(self, request, quads):
        text = to_text(request)
        if isinstance(request, Bound):
            self.load(quads)
            return self.daemon.query_bound(text, request.var, request.term)
        if isinstance(request, Query):
            self.load(quads)
            self.warm(request, text)
            if request.form == "SELECT" and zlib.crc32(text.encode()) % CHANNEL_EVERY == 0:
                return self.daemon.query_channel(text)
            return self.daemon.query(text, request.form)
        self.loaded = None
        self.load(quads)
        self.loaded = None
        self.daemon.update(text)
        return self.daemon.dump()

    def warm(self, request, text):
        """Asks the same with other constants, so that a plan made for those is there; what comes out is of no interest."""
        if zlib.crc32(text.encode()) % WARM_EVERY == 0:
            with contextlib.suppress(DaemonError):
                self.daemon.query(to_text(Generator(random.Random(text)).twin(request)), request.form)

    def difference(self, request, quads):
        """None, or the Difference; Undetermined and TooLarge pass through."""
        expected = Expected(request, quads)
        try:
            expected.check(self.ask(request, quads))
        except Difference as difference:
            return difference
        except DaemonError as error:
            return Difference(error.kind, "an answer", str(error))
        return None

    def still_fails(self, kind):
        def fails(request, quads):
            try:
                difference = self.difference(request, quads)
            except (Undetermined, TooLarge, ValueError, TypeError, AttributeError, KeyError, IndexError):
                return False
            return difference is not None and difference.kind == kind
        return fails

    def report(self, name, request, quads, difference):
        request, quads = shrink(request, quads, self.still_fails(difference.kind))
        difference = self.difference(request, quads) or difference
        bound = f"with ?{request.var} = {print_term(request.term)}\n" if isinstance(request, Bound) else ""
        print(f"--- {name}: {difference.kind}\ndata:\n{to_nquads(quads)}request:\n{to_text(request)}{bound}"
              f"expected: {difference.expected}\ngot: {difference.got}\n", flush=True)


def make_hierarchy_cases(name, chance):
    """Paths joined with patterns over one small hierarchy."""
    quads = make_quads(chance)
    vocabulary = Vocabulary([quad[:3] for quad in quads])
    for number in range(CASES_PER_DATASET):
        yield f"{name}-{number}", Hierarchies(chance, vocabulary, False).query(), quads


def make_cases(seed, only_hierarchies=False):
    """(name, request, quads) without end. Some queries come again with other constants or other data: cached plans must serve."""
    before = []
    for batch in range(sys.maxsize):
        if only_hierarchies or batch % HIERARCHY_EVERY == HIERARCHY_EVERY - 1:
            yield from make_hierarchy_cases(batch, random.Random(f"{seed}/h{batch}"))
            continue
        generator = Generator(random.Random(f"{seed}/{batch}"))
        quads = generator.data()
        queries = []
        for number in range(CASES_PER_DATASET):
            if generator.chance(UPDATE_SHARE):
                request = generator.update()
            elif generator.chance(TWIN_SHARE) and before + queries:
                request = generator.twin(generator.one(before + queries))
            else:
                request = generator.bound_query() if generator.chance(BOUND_SHARE) else generator.query()
                queries.append(request)
            yield f"{batch}-{number}", request, quads
        before = queries


def run(runner, arguments):
    n_done, failures = 0, {}
    for name, request, quads in make_cases(arguments.seed, arguments.hierarchies):
        if arguments.only and name != arguments.only:
            continue
        try:
            difference = runner.difference(request, quads)
        except (Undetermined, TooLarge):
            runner.n_skipped += 1
            continue
        n_done += 1
        if difference is not None:
            failures.setdefault(difference.kind, []).append(name)
            if len(failures[difference.kind]) <= arguments.each:
                runner.report(name, request, quads, difference)
        if n_done == arguments.n or arguments.only:
            break
    return n_done, failures


def main():
    parser = argparse.ArgumentParser(description="SPARQL through queryd and through a naive evaluator")
    parser.add_argument("n", nargs="?", type=int, default=300, help="cases")
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("--only", metavar="CASE")
    parser.add_argument("--hierarchies", action="store_true", help="only paths joined with patterns over hierarchies")
    parser.add_argument("--each", type=int, default=3, help="how many cases of one kind of difference are shrunk and printed")
    arguments = parser.parse_args()
    start = time.monotonic()
    daemon = Daemon()
    runner = Runner(daemon)
    try:
        n_done, failures = run(runner, arguments)
        plans = daemon.count_plans()
    finally:
        sys.stdout.flush()
        with contextlib.redirect_stdout(sys.stderr):
            daemon.finish()
    for kind, names in failures.items():
        print(f"{len(names)} × {kind}: {' '.join(names[:10])}")
    print("plans: {} found, {} made".format(*plans))
    n_failed = sum(map(len, failures.values()))
    print(f"differential: {n_done} cases of seed {arguments.seed}, {n_failed} differ, "
          f"{runner.n_skipped} undetermined or too large, {time.monotonic() - start:.1f} s")
    return 1 if failures or n_done == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
