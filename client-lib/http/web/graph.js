/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Triples as a drawing: nodes that push each other away, edges that pull. Bounded, as a drawing of many nodes says nothing.
 */
import { element, formatNumber, svg } from './dom.js';

export const NODES_MAX = 300;
const EDGES_MAX = 1000;
const ROUNDS = 250;
const NAMED = new Set(['iri', 'bnode']);
const DISTANCE = 120; /* between neighbours, in the units of the drawing */

function keyOf(cell) {
  return `${cell.kind} ${cell.text} ${cell.language ?? ''} ${cell.datatype ?? ''}`;
}

function collect(rows, shorten) {
  const nodes = new Map();
  const edges = [];
  let isCut = false;
  const take = (cell) => {
    const key = keyOf(cell);
    if (!nodes.has(key) && nodes.size >= NODES_MAX)
      return null;
    if (!nodes.has(key))
      nodes.set(key, { cell, label: cell.kind === 'iri' ? shorten(cell.text) : cell.text, x: 0, y: 0, n_edges: 0 });
    return nodes.get(key);
  };
  for (let row = 0; row < rows.length && edges.length < EDGES_MAX; row++) {
    const [subject, predicate, object] = rows.cells(row);
    const from = subject && take(subject);
    const to = from && object && take(object);
    if (!from || !to) {
      isCut = true;
      if (nodes.size >= NODES_MAX && row > 20 * EDGES_MAX)
        break;
      continue;
    }
    from.n_edges++;
    to.n_edges++;
    edges.push({ from, to, label: shorten(predicate.text) });
  }
  return { nodes: [...nodes.values()], edges, isCut: isCut || edges.length >= EDGES_MAX };
}

function push(nodes) {
  for (let i = 0; i < nodes.length; i++) {
    for (let j = 0; j < i; j++) {
      const dx = nodes[i].x - nodes[j].x, dy = nodes[i].y - nodes[j].y;
      const force = DISTANCE * DISTANCE / Math.max(dx * dx + dy * dy, 1);
      nodes[i].dx += dx * force;
      nodes[i].dy += dy * force;
      nodes[j].dx -= dx * force;
      nodes[j].dy -= dy * force;
    }
  }
}

function pull(edges) {
  for (const { from, to } of edges) {
    const dx = to.x - from.x, dy = to.y - from.y;
    const force = Math.hypot(dx, dy) / DISTANCE;
    from.dx += dx * force;
    from.dy += dy * force;
    to.dx -= dx * force;
    to.dy -= dy * force;
  }
}

/* Always the same for the same triples: it begins on a spiral. */
function layOut({ nodes, edges }) {
  nodes.forEach((node, i) => {
    node.x = Math.sqrt(i + 1) * DISTANCE * 0.5 * Math.cos(i * 2.4);
    node.y = Math.sqrt(i + 1) * DISTANCE * 0.5 * Math.sin(i * 2.4);
  });
  for (let round = 0; round < ROUNDS; round++) {
    const step = DISTANCE * (1 - round / ROUNDS) * 0.25;
    for (const node of nodes) {
      node.dx = -node.x * 0.05;
      node.dy = -node.y * 0.05;
    }
    push(nodes);
    pull(edges);
    for (const node of nodes) {
      const length = Math.max(Math.hypot(node.dx, node.dy), 1e-6);
      node.x += node.dx / length * Math.min(length, step);
      node.y += node.dy / length * Math.min(length, step);
    }
  }
}

function frameOf(nodes) {
  const xs = nodes.map((node) => node.x), ys = nodes.map((node) => node.y);
  const left = Math.min(...xs) - 90, top = Math.min(...ys) - 40;
  return { x: left, y: top, width: Math.max(...xs) - left + 90, height: Math.max(...ys) - top + 40 };
}

function short(text) {
  return text.length > 24 ? `${text.slice(0, 23)}…` : text;
}

function draw({ nodes, edges }) {
  const lines = edges.flatMap(({ from, to, label }) => {
    const x = (from.x + to.x) / 2, y = (from.y + to.y) / 2;
    const line = svg('line', { class: 'edge', x1: from.x, y1: from.y, x2: to.x, y2: to.y, 'marker-end': 'url(#arrow)' },
      svg('title', {}, label));
    const name = svg('text', { class: 'edge-label', x, y: y - 3, 'text-anchor': 'middle' }, short(label));
    return nodes.length <= 40 ? [line, name] : [line];
  });
  const dots = nodes.flatMap((node) => [
    svg('circle', { class: `node ${NAMED.has(node.cell.kind) ? node.cell.kind : 'literal'}`, cx: node.x, cy: node.y,
      r: 6 + Math.min(8, Math.sqrt(node.n_edges)) }, svg('title', {}, node.cell.text)),
    ...(nodes.length <= 120 || node.n_edges > 2
      ? [svg('text', { class: 'node-label', x: node.x, y: node.y - 12, 'text-anchor': 'middle' }, short(node.label))] : [])]);
  const place = { viewBox: '0 0 8 8', refX: 18, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' };
  const arrow = svg('marker', { id: 'arrow', ...place },
    svg('path', { class: 'arrow', d: 'M0 0L8 4L0 8z' }));
  return [svg('defs', {}, arrow), ...lines, ...dots];
}

/* Zoom by buttons, keys and the wheel; the drawing is moved by dragging and by the arrow keys. */
function makeMovable(picture, frame) {
  const set = () => picture.setAttribute('viewBox', `${frame.x} ${frame.y} ${frame.width} ${frame.height}`);
  const zoom = (factor) => {
    frame.x += frame.width * (1 - factor) / 2;
    frame.y += frame.height * (1 - factor) / 2;
    frame.width *= factor;
    frame.height *= factor;
    set();
  };
  const move = (dx, dy) => {
    frame.x += dx * frame.width;
    frame.y += dy * frame.height;
    set();
  };
  const keys = { '+': () => zoom(0.8), '-': () => zoom(1.25), ArrowLeft: () => move(-0.1, 0), ArrowRight: () => move(0.1, 0),
    ArrowUp: () => move(0, -0.1), ArrowDown: () => move(0, 0.1) };
  picture.addEventListener('keydown', (event) => {
    if (keys[event.key]) {
      keys[event.key]();
      event.preventDefault();
    }
  });
  picture.addEventListener('wheel', (event) => {
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.1 : 0.9);
  }, { passive: false });
  picture.addEventListener('pointerdown', (event) => picture.setPointerCapture(event.pointerId));
  picture.addEventListener('pointermove', (event) => {
    if (event.buttons & 1)
      move(-event.movementX / picture.clientWidth, -event.movementY / picture.clientHeight);
  });
  set();
  return zoom;
}

/* Draws the triples of @rows into @container. */
export function showGraph(container, rows, shorten) {
  if (!rows || !rows.isGraph || rows.length === 0) {
    container.replaceChildren(element('p', { class: 'notice' }, 'CONSTRUCT and DESCRIBE give triples, which are drawn here.'));
    return;
  }
  const found = collect(rows, shorten);
  layOut(found);
  const counts = `${formatNumber(found.nodes.length)} nodes, ${formatNumber(found.edges.length)} edges`;
  const notice = found.isCut ? `The first ${counts} of ${formatNumber(rows.length)} triples.` : `${counts}.`;
  const picture = svg('svg', { class: 'graph', tabindex: '0', role: 'img',
    'aria-label': `${notice} Plus and minus zoom, arrows move.` }, ...draw(found));
  const zoom = makeMovable(picture, frameOf(found.nodes));
  container.replaceChildren(element('div', { class: 'choices' },
    element('button', { type: 'button', 'aria-label': 'Larger', onclick: () => zoom(0.8) }, '+'),
    element('button', { type: 'button', 'aria-label': 'Smaller', onclick: () => zoom(1.25) }, '−'),
    element('span', { class: 'notice' }, notice)), picture);
}
