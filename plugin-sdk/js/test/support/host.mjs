// The fake host: import this before the SDK. It answers what a test says, notes what is asked, and refuses a call with an
// argument too few, as the runtime would.

import { register } from 'node:module';

register('./hooks.mjs', import.meta.url);

/** What was asked since `reset`, as `[name, ...arguments]`. */
export let asked = [];
let answers = {};

globalThis.__fakeHost = (name, given, parameters) => {
  if (given.length !== parameters) throw new Error(`trap: ${name} was called with ${given.length} of ${parameters} arguments`);
  asked.push([name, ...given]);
  const answer = answers[name];
  return typeof answer === 'function' ? answer(...given) : answer;
};

/** Begins a test with these answers by name; functions are called. */
export function reset(given = {}) {
  asked = [];
  answers = given;
  return asked;
}

/** An answer that is an error, as the runtime throws it. */
export function refuse(code, message = `no ${code}`) {
  return () => {
    throw Object.assign(new Error('wit'), { payload: { code, message, ending: null } });
  };
}

/** A state that remembers. */
export function memory(values = {}) {
  return {
    'state.get': (key) => values[key] ?? null,
    'state.keys': () => Object.keys(values).sort(),
    'state.set': (key, value) => void (values[key] = value),
    'state.remove': (key) => void delete values[key],
    'state.increment': (key, by) => void (values[key] = String(Number(values[key] ?? 0) + by)),
    'state.append': (key, value) => void (values[key] = JSON.stringify([...JSON.parse(values[key] ?? '[]'), JSON.parse(value)])),
  };
}

/** A call as a handler gets it. */
export function call({ request = {}, document = {} } = {}) {
  const meta = { url: 'http://shop/a', status: 200, headers: [], contentType: 'text/html', charset: 'UTF-8', redirectChain: [], timings: {}, bodyBytes: 0, extraJson: null };
  return {
    request: () => ({ url: 'http://shop/a', originalUrl: 'http://shop/a', method: 'get', headers: [], payload: null, label: null, userData: null, priority: 0, depth: 0, uniqueKey: 'k', retryCount: 0, maxRetries: 3, ...request }),
    document: typeof document === 'function' ? document : () => ({ meta: () => meta, ...document }),
  };
}
