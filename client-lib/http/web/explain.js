/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a statement runs: the times of its steps, the algebra of SPARQL and SQLite's plan as trees, the SQL.
 *
 * The daemon's text has a node a line, indented below its parent; the lines with times stand between the trees.
 */
import { element, formatTime } from './dom.js';

const TIMES = /(parse and plan|prepare|time): ([\d.]+) ms/g;
const STEPS = { 'parse and plan': 'Parse and plan', prepare: 'Prepare', time: 'Run' };

/* The parts of the text: times, number of rows, and the lines of the two trees. */
export function parsePlan(text, language) {
  const found = { times: [], rows: null, algebra: [], joins: [], plan: [] };
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  let target = language === 'sparql' ? found.algebra : found.plan;
  for (const line of lines) {
    const times = [...line.matchAll(TIMES)];
    if (times.length > 0 && !line.startsWith(' ')) {
      found.times.push(...times.map(([, step, ms]) => [STEPS[step], Number(ms)]));
      found.rows = line.startsWith('rows: ') ? Number(line.slice(6).split(',')[0]) : found.rows;
      target = found.plan;
    } else if (/^join: /.test(line)) {
      found.joins.push(line);
    } else if (target === found.algebra && /^[A-Z]{3,}\b/.test(line)) {
      target = found.plan;
      target.push(line);
    } else {
      target.push(line);
    }
  }
  return found;
}

/* Lines to nodes, by their indentation. */
export function parseTree(lines) {
  const root = { children: [] };
  const open = [{ depth: -1, node: root }];
  for (const line of lines) {
    const depth = line.length - line.trimStart().length;
    const node = { text: line.trim(), children: [] };
    while (open.at(-1).depth >= depth)
      open.pop();
    open.at(-1).node.children.push(node);
    open.push({ depth, node });
  }
  return root.children;
}

function drawNodes(nodes) {
  return element('ul', {}, ...nodes.map((node) => {
    const cost = /\bSCAN\b(?! CONSTANT)|TEMP B-TREE/.test(node.text) ? 'costly' : /^SEARCH/.test(node.text) ? 'cheap' : '';
    if (node.children.length === 0)
      return element('li', { class: `leaf ${cost}` }, node.text);
    const summary = element('summary', { class: cost }, node.text);
    return element('li', {}, element('details', { open: true }, summary, drawNodes(node.children)));
  }));
}

function drawTimes(times, rows) {
  const sum = times.reduce((all, [, ms]) => all + ms, 0);
  const lines = times.map(([step, ms]) => {
    const bar = element('span', { class: 'part' });
    bar.style.width = `${sum > 0 ? Math.max(1, 100 * ms / sum) : 0}%`;
    return element('tr', {}, element('th', { scope: 'row' }, step), element('td', { class: 'number' }, formatTime(ms)),
      element('td', {}, bar));
  });
  const caption = element('caption', {}, rows === null ? 'Times' : `Times, ${rows} rows`);
  return element('table', { class: 'times' }, caption, element('tbody', {}, ...lines));
}

function section(title, ...children) {
  return element('section', {}, element('h3', {}, title), ...children);
}

/* @answer: of /explain, for a statement in @language */
export function showPlan(container, answer, language) {
  const { times, rows, algebra, joins, plan } = parsePlan(answer.plan, language);
  const parts = [];
  if (times.length > 0)
    parts.push(drawTimes(times, rows));
  if (plan.length > 0)
    parts.push(section('SQLite’s plan', element('div', { class: 'tree', id: 'plan-tree' }, drawNodes(parseTree(plan)))));
  if (algebra.length > 0)
    parts.push(section('Algebra', element('div', { class: 'tree' }, drawNodes(parseTree(algebra))),
      ...joins.map((line) => element('p', { class: 'notice' }, `${line} (rows expected)`))));
  parts.push(section('SQL', element('pre', { tabindex: '0' }, answer.sql)));
  container.replaceChildren(...parts);
}
