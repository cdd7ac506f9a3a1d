/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What may stand at a place of a text. Candidates have the text to insert, a hint, and for a prefix that is not declared yet the
 * line that declares it.
 */
import { WORDS, tokenize } from './language.js';

const CANDIDATES_MAX = 40;

/* The prefixes that a text declares. */
export function declaredPrefixes(text) {
  const found = new Map();
  for (const [, prefix, iri] of text.matchAll(/PREFIX\s+([\p{L}\p{N}_.-]*):\s*<([^>]*)>/giu))
    found.set(prefix, iri);
  return found;
}

function declaration(prefix, iri, declared) {
  return declared.has(prefix) ? undefined : `PREFIX ${prefix}: <${iri}>\n`;
}

function predicates(catalog, declared, word) {
  const lower = word.toLowerCase();
  const found = [];
  for (const [iri, n] of catalog.predicates) {
    const text = catalog.shorten(iri, declared);
    const isShort = text !== iri;
    const local = iri.slice(Math.max(iri.lastIndexOf('#'), iri.lastIndexOf('/')) + 1);
    if (!text.toLowerCase().startsWith(lower) && !local.toLowerCase().startsWith(lower))
      continue;
    const prefix = isShort ? text.slice(0, text.indexOf(':')) : null;
    found.push({ text: isShort ? text : `<${iri}>`, hint: `${n} triples`,
      declaration: isShort ? declaration(prefix, catalog.prefixes.get(prefix) ?? '', declared) : undefined });
  }
  return found;
}

function iris(catalog, word) {
  const start = word.slice(1);
  return catalog.predicates.filter(([iri]) => iri.startsWith(start))
    .map(([iri, n]) => ({ text: `<${iri}>`, hint: `${n} triples` }));
}

function prefixes(catalog, declared, word, isDeclaring) {
  return [...new Map([...catalog.prefixes, ...declared])].filter(([prefix]) => prefix.startsWith(word.replace(/:$/, '')))
    .map(([prefix, iri]) => (isDeclaring ? { text: `${prefix}: <${iri}>`, hint: 'prefix' }
      : { text: `${prefix}:`, hint: iri, declaration: declaration(prefix, iri, declared) }));
}

function words(language, word) {
  const upper = word.toUpperCase();
  return WORDS[language].filter((one) => one.toUpperCase().startsWith(upper)).map((text) => ({ text, hint: '' }));
}

function variables(text, word) {
  const names = new Set(tokenize(text, 'sparql').filter((token) => token.kind === 'variable' && token.text !== word)
    .map((token) => `?${token.text.slice(1)}`));
  return [...names].filter((name) => name.slice(1).startsWith(word.slice(1))).map((name) => ({ text: name, hint: 'variable' }));
}

/* The candidates for a word that is neither a variable nor an IRI. */
function names(catalog, declared, word) {
  const found = predicates(catalog, declared, word);
  return word.includes(':') ? found : [...found, ...prefixes(catalog, declared, word, false), ...words('sparql', word)];
}

function forSparql(text, offset, catalog) {
  const before = text.slice(0, offset);
  const word = before.match(/<[^<>"{}|^`\\\s]*$|[?$][\p{L}\p{N}_]*$|[\p{L}\p{N}_.-]*:?[\p{L}\p{N}_.:%-]*$/u)[0];
  if (/^[?$]/.test(word))
    return { word, found: variables(text, word) };
  if (word.startsWith('<'))
    return { word, found: iris(catalog, word) };
  if (/PREFIX\s+[\p{L}\p{N}_.-]*$/iu.test(before))
    return { word, found: prefixes(catalog, new Map(), word, true) };
  return { word, found: names(catalog, declaredPrefixes(text), word) };
}

/* The names by which a text calls its tables, and the tables. */
function aliases(text, catalog) {
  const found = new Map();
  for (const [, name, alias] of text.matchAll(/([\p{L}_][\p{L}\p{N}_]*)(?:\s+(?:AS\s+)?([\p{L}_][\p{L}\p{N}_]*))?/giu)) {
    if (!catalog.tables.has(name))
      continue;
    found.set(name, name);
    if (alias)
      found.set(alias, name);
  }
  return found;
}

function columns(catalog, tables, word) {
  const lower = word.toLowerCase();
  return [...new Set(tables)].flatMap((table) => (catalog.tables.get(table) ?? [])
    .filter(([column]) => column.toLowerCase().startsWith(lower))
    .map(([column, type]) => ({ text: quote(column), hint: `${table} ${type}` })));
}

function quote(name) {
  return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

function forSql(text, offset, catalog) {
  const before = text.slice(0, offset);
  const word = before.match(/[\p{L}\p{N}_]*$/u)[0];
  const owner = before.slice(0, before.length - word.length).match(/([\p{L}_][\p{L}\p{N}_]*)\.$/u);
  const known = aliases(text, catalog);
  if (owner)
    return { word, found: columns(catalog, [known.get(owner[1]) ?? owner[1]], word) };
  const lower = word.toLowerCase();
  const tables = [...catalog.tables.keys()].filter((name) => name.toLowerCase().startsWith(lower))
    .map((name) => ({ text: quote(name), hint: 'table' }));
  const afterFrom = /\b(FROM|JOIN|INTO|UPDATE|TABLE)\s+[\p{L}\p{N}_]*$/iu.test(before);
  const found = afterFrom ? tables : [...columns(catalog, known.values(), word), ...tables];
  return { word, found: [...found, ...words('sql', word)] };
}

/* The word before @offset and the candidates for it, the best first. */
export function complete(text, offset, language, catalog) {
  const { word, found } = language === 'sql' ? forSql(text, offset, catalog) : forSparql(text, offset, catalog);
  const seen = new Set();
  const unique = found.filter((one) => one.text !== word && !seen.has(one.text) && seen.add(one.text));
  return { word, candidates: unique.slice(0, CANDIDATES_MAX) };
}
