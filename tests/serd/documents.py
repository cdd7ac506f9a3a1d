# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random documents in Turtle, TriG, N-Triples and N-Quads.

Each comes from a seed: valid ones use what the grammars offer, the others have one character wrong."""
import random

LOCALS = ["a", "b1", "c-d", "e.f", "_g", "0h", "i:j", "k%41", "l\\~m", "n\\,o", "é", "p·q", "r_", "", "\\-s"]
TAGS = ["en", "de-AT", "x-a-b-1", "EN"]
TYPES = ["http://www.w3.org/2001/XMLSchema#" + name for name in ("integer", "date", "string", "boolean")] + ["http://t/é"]
ESCAPES = ["\\t", "\\n", "\\r", '\\"', "\\\\", "\\u00e9", "\\U0001F600", "\\b", "\\f", "\\'"]
TEXTS = ["", "x", "a b", "é", "😀", "'", "#", ".", "<>", "\u0080", "\ufffd", "{}", "@en", "^^"]
SPACES = [" ", "\t", "\n", "\r\n", "  ", " # comment <\n", "\n#\n"]


class Writer:
    """One document; the random numbers decide every choice that its grammar leaves."""

    def __init__(self, seed, fmt):
        self.random, self.fmt = random.Random(f"{seed} {fmt}"), fmt
        self.lines = fmt in ("ntriples", "nquads")
        self.graphs = fmt in ("nquads", "trig")
        self.n_brackets = 0

    def chance(self, p):
        return self.random.random() < p

    def pick(self, things):
        return self.random.choice(things)

    def space(self):
        return self.pick([" ", "\t", "  "]) if self.lines else self.pick([" "] * 6 + SPACES)

    def label(self):
        return "_:" + self.pick(["a", "b", "B", "c.d", "0", "e-f", "_x", "é", "long" * 5, "a1b2"])

    def absolute(self):
        return "<" + self.pick(["http://e/a", "http://e/b", "http://e/é", "urn:x:y", "http://e/\\u00e9", "http://e/?q=1#f",
                                "http://e/\\U0001F600", "mailto:a@b", "http://e/%41"]) + ">"

    def iri(self):
        if self.lines or self.chance(0.4):
            return self.absolute()
        if self.chance(0.3):
            return "<" + self.pick(["rel", "", "#f", "../up", "?q", "/root", "//h/p"]) + ">"
        return self.pick(["p:", ":", "q-1:"]) + self.pick(LOCALS)

    def string(self):
        quote = '"' if self.lines else self.pick(['"', "'", '"""', "\'\'\'"])
        parts = [self.pick(ESCAPES if self.chance(0.4) else TEXTS) for _ in range(self.random.randrange(4))]
        text = "".join(part for part in parts if quote[0] not in part or part[0] == "\\")
        if len(quote) == 3 and self.chance(0.5):
            text = text + self.pick(["\n", "\r\n", quote[0] + "x", quote[:2] + "y"]) + "z"
        return quote + text + quote

    def literal(self):
        if not self.lines and self.chance(0.3):
            return self.pick(["1", "-2", "+3", "1.5", "-.5", "1e3", "1.E+2", ".5e-1", "true", "false", "007"])
        suffix = self.pick(["", "", "@" + self.pick(TAGS), "^^<" + self.pick(TYPES) + ">"])
        return self.string() + suffix

    def node(self, depth):
        if self.lines or depth > 3 or self.chance(0.7):
            return self.label() if self.chance(0.3) else self.iri()
        self.n_brackets += 1
        if self.chance(0.5):
            return "[" + self.space() + (self.properties(depth + 1) if self.chance(0.7) else "") + self.space() + "]"
        return "(" + self.space() + "".join(self.object(depth + 1) + self.space() for _ in range(self.random.randrange(4))) + ")"

    def object(self, depth):
        return self.literal() if self.chance(0.5) else self.node(depth)

    def verb(self):
        return "a" if not self.lines and self.chance(0.2) else self.iri()

    def properties(self, depth):
        text = ""
        for i in range(self.random.randrange(1, 4)):
            text += (self.space() + ";" + self.space() if i else "") + self.verb() + self.space()
            for k in range(self.random.randrange(1, 3)):
                text += (self.space() + "," + self.space() if k else "") + self.object(depth) + self.space()
        return text + self.pick(["", "", "", ";", "; ;"])

    def subject(self, depth):
        if self.chance(0.15):
            return self.node(depth)
        return self.label() if self.chance(0.2) else self.iri()

    def triples(self):
        if self.chance(0.1):
            return "[" + self.space() + self.properties(1) + self.space() + "]"
        return self.subject(0) + self.space() + self.properties(0)

    def line(self):
        graph = ""
        if self.graphs and self.chance(0.6):
            graph = self.space() + (self.label() if self.chance(0.2) else self.absolute())
        subject = self.label() if self.chance(0.3) else self.absolute()
        object_ = self.label() if self.chance(0.3) else (self.absolute() if self.chance(0.4) else self.literal())
        return (subject + self.space() + self.absolute() + self.space() + object_ + graph + self.space() + "." +
                self.pick(["\n", "\r\n", " \n", " # end\n", "\n\n", "\n# all\n"]))

    def graph(self):
        name = self.pick(["", self.label() + self.space(), self.iri() + self.space(), "GRAPH " + self.absolute() + " "])
        inner = (self.space() + "." + self.space()).join(self.triples() for _ in range(self.random.randrange(1, 4)))
        return name + "{" + self.space() + inner + self.space() + self.pick(["", ". "]) + "}" + self.space()

    def directives(self):
        text = self.pick(["@base <http://base/d/e> .\n", "BASE <http://base/d/e>\n", "@base <http://base/d/e>.\n@base <f/g> .\n"])
        for name, iri in (("p", "<http://p/>"), ("", "<../q#>"), ("q-1", "<http://é/>")):
            text += self.pick([f"@prefix {name}: {iri} .\n", f"PREFIX {name}: {iri}\n", f"@prefix  {name}:\t{iri}.\n"])
        return text

    def document(self):
        n = self.random.randrange(1, 8)
        if self.lines:
            return "".join(self.line() for _ in range(n))
        parts = [self.graph() if self.graphs and self.chance(0.5) else self.triples() + self.space() + "." + self.space()
                 for _ in range(n)]
        return self.directives() + "\n".join(parts) + "\n"


def break_document(seed, text):
    """One character more, less or another."""
    choice = random.Random(seed)
    place = choice.randrange(len(text))
    keep = place + choice.randrange(2)
    return text[:place] + choice.choice(list(".;,<>[](){}\"'\\@^:_#a0 \n-%uGTf") + [""]) + text[keep:]
