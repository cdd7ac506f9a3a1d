/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The editor: a text area of the browser, so that typing, undo, input methods and screen readers work as everywhere. A copy of the
 * text lies under it, with the colours of tokens and the underlined error; it also says where a completion is to be shown.
 */
import { complete } from './complete.js';
import { element } from './dom.js';
import { offsetOf, spanAt, tokenize } from './language.js';

export class Editor {
  /* @changed: called after each change of the text */
  constructor(container, { catalog, changed }) {
    this.catalog = catalog;
    this.changed = changed;
    this.language = 'sparql';
    this.error = null; /* start and end */
    this.candidates = [];
    this.chosen = -1;
    this.copy = element('pre', { class: 'copy', 'aria-hidden': 'true' });
    this.area = element('textarea', { id: 'text', rows: '1', spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off',
      autocorrect: 'off', 'aria-label': 'Statement', 'aria-describedby': 'problem', 'aria-autocomplete': 'list',
      'aria-controls': 'candidates',
      oninput: (event) => this.onInput(event), onkeydown: (event) => this.onKey(event), onblur: () => this.close() });
    this.list = element('ul', { id: 'candidates', role: 'listbox', 'aria-label': 'Completions', hidden: true,
      onmousedown: (event) => this.onChoice(event) });
    this.box = element('div', { class: 'box' }, this.copy, this.area);
    container.replaceChildren(this.box, this.list);
    this.container = container;
  }

  get text() {
    return this.area.value;
  }

  set text(text) {
    this.area.value = text;
    this.error = null;
    this.close();
    this.draw();
  }

  setLanguage(language) {
    this.language = language;
    this.error = null;
    this.close();
    this.draw();
  }

  /* Underlines the place of an error; 0: it has none. */
  showError(line, column) {
    this.error = line > 0 ? spanAt(this.text, this.language, offsetOf(this.text, line, Math.max(column, 1))) : null;
    this.area.setAttribute('aria-invalid', 'true');
    this.draw();
  }

  clearError() {
    this.error = null;
    this.area.removeAttribute('aria-invalid');
    this.draw();
  }

  goToError() {
    this.area.focus();
    if (this.error)
      this.area.setSelectionRange(this.error.start, this.error.end);
  }

  draw() {
    const nodes = [];
    let end = 0;
    for (const token of this.pieces()) {
      if (token.start > end)
        nodes.push(this.text.slice(end, token.start));
      nodes.push(element('span', { class: token.kind }, this.text.slice(token.start, token.end)));
      end = token.end;
    }
    this.copy.replaceChildren(...nodes, `${this.text.slice(end)}\n`);
  }

  /* Tokens, with the error in place of those it covers. */
  pieces() {
    const tokens = tokenize(this.text, this.language);
    if (!this.error)
      return tokens;
    const { start, end } = this.error;
    const rest = tokens.filter((token) => token.end <= start || token.start >= end);
    return [...rest, { start, end, kind: 'error' }].sort((a, b) => a.start - b.start);
  }

  onInput(event) {
    this.error = null;
    this.area.removeAttribute('aria-invalid');
    this.draw();
    this.changed();
    if (event.inputType === 'insertText' && /[\p{L}\p{N}_:.?$<]/u.test(event.data ?? ''))
      this.suggest(false);
    else
      this.close();
  }

  /* --- completion --- */

  /* @isAsked: by its key, and not by typing */
  suggest(isAsked) {
    const offset = this.area.selectionStart;
    const { word, candidates } = complete(this.text, offset, this.language, this.catalog);
    if (candidates.length === 0 || (!isAsked && word.length < 2 && !/[.:?$<]$/.test(word) && this.text[offset - 1] !== '.')) {
      this.close();
      return;
    }
    this.word = word;
    this.candidates = candidates;
    this.list.replaceChildren(...candidates.map((one, i) => element('li', { role: 'option', id: `candidate-${i}`, 'data-index': i },
      element('span', {}, one.text), element('small', {}, one.hint))));
    this.list.hidden = false;
    this.place(offset - word.length);
    this.choose(isAsked ? 0 : -1);
  }

  place(offset) {
    const point = this.pointOf(offset);
    const frame = this.container.getBoundingClientRect();
    const left = Math.max(0, Math.min(point.left - frame.left, frame.width - this.list.offsetWidth));
    this.list.style.left = `${left}px`;
    this.list.style.top = `${point.bottom - frame.top + 2}px`;
  }

  pointOf(offset) {
    const walker = document.createTreeWalker(this.copy, NodeFilter.SHOW_TEXT);
    let rest = offset;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (rest < node.length) {
        const range = document.createRange();
        range.setStart(node, rest);
        range.setEnd(node, rest + 1);
        return range.getBoundingClientRect();
      }
      rest -= node.length;
    }
    return this.copy.getBoundingClientRect();
  }

  choose(index) {
    this.chosen = index;
    for (const item of this.list.children)
      item.setAttribute('aria-selected', Number(item.dataset.index) === index);
    const item = this.list.children[index];
    if (item) {
      item.scrollIntoView({ block: 'nearest' });
      this.area.setAttribute('aria-activedescendant', item.id);
    } else {
      this.area.removeAttribute('aria-activedescendant');
    }
  }

  close() {
    this.list.hidden = true;
    this.candidates = [];
    this.choose(-1);
  }

  get isOpen() {
    return !this.list.hidden;
  }

  accept(index) {
    const one = this.candidates[index];
    const end = this.area.selectionStart;
    this.close();
    this.insert(end - this.word.length, end, one.text);
    if (one.declaration) {
      const place = this.area.selectionStart;
      this.insert(0, 0, one.declaration);
      this.area.setSelectionRange(place + one.declaration.length, place + one.declaration.length);
    }
    this.close();
  }

  /* By the browser's editing, so that it can be undone. */
  insert(start, end, text) {
    this.area.focus();
    this.area.setSelectionRange(start, end);
    if (!document.execCommand('insertText', false, text)) {
      this.area.setRangeText(text, start, end, 'end');
      this.draw();
      this.changed();
    }
  }

  onChoice(event) {
    const item = event.target.closest('li');
    event.preventDefault(); /* the focus stays in the text */
    if (item)
      this.accept(Number(item.dataset.index));
  }

  onKey(event) {
    if (event.key === ' ' && event.ctrlKey) {
      this.suggest(true);
    } else if (this.isOpen && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      const n = this.candidates.length;
      this.choose(event.key === 'ArrowDown' ? (this.chosen + 1) % n : (Math.max(this.chosen, 0) - 1 + n) % n);
    } else if (this.isOpen && event.key === 'Tab' && !event.shiftKey) {
      this.accept(Math.max(this.chosen, 0));
    } else if (this.isOpen && event.key === 'Enter' && this.chosen >= 0 && !event.ctrlKey) {
      this.accept(this.chosen);
    } else if (this.isOpen && event.key === 'Escape') {
      this.close();
      event.stopPropagation();
    } else {
      return;
    }
    event.preventDefault();
  }
}
