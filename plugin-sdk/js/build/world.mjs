// The component's world: what it exports is what the author uses, since an export changes what the host does.

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { BuildError } from './failure.mjs';

/** The name of the world that is generated. */
export const WORLD = 'crawler';

/** Writes a WIT folder with the contract and a world that exports these entry points; gives its path. */
export function writeWorld(wit, entryPoints, work) {
  const version = contractVersion(wit);
  const folder = join(work, 'wit');
  const deps = join(folder, 'deps', 'nephila-crawler');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(deps, { recursive: true });
  for (const name of witFiles(wit)) cpSync(join(wit, name), join(deps, name));
  const at = version === undefined ? '' : `@${version}`;
  const lines = [
    'package nephila-plugin:entry;',
    '',
    `world ${WORLD} {`,
    `    include nephila:crawler/imports${at};`,
    ...entryPoints.map((name) => `    export nephila:crawler/${name}${at};`),
    '}',
    '',
  ];
  writeFileSync(join(folder, 'world.wit'), lines.join('\n'));
  return folder;
}

function witFiles(wit) {
  return readdirSync(wit).filter((name) => name.endsWith('.wit'));
}

function contractVersion(wit) {
  for (const name of witFiles(wit)) {
    const found = /^\s*package\s+nephila:crawler(?:@([0-9A-Za-z.+-]+))?\s*;/m.exec(readFileSync(join(wit, name), 'utf8'));
    if (found) return found[1];
  }
  throw new BuildError('toolchain', `${wit} has no .wit file of the package nephila:crawler`);
}
