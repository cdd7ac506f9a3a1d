# SPDX-License-Identifier: LGPL-2.1-or-later
"""SPARQL 1.1 Update on the evaluator's datasets, by the definitions of its §4."""
from evaluator import Scope, eval_group, fresh_bnode, make_dataset, resolve
from syntax import Data, DeleteWhere, Graph, Group, Manage, Triples
from terms import Term


class Store:
    """A dataset that operations change; empty graphs are forgotten."""

    def __init__(self, dataset):
        self.graphs = {name: set(triples) for name, triples in dataset.items()}
        self.graphs.setdefault(None, set())
        self.n_operations = 0

    def dataset(self):
        return {name: frozenset(triples) for name, triples in self.graphs.items() if triples or name is None}

    def quads(self):
        return {(*triple, name) for name, triples in self.graphs.items() for triple in triples}

    def apply(self, update):
        for operation in update.operations:
            self.n_operations += 1
            if isinstance(operation, Data):
                self.change_data(operation)
            elif isinstance(operation, Manage):
                self.manage(operation)
            elif isinstance(operation, DeleteWhere):
                self.delete_where(operation)
            else:
                self.modify(operation)

    def make_bnode(self, label, index):
        return fresh_bnode(f"{label}-{self.n_operations}", index)

    def change_data(self, operation):
        for block in operation.quads:
            for triple in block.triples:
                if operation.verb == "INSERT DATA":
                    renamed = tuple(self.make_bnode(part.lexical, 0) if part.kind == "bnode" else part for part in triple)
                    self.graphs.setdefault(block.graph, set()).add(renamed)
                else:
                    self.graphs.get(block.graph, set()).discard(triple)

    def delete_where(self, operation):
        elements = tuple(Triples(block.triples) if block.graph is None else Graph(block.graph, Group((Triples(block.triples), )))
                         for block in operation.quads)
        dataset = self.dataset()
        solutions = eval_group(Group(elements), Scope(dataset, dataset[None], {}))
        self.replace_quads(self.fill(operation.quads, solutions, None), set())

    def modify(self, operation):
        dataset = self.dataset()
        if operation.using or operation.using_named:
            chosen = make_dataset(dataset, operation.using, operation.using_named)
        else:
            chosen = dataset
        graph = chosen[None]
        if operation.with_graph and not operation.using and not operation.using_named:
            graph = dataset.get(operation.with_graph, frozenset())
        solutions = eval_group(operation.where, Scope(chosen, graph, {}))
        self.replace_quads(self.fill(operation.delete, solutions, operation.with_graph),
                           self.fill(operation.insert, solutions, operation.with_graph))

    def fill(self, blocks, solutions, default):
        """The quads that the templates make, §3.1.3: incomplete and illegal ones are left out."""
        quads = set()
        for index, solution in enumerate(solutions):
            for block in blocks:
                name = default if block.graph is None else resolve(block.graph, solution)
                if block.graph is not None and (name is None or name.kind != "iri"):
                    continue
                for triple in block.triples:
                    terms = [self.make_bnode(part.lexical, index) if isinstance(part, Term) and part.kind == "bnode"
                             else resolve(part, solution) for part in triple]
                    if None not in terms and terms[0].kind != "literal" and terms[1].kind == "iri":
                        quads.add((*terms, name))
        return quads

    def replace_quads(self, deleted, inserted):
        for *triple, name in deleted:
            self.graphs.get(name, set()).discard(tuple(triple))
        for *triple, name in inserted:
            self.graphs.setdefault(name, set()).add(tuple(triple))

    def manage(self, operation):
        names = [None if argument == "DEFAULT" else argument for argument in operation.arguments]
        if operation.verb in ("CLEAR", "DROP"):
            target = names[0]
            for name in list(self.graphs):
                if target == "ALL" or (target == "NAMED" and name is not None) or name == target:
                    self.graphs[name] = set()
            return
        source, target = names
        triples = set(self.graphs.get(source, set()))
        if not triples and source is not None:
            return  # the source does not exist: SILENT does nothing
        if operation.verb == "ADD":
            triples |= self.graphs.get(target, set())
        self.graphs[target] = triples
        if operation.verb == "MOVE":
            self.graphs[source] = set()
