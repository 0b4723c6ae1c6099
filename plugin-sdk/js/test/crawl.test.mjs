// Components in the real host, against the real test site.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';

import { booksWasm, crawl, recordOf, site, stateOf, withoutHost } from './support/crawl.mjs';
import { build, buildText, SDK } from './support/driver.mjs';

const needsHost = { skip: withoutHost };

const built = (text, name, files) => {
  const made = buildText(text, name, files);
  assert.equal(made.ok, true, JSON.stringify(made));
  return made.out;
};

/** The one page of a crawl: what the handler pushed, or why it failed. */
function one(made, url, ...words) {
  const done = crawl(made, url, '--max-requests', '1', ...words);
  return { ...done, item: done.items[0], error: done.statistics.errors[0] };
}

const handling = (body, top = '') => `import * as sdk from 'nephila';\n${top}\nexport default sdk.defineCrawler({ name: 'one', async handle(context) {\n${body}\n} });`;

test('books in JavaScript and TypeScript give the items, state and statistics of the Rust plugin', { skip: withoutHost || (booksWasm ? false : 'NEPHILA_BOOKS_WASM does not name the Rust plugin') }, async (context) => {
  const url = await site(context, 'bookshop');
  const plugins = { rust: booksWasm };
  for (const language of ['js', 'ts']) {
    const made = build(join(SDK, '..', '..', 'plugins', `books-${language}`, 'src', `main.${language}`), { out: built(handling('')) });
    assert.equal(made.ok, true, JSON.stringify(made));
    plugins[language] = made.out;
  }
  const results = Object.fromEntries(Object.entries(plugins).map(([language, plugin]) => {
    const done = crawl(plugin, url);
    const { requestsTotal, requestsFinished, requestsFailed, requestsSkipped, requestsRefused, requestsRetries, retryHistogram, fetches, items, itemsByDataset, statusCodes, errors } = done.statistics;
    return [language, {
      items: done.items.sort((a, b) => (a.url < b.url ? -1 : 1)),
      statistics: { requestsTotal, requestsFinished, requestsFailed, requestsSkipped, requestsRefused, requestsRetries, retryHistogram, fetches, items, itemsByDataset, statusCodes, errors },
      state: stateOf(done),
    }];
  }));
  assert.equal(results.rust.items.length, 1000);
  assert.deepEqual(results.js, results.rust);
  assert.deepEqual(results.ts, results.rust);
});

test('an `async` handler is run to its end', needsHost, async (context) => {
  const url = await site(context, 'bookshop');
  const made = built(handling(`
    const seen = [];
    const step = async (name) => { seen.push(name); await null; seen.push(name + '!'); return name; };
    const both = await Promise.all([step('a'), step('b')]);
    try { await Promise.reject(new Error('x')); } catch (error) { seen.push(error.message); }
    for await (const one of (async function* () { yield 1; yield 2; })()) seen.push(one);
    await context.pushData({ both, seen });
  `));
  assert.deepEqual(one(made, url).item, { both: ['a', 'b'], seen: ['a', 'b', 'a!', 'b!', 'x', 1, 2] });
});

test('what an `async` handler throws fails the page with the position in the source', needsHost, async (context) => {
  const url = await site(context, 'bookshop');
  const made = built(
    `import { createRouter, defineCrawler } from 'nephila';\nimport { price } from './shop.ts';\n\ninterface Item { title: string }\n\nconst router = createRouter();\nrouter.addDefaultHandler(async ({ pushData }) => {\n  await pushData({ title: 'kept?' } satisfies Item);\n  await null;\n  price(undefined);\n});\nexport default defineCrawler({ name: 'one', router });\n`,
    'crawler.ts',
    { 'shop.ts': 'export interface Priced {\n  price: number;\n}\n\nexport function price(of: Priced | undefined): number {\n  return of!.price;\n}\n' },
  );
  const { error, items } = one(made, url);
  assert.deepEqual(items, []);
  assert.equal(error.code, 'exception');
  assert.match(JSON.stringify(error), /TypeError: cannot read property 'price' of undefined \| at price \(shop.ts:6:10\) \| at crawler.ts:10:\d+/);
});

test('a call whose `await` is missing loses neither its effects nor its error', needsHost, async (context) => {
  const url = await site(context, 'bookshop');
  assert.deepEqual(one(built(handling(`const later = async () => { await null; await context.pushData({ late: true }); }; later();`)), url).item, { late: true });
  assert.match(JSON.stringify(one(built(handling(`const later = async () => { await null; throw new Error('in vain'); }; later();`)), url).error), /in vain/);
});

test('what is not there is refused with what to take instead, and a promise that never settles is told', needsHost, async (context) => {
  const url = await site(context, 'bookshop');
  const words = {
    'setTimeout(() => {}, 10)': /there is no `setTimeout` in a plugin: a handler does not wait/,
    "await fetch('http://a/')": /there is no `fetch` in a plugin: the host fetches/,
    'await new Promise(() => {})': /waits for a promise that never settles/,
    'context.$("h1")': /there is no `\$` in the context/,
    'sdk.state.get("")': /cannot be a state key/,
    'context.page.text("h1[")': /h1\[/,
  };
  for (const [body, expected] of Object.entries(words)) {
    const { error, statistics } = one(built(handling(body)), url);
    assert.match(JSON.stringify(error), expected, body);
    assert.notEqual(error.code, 'trap', body);
    assert.equal(statistics.requestsFailed, 1);
  }
});

test('the host is there: page, time, random numbers, URLs, log', needsHost, async (context) => {
  const url = await site(context, 'bookshop');
  const body = `
    const { page, request, log } = context;
    console.log('hello', { a: 1 });
    log.warning('careful', { b: 2 });
    await context.pushData({
      title: page.title(), first: page.get(sdk.url('h3 a')), rows: page.extractEach('article.product_pod', { t: 'h3', p: sdk.number('.price_color') }).length,
      links: page.links().length > 20, text: page.content().length === page.body().length, status: page.status, type: page.contentType, url: request.url === page.url,
      host: new URL('/x', page.url).pathname, year: new Date().getFullYear() > 2024, random: Math.random(), bytes: new TextEncoder().encode('é').length,
      lookup: sdk.lookupRequests([page.url])[0].state, setting: sdk.getSetting('delay'), input: sdk.getInput(), none: page.text('blink'),
    });`;
  const made = built(handling(body));
  const { item, log } = one(made, url, '--input', '{"x":1}');
  const { first, random, title, ...rest } = item;
  assert.deepEqual(rest, { rows: 20, links: true, text: false, status: 200, type: 'text/html', url: true, host: '/x', year: true, bytes: 2, lookup: 'pending', setting: 0, input: { x: 1 }, none: null });
  assert.match(title, /All products/);
  assert.match(first, /^http:\/\/127\.0\.0\.1:\d+\/catalogue\/.*\/index\.html$/);
  assert.match(log, /hello \{\\?"a\\?":1\}/);
  assert.match(log, /careful/);
  assert.equal(one(made, url).item.random, random, 'the same page draws the same numbers');
});

test('state, events, the end and failures: a crawl with all entry points', needsHost, async (context) => {
  const url = await site(context, 'bookshop');
  const made = built(`
    import { createRouter, defineCrawler, Dataset, events, SkipError } from 'nephila';
    const router = createRouter();
    router.addDefaultHandler(async ({ enqueueLinks, addRequests, useState }) => {
      const state = await useState({ pages: 0, seen: [] });
      state.pages += 1;
      state.seen.push('front');
      await enqueueLinks({ selector: 'article.product_pod h3 a', label: 'detail', limit: 5, userData: { from: 'front' } });
      await addRequests([{ url: '/gone', label: 'detail', maxRetries: 0 }]);
    });
    router.addHandler('detail', async ({ page, request, pushData, useState, state }) => {
      const shared = await useState({ pages: 0 });
      shared.pages += 1;
      await events.emit('book', { title: page.title() });
      await pushData({ from: request.userData.from });
      if (request.url.includes('never')) throw new SkipError();
    });
    let heard = 0;
    export default defineCrawler({
      name: 'all',
      settings: { 'session-pool': 'yes' },
      router,
      failed: async ({ request, page, state }, reason) => { await null; state.set('failed', [request.label, reason.code, reason.status, page === undefined]); },
      finish: async ({ state }) => { state.set('rows', Dataset.open().map((item) => item.from)); },
      on: { book: async (event, { state }) => { heard += 1; state.set('heard', heard); state.max('longest', event.payload.title.length); } },
      createSession: async () => ({ userData: { language: 'en' } }),
    });`);
  const done = crawl(made, url);
  assert.equal(done.statistics.requestsFinished, 6, JSON.stringify(done.statistics));
  assert.equal(done.statistics.requestsFailed, 1);
  const state = stateOf(done);
  if (!state) return context.diagnostic('no python3: the state was not compared');
  const values = Object.fromEntries(Object.entries(state).map(([key, text]) => [key, JSON.parse(text)]));
  assert.deepEqual(values.pages, 6);
  assert.deepEqual(values.seen, ['front']);
  assert.deepEqual(values.failed.slice(0, 3), ['detail', 'status', 404]);
  assert.deepEqual(values.rows, Array(5).fill('front'));
  assert.equal(values.heard, 5);
  return undefined;
});

test('an auto-saved value loses no change of any handler, and is shown as a record', needsHost, async (context) => {
  const url = await site(context, 'bookshop');
  const made = built(`
    import { createRouter, defineCrawler, KeyValueStore } from 'nephila';
    const router = createRouter();
    router.addDefaultHandler(async ({ enqueueLinks }) => { await enqueueLinks({ selector: 'article.product_pod h3 a', label: 'detail' }); });
    router.addHandler('detail', async ({ page, getKeyValueStore }) => {
      const counts = await KeyValueStore.getAutoSavedValue('counts', { pages: 0, titles: [] });
      counts.pages += 1;
      counts.titles.push(page.title());
      await getKeyValueStore().setAutoSavedValue('last', page.url);
      if (counts.pages === 7) throw new Error('what a page that fails has changed is not kept');
    });
    export default defineCrawler({ name: 'saver', router, finish: async ({ getKeyValueStore }) => { getKeyValueStore().getAutoSavedValue('counts').ended = true; } });`);
  const done = crawl(made, url, '-c', '8');
  const failed = done.statistics.requestsFailed;
  assert.ok(failed > 0 && done.statistics.requestsFinished === 21 - failed, JSON.stringify(done.statistics));
  const counts = recordOf(done, 'counts');
  assert.deepEqual([counts.pages, counts.titles.length, counts.ended], [6, 6, true], 'from the seventh on they all fail');
  assert.match(recordOf(done, 'last'), /^http:/);
});

test('a session that a handler adds serves the requests that are bound to it', needsHost, async (context) => {
  const url = await site(context, 'bookshop');
  const source = (id) => `
    import { addSession, createRouter, defineCrawler } from 'nephila';
    const router = createRouter();
    router.addDefaultHandler(async ({ page, addRequests }) => {
      const id = await addSession({ ${id} userData: { account: 7 }, cookies: ['token=1; Path=/', { name: 'plain', value: 'x', path: '/' }] });
      await addRequests(page.links('article.product_pod h3 a').slice(0, 3).map(({ url }) => ({ url, label: 'detail', sessionId: id, userData: { id } })));
    });
    router.addHandler('detail', async ({ request, session, pushData }) => {
      await pushData({ bound: session.id === request.userData.id, id: session.id, data: session.userData, cookies: session.getCookieString().split('; ').sort() });
    });
    export default defineCrawler({ name: 'accounts', router });`;
  const made = built(source("id: 'account-7',"));
  const done = crawl(made, url, '--set', 'session-pool=yes');
  assert.deepEqual(done.items, Array(3).fill({ bound: true, id: 'account-7', data: { account: 7 }, cookies: ['plain=x', 'token=1'] }), JSON.stringify(done.statistics));
  const [unnamed] = crawl(built(source('')), url, '--set', 'session-pool=yes').items;
  assert.ok(unnamed.bound && unnamed.id.length > 0);
  assert.equal(crawl(made, url).statistics.errors[0].code, 'no-session-pool');
});

const SHOP = `
    import { createRouter, defineCrawler } from 'nephila';
    const router = createRouter();
    router.addDefaultHandler(async ({ enqueueLinks }) => { await enqueueLinks({ selector: 'article.product_pod h3 a', label: 'detail', limit: 6 }); });
    router.addHandler('detail', async ({ page, pushData }) => { await pushData([{ url: page.url, title: page.text('h1') }, { url: page.url, title: page.text('h1') }]); });
`;

test("a plugin's own pipeline changes, drops and rejects items, and keeps state", needsHost, async (context) => {
  const url = await site(context, 'bookshop');
  const made = built(`${SHOP}
    import { DropItemError, RejectItemError, state } from 'nephila';
    const once = async (key) => { await null; if (state.get(key)) throw new DropItemError('duplicate'); state.set(key, true); };
    export default defineCrawler({
      name: 'tidy', router,
      async processItem(item, { url, dataset, useState }) {
        await once('seen:' + item.url);
        const shared = await useState({ kept: 0 });
        shared.kept += 1;
        if (shared.kept === 3) throw new RejectItemError('the third is one too many');
        return { ...item, title: item.title.toUpperCase(), from: url, dataset: dataset ?? null, random: Math.random() };
      },
    });`);
  const done = crawl(made, url);
  const { requestsFinished, requestsFailed, itemsDropped, errors } = done.statistics;
  assert.deepEqual([requestsFinished, requestsFailed, itemsDropped, done.items.length], [3, 4, { duplicate: 2 }, 2], JSON.stringify(done.statistics));
  assert.equal(errors[0].code, 'item-rejected');
  assert.match(JSON.stringify(errors), /in the pipeline of tidy: |the third is one too many/);
  for (const { url: at, title, from, dataset } of done.items) assert.deepEqual([title, from, dataset], [title.toUpperCase(), at, null]);
  assert.equal(new Set(done.items.map(({ random }) => random)).size, 2);
  const state = stateOf(done);
  if (state) assert.equal(state.kept, '2');
});

test('a plugin that is only a pipeline looks at the items of another one, and does nothing else', needsHost, async (context) => {
  const url = await site(context, 'bookshop');
  const shop = built(`${SHOP}\nexport default defineCrawler({ name: 'shop', router });`);
  const look = built(`
    import { addSession, defineCrawler, DropItemError, KeyValueStore, getInput } from 'nephila';
    const deeds = {
      mark: (item) => { item.marked = true; KeyValueStore.getAutoSavedValue('marks', { n: 0 }).n += 1; },
      drop: () => { throw new DropItemError('all'); },
      push: (item, { pushData }) => pushData({}),
      enqueue: (item, { addRequests }) => { addRequests(['/x']); },
      write: (item, { getKeyValueStore }) => getKeyValueStore().setValue('a', 'b'),
      session: () => { addSession(); },
      throw: (item) => item.a.b,
      none: () => null,
      date: () => new Date(),
    };
    export default defineCrawler({ name: 'look', processItem: (item, context) => deeds[getInput()](item, context) });`);
  const looking = (deed) => crawl(shop, url, '--pipeline', look, '--input', JSON.stringify(deed));
  const marked = looking('mark');
  assert.equal(marked.items.length, 12, JSON.stringify(marked.statistics));
  assert.ok(marked.items.every((item) => item.marked === true));
  assert.deepEqual(recordOf(marked, 'marks'), { n: 12 });
  assert.deepEqual(looking('drop').statistics.itemsDropped, { all: 12 });

  const refused = { push: 'not-in-pipeline', enqueue: 'not-in-pipeline', write: 'not-in-pipeline', session: 'not-in-pipeline', throw: 'exception', none: 'bad-argument', date: 'bad-json' };
  for (const [deed, code] of Object.entries(refused)) {
    const { items, statistics } = looking(deed);
    assert.deepEqual([items, statistics.requestsFailed, statistics.errors[0].code], [[], 6, code], deed);
  }
});

test('a reused sandbox forgets what a page left, and does not grow', needsHost, async (context) => {
  const url = await site(context, 'mesh', '--pages', '3000');
  const made = built(handling(`
    const cycle = { big: 'x'.repeat(20000) }; cycle.self = cycle;
    const state = await context.useState(); state['page:' + context.request.url] = 1;
    await context.enqueueLinks();
    if (context.page.url.endsWith('7')) throw new Error('seven');
  `));
  const done = crawl(made, url, '--set', 'plugin-reuse=1000', '--max-requests', '2000');
  assert.ok(done.statistics.requestsFinished > 1000);
  assert.ok(done.statistics.errors.every(({ code }) => code === 'exception'), JSON.stringify(done.statistics.errors));
});
