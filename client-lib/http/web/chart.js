/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A chart of two columns: bars for categories, points with a line for numbers and dates.
 */
import { element, formatMark, formatNumber, svg } from './dom.js';

const POINTS_MAX = 2000;
const BARS_MAX = 60;
const DOTS_MAX = 300; /* above it only the line */
const WIDTH = 800, HEIGHT = 380;
const LEFT = 70, RIGHT = 16, TOP = 14, BOTTOM = 64;
const DATE = /^-?\d{4}-\d{2}(-\d{2}(T[\d:.]+(Z|[+-]\d\d:\d\d)?)?)?$/;

function numberOf(cell) {
  const n = cell && cell.text !== '' && cell.kind !== 'iri' && cell.kind !== 'blob' ? Number(cell.text) : NaN;
  return Number.isFinite(n) ? n : null;
}

function timeOf(cell) {
  const time = cell && DATE.test(cell.text) ? Date.parse(cell.text) : NaN;
  return Number.isNaN(time) ? null : time;
}

/* What a column holds, by its first rows: "number", "date" or "category". */
function kindOf(rows, column) {
  const cells = [];
  for (let row = 0; row < Math.min(rows.length, 50); row++)
    cells.push(rows.cells(row)[column]);
  const given = cells.filter((cell) => cell && cell.kind !== 'null');
  if (given.length === 0)
    return 'category';
  if (given.every((cell) => numberOf(cell) !== null))
    return 'number';
  return given.every((cell) => timeOf(cell) !== null) ? 'date' : 'category';
}

/* The columns that are drawn first: the first of numbers upwards, the column before it along. */
export function chooseColumns(rows) {
  const kinds = rows.columns.map((_, column) => kindOf(rows, column));
  const y = kinds.lastIndexOf('number');
  const x = kinds.findIndex((_, column) => column !== y);
  return y < 0 || x < 0 ? null : { x, y };
}

function collect(rows, { x, y }, shorten) {
  const kind = kindOf(rows, x);
  const max = kind === 'category' ? BARS_MAX : POINTS_MAX;
  const points = [];
  for (let row = 0; row < rows.length && points.length < max; row++) {
    const cells = rows.cells(row);
    const value = numberOf(cells[y]);
    const place = kind === 'number' ? numberOf(cells[x]) : kind === 'date' ? timeOf(cells[x]) : points.length;
    if (value !== null && place !== null)
      points.push({ place, value, label: cells[x].kind === 'iri' ? shorten(cells[x].text) : cells[x].text });
  }
  if (kind !== 'category')
    points.sort((a, b) => a.place - b.place);
  return { kind, points, max };
}

/* Round numbers from about @low to about @high. */
function ticks(low, high, n = 5) {
  const rough = (high - low || Math.abs(high) || 1) / n;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough);
  const found = [];
  for (let tick = Math.floor(low / step) * step; tick < high + step && found.length < 20; tick += step)
    found.push(Number(tick.toPrecision(12)));
  return found;
}

function scale(from, to, start, end) {
  return (value) => start + (to === from ? 0.5 : (value - from) / (to - from)) * (end - start);
}

function drawValues(points, toZero) {
  const values = points.map((point) => point.value);
  const marks = ticks(Math.min(...values, toZero ? 0 : Infinity), Math.max(...values, toZero ? 0 : -Infinity));
  const up = scale(marks[0], marks.at(-1), HEIGHT - BOTTOM, TOP);
  const lines = marks.flatMap((mark) => [
    svg('line', { class: 'rule', x1: LEFT, x2: WIDTH - RIGHT, y1: up(mark), y2: up(mark) }),
    svg('text', { x: LEFT - 8, y: up(mark) + 4, 'text-anchor': 'end' }, formatMark(mark))]);
  return { up, lines };
}

function drawBars(points) {
  const { up, lines } = drawValues(points, true);
  const width = (WIDTH - LEFT - RIGHT) / points.length;
  const every = Math.ceil(points.length / 12);
  const bars = points.flatMap((point, i) => {
    const x = LEFT + i * width;
    const y = Math.min(up(point.value), up(0));
    const height = Math.max(1, Math.abs(up(point.value) - up(0)));
    const bar = svg('rect', { class: 'bar', x: x + width * 0.1, y, width: width * 0.8, height },
      svg('title', {}, `${point.label}: ${formatNumber(point.value)}`));
    const label = point.label.length > 14 ? `${point.label.slice(0, 13)}…` : point.label;
    const place = `translate(${x + width / 2} ${HEIGHT - BOTTOM + 14}) rotate(-30)`;
    return i % every === 0 ? [bar, svg('text', { transform: place, 'text-anchor': 'end' }, label)] : [bar];
  });
  return [...lines, ...bars];
}

function drawPoints(points, kind) {
  const { up, lines } = drawValues(points, false);
  const along = scale(points[0].place, points.at(-1).place, LEFT + 6, WIDTH - RIGHT - 6);
  const marks = kind === 'number' ? ticks(points[0].place, points.at(-1).place, 6)
    : [0, 1, 2, 3, 4].map((i) => points[0].place + i * (points.at(-1).place - points[0].place) / 4);
  const inside = marks.filter((mark) => mark >= points[0].place && mark <= points.at(-1).place);
  const labels = inside.map((mark) => svg('text', { x: along(mark), y: HEIGHT - BOTTOM + 18, 'text-anchor': 'middle' },
    kind === 'number' ? formatMark(mark) : new Date(mark).toISOString().slice(0, 10)));
  const places = points.map((point) => [along(point.place), up(point.value)]);
  const path = places.map(([x, y], i) => `${i > 0 ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');
  const dots = points.map((point, i) => svg('circle', { class: 'dot', cx: places[i][0], cy: places[i][1], r: 3 },
    svg('title', {}, `${point.label}: ${formatNumber(point.value)}`)));
  return [...lines, ...labels, svg('path', { class: 'line', d: path }), ...(points.length > DOTS_MAX ? [] : dots)];
}

function select(label, rows, chosen, changed) {
  const options = rows.columns.map((name, i) => element('option', { value: i, selected: i === chosen }, name));
  const onchange = (event) => changed(Number(event.target.value));
  return element('label', {}, `${label} `, element('select', { onchange }, ...options));
}

function draw(rows, columns, shorten) {
  const { kind, points, max } = collect(rows, columns, shorten);
  if (points.length === 0)
    return element('p', { class: 'notice' }, 'No row has a number in the column for the height.');
  const name = `${rows.columns[columns.y]} by ${rows.columns[columns.x]}, ${points.length} values`;
  const attributes = { class: 'chart', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': name, 'data-kind': kind };
  const picture = svg('svg', attributes, ...(kind === 'category' ? drawBars(points) : drawPoints(points, kind)));
  const notice = rows.length > max && points.length === max
    ? [element('p', { class: 'notice' }, `The first ${formatNumber(max)} of ${formatNumber(rows.length)} rows.`)] : [];
  return element('figure', {}, picture, ...notice);
}

/* Draws @rows into @container. @columns: those chosen before, null at first. */
export function showChart(container, rows, shorten, columns = null) {
  const chosen = columns ?? (rows && rows.columns && rows.length > 0 ? chooseColumns(rows) : null);
  if (!chosen) {
    container.replaceChildren(element('p', { class: 'notice' }, 'A chart needs two columns, one of them of numbers.'));
    return;
  }
  const again = (change) => showChart(container, rows, shorten, { ...chosen, ...change });
  container.replaceChildren(
    element('div', { class: 'choices' }, select('Along', rows, chosen.x, (x) => again({ x })),
      select('Height', rows, chosen.y, (y) => again({ y }))),
    draw(rows, chosen, shorten));
}
