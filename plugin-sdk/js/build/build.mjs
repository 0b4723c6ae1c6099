// From the author's source to a component.
//
// Which entry points there are, only the loaded module can say, and loading it is running code that may be a stranger's. So it
// is never run by Node.js: it is loaded where it will run, in the sandboxed runtime, when that is initialised for the component.
// The build begins with a guess at the entry points; the loaded module says if it was wrong, and the build is done once more.

import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

import { bundle, SIGNAL } from './bundle.mjs';
import { BuildError } from './failure.mjs';
import { loadTools } from './tools.mjs';
import { WORLD, writeWorld } from './world.mjs';

/** The entry points by what `defineCrawler` calls them. */
const NAMES = { handler: '(?:handle|router)', failure: 'failed', finish: 'finish', listener: 'on', sessions: 'createSession', pipeline: 'processItem' };

/** Builds; gives what is printed. */
export async function build(given) {
  const work = given.work ?? mkdtempSync(join(tmpdir(), 'nephila-build-'));
  mkdirSync(work, { recursive: true });
  try {
    return await buildIn({ ...given, work });
  } finally {
    if (!given.work) rmSync(work, { recursive: true, force: true });
  }
}

async function buildIn({ source, wit, out, work, tools }) {
  const { esbuild, componentize } = await loadTools({ tools, source });
  let entryPoints = guess(source);
  for (let round = 0; ; round += 1) {
    const made = await bundle(esbuild, { source, work, entryPoints });
    writeFileSync(join(work, 'bundle.js'), made.code);
    const witPath = writeWorld(wit, entryPoints, work);
    let component;
    try {
      // WASI is not stubbed: the host has clocks, and a stub would trap at the first `new Date()`.
      ({ component } = await componentize({ jsSource: made.code, witPath, world: WORLD, sync: true }));
    } catch (error) {
      const told = signal(String(error?.message ?? error));
      if (told?.entryPoints && round === 0) {
        entryPoints = told.entryPoints;
        continue;
      }
      throw told ? loadError(told, made, source) : componentizeError(error, work);
    }
    mkdirSync(dirname(out), { recursive: true });
    // Under its name at once or not at all.
    writeFileSync(`${out}.part`, component);
    renameSync(`${out}.part`, out);
    return { ok: true, entryPoints, size: component.length, inputs: made.inputs };
  }
}

/** Wrong guesses cost a second round, nothing else. */
function guess(source) {
  const text = readFileSync(source, 'utf8');
  const options = text.slice(Math.max(text.lastIndexOf('defineCrawler('), 0));
  const uses = (name) => new RegExp(`(?:^|[{,\\s])(?:async\\s+)?${name}\\s*[:(,}]`, 'm').test(options);
  return ['manifest', ...Object.keys(NAMES).filter((entry) => uses(NAMES[entry]))];
}

/** What the entry module tells by an error. */
function signal(text) {
  const start = text.indexOf(SIGNAL);
  if (start < 0) return undefined;
  const rest = text.slice(start + SIGNAL.length);
  // The object ends where its braces do; a stack may follow it.
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < rest.length; at += 1) {
    if (quoted) {
      if (rest[at] === '\\') at += 1;
      else if (rest[at] === '"') quoted = false;
    } else if (rest[at] === '"') quoted = true;
    else if (rest[at] === '{') depth += 1;
    else if (rest[at] === '}' && (depth -= 1) === 0) return JSON.parse(rest.slice(0, at + 1));
  }
  return undefined;
}

function loadError({ name, message, stack }, { positions, project }, source) {
  const places = [...stack.matchAll(/:(\d+):(\d+)\)?$/gm)].map(([, row, column]) => positions.find(Number(row), Number(column)));
  const place = places.find((one) => one !== undefined);
  const label = name && !['Error', 'NonRetryableError'].includes(name) ? `${name}: ` : '';
  // What is wrong with the module as a whole is at no line of it.
  return new BuildError('load', `${label}${message}`, place ? { ...place, file: resolve(project, place.file) } : { file: source });
}

function componentizeError(error, work) {
  return new BuildError('componentize', `the component could not be made of ${join(work, 'bundle.js')}: ${error?.message ?? error}`);
}
