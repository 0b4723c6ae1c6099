// Key-value stores: small files by name. A call sees its own writes; they are kept when its effects commit.

import { badArgument } from './errors.js';
import { getAutoSaved, setAutoSaved } from './auto-saved.js';
import { kind, isThenable, noOtherKeys, optionalString, string } from './check.js';
import { input } from './config.js';
import { ask, raw } from './host.js';
import { read, write } from './json.js';
import { decode, encode } from './utf8.js';

/** A key-value store: a named one, which the crawls of one store share, or by default the crawl's own. */
export class KeyValueStore {
  #name;

  constructor(name) {
    this.#name = optionalString(name, 'the name of a key-value store');
  }

  static open(name) {
    return new KeyValueStore(name);
  }

  static getValue(key, defaultValue) {
    return new KeyValueStore().getValue(key, defaultValue);
  }

  static setValue(key, value, options) {
    return new KeyValueStore().setValue(key, value, options);
  }

  static getAutoSavedValue(key, defaultValue) {
    return new KeyValueStore().getAutoSavedValue(key, defaultValue);
  }

  static setAutoSavedValue(key, value) {
    new KeyValueStore().setAutoSavedValue(key, value);
  }

  /** The plugin's input (`--input`). */
  static getInput() {
    return input();
  }

  /** A value: parsed if it is JSON, a string if it is text, else bytes. Without one `defaultValue`, or null. */
  getValue(key, defaultValue = null) {
    const entry = this.#get(key);
    if (!entry) return defaultValue;
    const type = entry.contentType.split(';', 1)[0].trim().toLowerCase();
    if (type === 'application/json' || type.endsWith('+json')) return read(`the value of \`${key}\``, decode(entry.value));
    return type.startsWith('text/') ? decode(entry.value) : entry.value;
  }

  /** Whether there is a value. */
  recordExists(key) {
    return this.#get(key) !== undefined;
  }

  /**
   * Writes a value: an object as JSON, a string as text, bytes as they are; `contentType` says that it is something else.
   * `null` removes it.
   */
  setValue(key, value, options = {}) {
    noOtherKeys(options, 'the options of `setValue`', ['contentType']);
    const name = string(key, 'a key');
    if (value === null) {
      ask('setValue', () => raw.keyValue.remove(this.#name, name));
      return;
    }
    const entry = asEntry(name, value, optionalString(options.contentType, 'the `contentType`'));
    ask('setValue', () => raw.keyValue.set(this.#name, name, entry));
  }

  /**
   * An object that all handlers share; what is changed in it is written when the handler ends, and shown as a record of the store now
   * and then and at the end. It begins with the record of that key, or with `defaultValue`.
   */
  getAutoSavedValue(key, defaultValue = {}) {
    return getAutoSaved(this.#name, string(key, 'a key'), defaultValue);
  }

  /** Replaces an auto-saved value, at once. Without a read before it never conflicts. An object that was read before is saved no more. */
  setAutoSavedValue(key, value) {
    setAutoSaved(this.#name, string(key, 'a key'), value);
  }

  #get(key) {
    const name = string(key, 'a key');
    return ask('getValue', () => raw.keyValue.get(this.#name, name)) ?? undefined;
  }
}

function asEntry(key, value, contentType) {
  if (isThenable(value)) throw badArgument(`the value of \`${key}\` is a promise: is an \`await\` missing?`);
  if (value instanceof Uint8Array) return { contentType: contentType ?? 'application/octet-stream', value };
  if (value instanceof ArrayBuffer) return { contentType: contentType ?? 'application/octet-stream', value: new Uint8Array(value) };
  if (typeof value === 'string' && contentType !== 'application/json') return { contentType: contentType ?? 'text/plain; charset=utf-8', value: encode(value) };
  // A string that is said to be JSON is taken to be written already, as in Crawlee.
  if (typeof value === 'string') return { contentType, value: encode(value) };
  if (contentType !== undefined && !/json/i.test(contentType)) {
    throw badArgument(`the value of \`${key}\` must be a string or bytes to be \`${contentType}\`, not ${kind(value)}`);
  }
  return { contentType: contentType ?? 'application/json', value: encode(write(`the value of \`${key}\``, value)) };
}

/** A store by name, or the crawl's own. */
export function getKeyValueStore(name) {
  return new KeyValueStore(name);
}
