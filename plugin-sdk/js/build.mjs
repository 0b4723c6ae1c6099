#!/usr/bin/env node
// Builds a crawler in JavaScript or TypeScript into a component:
//
//   node build.mjs --source FILE --wit DIR --out FILE.wasm [--work DIR] [--tools DIR]
//
// Standard output is one JSON object: `{"ok":true,"entryPoints":[…],"size":N,…}`, or `{"ok":false,"stage":…,"message":…}` with
// the position in the author's source where one is known. The exit code is 0 or 1; all else goes to standard error.

import { readArguments } from './build/arguments.mjs';
import { build } from './build/build.mjs';
import { BuildError } from './build/failure.mjs';

let answer;
try {
  answer = await build(readArguments(process.argv.slice(2)));
} catch (error) {
  answer = error instanceof BuildError ? error.toJSON() : { ok: false, stage: 'componentize', message: error?.stack ?? String(error) };
}
process.stdout.write(`${JSON.stringify(answer)}\n`);
// The answer must be out before the end; nothing else is running that an exit could cut.
process.exitCode = answer.ok ? 0 : 1;
