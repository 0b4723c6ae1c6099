// Events: what the listener hears, and what any call emits.

import { badArgument } from './errors.js';
import { kind, string } from './check.js';
import { ask, raw } from './host.js';
import { write } from './json.js';

/** The functions of the listener's instance, by event: those of `defineCrawler`, and what `events.on` has added. */
const heard = new Map();

export function hear(name, listen) {
  if (typeof listen !== 'function') throw badArgument(`the listener of \`${name}\` must be a function, not ${kind(listen)}`);
  heard.set(name, listen);
}

export function listenerOf(name) {
  return heard.get(name);
}

export const events = {
  /** Hears an event from now on. Only within a listener, and for that instance: what must always be heard is named in `on` of `defineCrawler`. */
  on(name, listen) {
    const event = string(name, 'the name of an event');
    if (listen === undefined && !heard.has(event)) throw badArgument(`\`events.on\` needs the function that hears \`${event}\``);
    if (listen !== undefined && typeof listen !== 'function') throw badArgument(`the listener of \`${event}\` must be a function, not ${kind(listen)}`);
    ask('events.on', () => raw.events.on(event));
    if (listen) heard.set(event, listen);
  },
  /** Hears an event no more. Only within a listener. */
  off(name) {
    const event = string(name, 'the name of an event');
    ask('events.off', () => raw.events.off(event));
  },
  /** Emits an event with a payload: an effect, delivered after the call's commit. */
  emit(name, payload = null) {
    const event = string(name, 'the name of an event');
    const text = write(`the payload of \`${event}\``, payload);
    ask('events.emit', () => raw.events.emit(event, text));
  },
};
