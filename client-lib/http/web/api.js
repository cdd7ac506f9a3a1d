/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests to queryd-http. Each is one of the documented paths: the page can nothing that another client cannot.
 */

/* Longer texts do not fit the server's limit of a URL. */
const URL_LENGTH_MAX = 48 * 1024;

/* What each kind of result can be downloaded as: media type, ending, name. */
export const FORMATS = {
  rows: [['text/csv', 'csv', 'CSV'], ['text/tab-separated-values', 'tsv', 'TSV'],
    ['application/sparql-results+json', 'json', 'JSON'], ['application/sparql-results+xml', 'xml', 'XML']],
  graph: [['text/turtle', 'ttl', 'Turtle'], ['application/n-triples', 'nt', 'N-Triples'], ['application/rdf+xml', 'rdf', 'RDF/XML'],
    ['application/ld+json', 'jsonld', 'JSON-LD'], ['application/trig', 'trig', 'TriG'], ['application/n-quads', 'nq', 'N-Quads']],
  sql: [['text/csv', 'csv', 'CSV'], ['text/tab-separated-values', 'tsv', 'TSV'], ['application/json', 'json', 'JSON'],
    ['application/x-ndjson', 'jsonl', 'JSON Lines']],
};

/* An answer that is an error: what is wrong, and where in the text. */
export class Problem extends Error {
  constructor(detail, status, line = 0, column = 0) {
    super(detail);
    this.status = status;
    this.line = line;
    this.column = column;
  }
}

async function check(response) {
  if (response.ok)
    return response;
  if (response.status === 401)
    throw new Problem('The session has ended. Run "queryctl web" again, or open the server\'s page with the token.', 401);
  const problem = await response.json().catch(() => ({}));
  throw new Problem(problem.detail || response.statusText, response.status, problem.line, problem.column);
}

async function request(path, options = {}) {
  return check(await fetch(path, { credentials: 'same-origin', ...options }));
}

/* Runs a query; its rows come with the response's body. */
export function run(language, text, accept, signal) {
  const [path, type, body] = language === 'sql' ? ['/sql', 'application/json', JSON.stringify({ sql: text })]
    : ['/sparql', 'application/sparql-query', text];
  return request(path, { method: 'POST', body, signal, cache: 'no-store', headers: { 'Content-Type': type, Accept: accept } });
}

/* Runs an update. Returns the number of changes, null for SPARQL. */
export async function update(language, text, signal) {
  const [path, type, body] = language === 'sql' ? ['/sql', 'application/json', JSON.stringify({ sql: text, update: true })]
    : ['/sparql', 'application/sparql-update', text];
  const response = await request(path, { method: 'POST', body, signal, headers: { 'Content-Type': type } });
  return language === 'sql' ? (await response.json()).changes : null;
}

function parameters(language, text, more = {}) {
  return new URLSearchParams({ [language === 'sql' ? 'sql' : 'query']: text, ...more });
}

/* The plan of a statement; with @analyze it is run, for its times. */
export async function explain(language, text, analyze, signal) {
  const body = parameters(language, text, analyze ? { analyze: 'true' } : {});
  return (await request('/explain', { method: 'POST', body, signal })).json();
}

export async function status() {
  return (await request('/status')).json();
}

/* Small results by GET: the browser keeps them, and asks with their ETag. */
export async function rowsOf(sql) {
  return (await (await request(`/sql?${parameters('sql', sql)}`)).json()).rows;
}

/* (nullable): the address of a result as a file; null when the text is too long for one. */
export function downloadUrl(language, text, [type, ending]) {
  const more = { accept: type, download: `result.${ending}` };
  const url = `${language === 'sql' ? '/sql' : '/sparql'}?${parameters(language, text, more)}`;
  return url.length <= URL_LENGTH_MAX ? url : null;
}

/* Events "ready" and "stale" of a query's result; (nullable) */
export function watch(language, text) {
  const url = `/watch?${parameters(language, text)}`;
  return url.length <= URL_LENGTH_MAX ? new EventSource(url) : null;
}
