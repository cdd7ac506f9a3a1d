#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pyarrow, pandas and polars read what queryctl exports. Arguments: queryctl, a folder. Exit 0: all as expected."""
import os
import subprocess
import sys

import pandas
import polars
import pyarrow

QUERYCTL, FOLDER = sys.argv[1:]
ROWS = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) "
        "SELECT i, iif(i % 3 = 0, NULL, i / 2.0) AS half, 'row ' || i AS text, CAST(i AS BLOB) AS bytes, NULL AS none FROM n")


def export(name, *arguments):
    path = os.path.join(FOLDER, name)
    subprocess.run([QUERYCTL, "export", "-o", path, *arguments], check=True)
    return path


stream, file = export("x.arrow", ROWS), export("x.feather", ROWS)
table = pyarrow.ipc.open_stream(stream).read_all()
table.validate(full=True)
assert [str(kind) for kind in table.schema.types] == ["int64", "double", "string", "binary", "string"], table.schema
assert table.num_rows == 300000 and table["half"].null_count == 100000 and table["none"].null_count == 300000
assert table.slice(1, 1).to_pylist() == [{"i": 2, "half": 1.0, "text": "row 2", "bytes": b"2", "none": None}]
opened = pyarrow.ipc.open_file(file)
assert opened.num_record_batches > 1
assert opened.read_all().equals(table)
assert pandas.read_feather(file)["i"].sum() == 300000 * 300001 // 2
assert polars.read_ipc(file)["i"].sum() == polars.read_ipc_stream(stream)["i"].sum() == 300000 * 300001 // 2

subprocess.run([QUERYCTL, "update", "--sparql", "INSERT DATA { <http://a/s> <http://a/p> 'chat'@fr }"], check=True,
               stderr=subprocess.DEVNULL)
terms = pyarrow.ipc.open_stream(export("s.arrow", "--sparql", "SELECT ?o { ?s ?p ?o }", "--rdf-terms", "struct")).read_all()
terms.validate(full=True)
assert terms["o"].to_pylist() == [{"value": "chat", "datatype": None, "language": "fr"}]
assert terms.schema.field("o").metadata[b"ARROW:extension:name"] == b"queryd.rdf_term"

empty = pyarrow.ipc.open_file(export("e.feather", "SELECT 1 AS a WHERE 0")).read_all()
assert (empty.num_rows, str(empty.schema.types[0])) == (0, "string")
print("all as expected")
