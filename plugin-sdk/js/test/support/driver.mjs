// Runs the driver as `nephila build` does. The build tools are the SDK's own (`npm install` here), or those of the folder that
// NEPHILA_JS_TOOLS names.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const SDK = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const WIT = join(SDK, '..', '..', 'wit');
export const TOOLS = process.env.NEPHILA_JS_TOOLS ?? SDK;

/** Why builds cannot be tested here; false if they can. */
export const withoutTools = (() => {
  try {
    const require = createRequire(join(TOOLS, 'package.json'));
    require.resolve('esbuild');
    require.resolve('componentize-qjs');
    return false;
  } catch {
    return `esbuild and componentize-qjs are not in ${TOOLS}: run \`npm install\`, or set NEPHILA_JS_TOOLS`;
  }
})();

/** A folder with these files. */
export function project(files) {
  const folder = mkdtempSync(join(tmpdir(), 'nephila-sdk-test-'));
  for (const [name, text] of Object.entries({ 'package.json': '{"type":"module"}', ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** Builds a source; gives the driver's answer with its exit code. */
export function build(source, { out = `${source}.wasm`, tools = TOOLS } = {}) {
  const ran = spawnSync(process.execPath, [join(SDK, 'build.mjs'), '--source', source, '--wit', WIT, '--out', out, '--tools', tools], { encoding: 'utf8' });
  const lines = ran.stdout.trim().split('\n');
  if (lines.length !== 1) throw new Error(`the driver printed ${lines.length} lines: ${ran.stdout}${ran.stderr}`);
  return { ...JSON.parse(lines[0]), exitCode: ran.status, isThere: existsSync(out), out };
}

/** Builds one file. */
export function buildText(text, name = 'crawler.js', files = {}) {
  const folder = project({ [name]: text, ...files });
  return { folder, ...build(join(folder, name)) };
}
