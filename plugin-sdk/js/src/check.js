// What an author passes is checked here, because the runtime below traps without a word on a value of another type.

import { badArgument } from './errors.js';

/** What an argument is called: a text, or a function that makes it, for names that would cost something where all is well. */
export const say = (what) => (typeof what === 'function' ? what() : what);

const LARGEST = 2 ** 31 - 1;

/** A text that can be passed on: a lone surrogate becomes U+FFFD, since it is no Unicode. */
export function string(value, what) {
  if (typeof value !== 'string') throw badArgument(`${say(what)} must be a string, not ${kind(value)}`);
  return value.toWellFormed();
}

export function optionalString(value, what) {
  return value === undefined || value === null ? undefined : string(value, what);
}

export function strings(value, what) {
  if (!Array.isArray(value)) throw badArgument(`${say(what)} must be an array of strings, not ${kind(value)}`);
  return value.map((item) => string(item, () => `each of ${say(what)}`));
}

/** A whole number of 32 bits. */
export function integer(value, what, least = 0) {
  if (!Number.isInteger(value) || value < least || value > LARGEST) {
    throw badArgument(`${say(what)} must be a whole number from ${least} to ${LARGEST}, not ${kind(value)}`);
  }
  return value;
}

export function optionalInteger(value, what, least = 0) {
  return value === undefined || value === null ? undefined : integer(value, what, least);
}

export function boolean(value, what) {
  if (value === undefined || value === null) return false;
  if (typeof value !== 'boolean') throw badArgument(`${say(what)} must be true or false, not ${kind(value)}`);
  return value;
}

export function oneOf(value, what, known) {
  if (!known.includes(value)) throw badArgument(`${say(what)} must be one of ${known.map((one) => `\`${one}\``).join(', ')}, not ${kind(value)}`);
  return value;
}

/** Refuses keys that mean nothing, which are mostly typing errors. `hints` has words for those that other crawlers know. */
export function noOtherKeys(options, what, known, hints = {}) {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw badArgument(`${say(what)} must be an object, not ${kind(options)}`);
  }
  for (const key of Object.keys(options)) {
    if (known.includes(key) || options[key] === undefined) continue;
    throw badArgument(`${say(what)} has no \`${key}\`${hints[key] ? `: ${hints[key]}` : `; there are ${known.map((one) => `\`${one}\``).join(', ')}`}`);
  }
}

/** A value in a sentence: its text if it is short, else its kind. */
export function kind(value) {
  if (value === null || value === undefined || typeof value === 'boolean' || typeof value === 'number') return String(value);
  if (typeof value === 'string') return value.length <= 40 ? `\`${value}\`` : `\`${value.slice(0, 40)}…\``;
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'function') return 'a function';
  if (isThenable(value)) return 'a promise (is an `await` missing?)';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

export function isThenable(value) {
  return (typeof value === 'object' || typeof value === 'function') && value !== null && typeof value.then === 'function';
}
