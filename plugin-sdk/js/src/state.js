// `useState`: a map of keys to values that all handlers of a crawler id share.
//
// It feels like an object of one's own, and is safe like one: what a call read is checked at its commit, and if it has changed
// by then, the host runs the handler again on the same page. What is only written never conflicts. So the object that
// `useState` gives is a view: a key is read from the host when it is asked for, and what has changed is written when the
// handler ends. `state[url] = title` reads nothing, and two handlers that use different keys do not disturb each other.

import { badArgument } from './errors.js';
import { isThenable, kind, string } from './check.js';
import { ask, raw } from './host.js';
import { read, write } from './json.js';

/** The keys that the call in hand has touched: `text` is what the host has (undefined: nothing), `value` what the handler sees. */
let touched = new Map();
/** What keys are to be if the state has none. */
let defaults = {};
let view;

const what = (key) => `the state's \`${key}\``;

/** Forgets the view of the call before. */
export function begin() {
  touched = new Map();
  defaults = {};
  view = undefined;
}

/** Writes what has changed. */
export function save() {
  for (const [key, entry] of touched) saveOne(key, entry);
}

function saveOne(key, entry) {
  if (entry.value === undefined) {
    if (entry.text !== undefined) ask('useState', () => raw.state.remove(key));
    entry.text = undefined;
    return;
  }
  if (isThenable(entry.value)) throw badArgument(`${what(key)} is a promise: is an \`await\` missing?`);
  const text = write(what(key), entry.value);
  if (text === entry.text) return;
  if (text === entry.untouchedDefault) return;
  ask('useState', () => raw.state.set(key, text));
  entry.text = text;
}

// A direct operation on a key must see what the view has changed, and the view what the operation did.
function settle(key) {
  const name = string(key, 'a key of the state');
  const entry = touched.get(name);
  if (entry) {
    saveOne(name, entry);
    touched.delete(name);
  }
  return name;
}

function look(key) {
  let entry = touched.get(key);
  if (!entry) {
    const text = ask('useState', () => raw.state.get(key)) ?? undefined;
    if (text !== undefined) {
      const value = read(what(key), text);
      // As this runtime writes it, so that a difference in spelling is no change.
      entry = { text: write(what(key), value), value };
    } else if (Object.hasOwn(defaults, key)) {
      const copy = write(`the default of the state's \`${key}\``, defaults[key]);
      entry = { text: undefined, value: JSON.parse(copy), untouchedDefault: copy };
    } else {
      entry = { text: undefined, value: undefined };
    }
    touched.set(key, entry);
  }
  return entry;
}

function allKeys() {
  const keys = new Set(ask('useState', () => raw.state.keys()));
  for (const key of Object.keys(defaults)) keys.add(key);
  for (const [key, entry] of touched) {
    if (entry.value === undefined) keys.delete(key);
    else keys.add(key);
  }
  return [...keys];
}

const handler = {
  get: (_, key) => (typeof key === 'symbol' ? undefined : key === 'toJSON' || key === 'then' ? touched.get(key)?.value : look(key).value),
  set: (_, key, value) => {
    if (typeof key === 'symbol') return false;
    const entry = touched.get(key);
    if (entry) {
      entry.value = value;
      entry.untouchedDefault = undefined;
    } else {
      // The text is unknown and not asked for: a write without a read never conflicts.
      touched.set(key, { text: value === undefined ? '' : undefined, value });
    }
    return true;
  },
  deleteProperty: (_, key) => {
    const entry = touched.get(key);
    if (entry) Object.assign(entry, { value: undefined, untouchedDefault: undefined, text: entry.text ?? '' });
    else touched.set(key, { text: '', value: undefined });
    return true;
  },
  has: (_, key) => typeof key === 'string' && look(key).value !== undefined,
  ownKeys: () => allKeys(),
  getOwnPropertyDescriptor: (_, key) => {
    if (typeof key !== 'string') return undefined;
    const { value } = look(key);
    return value === undefined ? undefined : { value, writable: true, enumerable: true, configurable: true };
  },
  defineProperty: (target, key, descriptor) => handler.set(target, key, descriptor.value),
};

/**
 * The state as an object; what is changed in it is written when the handler ends. Of a key that the state does not have,
 * `defaultValue` says the value.
 */
export function useState(defaultValue = {}) {
  if (typeof defaultValue !== 'object' || defaultValue === null || Array.isArray(defaultValue) || isThenable(defaultValue)) {
    throw badArgument(`the default of \`useState\` must be an object, not ${kind(defaultValue)}`);
  }
  defaults = { ...defaultValue, ...defaults };
  return (view ??= new Proxy({}, handler));
}

/** Single operations on the state, each at once. */
export const state = {
  /** Reads a value; undefined if there is none. */
  get(key) {
    const name = settle(key);
    const text = ask('state.get', () => raw.state.get(name)) ?? undefined;
    return text === undefined ? undefined : read(what(name), text);
  },
  /** Writes a value. Without a read before it never conflicts. */
  set(key, value) {
    const name = settle(key);
    const text = write(what(name), value);
    ask('state.set', () => raw.state.set(name, text));
  },
  /** Reads a value, changes it, and writes it: atomic, since the call runs again if another one was quicker. */
  update(key, change) {
    this.set(key, change(this.get(key)));
  },
  /** The keys that have a value, in order. */
  keys() {
    save();
    return ask('state.keys', () => raw.state.keys());
  },
  /** Removes a key. */
  remove(key) {
    const name = settle(key);
    ask('state.remove', () => raw.state.remove(name));
  },
  /** Adds to a whole number; an absent key counts as 0. Returns nothing, so that it never conflicts. */
  increment(key, by = 1) {
    const name = settle(key);
    if (!Number.isInteger(by) || Math.abs(by) >= 2 ** 31) throw badArgument(`the state is incremented by a whole number of 32 bits, not ${kind(by)}`);
    ask('state.increment', () => raw.state.increment(name, by));
  },
  /** Appends a value to a list; an absent key counts as an empty one. Never conflicts. */
  append(key, value) {
    const name = settle(key);
    const text = write(what(name), value);
    ask('state.append', () => raw.state.append(name, text));
  },
  /** Keeps the greater of what is there and `value`. Never conflicts. */
  max(key, value) {
    const name = settle(key);
    if (typeof value !== 'number' || !Number.isFinite(value)) throw badArgument(`\`state.max\` takes a finite number, not ${kind(value)}`);
    ask('state.max', () => raw.state.max(name, value));
  },
};
