/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table of any number of rows, of which only the visible ones are in the document.
 *
 * A tall empty element gives the scroll bar; the table sticks to the top of what is seen. Browsers limit the height of elements, so
 * with many rows a pixel of the bar is more than a row's part; the wheel and the keys still go row by row.
 */
import { element, formatNumber } from './dom.js';

const ROW_HEIGHT = 26;
const HEIGHT_MAX = 8000000;
const TEXT_MAX = 300; /* characters of a cell */
const SAMPLE = 60; /* rows that decide the widths of columns */
const WIDTH_MIN = 6, WIDTH_MAX = 44;

export class Table {
  /* @shorten: a text for an IRI; @open: called with a cell and its column's name, to show it whole */
  constructor(container, { shorten, open }) {
    this.shorten = shorten;
    this.open = open;
    this.rows = null;
    this.top = 0;
    this.active = { row: 0, column: 0 };
    this.head = element('thead');
    this.body = element('tbody');
    this.widths = element('colgroup');
    this.table = element('table', { role: 'presentation' }, this.widths, this.head, this.body);
    this.spacer = element('div', { class: 'spacer' }, this.table);
    this.view = element('div', { class: 'grid', role: 'grid', tabindex: '0', 'aria-label': 'Rows', 'aria-readonly': 'true',
      onscroll: () => this.onScroll(), onkeydown: (event) => this.onKey(event) }, this.spacer);
    this.view.addEventListener('wheel', (event) => this.onWheel(event), { passive: false });
    this.body.addEventListener('click', (event) => this.onClick(event));
    this.body.addEventListener('dblclick', () => this.openActive());
    container.replaceChildren(this.view);
    new ResizeObserver(() => this.layout()).observe(this.view);
  }

  /* Another result, from its first row; with @stays from the row that is at the top now. */
  show(rows, stays = false) {
    this.rows = rows;
    this.n_laid = -1;
    if (!stays) {
      this.top = 0;
      this.active = { row: 0, column: 0 };
      this.view.scrollLeft = 0;
    }
    this.layout();
  }

  /* More rows have come. */
  refresh() {
    if (this.rows && this.rows.columns && (this.n_laid < SAMPLE || this.rows.length < 2 * this.n_visible))
      this.layout();
    else
      this.resize();
  }

  layout() {
    if (!this.rows || !this.rows.columns)
      return;
    this.layColumns();
    this.n_visible = Math.max(1, Math.floor((this.view.clientHeight - ROW_HEIGHT) / ROW_HEIGHT));
    this.resize();
  }

  resize() {
    if (!this.rows || !this.rows.columns)
      return;
    const height = ROW_HEIGHT * (this.rows.length + 1);
    this.isScaled = height > HEIGHT_MAX;
    this.spacer.style.height = `${Math.min(height, HEIGHT_MAX)}px`;
    this.view.setAttribute('aria-rowcount', this.rows.length + 1);
    this.setTop(this.top);
  }

  layColumns() {
    const n = Math.min(this.rows.length, SAMPLE);
    if (n === this.n_laid)
      return;
    this.n_laid = n;
    const lengths = this.rows.columns.map((name) => name.length + 1);
    for (let row = 0; row < n; row++)
      this.rows.cells(row).forEach((cell, i) => { lengths[i] = Math.max(lengths[i] ?? 0, this.lengthOf(cell)); });
    const widths = lengths.map((length) => Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, length)));
    const first = Math.max(3, formatNumber(this.rows.length).length + 1);
    this.table.style.width = `${[first, ...widths].reduce((sum, width) => sum + width + 2, 0)}ch`;
    this.widths.replaceChildren(...[first, ...widths].map((width) => {
      const column = element('col');
      column.style.width = `${width + 2}ch`;
      return column;
    }));
    this.view.setAttribute('aria-colcount', this.rows.columns.length + 1);
    this.head.replaceChildren(element('tr', { role: 'row', 'aria-rowindex': '1' }, element('th', { role: 'columnheader' }, '#'),
      ...this.rows.columns.map((name) => element('th', { role: 'columnheader', scope: 'col', title: name }, name))));
  }

  textOf(cell) {
    return cell.kind === 'iri' ? this.shorten(cell.text) : cell.kind === 'blob' ? `blob: ${cell.text}` : cell.text;
  }

  lengthOf(cell) {
    return this.textOf(cell).length + (cell.language?.length ?? 0) + 2;
  }

  get maxTop() {
    return Math.max(0, this.rows.length - this.n_visible);
  }

  setTop(top) {
    const scrollable = this.spacer.offsetHeight - this.view.clientHeight;
    this.top = Math.max(0, Math.min(Math.round(top), this.maxTop));
    this.view.scrollTop = this.maxTop > 0 ? this.top / this.maxTop * scrollable : 0;
    this.set = this.view.scrollTop; /* what the next event of scrolling is about */
    this.draw();
  }

  onScroll() {
    if (!this.rows || this.view.scrollTop === this.set)
      return;
    const scrollable = this.spacer.offsetHeight - this.view.clientHeight;
    const top = scrollable > 0 ? Math.round(this.view.scrollTop / scrollable * this.maxTop) : 0;
    this.set = undefined;
    if (top === this.top)
      return;
    this.top = Math.min(top, this.maxTop);
    this.draw();
  }

  onWheel(event) {
    if (!this.rows || !this.isScaled || event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      return;
    event.preventDefault();
    this.setTop(this.top + Math.sign(event.deltaY) * Math.max(1, Math.round(Math.abs(event.deltaY) / ROW_HEIGHT)));
  }

  draw() {
    const end = Math.min(this.rows.length, this.top + this.n_visible + 1);
    const lines = [];
    for (let row = this.top; row < end; row++)
      lines.push(this.drawRow(row));
    this.body.replaceChildren(...lines);
    this.markActive();
  }

  drawRow(row) {
    const cells = this.rows.cells(row).map((cell, column) => {
      const text = this.textOf(cell);
      const node = element('td', { role: 'gridcell', class: cell.kind, id: `cell-${row}-${column}`, 'data-row': row,
        'data-column': column, title: text.length > 20 ? text.slice(0, TEXT_MAX) : null }, text.slice(0, TEXT_MAX));
      if (cell.language)
        node.append(element('small', {}, `@${cell.language}`));
      return node;
    });
    const number = element('th', { role: 'rowheader' }, formatNumber(row + 1));
    return element('tr', { role: 'row', 'aria-rowindex': row + 2 }, number, ...cells);
  }

  markActive() {
    this.body.querySelector('.active')?.classList.remove('active');
    const cell = document.getElementById(`cell-${this.active.row}-${this.active.column}`);
    if (!cell) {
      this.view.removeAttribute('aria-activedescendant');
      return;
    }
    cell.classList.add('active');
    this.view.setAttribute('aria-activedescendant', cell.id);
  }

  setActive(row, column) {
    this.active = { row: Math.max(0, Math.min(row, this.rows.length - 1)),
      column: Math.max(0, Math.min(column, this.rows.columns.length - 1)) };
    if (this.active.row < this.top)
      this.setTop(this.active.row);
    else if (this.active.row >= this.top + this.n_visible)
      this.setTop(this.active.row - this.n_visible + 1);
    this.markActive();
    this.showColumn();
  }

  /* The active cell is seen from side to side; the column of numbers stays at the left. */
  showColumn() {
    const cell = document.getElementById(`cell-${this.active.row}-${this.active.column}`);
    const first = this.body.querySelector('th');
    if (!cell || !first)
      return;
    const left = cell.offsetLeft - first.offsetWidth, right = cell.offsetLeft + cell.offsetWidth;
    if (left < this.view.scrollLeft)
      this.view.scrollLeft = left;
    else if (right > this.view.scrollLeft + this.view.clientWidth)
      this.view.scrollLeft = right - this.view.clientWidth;
  }

  get activeCell() {
    return this.rows && this.rows.length > 0 ? this.rows.cells(this.active.row)[this.active.column] : undefined;
  }

  openActive() {
    if (this.activeCell)
      this.open(this.activeCell, this.rows.columns[this.active.column], this.active.row);
  }

  onClick(event) {
    const cell = event.target.closest('td');
    if (cell)
      this.setActive(Number(cell.dataset.row), Number(cell.dataset.column));
  }

  onKey(event) {
    if (!this.rows || this.rows.length === 0 || event.altKey || event.metaKey)
      return;
    const { row, column } = this.active;
    const moves = {
      ArrowDown: [row + 1, column], ArrowUp: [row - 1, column], ArrowRight: [row, column + 1], ArrowLeft: [row, column - 1],
      PageDown: [row + this.n_visible, column], PageUp: [row - this.n_visible, column],
      Home: [event.ctrlKey ? 0 : row, 0], End: [event.ctrlKey ? this.rows.length - 1 : row, this.rows.columns.length - 1],
    };
    if (moves[event.key] && !(event.ctrlKey && event.key.startsWith('Arrow'))) {
      this.setActive(...moves[event.key]);
    } else if (event.key === 'Enter' && !event.ctrlKey) {
      this.openActive();
    } else if (event.key === 'c' && event.ctrlKey && String(getSelection()) === '' && this.activeCell) {
      navigator.clipboard?.writeText(this.activeCell.text);
    } else {
      return;
    }
    event.preventDefault();
  }
}
