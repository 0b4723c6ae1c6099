// Values that cross the border as JSON. What goes wrong has the code `json`, as in every SDK.

import { kind, say } from './check.js';
import { NonRetryableError } from './errors.js';

/** Writes a value: `write('an item', item)`. What it is called may be a function, as in check.js. */
export function write(what, value) {
  let text;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new NonRetryableError(`${say(what)} cannot be written as JSON: ${error?.message ?? error}`, { code: 'json', cause: error });
  }
  if (text === undefined) throw new NonRetryableError(`${say(what)} cannot be written as JSON: it is ${kind(value)}`, { code: 'json' });
  return wellFormed(text);
}

/** Reads a value that the host gave. */
export function read(what, text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new NonRetryableError(`${say(what)} is no JSON: ${error?.message ?? error}`, { code: 'json', cause: error });
  }
}

// `JSON.stringify` writes a lone surrogate as an escape, which other readers of JSON refuse.
function wellFormed(text) {
  if (!text.includes('\\ud')) return text;
  return text.replace(/\\(u[dD][89a-fA-F][0-9a-fA-F]{2}|.)/g, (whole, what) => (what.length > 1 ? '\ufffd' : whole));
}
