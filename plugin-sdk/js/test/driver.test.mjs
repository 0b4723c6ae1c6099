import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { build, buildText, project, withoutTools } from './support/driver.mjs';

const needsTools = { skip: withoutTools };
const CRAWLER = "import { defineCrawler } from 'nephila';\n";

test('a crawler is built, and its entry points are found', needsTools, () => {
  const started = performance.now();
  const made = buildText(`${CRAWLER}export default defineCrawler({ name: 'a', async handle({ pushData }) { await pushData({}); }, failed() {}, on: { offer() {} } });`);
  const seconds = (performance.now() - started) / 1000;
  assert.deepEqual([made.ok, made.exitCode, made.isThere], [true, 0, true]);
  assert.deepEqual(made.entryPoints, ['manifest', 'handler', 'failure', 'listener']);
  assert.deepEqual(made.inputs, [join(made.folder, 'crawler.js'), join(made.folder, 'package.json')]);
  assert.ok(made.size < 4_000_000, `${made.size} bytes`);
  assert.ok(seconds < 15, `${seconds} s`);
});

test('entry points are found where the text does not show them', needsTools, () => {
  const made = buildText(`${CRAWLER}const rest = { ['fin' + 'ish']() {} };\nexport default defineCrawler({ name: 'a', handle() {}, ...rest });`);
  assert.deepEqual(made.entryPoints, ['manifest', 'handler', 'finish']);
});

test('a plugin that is only a pipeline is built', needsTools, () => {
  const made = buildText(`${CRAWLER}export default defineCrawler({ name: 'a', processItem(item) { item.seen = true; } });`);
  assert.deepEqual([made.ok, made.entryPoints], [true, ['manifest', 'pipeline']]);
});

test('TypeScript is built, and a type error does not fail the build', needsTools, () => {
  const made = buildText(`import { defineCrawler, type CrawlingContext } from 'nephila';\nimport { other } from './other.ts';\nconst n: number = 'no number';\nexport default defineCrawler({ name: 'a', handle: async ({ pushData }: CrawlingContext): Promise<void> => { pushData({ n, other }); } });`, 'crawler.ts', {
    'other.ts': 'export enum Other { A = 1 }\nexport const other: Other = Other.A;',
  });
  assert.deepEqual([made.ok, made.entryPoints], [true, ['manifest', 'handler']]);
  assert.deepEqual(made.inputs.map((path) => path.slice(made.folder.length + 1)).sort(), ['crawler.ts', 'other.ts', 'package.json']);
});

test('packages of plain JavaScript are built in', needsTools, () => {
  const made = buildText(`${CRAWLER}import { twice } from 'doubler';\nimport data from './data.json';\nexport default defineCrawler({ name: 'a', version: twice(data.version), handle() {} });`, 'crawler.js', {
    'node_modules/doubler/package.json': '{"name":"doubler","main":"index.js"}',
    'node_modules/doubler/index.js': 'exports.twice = (text) => text + text;',
    'data.json': '{"version":"1"}',
  });
  assert.equal(made.ok, true);
});

/** What must be said of a wrong source: stage, words, and `[line, column]` of the author's file. */
const WRONG = {
  'a syntax error has its position': [`${CRAWLER}\nconst é = 'é'; const a = ;\n`, 'syntax', /Unexpected ";"/, [3, 26]],
  'a syntax error in an imported file has its position there': [`import './part.js';\n`, 'syntax', /Expected/, [2, 8, 'part.js'], { 'part.js': '\nlet b c;' }],
  'a part of Node.js is named with its import': [`${CRAWLER}import { readFileSync } from 'node:fs';\n`, 'load', /`node:fs` is imported, which is a part of Node.js.*KeyValueStore/s, [2, 30]],
  'a part of Node.js within a package is named with the package': [`import 'reader';`, 'load', /the package `reader` imports `fs`/, [1, 20, 'node_modules/reader/index.js'], {
    'node_modules/reader/package.json': '{"name":"reader"}', 'node_modules/reader/index.js': "const fs = require('fs');",
  }],
  'Crawlee itself is said to be replaced': [`import { CheerioCrawler } from 'crawlee';`, 'load', /import `createRouter`, `Dataset` and their like from 'nephila'/, [1, 32]],
  'a package that is not installed comes with the command': [`import x from 'left-pad';`, 'load', /the package `left-pad` is not installed; `npm install left-pad` installs it/, [1, 15]],
  'a mistyped import of the SDK is told so': [`import x from 'nefila';`, 'load', /^there is no package `nefila`; did you mean `nephila`\?$/, [1, 15]],
  'a file that is not there is named': [`import x from './gone.js';`, 'load', /there is no file `\.\/gone\.js` to import/, [1, 15]],
  'a name that the SDK does not have': [`import { defineCrawlre } from 'nephila';\nexport default defineCrawlre({});`, 'syntax', /No matching export.*defineCrawlre/, [1, 10]],
  'an error while the module is loaded has its position': [`${CRAWLER}const options = undefined;\nconst { a } = read();\nfunction read() {\n  return options.a;\n}\nexport default defineCrawler({ name: 'a', handle() {} });`, 'load', /TypeError: cannot read property 'a' of undefined/, [5, 10]],
  'an error in TypeScript has the position of the TypeScript': [`${CRAWLER}interface Shop {\n  name: string;\n}\n\nconst shop: Shop | undefined = undefined;\nexport default defineCrawler({ name: shop!.name, handle() {} });`, 'load', /cannot read property 'name'/, [7, 38, 'crawler.ts'], {}, 'crawler.ts'],
  'a module without a crawler is told what to write': [`${CRAWLER}defineCrawler({ name: 'a', handle() {} });`, 'load', /no default export: write `export default defineCrawler/, 'crawler.js'],
  'a default export that is something else': [`export default { name: 'a' };`, 'load', /must be what `defineCrawler` makes, not an object/, 'crawler.js'],
  'a mistake in `defineCrawler`': [`${CRAWLER}export default defineCrawler({ name: 'a', requestHandler() {} });`, 'load', /no `requestHandler`: it is called `handle` or `router`/, [2, 16]],
  'the host is not there while the module is loaded': [`import { defineCrawler, getInput } from 'nephila';\nconst input = getInput();\nexport default defineCrawler({ name: 'a', handle() {} });`, 'load', /`getInput` was called where there is no crawl: while the module was being loaded/, [2, 15]],
  'await outside of a function': [`${CRAWLER}await null;\nexport default defineCrawler({ name: 'a', handle() {} });`, 'syntax', /cannot `await` outside of a function/, [2, 1]],
  'a rejection while the module is loaded is not lost': [`${CRAWLER}async function main() {\n  throw new Error('in vain');\n}\nmain();\nexport default defineCrawler({ name: 'a', handle() {} });`, 'load', /in vain/, [3, 13]],
  'what the runtime does not have': [`${CRAWLER}const format = new Intl.NumberFormat();\nexport default defineCrawler({ name: 'a', handle() {} });`, 'load', /ReferenceError: Intl is not defined/, [2, 20]],
};

for (const [name, [text, stage, words, place, files, file = 'crawler.js']] of Object.entries(WRONG)) {
  test(name, needsTools, () => {
    const made = buildText(text, file, files);
    assert.deepEqual([made.ok, made.exitCode, made.stage, made.isThere], [false, 1, stage, false], JSON.stringify(made));
    assert.match(made.message, words);
    if (typeof place === 'string') {
      assert.deepEqual([made.file, made.line, made.column], [join(made.folder, place), undefined, undefined]);
      return;
    }
    const [line, column, where = 'crawler.js'] = place;
    assert.equal(made.file, join(made.folder, where));
    assert.equal(made.line, line);
    assert.ok(Math.abs(made.column - column) <= 1, `column ${made.column}, not ${column}`);
    assert.match(made.snippet, /\^$/);
  });
}

test('missing tools come with the command that installs them', () => {
  const empty = mkdtempSync(join(tmpdir(), 'nephila-no-tools-'));
  // Copied, so that the tools beside the SDK are not found.
  const folder = project({ 'crawler.js': 'export default 1;' });
  const made = build(join(folder, 'crawler.js'), { tools: empty });
  if (made.ok || made.stage !== 'toolchain') return assert.equal(made.stage, 'load', 'the tools beside the SDK were taken');
  assert.match(made.message, /the npm package (esbuild|componentize-qjs) is needed.*npm install --prefix .* esbuild@/s);
  return undefined;
});

test('wrong words on the command line are named', () => {
  assert.match(build('/nowhere/crawler.js').message, /there is no file/);
});
