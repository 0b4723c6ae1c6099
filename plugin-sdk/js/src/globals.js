// What a script expects to find around it, and the runtime does not have. Imported first, before anything of the author's.

import { NonRetryableError } from './errors.js';
import { console } from './log.js';
import { enqueue, SettlingPromise } from './promise.js';
import { random } from './random.js';
import { TextDecoder, TextEncoder } from './text-coding.js';
import { URL, URLSearchParams } from './url.js';

function refused(name, instead) {
  return () => {
    throw new NonRetryableError(`there is no \`${name}\` in a plugin: ${instead}`, { code: 'not-there' });
  };
}

function copyOf(value, seen) {
  if (typeof value === 'function' || typeof value === 'symbol') throw new TypeError(`a ${typeof value} cannot be cloned`);
  if (typeof value !== 'object' || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  const keep = (copy) => (seen.set(value, copy), copy);
  if (value instanceof Date) return keep(new Date(value));
  if (value instanceof RegExp) return keep(new RegExp(value));
  if (value instanceof Uint8Array || value instanceof ArrayBuffer) return keep(value.slice());
  if (value instanceof Map) return [...value].reduce((copy, [key, one]) => copy.set(copyOf(key, seen), copyOf(one, seen)), keep(new Map()));
  if (value instanceof Set) return [...value].reduce((copy, one) => copy.add(copyOf(one, seen)), keep(new Set()));
  const copy = keep(Array.isArray(value) ? [] : {});
  for (const key of Object.keys(value)) copy[key] = copyOf(value[key], seen);
  return copy;
}

const NO_TIMERS = 'a handler does not wait. Pauses between requests are a setting of the crawl (`delay`), and a page to be tried later throws a `RetryRequestError`';

const globals = {
  Promise: SettlingPromise,
  queueMicrotask: (job) => enqueue(job),
  console,
  URL,
  URLSearchParams,
  TextEncoder,
  TextDecoder,
  structuredClone: (value) => copyOf(value, new Map()),
  setTimeout: refused('setTimeout', NO_TIMERS),
  setInterval: refused('setInterval', NO_TIMERS),
  setImmediate: refused('setImmediate', NO_TIMERS),
  clearTimeout: () => {},
  clearInterval: () => {},
  fetch: refused('fetch', 'the host fetches. Enqueue the request with `addRequests`, and handle it under a label of its own'),
};

for (const [name, value] of Object.entries(globals)) {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}
Math.random = random;
