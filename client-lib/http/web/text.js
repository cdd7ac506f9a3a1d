/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A result as the text of a format, up to a bound, and as files of every format.
 */
import { FORMATS, downloadUrl, run } from './api.js';
import { element, formatBytes } from './dom.js';

const TEXT_MAX = 1 << 20; /* bytes that are shown */

/* The formats of a statement's result. */
export function formatsOf(language, kind) {
  return FORMATS[language === 'sql' ? 'sql' : kind === 'graph' ? 'graph' : 'rows'];
}

async function readText(response) {
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let n = 0; n < TEXT_MAX;) {
    const { done, value } = await reader.read();
    if (done)
      return { text: text + decoder.decode(), isCut: false };
    n += value.length;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return { text: text.slice(0, TEXT_MAX), isCut: true };
}

/* Runs the statement for its text. @signal: ends it */
async function load(target, statement, format, signal) {
  const response = await run(statement.language, statement.text, format[0], signal);
  const { text, isCut } = await readText(response);
  target.replaceChildren(element('pre', { tabindex: '0', class: 'raw', 'aria-label': `Result as ${format[2]}` }, text),
    ...(isCut ? [element('p', { class: 'notice' }, `The first ${formatBytes(TEXT_MAX)}. Download the file for all.`)] : []));
}

/* Shows the result of @statement (language, text, kind) in @container. @failed: called with an error */
export function showText(container, statement, signal, failed) {
  const formats = formatsOf(statement.language, statement.kind);
  const target = element('div', { class: 'filling' });
  const show = (index) => load(target, statement, formats[index], signal).catch(failed);
  const choice = element('select', { id: 'text-format', onchange: (event) => show(Number(event.target.value)) },
    ...formats.map(([, , name], i) => element('option', { value: i }, name)));
  const onclick = () => navigator.clipboard?.writeText(target.querySelector('pre')?.textContent ?? '');
  const copy = element('button', { type: 'button', onclick }, 'Copy');
  container.replaceChildren(element('div', { class: 'choices' }, element('label', {}, 'Format ', choice), copy), target);
  return show(0);
}

/* Links to the result of a statement as files. */
export function fillDownloads(list, { language, text, kind }) {
  const links = formatsOf(language, kind).map((format) => {
    const url = downloadUrl(language, text, format);
    return element('li', {}, url ? element('a', { href: url, download: `result.${format[1]}` }, format[2])
      : element('span', { class: 'notice' }, `${format[2]}: the text is too long for a link`));
  });
  list.replaceChildren(...links);
}
