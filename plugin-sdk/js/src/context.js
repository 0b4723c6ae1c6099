// What a handler is called with. Every part is made when it is asked for, so that a handler pays for what it names:
// `({ page, pushData }) =>` never reads the request. Functions are shared and need no `this`, so that they can be taken out.

import { NonRetryableError, HostError } from './errors.js';
import { Page } from './document.js';
import { ask } from './host.js';
import { pushData } from './dataset.js';
import { getKeyValueStore } from './key-value.js';
import { log } from './log.js';
import { addRequests, enqueueLinks } from './queue.js';
import { Request } from './request.js';
import { session } from './session.js';
import { useState, state } from './state.js';
import { crawler } from './crawler-controls.js';

/** What is there in every handler, also where there is no page. */
const everywhere = { crawler, log, pushData, addRequests, useState, state, getKeyValueStore };

/** What users of Crawlee look for, and what to take instead. */
const elsewhere = {
  $: 'the host keeps and parses the page; ask it with `page.extract({ title: "h1" })`, `page.extractEach(item, fields)` or `page.text(selector)`',
  parseWithCheerio: 'ask the page with `page.extract({ title: "h1" })`',
  sendRequest: 'a handler does not fetch; enqueue the request with `addRequests`, and handle it under a label of its own',
  proxyInfo: 'proxies are the host’s',
  browserController: 'there is no browser within the plugin',
};

/** What is there everywhere: the context of `finish` and of listeners. */
export class Context {}
Object.assign(Context.prototype, everywhere);
for (const [name, instead] of Object.entries(elsewhere)) {
  Object.defineProperty(Context.prototype, name, {
    get() {
      throw new NonRetryableError(`there is no \`${name}\` in the context: ${instead}`, { code: 'not-there' });
    },
  });
}

/** The context of a handler, and of `failed`. */
export class PageContext extends Context {
  #call;
  #page;
  #request;

  constructor(call) {
    super();
    this.#call = call;
  }

  /** The page that was fetched; undefined in `failed` if none came. */
  get page() {
    return this.#page === undefined ? this.#fetched() : (this.#page ?? undefined);
  }

  #fetched() {
    try {
      this.#page = new Page(ask('page', () => this.#call.document()));
    } catch (error) {
      if (!(error instanceof HostError) || error.code !== 'no-page') throw error;
      this.#page = null;
    }
    return this.#page ?? undefined;
  }

  get request() {
    return (this.#request ??= new Request(ask('request', () => this.#call.request()), () => this.page));
  }

  get session() {
    return session();
  }

  get id() {
    return this.request.uniqueKey;
  }

  // What Crawlee's HTTP crawlers have beside the request.
  get response() {
    const { page } = this;
    return page && { url: page.url, statusCode: page.status, headers: page.headers };
  }

  get contentType() {
    const { page } = this;
    return page && { type: page.contentType, encoding: page.meta.charset ?? null };
  }

  get body() {
    return this.page?.content();
  }

  get json() {
    return this.page?.json();
  }
}
Object.assign(PageContext.prototype, { enqueueLinks });
