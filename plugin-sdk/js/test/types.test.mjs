import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

import './support/host.mjs';
import { RAW_TYPES, rawTypes, WIT } from '../scripts/raw-types.mjs';
import { project, SDK, TOOLS } from './support/driver.mjs';

const tsc = (() => {
  try {
    return join(dirname(createRequire(join(TOOLS, 'package.json')).resolve('typescript/package.json')), 'bin', 'tsc');
  } catch {
    return undefined;
  }
})();
const needsTsc = { skip: tsc ? false : `typescript is not in ${TOOLS}: run \`npm install\`, or set NEPHILA_JS_TOOLS` };

function check(folder) {
  const ran = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
  assert.equal(ran.status, 0, ran.stdout + ran.stderr);
}

/** A project that finds the SDK as one that was installed. */
function typed(files) {
  const options = { strict: true, noEmit: true, target: 'ES2024', lib: ['ES2024'], module: 'ESNext', moduleResolution: 'Bundler', types: [], noUncheckedIndexedAccess: true, allowImportingTsExtensions: true, verbatimModuleSyntax: true };
  const folder = project({ ...files, 'tsconfig.json': JSON.stringify({ compilerOptions: options, include: ['*.ts'] }) });
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(SDK, join(folder, 'node_modules', 'nephila'), 'dir');
  return folder;
}

test('types/raw.d.ts is what the WIT says', () => {
  assert.equal(readFileSync(RAW_TYPES, 'utf8'), rawTypes(WIT), 'run `npm run types`');
});

test('the SDK calls the raw functions as the WIT says, with every argument', needsTsc, () => check(join(SDK, 'tsconfig.json')));

test('what the SDK exports is declared, and nothing else', async () => {
  const exported = Object.keys(await import('../src/index.js')).sort();
  const text = readFileSync(join(SDK, 'types', 'index.d.ts'), 'utf8');
  const declared = [...text.matchAll(/^export (?:class|function|const) (\w+)/gm)].map(([, name]) => name);
  // These are interfaces for the compiler: none can be made by an author.
  assert.deepEqual([...new Set([...declared, 'Page', 'Request'])].sort(), exported);
});

test('an author is told by the compiler what a page gives', needsTsc, () => {
  check(typed({
    'crawler.ts': `
import { addSession, createRouter, defineCrawler, DropItemError, KeyValueStore, number, RejectItemError, text, url, type CrawlingContext } from 'nephila';
const router = createRouter();
router.addHandler<{ from: string }>('detail', async ({ page, request, pushData, log, session }) => {
  const found = page.extract({ title: text('h1').required(), price: number('.p'), image: url('img', 'src'), tags: ['.tag'], short: 'b', lengths: text('b').map((one) => one.length) });
  const exact: { title: string; price: number | null; image: string | null; tags: string[]; short: string | null; lengths: number | null } = found;
  const from: string = request.userData.from;
  await pushData({ ...exact, from, host: new URL(page.url).hostname });
  log.info('found', { found });
  console.log(session?.id);
  const names: (string | null)[] = page.extractEach('tr', { name: 'th' }).map(({ name }) => name);
  // @ts-expect-error a number is no field
  page.extract({ names, a: 5 });
});
router.addDefaultHandler(async ({ useState, enqueueLinks }: CrawlingContext) => {
  const state = await useState<{ pages: number; last?: string }>({ pages: 0 });
  state.pages += 1;
  await enqueueLinks({ label: 'detail', globs: ['**/x'], regexps: [/a/i], strategy: 'same-domain' });
  // @ts-expect-error there is no such option
  await enqueueLinks({ urls: [] });
});
export default defineCrawler({ name: 'x', router, failed: ({ page }, reason) => void [page?.title(), reason.code], on: { offer: (event) => void event.payload } });
defineCrawler({
  name: 'tidy',
  async processItem(item, { url, dataset, state, log }) {
    const from: string | undefined = url ?? dataset;
    if (!item.price) throw new DropItemError('no-price');
    if (item.price < 0) throw new RejectItemError('the price is negative');
    state.increment('kept');
    log.info('kept', { from });
    return { ...item, title: String(item.title).trim() };
  },
});
// @ts-expect-error a pipeline pushes no items
defineCrawler({ name: 'tidy', processItem: (item, { pushData }) => pushData(item) });
const id: string = addSession({ id: 'a', cookies: ['a=b', { name: 'c', value: 'd' }] });
addSession({ userData: { id }, cookies: { 'http://a/': ['a=b'] } });
const counts = KeyValueStore.getAutoSavedValue('counts', { pages: 0 });
counts.pages += 1;
// @ts-expect-error a number cannot be changed in place
KeyValueStore.getAutoSavedValue('count', 5);
// @ts-expect-error there is no such option
defineCrawler({ name: 'x', router, requestHandler: router });
`,
  }));
});

test('plugins/books-ts has no type errors', needsTsc, () => {
  const books = join(SDK, '..', '..', 'plugins', 'books-ts', 'src');
  check(typed({ 'main.ts': readFileSync(join(books, 'main.ts'), 'utf8'), 'book.ts': readFileSync(join(books, 'book.ts'), 'utf8') }));
});

test('the tools that the driver asks for are those that the SDK is tested with', async () => {
  const { VERSIONS } = await import('../build/tools.mjs');
  const { devDependencies } = JSON.parse(readFileSync(join(SDK, 'package.json'), 'utf8'));
  for (const [name, version] of Object.entries(VERSIONS)) assert.equal(devDependencies[name], version, name);
});
