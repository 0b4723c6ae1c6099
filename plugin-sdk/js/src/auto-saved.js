// Auto-saved values of key-value stores: objects that all handlers share and change as safely as the state.
//
// What a call read is checked at its commit, as with the state. An object is read when a handler first asks for it, and written
// when the handler ends, if it has changed by then.

import { badArgument } from './errors.js';
import { isThenable, kind } from './check.js';
import { ask, raw } from './host.js';
import { read, write } from './json.js';

/** What the call in hand has read, by store and key: `text` is what need not be written, `value` what the handler sees. */
let taken = new Map();

const what = (key) => `the auto-saved value \`${key}\``;
// No name of a store has a line break.
const entryKey = (store, key) => `${store ?? ''}\n${key}`;

/** Forgets the values of the call before. */
export function begin() {
  taken = new Map();
}

/** Writes what has changed. */
export function save() {
  for (const entry of taken.values()) {
    const text = write(what(entry.key), entry.value);
    if (text === entry.text) continue;
    ask('getAutoSavedValue', () => raw.keyValue.setAutoSaved(entry.store, entry.key, text));
    entry.text = text;
  }
}

export function getAutoSaved(store, key, defaultValue) {
  if (typeof defaultValue !== 'object' || defaultValue === null || isThenable(defaultValue)) {
    throw badArgument(`the default of ${what(key)} must be an object, in which changes can be seen, not ${kind(defaultValue)}; write \`{ value: … }\``);
  }
  const id = entryKey(store, key);
  let entry = taken.get(id);
  if (!entry) {
    const saved = ask('getAutoSavedValue', () => raw.keyValue.getAutoSaved(store, key)) ?? 'null';
    // A copy of the default, so that it is the same on the next page of a sandbox that is reused.
    const value = read(what(key), saved) ?? JSON.parse(write(`the default of ${what(key)}`, defaultValue));
    // As this runtime writes it, so that a difference in spelling is no change. A default that nobody changes is not written.
    entry = { store, key, value, text: write(what(key), value) };
    taken.set(id, entry);
  }
  return entry.value;
}

export function setAutoSaved(store, key, value) {
  if (isThenable(value)) throw badArgument(`${what(key)} is a promise: is an \`await\` missing?`);
  const text = write(what(key), value);
  ask('setAutoSavedValue', () => raw.keyValue.setAutoSaved(store, key, text));
  taken.delete(entryKey(store, key));
}
