#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The W3C's tests of JSON-LD 1.1, toRdf and fromRdf, against our reader and writer.

jsonld.py FOLDER CONVERT: the folder has the manifests and their documents, which are not part of this project; CONVERT is the
program tests/w3c/jsonld-convert. Prints the tests that fail, and why; EXPECTED has those that are known to, each with its reason.
"""
import collections
import json
import os
import re
import subprocess
import sys

IRI = "https://w3c.github.io/json-ld-api/tests/"
TERM = re.compile(r'<[^>]*>|_:[^\s]+|"(?:[^"\\]|\\.)*"(?:@[\w-]+|\^\^<[^>]*>)?')
OF_1_0 = "a rule of JSON-LD 1.0 that 1.1 has given up; the test is for processors of 1.0"
EXPECTED = {
    "toRdf/tc031": "its context, c031/c031-context.jsonld, stands in another folder of the selection",
    "fromRdf/t0008": OF_1_0 + ": lists of lists are not folded; li03 has the same quads for 1.1, and passes",
}


def unescape(term):
    def replace(match):
        text = match.group(1)
        if text[0] in "uU":
            return chr(int(text[1:], 16))
        return {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}.get(text, text)
    return re.sub(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", replace, term)


def parse(nquads):
    return {tuple(unescape(term) for term in TERM.findall(line)) for line in nquads.splitlines() if line and line[0] != "#"}


def is_blank(term):
    return term.startswith("_:")


def colours(quads):
    """A text for each blank node that says where it stands, so that equal graphs give equal ones."""
    nodes = {term: "" for quad in quads for term in quad if is_blank(term)}
    for _ in range(len(nodes) + 1):
        signs = collections.defaultdict(list)
        for quad in quads:
            for place, node in enumerate(quad):
                if is_blank(node):
                    signs[node].append((place, len(quad), *(("", nodes[t]) if is_blank(t) else (t, "") for t in quad)))
        fresh = {node: str(hash(tuple(sorted(map(repr, signs[node]))))) for node in nodes}
        if len(set(fresh.values())) == len(set(nodes.values())) and _ > 1:
            return fresh
        nodes = fresh
    return nodes


def equal(a, b, bound=None):
    """Whether there is a renaming of blank nodes that makes the two sets of quads the same."""
    if len(a) != len(b):
        return False
    bound = bound or {}
    left, right = colours(a), colours(b)
    if collections.Counter(left.values()) != collections.Counter(right.values()):
        return False
    open_nodes = sorted((node for node in left if node not in bound), key=lambda n: (list(left.values()).count(left[n]), n))
    if not open_nodes:
        return {tuple(bound.get(t, t) for t in quad) for quad in a} == b
    node = open_nodes[0]
    for other in right:
        if right[other] != left[node] or other in bound.values():
            continue
        renamed = {tuple(f"<fixed {other}>" if t == node else t for t in quad) for quad in a}
        fixed = {tuple(f"<fixed {other}>" if t == other else t for t in quad) for quad in b}
        if equal(renamed, fixed):
            return True
    return False


def normal(value, name=None):
    """Expanded JSON-LD in one order: but for lists, arrays are sets."""
    if isinstance(value, dict):
        return {key: normal(item, key) for key, item in sorted(value.items())}
    if isinstance(value, list) and name not in ("@list", "@value"):
        return sorted((normal(item) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
    return [normal(item) for item in value] if isinstance(value, list) else value


def labels(text):
    """Labels of blank nodes in the order of the normal form."""
    names = {}
    return re.sub(r'_:[\w.-]+', lambda match: names.setdefault(match.group(0), f"_:b{len(names)}"), text)


def same_json(ours, theirs):
    ours, theirs = (json.dumps(normal(json.loads(text)), sort_keys=True) for text in (ours, theirs))
    return ours == theirs or labels(ours) == labels(theirs)


def arguments(test, folder):
    option = test.get("option", {})
    args = ["--root", folder, "--root-iri", IRI]
    if "toRdf" in test["input"]:
        args += ["--base", option.get("base", IRI + test["input"])]
    if option.get("processingMode", option.get("specVersion")) == "json-ld-1.0":
        args.append("--json-ld-1.0")
    if "rdfDirection" in option:
        args += ["--direction", option["rdfDirection"]]
    if "expandContext" in option:
        args += ["--expand-context", os.path.join(folder, option["expandContext"])]
    for name in ("useNativeTypes", "useRdfType"):
        if option.get(name):
            args.append({"useNativeTypes": "--native-types", "useRdfType": "--rdf-type"}[name])
    return args


def run(test, kind, folder, convert):
    """None, or why the test fails."""
    with open(os.path.join(folder, test["input"]), "rb") as stream:
        done = subprocess.run([convert, "to-rdf" if kind == "toRdf" else "from-rdf", *arguments(test, folder)], stdin=stream,
                              capture_output=True, check=False)
    error, out = done.stderr.decode(), done.stdout.decode()
    if "jld:NegativeEvaluationTest" in test["@type"]:
        if done.returncode != 1:
            return f"no error, expected '{test['expectErrorCode']}'"
        return None if test["expectErrorCode"] in error else f"'{error.strip()}', expected '{test['expectErrorCode']}'"
    if done.returncode != 0:
        return f"error '{error.strip()}' (status {done.returncode})"
    if "expect" not in test:
        return None
    with open(os.path.join(folder, test["expect"]), encoding="utf-8") as stream:
        expected = stream.read()
    if kind == "toRdf":
        return None if equal(parse(out), parse(expected)) else f"gave\n{out}expected\n{expected}"
    return None if same_json(out, expected) else f"gave\n{out}expected\n{expected}"


def main():
    folder, convert = sys.argv[1:3]
    n_tests, failed = 0, []
    for kind in ("toRdf", "fromRdf"):
        with open(os.path.join(folder, kind + "-manifest.jsonld"), encoding="utf-8") as stream:
            tests = json.load(stream)["sequence"]
        n_failed = len(failed)
        for test in tests:
            name = f"{kind}/{test['@id'].lstrip('#')}"
            reason = run(test, kind, folder, convert)
            if reason is not None:
                failed.append(name)
                print(f"FAIL {name} {test['name']}: {EXPECTED.get(name, reason)}")
        n_tests += len(tests)
        print(f"{kind}: {len(tests) - len(failed) + n_failed} of {len(tests)} pass")
    print(f"JSON-LD: {n_tests - len(failed)} of {n_tests} pass")
    unknown = [name for name in failed if name not in EXPECTED] + [name for name in EXPECTED if name not in failed]
    if unknown:
        print("other than expected: " + " ".join(unknown))
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
