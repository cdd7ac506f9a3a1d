/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the store has, for completion: prefixes, predicates by use, tables with their columns. The browser asks again with the ETag
 * of what it has, so that an unchanged catalogue costs an empty answer.
 */
import { rowsOf } from './api.js';

const QUERIES = {
  prefixes: 'SELECT prefix, iri FROM queryd_prefix ORDER BY prefix LIMIT 1000',
  predicates: 'SELECT t.lexical, p.n_quads FROM queryd_predicate AS p JOIN queryd_term AS t ON t.id = p.id '
    + 'WHERE p.n_quads > 0 ORDER BY p.n_quads DESC LIMIT 2000',
  columns: 'SELECT m.name, c.name, c.type FROM sqlite_schema AS m, pragma_table_info(m.name) AS c '
    + "WHERE m.type IN ('table', 'view') AND m.name NOT GLOB 'sqlite_*' AND m.name NOT GLOB 'queryd_*' "
    + 'ORDER BY m.name, c.cid LIMIT 10000',
};

/* A local name that needs no escapes. */
const LOCAL = /^[\p{L}\p{N}_-](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}_-])?$/u;

export class Catalog {
  constructor() {
    this.prefixes = new Map(); /* prefix to IRI */
    this.predicates = []; /* [IRI, number of triples] */
    this.tables = new Map(); /* name to [column, type] */
  }

  /* A part that cannot be read stays as it was. */
  async load() {
    const names = Object.keys(QUERIES);
    const results = await Promise.allSettled(names.map((name) => rowsOf(QUERIES[name])));
    const rows = Object.fromEntries(results.map((result, i) => [names[i], result.status === 'fulfilled' ? result.value : null]));
    if (rows.prefixes)
      this.prefixes = new Map(rows.prefixes);
    if (rows.predicates)
      this.predicates = rows.predicates;
    if (rows.columns)
      this.tables = this.group(rows.columns);
  }

  group(columns) {
    const tables = new Map();
    for (const [table, column, type] of columns)
      tables.set(table, [...(tables.get(table) ?? []), [column, type]]);
    return tables;
  }

  /* "prefix:local" where a prefix fits, else the IRI. @declared: prefixes of a text, which go first. */
  shorten(iri, declared = new Map()) {
    let best = null;
    for (const [prefix, start] of [...declared, ...this.prefixes]) {
      const local = iri.startsWith(start) ? iri.slice(start.length) : '';
      if (LOCAL.test(local) && (!best || start.length > best.start.length))
        best = { start, text: `${prefix}:${local}` };
    }
    return best ? best.text : iri;
  }
}
