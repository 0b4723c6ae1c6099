// `nephila:crawler/…` in Node.js: every function of the WIT, answered by the fake host of the test.

import { readWit } from '../../scripts/wit.mjs';
import { WIT } from '../../scripts/raw-types.mjs';

const { interfaces } = readWit(WIT);
const camel = (name) => name.replace(/-([a-z0-9])/g, (_, letter) => letter.toUpperCase());

const RAW = new URL('../../src/raw.js', import.meta.url).href;

export async function resolve(specifier, context, next) {
  if (specifier === '#raw') return { url: RAW, shortCircuit: true };
  const [, name] = /^nephila:crawler\/([a-z-]+)(?:@.*)?$/.exec(specifier) ?? [];
  return name ? { url: `nephila-fake:${name}`, shortCircuit: true } : next(specifier, context);
}

export async function load(url, context, next) {
  if (!url.startsWith('nephila-fake:')) return next(url, context);
  const name = url.slice('nephila-fake:'.length);
  const { items } = interfaces.find((one) => one.name === name);
  const functions = items.filter(({ kind }) => kind === 'func');
  const source = functions.map((func) => {
    const called = `${camel(name)}.${camel(func.name)}`;
    return `const ${camel(func.name)}_ = (...given) => globalThis.__fakeHost(${JSON.stringify(called)}, given, ${func.params.length});\nexport { ${camel(func.name)}_ as ${camel(func.name)} };`;
  });
  return { format: 'module', source: source.join('\n'), shortCircuit: true };
}
