// One module of the author's sources, the packages that they import, and the SDK.
//
// esbuild strips types (it does not check them: `tsc --noEmit` does) and compiles `async` functions to ones that take
// `Promise` as they find it, because the runtime never runs the jobs of its own; src/promise.js is what they find.

import { existsSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { BuildError, shortPath } from './failure.mjs';
import { isNear } from './near.mjs';
import { positionsOf } from './positions.mjs';

export const SDK = dirname(dirname(fileURLToPath(import.meta.url)));

/** What begins the message by which the entry module speaks to the driver. */
export const SIGNAL = 'NEPHILA-BUILD:';

/** What the runtime has none of is compiled away. */
const COMPILED = { 'async-await': false, 'async-generator': false, 'for-await': false, 'top-level-await': false };

/** The whole as one text, and where each of its positions comes from. */
export async function bundle(esbuild, { source, work, entryPoints }) {
  let made;
  try {
    made = await esbuild.build({
      stdin: { contents: entryModule(source, entryPoints), resolveDir: SDK, sourcefile: 'nephila-entry.js', loader: 'js' },
      absWorkingDir: dirname(source),
      outfile: join(work, 'bundle.js'),
      bundle: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      supported: COMPILED,
      charset: 'ascii',
      // The runtime keeps the text of every function; names stay, for stacks.
      minifyWhitespace: true,
      lineLimit: 160,
      legalComments: 'none',
      sourcemap: 'external',
      sourcesContent: false,
      define: { 'process.env.NODE_ENV': '"production"', global: 'globalThis' },
      logLevel: 'silent',
      plugins: [imports()],
    });
  } catch (error) {
    if (!Array.isArray(error.errors)) throw error;
    throw asBuildError(error.errors, dirname(source));
  }
  const text = (ending) => made.outputFiles.find(({ path }) => path.endsWith(ending)).text;
  const project = projectOf(source);
  const positions = positionsOf(JSON.parse(text('.map')), (path) => {
    const file = resolve(work, path);
    return isWithin(SDK, file) || path.includes('nephila-entry.js') ? undefined : shortPath(file, project);
  });
  const inputs = Object.keys(made.metafile.inputs)
    .map((path) => resolve(dirname(source), path))
    .filter((path) => !isWithin(SDK, path) && existsSync(path));
  // What esbuild reads beside the sources.
  inputs.push(...['tsconfig.json', 'package.json'].map((name) => join(project, name)).filter(existsSync));
  // At the end, so that no line moves.
  const code = `${text('.js')}\nglobalThis.__nephilaPositions = ${JSON.stringify(positions.table)};\n`;
  return { code, positions, project, inputs };
}

// The SDK's own `node_modules` and tests are no part of it.
function isWithin(folder, path) {
  const within = relative(folder, path);
  return within.startsWith('src') && !within.startsWith('..');
}

// The module is loaded by `require`, so that what goes wrong while it is loaded can be caught and told with its position.
function entryModule(source, entryPoints) {
  const names = entryPoints.join();
  return `
import './src/globals.js';
import { entryPointsOf, exportsOf } from './src/entry.js';
import { describe, framesOf } from './src/positions.js';
import { runToEnd } from './src/promise.js';
import { settle } from './src/heap.js';

const tell = (what) => { throw new Error(${JSON.stringify(SIGNAL)} + JSON.stringify(what)); };

let crawler, found;
try {
  crawler = require(${JSON.stringify(source)}).default;
  runToEnd();
  found = entryPointsOf(crawler);
} catch (error) {
  tell({ name: error?.name, message: error instanceof Error ? error.message : describe(error), stack: String(error?.stack ?? '') });
}
if (found.join() !== ${JSON.stringify(names)}) tell({ entryPoints: found });

const made = exportsOf(crawler);
settle();
${entryPoints.map((name) => `export const ${name} = made.${name};`).join('\n')}
`;
}

/** Where the author's project is: the nearest folder with a package.json, or the source's own. */
function projectOf(source) {
  for (let folder = dirname(source); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (folder === dirname(folder)) return dirname(source);
  }
}

/** Where imports lead that esbuild knows nothing of. */
function imports() {
  const builtins = new Set(builtinModules);
  return {
    name: 'nephila',
    setup(build) {
      build.onResolve({ filter: /^nephila:/ }, ({ path }) => ({ path, external: true }));
      build.onResolve({ filter: /^nephila$/ }, () => ({ path: join(SDK, 'src', 'index.js') }));
      build.onResolve({ filter: /^(crawlee$|@crawlee\/|apify$)/ }, ({ path }) => ({
        errors: [{ text: `\`${path}\` runs on Node.js, and a plugin does not: import \`createRouter\`, \`Dataset\` and their like from 'nephila'` }],
      }));
      build.onResolve({ filter: /^[^./]/ }, ({ path, importer, resolveDir }) => {
        const name = path.replace(/^node:/, '');
        if (!builtins.has(name) || (name === path && isInstalled(name, resolveDir))) return undefined;
        const who = /[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(importer)?.[1];
        const whom = who ? `the package \`${who}\` imports \`${path}\`` : `\`${path}\` is imported`;
        return { errors: [{ text: `${whom}, which is a part of Node.js. A plugin runs in a sandbox without Node.js: ${INSTEAD[name.split('/')[0]] ?? 'use what the SDK has, or a package of plain JavaScript'}` }] };
      });
    },
  };
}

const INSTEAD = {
  fs: 'files are kept in a `KeyValueStore`, and small ones can be imported (`import data from "./data.json"`)',
  http: 'the host fetches; enqueue the request with `addRequests`',
  https: 'the host fetches; enqueue the request with `addRequests`',
  url: '`URL` and `URLSearchParams` are there without an import',
  timers: 'a handler does not wait; the pause between requests is the setting `delay`',
  process: 'what the operator gives is read with `getInput()` and `getSetting(name)`',
  events: 'events are emitted with `events.emit` of the SDK',
  util: '`TextEncoder` and `TextDecoder` are there without an import',
};

function isInstalled(name, from) {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'node_modules', name, 'package.json'))) return true;
    if (folder === dirname(folder)) return false;
  }
}

function asBuildError(errors, base) {
  const [first] = errors;
  const isResolving = /Could not resolve|is a part of Node|runs on Node/.test(first.text) || first.pluginName === 'nephila';
  const place = placeOf(first.location, base);
  const others = errors.length > 1 ? `\n(and ${errors.length - 1} more: ${errors.slice(1, 4).map(({ text }) => inWords(text)).join('; ')})` : '';
  return new BuildError(isResolving ? 'load' : 'syntax', inWords(first.text, first.notes) + others, place);
}

function inWords(text, notes = []) {
  if (/Top-level await/.test(text)) return 'a module cannot `await` outside of a function: it is loaded once, when the plugin is built, and there is nothing to wait for. Write it within a handler';
  const missing = /^Could not resolve "(.*)"$/.exec(text);
  if (missing && isNear(missing[1], 'nephila')) return `there is no package \`${missing[1]}\`; did you mean \`nephila\`?`;
  if (missing && /^[^./]/.test(missing[1])) return `the package \`${missing[1]}\` is not installed; \`npm install ${missing[1]}\` installs it`;
  if (missing) return `there is no file \`${missing[1]}\` to import`;
  return [text, ...notes.map((note) => note.text).filter((note) => note && note.length < 200)].join('. ');
}

function placeOf(location, base) {
  if (!location) return {};
  const file = resolve(base, location.file);
  const before = Buffer.from(location.lineText, 'utf8').subarray(0, location.column).toString('utf8');
  return { file, line: location.line, column: before.length + 1, snippet: undefined };
}

