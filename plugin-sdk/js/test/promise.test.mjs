import assert from 'node:assert/strict';
import { test } from 'node:test';

import { runToEnd, SettlingPromise } from '../src/promise.js';

/** What a scenario notes with the language's promises, and with ours. */
async function bothWays(scenario) {
  const native = [];
  await scenario(Promise, (what) => native.push(what));
  const ours = [];
  runToEnd(scenario(SettlingPromise, (what) => ours.push(what)));
  return { native, ours };
}

const SCENARIOS = {
  'chains that run side by side': (P, note) =>
    P.all([
      P.resolve(1).then((n) => note(`a${n}`)).then(() => note('b')).then(() => note('c')),
      P.resolve(2).then((n) => note(`d${n}`)).then(() => P.resolve('inner').then(note)).then(() => note('e')),
      new P((resolve) => resolve(P.resolve(3))).then((n) => note(`f${n}`)),
    ]),
  'rejections, caught and passed on': (P, note) =>
    P.reject(new Error('x'))
      .then(() => note('never'))
      .catch((error) => { note(error.message); throw new Error('y'); })
      .finally(() => note('finally'))
      .catch((error) => note(error.message)),
  'all, allSettled, any, race': (P, note) => {
    const slow = () => new P((resolve) => P.resolve().then(() => P.resolve()).then(() => resolve('slow')));
    return P.all([
      P.all([1, P.resolve(2), slow()]).then((values) => note(JSON.stringify(values))),
      P.all([slow(), P.reject(new Error('no'))]).catch((error) => note(error.message)),
      P.allSettled([P.reject(1), 2]).then((values) => note(JSON.stringify(values))),
      P.any([P.reject(1), slow()]).then(note),
      P.any([P.reject(1), P.reject(2)]).catch((error) => note(JSON.stringify(error.errors))),
      P.race([slow(), P.resolve('quick')]).then(note),
      P.all([]).then((values) => note(values.length)),
    ]);
  },
  'thenables and a promise of itself': (P, note) =>
    P.all([
      P.resolve({ then: (resolve) => resolve('thenable') }).then(note),
      P.resolve({ get then() { throw new Error('getter'); } }).catch((error) => note(error.message)),
      (() => { let settle; const self = new P((resolve) => (settle = resolve)); settle(self); return self.catch((error) => note(error.name)); })(),
    ]),
  'what comes first counts': (P, note) => new P((resolve, reject) => { resolve(1); reject(new Error('late')); resolve(2); }).then(note),
};

for (const [name, scenario] of Object.entries(SCENARIOS)) {
  test(`as in the language: ${name}`, async () => {
    const { native, ours } = await bothWays(scenario);
    assert.ok(native.length > 0);
    assert.deepEqual(ours, native);
  });
}

test('the value that a handler comes to is returned, and its error thrown', () => {
  assert.equal(runToEnd(SettlingPromise.resolve(1).then((n) => n + 1)), 2);
  assert.equal(runToEnd('plain'), 'plain');
  assert.throws(() => runToEnd(SettlingPromise.reject(new Error('boom'))), /boom/);
});

test('a promise that never settles is an error that says so', () => {
  assert.throws(() => runToEnd(new SettlingPromise(() => {})), /never settles/);
});

test('a rejection that nobody waits for is not lost', () => {
  const handler = () => { SettlingPromise.reject(new Error('an await is missing')); return SettlingPromise.resolve(); };
  assert.throws(() => runToEnd(handler()), /an await is missing/);
  assert.equal(runToEnd(SettlingPromise.reject(new Error('caught')).catch(() => 'fine')), 'fine');
});

test('ten thousand steps are run', () => {
  let chain = SettlingPromise.resolve(0);
  for (let step = 0; step < 10_000; step += 1) chain = chain.then((n) => n + 1);
  assert.equal(runToEnd(chain), 10_000);
});
