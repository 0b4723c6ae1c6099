// The command line of the driver.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

import { BuildError } from './failure.mjs';

const KNOWN = ['source', 'wit', 'out', 'work', 'tools'];

/** Reads `--name value` and `--name=value`. */
export function readArguments(words) {
  const given = {};
  for (let at = 0; at < words.length; at += 1) {
    const [, name, joined] = /^--([a-z]+)(?:=(.*))?$/s.exec(words[at]) ?? [];
    if (!KNOWN.includes(name)) throw new BuildError('toolchain', `the driver does not know \`${words[at]}\`; it takes ${KNOWN.map((one) => `--${one}`).join(', ')}`);
    const value = joined ?? words[(at += 1)];
    if (value === undefined) throw new BuildError('toolchain', `--${name} needs a value`);
    given[name] = resolve(value);
  }
  for (const name of ['source', 'wit', 'out']) {
    if (given[name] === undefined) throw new BuildError('toolchain', `--${name} is missing`);
  }
  if (!existsSync(given.source)) throw new BuildError('load', `there is no file ${given.source}`, { file: given.source });
  if (!existsSync(given.wit)) throw new BuildError('toolchain', `there is no folder ${given.wit}, where the contract's .wit files should be`);
  return given;
}
