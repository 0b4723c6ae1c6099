// Real crawls: the host and the test site as programs.
//
// NEPHILA_BIN and NEPHILA_SITE_BIN name them, NEPHILA_BOOKS_WASM the Rust plugin to compare with.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { withoutTools } from './driver.mjs';

const { NEPHILA_BIN, NEPHILA_SITE_BIN, NEPHILA_BOOKS_WASM } = process.env;

/** Why nothing can be crawled here; false if it can. */
export const withoutHost = withoutTools || (NEPHILA_BIN && NEPHILA_SITE_BIN ? false : 'NEPHILA_BIN and NEPHILA_SITE_BIN do not name the host and the test site');
export const booksWasm = NEPHILA_BOOKS_WASM;

/** Serves a site until the test ends; gives its URL. */
export async function site(context, ...words) {
  const port = await freePort();
  const serving = spawn(NEPHILA_SITE_BIN, [...words, '--port', String(port)], { stdio: 'ignore' });
  context.after(() => serving.kill());
  const url = `http://127.0.0.1:${port}/`;
  for (let tries = 0; tries < 100; tries += 1) {
    try {
      await fetch(url);
      return url;
    } catch {
      await new Promise((done) => setTimeout(done, 50));
    }
  }
  throw new Error(`${NEPHILA_SITE_BIN} does not answer at ${url}`);
}

function freePort() {
  return new Promise((done, fail) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
    server.on('error', fail);
  });
}

/** Crawls to the end; gives statistics, items, log and state. */
export function crawl(plugin, url, ...words) {
  const job = mkdtempSync(join(tmpdir(), 'nephila-job-'));
  const items = join(job, '..', `${job.split('/').at(-1)}.jsonl`);
  const ran = spawnSync(NEPHILA_BIN, ['run', plugin, url, '--delay', '0', '--json', '--job', job, '-o', items, ...words], { encoding: 'utf8' });
  if (!ran.stdout.startsWith('{')) throw new Error(`the host says: ${ran.stdout}${ran.stderr}`);
  return {
    job,
    log: ran.stderr,
    statistics: JSON.parse(ran.stdout),
    items: readFileSync(items, 'utf8').split('\n').filter((line) => line).map((line) => JSON.parse(line)),
  };
}

/** A record of the crawl's own key-value store, as `nephila export` shows it. */
export function recordOf({ job }, key) {
  const folder = `${job}-exported`;
  const ran = spawnSync(NEPHILA_BIN, ['export', job, '-o', `crawlee:${folder}`, '--overwrite'], { encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(ran.stderr);
  const records = join(folder, 'key_value_stores', 'default');
  const name = readdirSync(records).find((one) => one === key || one === `${key}.json`);
  if (!name) throw new Error(`there is no record \`${key}\`; there are ${readdirSync(records).join(', ')}`);
  return JSON.parse(readFileSync(join(records, name), 'utf8'));
}

/** The state of a finished crawl, out of its store; undefined where no SQLite is at hand. */
export function stateOf({ job }) {
  const program = `
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
print(json.dumps({key: value for key, value in db.execute("select key, value from state")}, default=lambda b: b.decode()))
`;
  const ran = spawnSync('python3', ['-c', program, join(job, 'nephila.db')], { encoding: 'utf8' });
  if (ran.error) return undefined;
  if (ran.status !== 0) throw new Error(ran.stderr);
  return JSON.parse(ran.stdout);
}
