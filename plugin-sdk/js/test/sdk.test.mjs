import assert from 'node:assert/strict';
import { test } from 'node:test';

import { asked, call, memory, refuse, reset } from './support/host.mjs';

const sdk = await import('../src/index.js');
const { entryPointsOf, exportsOf } = await import('../src/entry.js');
const { defineCrawler, createRouter } = sdk;

/** Runs a handler on a page; gives what the host was asked. */
function handle(handler, { answers = {}, page = {} } = {}) {
  reset(answers);
  exportsOf(defineCrawler({ name: 'shop', handle: handler })).handler.handle(call(page));
  return asked;
}

/** What the host is told when a handler throws. */
function failure(handler, given) {
  try {
    handle(handler, given);
  } catch (error) {
    return error;
  }
  return undefined;
}

// --- the crawler and its entry points ---

test('what a crawler has decides which entry points there are', () => {
  const f = () => {};
  assert.deepEqual(entryPointsOf(defineCrawler({ name: 'a', handle: f })), ['manifest', 'handler']);
  const all = defineCrawler({ name: 'a', router: createRouter(), failed: f, finish: f, on: { offer: f }, createSession: f, processItem: f });
  assert.deepEqual(entryPointsOf(all), ['manifest', 'handler', 'failure', 'finish', 'listener', 'sessions', 'pipeline']);
  assert.deepEqual(entryPointsOf(defineCrawler({ name: 'a', processItem: f })), ['manifest', 'pipeline']);
  assert.throws(() => entryPointsOf(undefined), /has no default export: write `export default defineCrawler/);
  assert.throws(() => entryPointsOf({ name: 'a' }), /must be what `defineCrawler` makes, not an object/);
});

test('mistakes in `defineCrawler` are named with the way out', () => {
  const f = () => {};
  assert.throws(() => defineCrawler({ name: 'My Shop', handle: f }), /lower-case letters.*`My Shop` is not/);
  assert.throws(() => defineCrawler({ name: 'a' }), /needs what handles pages/);
  assert.throws(() => defineCrawler({ name: 'a', handle: f, router: f }), /`router` or `handle`, not both/);
  assert.throws(() => defineCrawler({ name: 'a', requestHandler: f }), /no `requestHandler`: it is called `handle` or `router`/);
  assert.throws(() => defineCrawler({ name: 'a', handel: f }), /no `handel`; there are `name`, /);
  assert.throws(() => defineCrawler({ name: 'a', processItem: {} }), /`processItem` of `defineCrawler` must be a function, not an object/);
  assert.throws(() => defineCrawler({ name: 'a', handle: f, pipeline: f }), /no `pipeline`: it is called `processItem`/);
  assert.throws(() => defineCrawler({ name: 'a', handle: 'f' }), /`handle` of `defineCrawler` must be a function, not `f`/);
});

test('the manifest is what the crawler says', () => {
  const crawler = defineCrawler({ name: 'a', version: '1.2.3', description: 'A.', startUrls: ['http://a/'], settings: { delay: 0.5 }, handle() {} });
  assert.deepEqual(exportsOf(crawler).manifest.describe(), {
    name: 'a', version: '1.2.3', description: 'A.', startUrls: ['http://a/'], settings: [{ name: 'delay', value: '0.5' }], extraJson: undefined,
  });
});

test('a call into the host while the module is loaded says that there is no crawl', () => {
  // Each entry point leaves the host there for the next; a fresh module does not have one.
  return import('../src/host.js').then(({ hostIsThere }) => {
    hostIsThere(false);
    assert.throws(() => sdk.getInput(), { code: 'no-crawl-yet', message: /`getInput` was called where there is no crawl/ });
    hostIsThere(true);
  });
});

// --- handlers ---

test('synchronous and asynchronous handlers are run to their end', () => {
  assert.deepEqual(handle(({ pushData }) => pushData({ n: 1 })), [['dataset.push', undefined, ['{"n":1}']]]);
  // Node's own promises do not settle within the call; what the build makes of `async` does (see the integration test).
  assert.equal(failure(() => new Promise(() => {})).code, 'never-settles');
});

test('what is thrown becomes the error of the contract', () => {
  const told = (thrown) => failure(() => { throw thrown; });
  const plain = told(new TypeError('x is not a function'));
  assert.deepEqual([plain.code, plain.ending, plain.message.split('\n')[0]], ['exception', undefined, 'TypeError: x is not a function']);
  assert.equal(told(new sdk.NonRetryableError('no code was given')).code, 'error');
  assert.deepEqual({ ...told(new sdk.RetryRequestError('later')) }, { code: 'retry', ending: 'retry', message: 'later' });
  assert.deepEqual({ ...told(new sdk.SkipError('not ours', { code: 'sold-out' })) }, { code: 'sold-out', ending: 'skip', message: 'not ours' });
  assert.deepEqual(told(new sdk.NonRetryableError('broken', { code: 'no-price' })).code, 'no-price');
  assert.equal(told('a text').message, 'a value that is no error was thrown: a text');
  assert.match(told(new Error('a', { cause: new Error('b') })).message, /Error: a\ncaused by Error: b/);
  assert.equal(told(new Error('x\ud800')).message.isWellFormed(), true);
  assert.ok(told(new Error('long'.repeat(10_000))).message.length <= 8000);
});

test('an error of the host passes through as it is, and can be caught', () => {
  const answers = { 'dataset.push': refuse('quota', 'too many items') };
  assert.deepEqual({ ...failure(({ pushData }) => pushData({}), { answers }) }, { code: 'quota', ending: undefined, message: 'too many items' });
  const caught = handle(({ pushData, log }) => {
    try {
      pushData({});
    } catch (error) {
      assert.ok(error instanceof sdk.HostError);
      log.warning(error.code);
    }
  }, { answers });
  assert.deepEqual(caught.at(-1), ['log.write', 'warn', 'quota', undefined]);
});

test('a `SessionError` retires the session and asks for another try', () => {
  const error = failure(() => { throw new sdk.SessionError('are you human?'); }, { answers: { 'session.id': 's1' } });
  assert.deepEqual([error.code, error.ending], ['session', 'retry']);
  assert.deepEqual(asked.map(([name]) => name), ['session.id', 'session.retire']);
});

test('a router goes by labels', () => {
  const seen = [];
  const router = createRouter()
    .addHandler('detail', ({ request }) => void seen.push(`detail ${request.url}`))
    .addDefaultHandler(() => void seen.push('default'))
    .use(() => void seen.push('first'));
  const { handler } = exportsOf(defineCrawler({ name: 'a', router }));
  reset();
  handler.handle(call({ request: { label: 'detail' } }));
  handler.handle(call());
  assert.deepEqual(seen, ['first', 'detail http://shop/a', 'first', 'default']);
  assert.throws(() => handler.handle(call({ request: { label: 'details' } })), { code: 'unknown-label', message: /no handler is for the label `details`; there are handlers for `detail`/ });
  const ofLabel = (router) => () => router({ request: { label: 'details' } });
  assert.throws(ofLabel(createRouter().addDefaultHandler(() => {})), { message: /the default handler alone, which is for requests without a label/ });
  assert.throws(ofLabel(createRouter()), { message: /the router has no handlers: add one with `addHandler`/ });
  assert.throws(() => createRouter().addHandler('a', 'b'), /must be a function/);
});

test('a handler pays only for what it names', () => {
  assert.deepEqual(handle(({ log }) => log.info('x')), [['log.write', 'info', 'x', undefined]]);
  const never = () => { throw new Error('was asked for the document'); };
  handle(({ request, session: _, ...rest }) => request.url, { page: { document: never }, answers: { 'session.id': refuse('no-session') } });
});

test('what Crawlee has and a plugin does not is said with what to take instead', () => {
  assert.match(failure(({ $ }) => $('h1')).message, /there is no `\$` in the context: the host keeps and parses the page; ask it with `page.extract/);
  assert.match(failure(({ sendRequest }) => sendRequest()).message, /enqueue the request with `addRequests`/);
  assert.match(failure(({ page }) => page.$('h1')).message, /^the page has no `\$`: ask it with `page.extract/);
  assert.match(failure(({ page }) => page.goto('/')).message, /there is no browser/);
  assert.equal(failure(({ page }) => page.statusCode).code, 'not-there');
});

test('`failed` gets the reason, and no page where none came', () => {
  const seen = [];
  const crawler = defineCrawler({ name: 'a', handle() {}, failed: ({ request, page, response }, reason) => void seen.push([request.url, page, response, reason.code, reason.message, reason.attempts, reason.status]) });
  reset();
  exportsOf(crawler).failure.onFailure(call({ document: refuse('no-page') }), { code: 'connect', message: 'refused', attempts: 4, status: null });
  assert.deepEqual(seen, [['http://shop/a', undefined, undefined, 'connect', 'refused', 4, undefined]]);
});

test('listeners hear their events, and may add to them', () => {
  const seen = [];
  const crawler = defineCrawler({
    name: 'a',
    handle() {},
    on: {
      offer: (event, { state }) => { seen.push(event.payload.url); state.increment('offers'); sdk.events.on('persistState', () => seen.push('persisted')); },
    },
  });
  const { listener } = exportsOf(crawler);
  reset();
  assert.deepEqual(listener.subscriptions(), ['offer']);
  listener.onEvent({ id: '1', name: 'offer', payload: '{"url":"http://a"}', createdAt: '2026-01-01T00:00:00.000Z', extraJson: null });
  listener.onEvent({ id: '2', name: 'persistState', payload: '{}', createdAt: '2026-01-01T00:00:00.000Z', extraJson: null });
  assert.deepEqual(seen, ['http://a', 'persisted']);
  assert.deepEqual(asked, [['state.increment', 'offers', 1], ['events.on', 'persistState']]);
});

test('`createSession` says the user data', () => {
  const made = (createSession) => exportsOf(defineCrawler({ name: 'a', handle() {}, createSession })).sessions.create();
  assert.deepEqual(made(() => ({ userData: { language: 'en' } })), { userData: '{"language":"en"}', extraJson: undefined });
  assert.deepEqual(made(() => {}), { userData: '{}', extraJson: undefined });
  assert.throws(() => made(() => ({ userData: 'en' })), { code: 'bad-argument' });
});

// --- the page ---

test('fields become a batch, and what is found a row', () => {
  const document = {
    extract: (fields) => {
      assert.deepEqual(fields.map(({ name, selector, kind, many }) => [name, selector, kind.tag, kind.val, many]), [
        ['title', 'h1', 'text', undefined, false], ['price', '.price', 'text', undefined, false], ['image', 'img', 'url', 'src', false], ['tags', '.tag', 'text', undefined, true], ['none', 'b', 'text', undefined, false],
      ]);
      return [['Emma'], ['£51.77'], ['http://shop/i.png'], ['a', 'b'], []].map((values, at) => ({ name: fields[at].name, values }));
    },
    extractEach: (item, fields) => [[{ name: 'name', values: ['UPC'] }], [{ name: fields[0].name, values: [] }]],
  };
  handle(({ page }) => {
    const row = page.extract({ title: sdk.text('h1').required(), price: sdk.number('.price'), image: sdk.url('img', 'src'), tags: ['.tag'], none: 'b' });
    assert.deepEqual(row, { title: 'Emma', price: 51.77, image: 'http://shop/i.png', tags: ['a', 'b'], none: null });
    assert.deepEqual(page.extractEach('tr', { name: 'th' }), [{ name: 'UPC' }, { name: null }]);
  }, { page: { document } });
});

test('a required field of which nothing was found fails with its name and selector', () => {
  const document = { extract: ([{ name }]) => [{ name, values: [] }] };
  const error = failure(({ page }) => page.get(sdk.text('h1').required()), { page: { document } });
  assert.equal(error.code, 'bad-row');
  assert.match(error.message, /nothing was found for the field `value` \(selector `h1`\)/);
  assert.match(failure(({ page }) => page.extract('h1')).message, /the fields must be an object of selectors by name, not `h1`/);
  assert.match(failure(({ page }) => page.extract({ a: 1 })).message, /the field `a` must be a selector/);
});

// --- the queue ---

test('requests are passed on with every field', () => {
  const [[, [first, second]]] = handle(({ addRequests }) => addRequests(['/a', { url: '/b', method: 'POST', payload: 'é', label: 'detail', userData: { a: 1 }, headers: { Accept: 'x' }, acceptedStatuses: [404, [500, 599]], priority: -1 }]));
  assert.deepEqual(first, {
    url: '/a', method: 'get', headers: [], payload: undefined, label: undefined, userData: undefined, priority: 0, forefront: false, uniqueKey: undefined, sessionId: undefined,
    renderer: 'http', acceptedStatuses: [], maxRetries: undefined, noRetry: false, alwaysEnqueue: false, timeoutMillis: undefined, extraJson: undefined,
  });
  assert.deepEqual(
    [second.method, [...second.payload], second.label, second.userData, second.headers, second.acceptedStatuses, second.priority],
    ['post', [0xc3, 0xa9], 'detail', '{"a":1}', [{ name: 'Accept', value: 'x' }], [{ first: 404, last: 404 }, { first: 500, last: 599 }], -1],
  );
});

test('a request that cannot be is refused before the host sees it', () => {
  for (const [request, words] of [
    [{ url: 5 }, /needs a `url`; this one has 5/],
    [{ url: '/a', priority: 1.5 }, /the `priority` of the request for `\/a` must be a whole number/],
    [{ url: '/a', methods: 'GET' }, /a request has no `methods`; there are `url`/],
    [{ url: '/a', method: 'FETCH' }, /must be one of `get`/],
    [{ url: '/a', payload: { a: 1 } }, /must be a string or a Uint8Array, not an object/],
    [{ url: '/a', acceptedStatuses: [5] }, /5 is no HTTP status/],
  ]) {
    const error = failure(({ addRequests }) => addRequests([request]));
    assert.match(error.message, words);
    assert.equal(error.code, 'bad-argument');
  }
});

test('links are enqueued with globs and regular expressions', () => {
  const [[name, options]] = handle(({ enqueueLinks }) => enqueueLinks({ selector: 'a', globs: ['**/x', { glob: '**/y' }], regexps: [/detail\/\d+/i], exclude: [/logout/, '**/z'], label: 'detail' }));
  assert.equal(name, 'queue.enqueueLinks');
  assert.deepEqual(options, {
    selector: 'a', strategy: 'same-hostname', globs: ['**/x', '**/y'], regexes: ['(?i)detail\\/\\d+'], excludeGlobs: ['**/z'], excludeRegexes: ['logout'],
    label: 'detail', userData: undefined, priority: 0, forefront: false, limit: undefined, extraJson: undefined,
  });
  assert.match(failure(({ enqueueLinks }) => enqueueLinks({ urls: [] })).message, /no `urls`: pass them to `addRequests`/);
  assert.match(failure(({ enqueueLinks }) => enqueueLinks({ transformRequestFunction() {} })).message, /take `page.links\(\)`/);
  assert.match(failure(({ enqueueLinks }) => enqueueLinks({ strategy: 'same' })).message, /must be one of `all`, `same-domain`/);
});

test('the request is read with the names that Crawlee has', () => {
  handle(({ request }) => {
    assert.deepEqual([request.method, request.headers, request.userData, request.label, request.crawlDepth, request.loadedUrl], ['POST', { accept: 'x, y' }, { a: 1 }, 'l', 2, 'http://shop/a']);
    assert.equal(request.payload, 'é');
  }, { page: { request: { method: 'post', headers: [{ name: 'Accept', value: 'x' }, { name: 'accept', value: 'y' }], userData: '{"a":1}', label: 'l', depth: 2, payload: Uint8Array.from([0xc3, 0xa9]) } } });
});

// --- results ---

test('items are objects, one or many', () => {
  assert.deepEqual(handle(({ pushData }) => pushData([{ a: 1 }, { b: 2 }], 'named')), [['dataset.push', 'named', ['{"a":1}', '{"b":2}']]]);
  assert.deepEqual(failure(({ pushData }) => pushData('x')).code, 'bad-json');
  assert.match(failure(({ pushData }) => pushData(Promise.resolve({}))).message, /not a promise \(is an `await` missing\?\)/);
});

test('a dataset is read in slices', () => {
  const answers = { 'dataset.read': (_, cursor) => (cursor ? { items: ['{"n":3}'], next: null } : { items: ['{"n":1}', '{"n":2}'], next: 'c' }) };
  const finish = ({ pushData }) => pushData({ sum: sdk.Dataset.open().reduce((sum, { n }) => sum + n, 0), all: sdk.Dataset.open().map(({ n }) => n) });
  reset(answers);
  exportsOf(defineCrawler({ name: 'a', handle() {}, finish })).finish.onFinish();
  assert.deepEqual(asked.at(-1), ['dataset.push', undefined, ['{"sum":6,"all":[1,2,3]}']]);
  assert.deepEqual(asked[1], ['dataset.read', undefined, 'c', 200]);
});

test('values are written with the media type that fits, and read by it', () => {
  const stored = {};
  const answers = { 'keyValue.set': (_, key, entry) => void (stored[key] = entry), 'keyValue.get': (_, key) => stored[key] ?? null };
  handle(({ getKeyValueStore }) => {
    const store = getKeyValueStore();
    store.setValue('json', { a: 'é' });
    store.setValue('text', 'é');
    store.setValue('bytes', Uint8Array.from([1, 2]), { contentType: 'image/png' });
    assert.deepEqual([store.getValue('json'), store.getValue('text'), [...store.getValue('bytes')], store.getValue('none'), store.getValue('none', 5)], [{ a: 'é' }, 'é', [1, 2], null, 5]);
    store.setValue('json', null);
  }, { answers });
  assert.deepEqual(Object.values(stored).map(({ contentType }) => contentType), ['application/json', 'text/plain; charset=utf-8', 'image/png']);
  assert.deepEqual(asked.at(-1), ['keyValue.remove', undefined, 'json']);
});

// --- auto-saved values ---

/** Auto-saved values that are remembered. */
const saved = (values) => ({
  'keyValue.getAutoSaved': (store, key) => values[`${store ?? ''}/${key}`] ?? null,
  'keyValue.setAutoSaved': (store, key, text) => void (values[`${store ?? ''}/${key}`] = text),
});
const savedAsked = (handler, values) => handle(handler, { answers: saved(values) }).map(([name, ...given]) => [name.replace('keyValue.', ''), ...given]);

test('an auto-saved value is read once, and written at the end if it has changed', () => {
  const values = { '/same': '{"a": 1}', 'shop/list': '[1]' };
  const done = savedAsked(({ getKeyValueStore }) => {
    sdk.KeyValueStore.getAutoSavedValue('prices', { low: 0 }).low += 1;
    sdk.KeyValueStore.getAutoSavedValue('prices').low += 1;
    getKeyValueStore('shop').getAutoSavedValue('list', []).push(2);
    assert.deepEqual(getKeyValueStore().getAutoSavedValue('same'), { a: 1 });
    assert.deepEqual(getKeyValueStore().getAutoSavedValue('default', { list: [1] }), { list: [1] });
  }, values);
  assert.deepEqual(done, [
    ['getAutoSaved', undefined, 'prices'], ['getAutoSaved', 'shop', 'list'], ['getAutoSaved', undefined, 'same'], ['getAutoSaved', undefined, 'default'],
    ['setAutoSaved', undefined, 'prices', '{"low":2}'], ['setAutoSaved', 'shop', 'list', '[1,2]'],
  ]);
});

test('the default of an auto-saved value is the same for every page, and an object', () => {
  const shared = { list: [] };
  const values = {};
  const push = ({ getKeyValueStore }) => void getKeyValueStore().getAutoSavedValue('a', shared).list.push(1);
  savedAsked(push, values);
  savedAsked(push, {});
  assert.deepEqual([values, shared], [{ '/a': '{"list":[1]}' }, { list: [] }]);
  for (const wrong of [5, 'x', null, Promise.resolve({})]) {
    const error = failure(({ getKeyValueStore }) => getKeyValueStore().getAutoSavedValue('a', wrong), { answers: saved({}) });
    assert.deepEqual([error.code, /the default of the auto-saved value `a` must be an object, .* write `\{ value: … \}`/.test(error.message)], ['bad-argument', true]);
  }
});

test('an auto-saved value that is replaced is written at once, and read anew', () => {
  const values = {};
  const done = savedAsked(({ getKeyValueStore }) => {
    const store = getKeyValueStore();
    const old = store.getAutoSavedValue('a');
    store.setAutoSavedValue('a', { n: 1 });
    old.lost = true;
    assert.deepEqual(store.getAutoSavedValue('a'), { n: 1 });
    store.setAutoSavedValue('a', null);
    assert.deepEqual(store.getAutoSavedValue('a', { n: 0 }), { n: 0 }, '`null` is no value');
  }, values);
  assert.deepEqual(done.map(([name, , , text]) => [name, text]), [['getAutoSaved', undefined], ['setAutoSaved', '{"n":1}'], ['getAutoSaved', undefined], ['setAutoSaved', 'null'], ['getAutoSaved', undefined]]);
});

test('a handler that fails writes no auto-saved value, and what cannot be written is named', () => {
  const values = {};
  failure(({ getKeyValueStore }) => { getKeyValueStore().getAutoSavedValue('a').n = 1; throw new Error('boom'); }, { answers: saved(values) });
  const cyclic = failure(({ getKeyValueStore }) => { const value = getKeyValueStore().getAutoSavedValue('a'); value.self = value; }, { answers: saved(values) });
  assert.deepEqual([cyclic.code, values], ['json', {}]);
  assert.match(cyclic.message, /the auto-saved value `a` cannot be written as JSON/);
  assert.equal(failure(({ getKeyValueStore }) => getKeyValueStore().setAutoSavedValue('a', Promise.resolve(1))).code, 'bad-argument');
});

// --- pipelines ---

/** What becomes of an item, or what the host is told instead. */
function verdict(processItem, item = {}, answers = {}) {
  reset(answers);
  const { pipeline } = exportsOf(defineCrawler({ name: 'tidy', processItem }));
  try {
    return pipeline.processItem({ dataset: null, json: '{"title":" Emma ","price":5}', url: 'http://shop/a', extraJson: null, ...item });
  } catch (error) {
    return error;
  }
}

test('an item passes as it is, or as it was changed, or as another one', () => {
  const changed = { tag: 'change', val: '{"title":"Emma","price":5}' };
  assert.deepEqual(verdict(() => {}), { tag: 'keep' });
  assert.deepEqual(verdict((item) => item), { tag: 'keep' });
  assert.deepEqual(verdict((item) => ({ ...item })), { tag: 'keep' });
  assert.deepEqual(verdict((item) => { item.title = item.title.trim(); }), changed);
  assert.deepEqual(verdict((item) => ({ ...item, title: item.title.trim() })), changed);
});

test('an item that is only spelt otherwise is kept to the last digit', () => {
  assert.deepEqual(verdict((item) => item, { json: '{"price": 5.0, "id": 12345678901234567890}' }), { tag: 'keep' });
});

test('an item is dropped or rejected by what is thrown, and what the state is told of it holds', () => {
  assert.deepEqual(verdict(() => { throw new sdk.DropItemError('no-price'); }), { tag: 'drop', val: 'no-price' });
  assert.deepEqual(verdict(() => { throw new sdk.RejectItemError('the price is negative'); }), { tag: 'reject', val: 'the price is negative' });
  const values = {};
  verdict((_, { useState }) => { useState().dropped = 1; throw new sdk.DropItemError(); }, {}, memory(values));
  assert.deepEqual(values, { dropped: '1' });
});

test('any other error of a pipeline is one of the page', () => {
  assert.equal(verdict((item) => item.author.name).code, 'exception');
  assert.deepEqual({ ...verdict(() => { throw new sdk.RetryRequestError('later'); }) }, { code: 'retry', ending: 'retry', message: 'later' });
  for (const wrong of [null, true, 'x', [], 5]) {
    const error = verdict(() => wrong);
    assert.equal(error.code, 'bad-argument');
    assert.match(error.message, /must return an item, which is an object, or nothing, not .*`throw new DropItemError\('why'\)` leaves the item out/);
  }
});

test('a pipeline knows where an item comes from and goes to, and has no page', () => {
  const seen = [];
  verdict((_, { dataset, url }) => void seen.push(dataset, url));
  verdict((_, { dataset, url }) => void seen.push(dataset, url), { dataset: 'named', url: null });
  assert.deepEqual(seen, [undefined, 'http://shop/a', 'named', undefined]);
  for (const name of ['page', 'request', 'session', 'enqueueLinks']) {
    const error = verdict((_, context) => context[name]);
    assert.equal(error.code, 'not-there');
    assert.ok(error.message.startsWith(`there is no \`${name}\` in \`processItem\`: `), error.message);
  }
});

test('an item is dropped nowhere else', () => {
  const error = failure(() => { throw new sdk.DropItemError('no-price'); });
  assert.equal(error.code, 'not-there');
  assert.match(error.message, /a `DropItemError` \(no-price\) was thrown outside of `processItem`: what handles pages pushes no item that it does not want/);
  assert.throws(() => new sdk.RejectItemError(), /a `RejectItemError` needs its reason, a string/);
});

// --- state ---

const stateAsked = (handler, values) => handle(handler, { answers: memory(values) }).map(([name, ...given]) => [name.replace('state.', ''), ...given]);

test('a key of the state is read when it is asked for, and written at the end if it has changed', () => {
  const values = { list: '[1]', same: '{"a": 1}', other: '5' };
  const done = stateAsked(({ useState }) => {
    const state = useState({ count: 0, list: [] });
    state.count += 1;
    state.list.push(2);
    assert.equal(state.same.a, 1);
  }, values);
  assert.deepEqual(done, [['get', 'count'], ['get', 'list'], ['get', 'same'], ['set', 'count', '1'], ['set', 'list', '[1,2]']]);
  assert.deepEqual(values, { list: '[1,2]', same: '{"a": 1}', other: '5', count: '1' });
});

test('a write without a read reads nothing', () => {
  assert.deepEqual(stateAsked(({ useState }) => { useState()['http://a'] = 'Emma'; }, {}), [['set', 'http://a', '"Emma"']]);
  assert.deepEqual(stateAsked(({ useState }) => { delete useState().gone; }, { gone: '1' }), [['remove', 'gone']]);
});

test('a default that nobody changes is not written', () => {
  assert.deepEqual(stateAsked(({ useState }) => assert.deepEqual(useState({ list: [1] }).list, [1]), {}), [['get', 'list']]);
  assert.deepEqual(stateAsked(({ useState }) => useState({ list: [1] }).list.push(2), {}), [['get', 'list'], ['set', 'list', '[1,2]']]);
});

test('the state can be looked through as an object', () => {
  stateAsked(({ useState }) => {
    const state = useState({ b: 2 });
    state.c = 3;
    delete state.gone;
    assert.deepEqual(Object.entries(state).sort(), [['a', 1], ['b', 2], ['c', 3]]);
    assert.deepEqual(JSON.parse(JSON.stringify(state)), { a: 1, b: 2, c: 3 });
    assert.ok('a' in state && !('x' in state));
  }, { a: '1', gone: '0' });
});

test('operations see what the object has changed, and the object what they did', () => {
  const values = {};
  stateAsked(({ useState, state }) => {
    const view = useState({ n: 0 });
    view.n = 5;
    state.increment('n', 2);
    assert.equal(view.n, 7);
    state.append('l', 'x');
    state.update('l', (list) => [...list, 'y']);
    assert.deepEqual(view.l, ['x', 'y']);
  }, values);
  assert.deepEqual(values, { n: '7', l: '["x","y"]' });
});

test('a handler that fails writes no state', () => {
  const values = {};
  failure(({ useState }) => { useState().n = 1; throw new Error('boom'); }, { answers: memory(values) });
  assert.deepEqual(values, {});
});

// --- sessions ---

test('user data of a session is saved if it has changed, also when the handler fails', () => {
  const answers = { 'session.id': 's1', 'session.userData': '{"n":1}' };
  handle(({ session }) => void session.userData.n, { answers });
  assert.deepEqual(asked.map(([name]) => name), ['session.id', 'session.userData']);
  failure(({ session }) => { session.userData.n = 2; throw new Error('boom'); }, { answers });
  assert.deepEqual(asked.at(-1), ['session.setUserData', '{"n":2}']);
});

test('cookies are set by lines or by their parts', () => {
  handle(({ session }) => session.setCookies(['a=b; Path=/', { name: 'c', value: 'd', path: '/', secure: true, expires: 0 }]), { answers: { 'session.id': 's' } });
  assert.deepEqual(asked.at(-1), ['session.setCookies', undefined, ['a=b; Path=/', 'c=d; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Secure']]);
  handle(({ session }) => assert.equal(session, undefined), { answers: { 'session.id': refuse('no-session') } });
});

test('a session is added with what it keeps and its cookies', () => {
  const answers = { 'session.add': ({ id }) => id ?? 'made-up' };
  handle(({ crawler }) => {
    assert.equal(sdk.addSession(), 'made-up');
    assert.equal(crawler.addSession({ id: 'account-7', userData: { account: 7 }, cookies: ['token=1; Path=/', { name: 'a', value: 'b' }] }), 'account-7');
    sdk.addSession({ cookies: { 'http://a/': ['x=1'], '/b': [] } });
  }, { answers });
  const added = (id, userData, cookies) => ['session.add', { id, userData, cookies, extraJson: undefined }];
  assert.deepEqual(asked, [
    added(undefined, '{}', []),
    added('account-7', '{"account":7}', [{ url: undefined, setCookieLines: ['token=1; Path=/', 'a=b'] }]),
    added(undefined, '{}', [{ url: 'http://a/', setCookieLines: ['x=1'] }, { url: '/b', setCookieLines: [] }]),
  ]);
});

test('a session that cannot be is refused with the way out', () => {
  for (const [options, words] of [
    [{ userdata: {} }, /the options of `addSession` has no `userdata`; there are `id`/],
    [{ maxUsageCount: 5 }, /no `maxUsageCount`: the limits of all sessions are settings: `session-max-age`/],
    [{ userData: [] }, /user data must be an object, not an array/],
    [{ id: 5 }, /the session's `id` must be a string, not 5/],
    [{ cookies: 'a=b' }, /`cookies` of `addSession` must be an array, or an object of arrays by URL, not `a=b`/],
    [{ cookies: { 'http://a/': 'a=b' } }, /`cookies` of `addSession`, for `http:\/\/a\/`, takes an array, not `a=b`/],
  ]) {
    const error = failure(() => sdk.addSession(options));
    assert.match(error.message, words);
    assert.equal(error.code, 'bad-argument');
  }
  assert.equal(failure(() => sdk.addSession(), { answers: { 'session.add': refuse('no-session-pool') } }).code, 'no-session-pool');
});

// --- the run ---

test('log lines carry data', () => {
  handle(({ log, crawler }) => { log.info('x', { a: 1 }); log.error('y', 5); crawler.stop('enough'); });
  assert.deepEqual(asked, [['log.write', 'info', 'x', '{"a":1}'], ['log.write', 'error', 'y', '{"data":5}'], ['crawl.stop', 'enough']]);
});

test('input and settings are read as JSON', () => {
  handle(() => {
    assert.deepEqual(sdk.getInput(), { max: 5 });
    assert.equal(sdk.getSetting('delay'), 0.5);
    assert.equal(sdk.getSetting('none'), undefined);
  }, { answers: { 'config.input': '{"max":5}', 'config.setting': (name) => (name === 'delay' ? '0.5' : null) } });
});
