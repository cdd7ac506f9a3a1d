/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The statements that were run, and the text that is being written, kept by the browser for this server. Bounded in number and
 * size; where the browser keeps nothing, they last as long as the page.
 */

const KEY = 'queryd.history', DRAFT = 'queryd.draft';
const ENTRIES_MAX = 200;
const LENGTH_MAX = 500000; /* characters of all */

function read(key, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

function write(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    /* full, or forbidden */
  }
}

export class History {
  constructor() {
    const entries = read(KEY, []);
    this.entries = Array.isArray(entries) ? entries : [];
  }

  /* The newest first; the same statement stands there once. */
  add(language, text, note) {
    const others = this.entries.filter((entry) => entry.text !== text || entry.language !== language);
    const entries = [{ language, text, note, time: Date.now() }, ...others].slice(0, ENTRIES_MAX);
    let length = 0;
    this.entries = entries.filter((entry, i) => (length += entry.text.length) <= LENGTH_MAX || i === 0);
    write(KEY, this.entries);
  }

  find(words) {
    const lower = words.toLowerCase();
    return this.entries.filter((entry) => entry.text.toLowerCase().includes(lower));
  }

  clear() {
    this.entries = [];
    write(KEY, this.entries);
  }

  get draft() {
    return read(DRAFT, null);
  }

  set draft(draft) {
    write(DRAFT, draft);
  }
}
