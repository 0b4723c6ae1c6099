// The only way into the host's interfaces.
//
// Every call goes through `ask`: it says what is wrong while there is no crawl yet (the module is loaded when the plugin is
// built, not when it runs), and turns what the host answers with instead of a result into a `HostError`. The raw functions
// need every argument, trailing `undefined`s too: the runtime traps on a call that leaves one out, which
// `npm run check` finds by the generated types.

import * as raw from '#raw';

import { HostError, NonRetryableError } from './errors.js';

/** The generated bindings, for what the SDK has no words for (yet). */
export { raw };

let running = false;

/** Says that an entry point is running: from now on there is a host to ask. */
export function hostIsThere(there) {
  running = there;
}

/** Whether there is a host to ask. */
export function isHostThere() {
  return running;
}

/** Calls a raw function: `ask('dataset.push', () => raw.dataset.push(undefined, items))`. */
export function ask(what, call) {
  if (!running) {
    throw new NonRetryableError(
      `\`${what}\` was called where there is no crawl: while the module was being loaded, which happens once, when the plugin is built, or outside of a plugin. Call it in a handler.`,
      { code: 'no-crawl-yet' },
    );
  }
  try {
    return call();
  } catch (thrown) {
    throw HostError.from(thrown) ?? thrown;
  }
}
