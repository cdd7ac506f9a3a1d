/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rows of a result as they came: bytes and the places of lines. A row becomes cells when it is shown.
 *
 * TSV of SPARQL, N-Triples and the JSON of /sql all have one line a row. So a million rows cost their bytes and four more each.
 * When a bound is reached no further row is taken.
 */

export const MAX_ROWS = 5000000;
export const MAX_BYTES = 192 << 20;

const NEWLINE = 10, BRACKET = 93;
const ESCAPES = { t: '\t', n: '\n', r: '\r', b: '\b', f: '\f' };
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const NUMERIC = /XMLSchema#(integer|decimal|double|float|int|long|short|byte|unsigned\w+|\w+(?:tive)Integer)$/;
const TERM = /<[^>]*>|_:[^\s]+|"(?:[^"\\]|\\.)*"(?:@[\w-]+|\^\^<[^>]*>)?/g;

const decoder = new TextDecoder();

function unescape(text) {
  return text.includes('\\')
    ? text.replace(/\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)/gs,
      (_, code) => (code.length > 1 ? String.fromCodePoint(parseInt(code.slice(1), 16)) : ESCAPES[code] || code))
    : text;
}

function literal(text) {
  const end = text.lastIndexOf('"');
  const rest = text.slice(end + 1);
  const cell = { kind: 'text', text: unescape(text.slice(1, end)) };
  if (rest.startsWith('@'))
    cell.language = rest.slice(1);
  else if (rest.startsWith('^^'))
    cell.datatype = rest.slice(3, -1);
  if (cell.datatype && NUMERIC.test(cell.datatype))
    cell.kind = 'number';
  return cell;
}

/* A term in the notation of Turtle. */
export function parseTerm(text) {
  if (text === '')
    return { kind: 'null', text: '' };
  if (text[0] === '<')
    return { kind: 'iri', text: unescape(text.slice(1, -1)) };
  if (text[0] === '"')
    return literal(text);
  if (text.startsWith('_:'))
    return { kind: 'bnode', text };
  return { kind: NUMBER.test(text) ? 'number' : 'text', text };
}

/* A value of JSON. */
function parseValue(value) {
  if (value === null)
    return { kind: 'null', text: '' };
  if (typeof value === 'number')
    return { kind: 'number', text: String(value) };
  if (typeof value === 'object')
    return 'value' in value ? { kind: 'text', text: value.value, language: value.language, datatype: value.datatype }
      : { kind: 'blob', text: value.base64 ?? value.text_base64 ?? '' };
  return { kind: 'text', text: value };
}

/* Integers beyond 2^53 would lose digits: they become texts. */
const TEXT_OR_LARGE = /("(?:[^"\\]|\\.)*")|((?<![\d.])-?\d{16,})(?=[,\]])/g;

function parseJson(line) {
  return JSON.parse(line.replace(TEXT_OR_LARGE, (all, text, digits) => (text ? all : `"${digits}"`)));
}

function formatOf(type) {
  return type.startsWith('application/json') ? 'json' : type.startsWith('application/n-triples') ? 'triples' : 'tsv';
}

export class Rows {
  /* @type: the Content-Type of the response */
  constructor(type) {
    this.format = formatOf(type);
    this.columns = this.format === 'triples' ? ['subject', 'predicate', 'object'] : null;
    this.length = 0;
    this.bytes = 0;
    this.isFull = false;
    this.chunks = []; /* of whole lines: first row, bytes, starts of lines */
    this.tail = null; /* what of a line has come */
  }

  get isGraph() {
    return this.format === 'triples';
  }

  /* Takes bytes of the response. */
  append(bytes) {
    const last = bytes.lastIndexOf(NEWLINE);
    if (last < 0) {
      this.tail = this.join(bytes);
      return;
    }
    const lines = this.join(bytes.subarray(0, last + 1));
    this.tail = last + 1 < bytes.length ? bytes.slice(last + 1) : null;
    this.addLines(lines);
  }

  /* After the last byte. */
  finish() {
    if (this.tail)
      this.append(new Uint8Array([NEWLINE]));
  }

  join(bytes) {
    if (!this.tail)
      return bytes;
    const joined = new Uint8Array(this.tail.length + bytes.length);
    joined.set(this.tail);
    joined.set(bytes, this.tail.length);
    this.tail = null;
    return joined;
  }

  addLines(bytes) {
    const starts = [];
    for (let start = 0, end; start < bytes.length; start = end + 1) {
      end = bytes.indexOf(NEWLINE, start);
      if (this.columns === null)
        this.setColumns(decoder.decode(bytes.subarray(start, end)));
      else if (this.format === 'json' && bytes[start] === BRACKET) /* "]" ends the rows of JSON */
        break;
      else if (this.length + starts.length < MAX_ROWS)
        starts.push(start);
      else
        this.isFull = true;
    }
    this.chunks.push({ first: this.length, bytes, starts: Uint32Array.from(starts) });
    this.length += starts.length;
    this.bytes += bytes.length + 4 * starts.length;
    this.isFull = this.isFull || this.bytes >= MAX_BYTES;
  }

  setColumns(line) {
    this.columns = this.format === 'json' ? JSON.parse(`${line}]}`).columns
      : line === '' ? [] : line.split('\t').map((name) => name.replace(/^\?/, ''));
  }

  line(row) {
    let low = 0, high = this.chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.chunks[middle].first <= row)
        low = middle;
      else
        high = middle - 1;
    }
    const { first, bytes, starts } = this.chunks[low];
    const start = starts[row - first];
    return decoder.decode(bytes.subarray(start, bytes.indexOf(NEWLINE, start)));
  }

  /* The cells of a row: kind (iri, bnode, text, number, blob, null), text, language, datatype. */
  cells(row) {
    const line = this.line(row);
    if (this.format === 'json')
      return parseJson(line.replace(/,$/, '')).map(parseValue);
    return (this.format === 'triples' ? line.match(TERM) ?? [] : line.split('\t')).map(parseTerm);
  }
}

/* Reads a response to its end, or to the bounds. @progress is called as rows come. */
export async function readRows(response, rows, progress) {
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done)
      break;
    rows.append(value);
    progress();
    if (rows.isFull) {
      await reader.cancel();
      return;
    }
  }
  rows.finish();
}
