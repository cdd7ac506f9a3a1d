/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Elements and texts for people. Every text that comes from the store becomes a text node: no markup is ever parsed.
 */

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on'))
      node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false)
      node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children);
  return node;
}

/* An HTML element; attributes named on… are listeners, null and false leave an attribute out. */
export function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

export function byId(id) {
  return document.getElementById(id);
}

const numbers = new Intl.NumberFormat('en');

export function formatNumber(n) {
  return numbers.format(n);
}

/* A number on an axis: 1984 may be a year. */
export function formatMark(n) {
  return Math.abs(n) < 10000 ? String(n) : numbers.format(n);
}

export function formatBytes(n) {
  return n >= 1 << 20 ? `${(n / (1 << 20)).toFixed(1)} MiB` : n >= 1024 ? `${(n / 1024).toFixed(1)} KiB` : `${n} B`;
}

export function formatTime(milliseconds) {
  return milliseconds >= 1000 ? `${(milliseconds / 1000).toFixed(2)} s` : `${milliseconds.toFixed(milliseconds < 10 ? 2 : 0)} ms`;
}
