// Log lines. The host adds the plugin's name, the request and the page.

import { isHostThere, raw } from './host.js';
import { write as json } from './json.js';
import { describe } from './positions.js';

function line(level, message, data) {
  if (!isHostThere()) return; // A module that logs while it is loaded says it once, at build time; nobody would read it.
  let fields;
  if (data !== undefined && data !== null) {
    try {
      fields = json('the data of a log line', typeof data === 'object' && !Array.isArray(data) && !(data instanceof Error) ? data : { data: plain(data) });
    } catch (error) {
      fields = json('a reason', { data: `(${error.message})` });
    }
  }
  raw.log.write(level, plainText(message).toWellFormed(), fields);
}

const plain = (value) => (value instanceof Error ? describe(value) : value);

/** Any value as `console.log` would show it, on one line. */
export function plainText(value) {
  if (typeof value === 'string') return value.toWellFormed();
  if (value instanceof Error) return describe(value).toWellFormed();
  if (typeof value === 'object' && value !== null) {
    try {
      return json('a value', value);
    } catch {
      return String(value);
    }
  }
  return String(value);
}

export const log = {
  trace: (message, data) => line('trace', message, data),
  debug: (message, data) => line('debug', message, data),
  info: (message, data) => line('info', message, data),
  warning: (message, data) => line('warn', message, data),
  warn: (message, data) => line('warn', message, data),
  error: (message, data) => line('error', message, data),
  /** An error with its stack, in the positions of the author's source. */
  exception: (error, message, data) => line('error', message ? `${message}: ${plainText(error)}` : plainText(error), data),
};

const join = (values) => values.map(plainText).join(' ');

export const console = {
  log: (...values) => line('info', join(values)),
  info: (...values) => line('info', join(values)),
  debug: (...values) => line('debug', join(values)),
  trace: (...values) => line('trace', join(values)),
  warn: (...values) => line('warn', join(values)),
  error: (...values) => line('error', join(values)),
  dir: (value) => line('info', plainText(value)),
  table: (value) => line('info', plainText(value)),
  group: (...values) => line('info', join(values)),
  groupEnd: () => {},
  time: () => {},
  timeEnd: () => {},
  assert: (condition, ...values) => {
    if (!condition) line('error', join(['assertion failed', ...values]));
  },
};
