// Write Nephila plugins in JavaScript and TypeScript. README.md is the way in, `index.d.ts` has every word.

export { Configuration, input as getInput, setting as getSetting } from './config.js';
export { crawler } from './crawler-controls.js';
export { defineCrawler } from './crawler.js';
export { Dataset, pushData } from './dataset.js';
export { attr, attrs, Field, html, htmls, number, Page, text, texts, url, urls } from './document.js';
export { CrawlerError, DropItemError, HostError, NonRetryableError, RejectItemError, RetryRequestError, SessionError, SkipError } from './errors.js';
export { events } from './events.js';
export { raw } from './host.js';
export { getKeyValueStore, KeyValueStore } from './key-value.js';
export { log } from './log.js';
export { addRequests, enqueueLinks, EnqueueStrategy, lookupRequests } from './queue.js';
export { Request } from './request.js';
export { createRouter } from './router.js';
export { addSession, Session } from './session.js';
export { state, useState } from './state.js';
export { between, firstNumber, withoutQuery } from './text.js';
