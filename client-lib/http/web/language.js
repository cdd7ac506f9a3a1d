/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The two languages as far as an editor needs them: tokens for colours and completion, whether a text writes, places in a text.
 * The daemon alone decides what is valid.
 */

const SPARQL_WORDS = ('ADD ALL AS ASC ASK BASE BIND BY CLEAR CONSTRUCT COPY CREATE DATA DEFAULT DELETE DESC DESCRIBE DISTINCT DROP '
  + 'EXISTS FILTER FROM GRAPH GROUP HAVING IN INSERT INTO LIMIT LOAD MINUS MOVE NAMED NOT OFFSET OPTIONAL ORDER PREFIX REDUCED '
  + 'SELECT SEPARATOR SERVICE SILENT TO UNDEF UNION USING VALUES WHERE WITH a false true '
  + 'ABS AVG BNODE BOUND CEIL COALESCE CONCAT CONTAINS COUNT DATATYPE DAY ENCODE_FOR_URI FLOOR GROUP_CONCAT HOURS IF IRI LANG '
  + 'LANGMATCHES LCASE MAX MD5 MIN MINUTES MONTH NOW RAND REGEX REPLACE ROUND SAMPLE SECONDS SHA1 SHA256 STR STRAFTER STRBEFORE '
  + 'STRDT STRENDS STRLANG STRLEN STRSTARTS SUBSTR SUM TIMEZONE TZ UCASE URI UUID YEAR isBLANK isIRI isLITERAL isNUMERIC '
  + 'sameTerm').split(' ');

const SQL_WORDS = ('ABORT ADD ALL ALTER AND AS ASC BEGIN BETWEEN BY CASE CAST CHECK COLLATE COLUMN COMMIT CONFLICT CONSTRAINT '
  + 'CREATE CROSS CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DEFAULT DELETE DESC DISTINCT DO DROP ELSE END ESCAPE EXCEPT EXISTS '
  + 'EXPLAIN FILTER FOREIGN FROM FULL GLOB GROUP HAVING IF IN INDEX INNER INSERT INTERSECT INTO IS ISNULL JOIN KEY LEFT LIKE LIMIT '
  + 'MATCH MATERIALIZED NATURAL NOT NOTHING NOTNULL NULL NULLS OFFSET ON OR ORDER OUTER OVER PARTITION PLAN PRAGMA PRIMARY QUERY '
  + 'RECURSIVE REFERENCES REPLACE RETURNING RIGHT ROLLBACK ROWS SELECT SET TABLE THEN TO TRIGGER UNION UNIQUE UPDATE USING VALUES '
  + 'VIEW WHEN WHERE WINDOW WITH WITHOUT abs avg coalesce count date datetime group_concat iif instr json_extract length lower '
  + 'ltrim max min nullif printf random replace round row_number rtrim strftime substr sum total trim typeof upper').split(' ');

export const WORDS = { sparql: SPARQL_WORDS, sql: SQL_WORDS };
const WORD_SETS = {
  sparql: new Set(SPARQL_WORDS.map((word) => word.toUpperCase())),
  sql: new Set(SQL_WORDS.map((word) => word.toUpperCase())),
};

/* Parts of patterns by the kind of their tokens; the first that fits counts. */
const NUMBER = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/;
const MARK = /[^\s\p{L}\p{N}]/;
const PARTS = {
  sparql: {
    comment: /#[^\n]*/,
    iri: /<[^<>"{}|^`\\\s]*>/,
    string: /"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?/,
    variable: /[?$][\p{L}\p{N}_]+/,
    name: /(?:[\p{L}_][\p{L}\p{N}_.-]*)?:[\p{L}\p{N}_.:%-]*/,
    number: NUMBER,
    word: /[\p{L}_][\p{L}\p{N}_]*/,
    mark: MARK,
  },
  sql: {
    comment: /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/,
    string: /'(?:[^']|'')*'?/,
    name: /"(?:[^"]|"")*"?|`[^`]*`?|\[[^\]]*\]?/,
    variable: /[?:@$][\p{L}\p{N}_]*/,
    number: NUMBER,
    word: /[\p{L}_][\p{L}\p{N}_$]*/,
    mark: MARK,
  },
};

function join(parts) {
  return new RegExp(Object.entries(parts).map(([kind, part]) => `(?<${kind}>${part.source})`).join('|'), 'gu');
}

const PATTERNS = { sparql: join(PARTS.sparql), sql: join(PARTS.sql) };

/* Tokens with start, end, kind and text; what is between them is white space. Words that are no keywords are plain. */
export function tokenize(text, language) {
  const tokens = [];
  for (const match of text.matchAll(PATTERNS[language])) {
    let kind = Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
    if (kind === 'word')
      kind = WORD_SETS[language].has(match[0].toUpperCase()) ? 'keyword' : 'plain';
    tokens.push({ start: match.index, end: match.index + match[0].length, kind, text: match[0] });
  }
  return tokens;
}

function firstWord(tokens, language) {
  const words = tokens.filter((token) => token.kind !== 'comment');
  let i = 0;
  while (language === 'sparql' && words[i] && /^(BASE|PREFIX)$/i.test(words[i].text))
    i += words[i].text.toUpperCase() === 'BASE' ? 2 : 3;
  return words[i] ? words[i].text.toUpperCase() : '';
}

function writesAfterWith(tokens) {
  let depth = 0;
  for (const token of tokens) {
    if (token.text === '(')
      depth++;
    else if (token.text === ')')
      depth--;
    else if (depth === 0 && token.kind === 'keyword' && /^(INSERT|UPDATE|DELETE|REPLACE|SELECT|VALUES)$/i.test(token.text))
      return !/^(SELECT|VALUES)$/i.test(token.text);
  }
  return false;
}

/* "update" for what writes, "graph" for what gives triples, else "rows". */
export function kindOf(text, language) {
  const tokens = tokenize(text, language);
  const word = firstWord(tokens, language);
  if (language === 'sparql') {
    if (/^(CONSTRUCT|DESCRIBE)$/.test(word))
      return 'graph';
    return /^(INSERT|DELETE|LOAD|CLEAR|CREATE|DROP|COPY|MOVE|ADD|WITH)$/.test(word) ? 'update' : 'rows';
  }
  if (word === 'WITH')
    return writesAfterWith(tokens) ? 'update' : 'rows';
  return word === '' || /^(SELECT|VALUES|EXPLAIN|PRAGMA)$/.test(word) ? 'rows' : 'update';
}

/* The offset of a line and a column, both from 1 and in code points, as errors give them. */
export function offsetOf(text, line, column) {
  let offset = 0;
  for (let i = 1; i < line; i++) {
    const end = text.indexOf('\n', offset);
    if (end < 0)
      return text.length;
    offset = end + 1;
  }
  for (let i = 1; i < column && offset < text.length && text[offset] !== '\n'; i++)
    offset += text.codePointAt(offset) > 0xffff ? 2 : 1;
  return offset;
}

/* What is underlined for an error at @offset: the token there, or a character. */
export function spanAt(text, language, offset) {
  const token = tokenize(text, language).find((one) => one.start <= offset && offset < one.end);
  if (token)
    return { start: token.start, end: token.end };
  const start = Math.min(offset, Math.max(text.length - 1, 0));
  return { start, end: Math.min(start + 1, text.length) };
}
