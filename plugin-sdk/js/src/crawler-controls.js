// The crawl as a whole, under the name that handlers know it by: `crawler`.

import { string } from './check.js';
import { Dataset, pushData } from './dataset.js';
import { ask, raw } from './host.js';
import { getKeyValueStore } from './key-value.js';
import { addRequests, lookupRequests } from './queue.js';
import { addSession } from './session.js';
import { useState } from './state.js';

export const crawler = {
  /** Ends the crawl once the pages in hand are done; what is pending stays. Takes effect with the call's commit. */
  stop(reason = 'the plugin stopped it') {
    const text = string(reason, 'the reason');
    ask('crawler.stop', () => raw.crawl.stop(text));
  },
  /** Sets the status message that people see. Takes effect with the call's commit. */
  setStatusMessage(message) {
    const text = string(message, 'the message');
    ask('crawler.setStatusMessage', () => raw.crawl.statusMessage(text));
  },
  addRequests,
  addSession,
  lookupRequests,
  pushData,
  useState,
  getKeyValueStore,
  getDataset: (name) => new Dataset(name),
};
