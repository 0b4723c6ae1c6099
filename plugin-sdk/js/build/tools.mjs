// The build tools, which are npm packages: esbuild, and componentize-qjs with the QuickJS runtime in it.
//
// They are looked for in `--tools` first, then in the author's project, then beside the SDK.

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { BuildError } from './failure.mjs';

/** The versions that the SDK is tested with. */
export const VERSIONS = { esbuild: '0.28.2', 'componentize-qjs': '0.4.5' };

/** Loads both packages. */
export async function loadTools({ tools, source }) {
  const folders = [tools, dirname(source), dirname(dirname(fileURLToPath(import.meta.url)))].filter((folder) => folder !== undefined);
  const [esbuild, componentizer] = await Promise.all(Object.keys(VERSIONS).map((name) => load(name, folders, tools)));
  return { esbuild, componentize: componentizer.componentize };
}

async function load(name, folders, tools) {
  const troubles = [];
  for (const folder of folders) {
    let path;
    try {
      path = createRequire(join(folder, 'package.json')).resolve(name);
    } catch {
      continue;
    }
    try {
      const module = await import(pathToFileURL(path));
      return module.default?.version || module.default?.componentize ? module.default : module;
    } catch (error) {
      troubles.push(`${path} cannot be loaded: ${error.message}`);
    }
  }
  const packages = Object.entries(VERSIONS).map(([one, version]) => `${one}@${version}`).join(' ');
  const command = tools ? `npm install --prefix ${tools} ${packages}` : `npm install --save-dev ${packages}`;
  throw new BuildError(
    'toolchain',
    [`the npm package ${name} is needed and was not found in ${folders.join(', ')}.`, ...troubles, `This installs it: ${command}`].join('\n'),
  );
}
