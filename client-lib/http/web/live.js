/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a query again when a commit may have changed its result. The server sends the events; while the page is not seen there is no
 * connection for them.
 */
import { watch } from './api.js';

const PAUSE = 250; /* milliseconds between two runs */

export class Live {
  /* @again: runs the query again; returns a promise. @failed: called when the server refuses */
  constructor(again, failed) {
    this.again = again;
    this.failed = failed;
    this.source = null;
    this.query = null; /* language and text */
    this.isRunning = false;
    this.isStale = false;
    document.addEventListener('visibilitychange', () => this.onVisible());
  }

  start(language, text) {
    this.stop();
    this.query = [language, text];
    this.listen(false);
  }

  stop() {
    this.query = null;
    this.close();
  }

  close() {
    this.source?.close();
    this.source = null;
    delete document.body.dataset.live;
  }

  /* @wasAway: changes may have been missed */
  listen(wasAway) {
    this.source = watch(...this.query);
    if (!this.source) {
      this.failed('The text is too long to be watched.');
      return;
    }
    let isFirst = !wasAway;
    this.source.addEventListener('ready', () => {
      if (!isFirst) /* connected again */
        this.run();
      isFirst = false;
      document.body.dataset.live = 'ready';
    });
    this.source.addEventListener('stale', () => this.run());
    this.source.addEventListener('error', () => {
      if (this.source?.readyState === EventSource.CLOSED) {
        this.stop();
        this.failed('The server does not tell of changes of this result.');
      }
    });
  }

  onVisible() {
    if (!this.query)
      return;
    if (document.hidden)
      this.close();
    else if (!this.source)
      this.listen(true);
  }

  async run() {
    this.isStale = true;
    if (this.isRunning)
      return;
    this.isRunning = true;
    while (this.isStale && this.query) {
      this.isStale = false;
      await this.again();
      await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
    }
    this.isRunning = false;
  }
}
