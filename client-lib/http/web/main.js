/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The workbench: joins the editor, the requests and the views of a result.
 */
import { Problem, explain, run, status, update } from './api.js';
import { Catalog } from './catalog.js';
import { showChart } from './chart.js';
import { declaredPrefixes } from './complete.js';
import { byId, element, formatBytes, formatNumber, formatTime } from './dom.js';
import { Editor } from './editor.js';
import { showPlan } from './explain.js';
import { showGraph } from './graph.js';
import { History } from './history.js';
import { kindOf } from './language.js';
import { Live } from './live.js';
import { Rows, readRows } from './rows.js';
import { Table } from './table.js';
import { fillDownloads, showText } from './text.js';

const ACCEPT = { sparql: 'text/tab-separated-values, application/n-triples', sql: 'application/json' };
const EXAMPLES = {
  sparql: 'SELECT ?s ?p ?o\nWHERE { ?s ?p ?o }\nLIMIT 100',
  sql: 'SELECT name, type FROM sqlite_schema ORDER BY name',
};
const THEMES = ['auto', 'light', 'dark'];
const DRAW_PAUSE = 100; /* milliseconds between two looks at rows that come */

const catalog = new Catalog();
const history = new History();
const editor = new Editor(byId('editor'), { catalog, changed: () => { saveDraft(); } });
const table = new Table(byId('table'), { shorten, open: showCell });
const live = new Live(() => execute(true), (message) => { byId('live').checked = false; say(message); });
const state = {
  language: 'sparql',
  texts: { ...EXAMPLES }, /* of each language */
  running: null, /* what aborts */
  rows: null,
  last: null, /* the query whose rows they are */
  view: 'table',
  drawn: new Set(), /* views */
};

function shorten(iri) {
  return catalog.shorten(iri, state.last ? declaredPrefixes(state.last.text) : undefined);
}

/* --- what is said ------------------------------------------------------------------------------------------------------- */

function say(text) {
  byId('status').textContent = text;
}

function showProblem(error) {
  const isProblem = error instanceof Problem;
  const text = isProblem ? error.message : `The answer was cut off: ${error.message}. What is shown is not the whole result.`;
  const place = isProblem && error.line > 0;
  byId('problem').hidden = false;
  byId('problem').replaceChildren(element('span', {}, text));
  if (place)
    byId('problem').append(' ', element('button', { type: 'button', onclick: () => editor.goToError() },
      `Go to line ${error.line}, column ${error.column}`));
  if (isProblem)
    editor.showError(error.line ?? 0, error.column ?? 0);
  say('Failed.');
}

function clearProblem() {
  byId('problem').hidden = true;
  byId('problem').replaceChildren();
  editor.clearError();
}

function setRunning(controller) {
  state.running = controller;
  document.body.classList.toggle('running', controller !== null);
  byId('run').disabled = controller !== null;
  byId('explain').disabled = controller !== null;
  byId('cancel').disabled = controller === null;
}

/* --- running ------------------------------------------------------------------------------------------------------------ */

function current() {
  return { language: state.language, text: editor.text, kind: kindOf(editor.text, state.language) };
}

function countRows(rows) {
  return `${formatNumber(rows.length)} ${rows.isGraph ? 'triple' : 'row'}${rows.length === 1 ? '' : 's'}`;
}

function describe(rows, milliseconds) {
  const bound = rows.isFull ? ' (the page takes no more: download the result, or use LIMIT and OFFSET)' : '';
  return `${countRows(rows)}${bound}, ${formatTime(milliseconds)}, ${formatBytes(rows.bytes)}`;
}

async function runQuery(statement, signal, stays) {
  const start = performance.now();
  const response = await run(statement.language, statement.text, ACCEPT[statement.language], signal);
  const rows = new Rows(response.headers.get('Content-Type') ?? '');
  let drawn = start;
  let isShown = false;
  const show = () => {
    if (rows.columns && !isShown) {
      showRows(rows, stays);
      isShown = true;
    }
    table.refresh();
    say(`${countRows(rows)} so far …`);
  };
  try {
    await readRows(response, rows, () => {
      if (performance.now() - drawn < DRAW_PAUSE || stays)
        return;
      drawn = performance.now();
      show();
    });
  } finally {
    if (rows.columns) /* also what came before an error */
      showRows(rows, stays || isShown);
  }
  say(describe(rows, performance.now() - start));
  return countRows(rows);
}

async function runUpdate(statement, signal) {
  const start = performance.now();
  const changes = await update(statement.language, statement.text, signal);
  const note = changes === null ? 'updated' : `${formatNumber(changes)} change${changes === 1 ? '' : 's'}`;
  say(`${note}, ${formatTime(performance.now() - start)}`);
  catalog.load();
  return note;
}

/* Runs a task that can be cancelled; its errors are shown. */
async function attempt(task) {
  const controller = new AbortController();
  setRunning(controller);
  clearProblem();
  try {
    await task(controller.signal);
  } catch (error) {
    if (controller.signal.aborted)
      say('Cancelled.');
    else
      showProblem(error);
  } finally {
    setRunning(null);
  }
}

/* @isAgain: the last query, by itself: place and view stay */
async function execute(isAgain = false) {
  if (state.running)
    return;
  const statement = isAgain ? state.last : current();
  if (!statement || statement.text.trim() === '')
    return;
  if (!isAgain)
    live.stop();
  await attempt(async (signal) => {
    say('Running …');
    if (statement.kind !== 'update')
      state.last = statement;
    const note = await (statement.kind === 'update' ? runUpdate(statement, signal) : runQuery(statement, signal, isAgain));
    if (!isAgain)
      history.add(statement.language, statement.text, note);
    byId('live').disabled = state.last === null;
  });
  if (!isAgain)
    follow();
}

function follow() {
  if (byId('live').checked && state.last)
    live.start(state.last.language, state.last.text);
  else
    live.stop();
}

async function explainStatement() {
  const statement = current();
  if (state.running || statement.text.trim() === '')
    return;
  await attempt(async (signal) => {
    say('Explaining …');
    const start = performance.now();
    const answer = await explain(statement.language, statement.text, statement.kind !== 'update', signal);
    showPlan(byId('plan'), answer, statement.language);
    showView('plan');
    say(`Explained, ${formatTime(performance.now() - start)}`);
  });
}

function cancel() {
  state.running?.abort();
}

/* --- views -------------------------------------------------------------------------------------------------------------- */

function showRows(rows, stays) {
  state.rows = rows;
  state.drawn.clear();
  table.show(rows, stays);
  if (!stays && state.view === 'plan')
    showView(rows.isGraph ? 'graph' : 'table');
  else
    drawView();
}

/* A view is drawn when it is seen. */
function drawView() {
  if (state.drawn.has(state.view) || !state.rows)
    return;
  if (state.view === 'chart')
    showChart(byId('chart'), state.rows.isGraph ? null : state.rows, shorten);
  else if (state.view === 'graph')
    showGraph(byId('graph'), state.rows, shorten);
  else if (state.view === 'raw')
    attempt((signal) => showText(byId('raw'), state.last, signal, showProblem));
  state.drawn.add(state.view);
}

function showView(name) {
  state.view = name;
  for (const tab of document.querySelectorAll('[role=tab]')) {
    const isShown = tab.dataset.view === name;
    tab.setAttribute('aria-selected', isShown);
    tab.tabIndex = isShown ? 0 : -1;
    byId(tab.dataset.view).hidden = !isShown;
  }
  drawView();
}

function onTabKey(event) {
  const tabs = [...document.querySelectorAll('[role=tab]')];
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step)
    return;
  const next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
  next.focus();
  showView(next.dataset.view);
  event.preventDefault();
}

function showCell(cell, name, row) {
  const facts = [cell.kind, cell.language && `language ${cell.language}`, cell.datatype].filter(Boolean).join(', ');
  byId('cell-title').textContent = `${name}, row ${formatNumber(row + 1)}`;
  byId('cell-facts').textContent = facts;
  byId('cell-text').textContent = cell.text;
  byId('cell').showModal();
}

/* --- history, downloads, languages, themes ---------------------------------------------------------------------------------- */

function showHistory() {
  byId('history-words').value = '';
  fillHistory();
  byId('history').showModal();
}

function fillHistory() {
  const entries = history.find(byId('history-words').value);
  byId('history-list').replaceChildren(...entries.map((entry) => element('li', {},
    element('button', { type: 'button', onclick: () => takeEntry(entry) }, element('code', {}, entry.text),
      element('small', {}, `${entry.language}, ${new Date(entry.time).toLocaleString()}, ${entry.note}`)))));
  byId('history-none').hidden = entries.length > 0;
}

function takeEntry(entry) {
  byId('history').close();
  setLanguage(entry.language);
  editor.text = entry.text;
  saveDraft();
  editor.area.focus();
}

function showDownloads() {
  const statement = current();
  const source = statement.kind !== 'update' ? statement : state.last;
  if (source)
    fillDownloads(byId('download-list'), source);
  byId('download-none').hidden = Boolean(source);
  byId('downloads').showModal();
}

function saveDraft() {
  state.texts[state.language] = editor.text;
  history.draft = { language: state.language, texts: state.texts };
}

function setLanguage(language) {
  state.texts[state.language] = editor.text;
  state.language = language;
  byId(`language-${language}`).checked = true;
  editor.setLanguage(language);
  editor.text = state.texts[language];
}

function setTheme(theme) {
  if (theme === 'auto')
    delete document.documentElement.dataset.theme;
  else
    document.documentElement.dataset.theme = theme;
  byId('theme').textContent = `Theme: ${theme}`;
  try {
    localStorage.setItem('queryd.theme', theme);
  } catch {
    /* it lasts as long as the page */
  }
}

function nextTheme() {
  setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme ?? 'auto') + 1) % THEMES.length]);
}

function readTheme() {
  try {
    const theme = localStorage.getItem('queryd.theme');
    return THEMES.includes(theme) ? theme : 'auto';
  } catch {
    return 'auto';
  }
}

/* --- start -------------------------------------------------------------------------------------------------------------- */

function onKey(event) {
  if (event.key === 'Enter' && event.ctrlKey)
    (event.shiftKey ? explainStatement : execute)();
  else if (event.key === 'Escape' && state.running)
    cancel();
  else
    return;
  event.preventDefault();
}

function listen() {
  const clicks = { run: () => execute(), explain: explainStatement, cancel, theme: nextTheme, 'show-history': showHistory,
    'show-downloads': showDownloads, 'history-clear': () => { history.clear(); fillHistory(); } };
  for (const [id, action] of Object.entries(clicks))
    byId(id).addEventListener('click', action);
  for (const tab of document.querySelectorAll('[role=tab]')) {
    tab.addEventListener('click', () => showView(tab.dataset.view));
    tab.addEventListener('keydown', onTabKey);
  }
  for (const language of ['sparql', 'sql'])
    byId(`language-${language}`).addEventListener('change', () => { setLanguage(language); saveDraft(); });
  byId('live').addEventListener('change', follow);
  byId('history-words').addEventListener('input', fillHistory);
  document.addEventListener('keydown', onKey);
  document.addEventListener('visibilitychange', () => { if (!document.hidden) catalog.load(); });
}

async function showServer() {
  try {
    const server = await status();
    byId('store').textContent = server.store;
    byId('mode').textContent = server.may_write ? 'read and write' : 'read-only';
    document.title = `${server.store} – queryd`;
  } catch (error) {
    showProblem(error);
  }
}

async function start() {
  const draft = history.draft;
  setTheme(readTheme());
  if (draft && draft.texts && draft.language in EXAMPLES)
    state.texts = { ...EXAMPLES, ...draft.texts };
  editor.text = state.texts.sparql;
  setLanguage(draft && draft.language in EXAMPLES ? draft.language : 'sparql');
  listen();
  showView('table');
  await Promise.all([showServer(), catalog.load()]);
  document.body.dataset.ready = 'true';
  editor.area.focus();
}

start();
