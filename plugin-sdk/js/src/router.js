// Which function handles a request: its label decides.
//
// A label that no handler is for is a mistake in the plugin, and fails the request with the code `unknown-label`; it does not
// fall back to the default handler, as it does in Crawlee.

import { badArgument, NonRetryableError } from './errors.js';
import { kind } from './check.js';

/** Handlers by label: `router.addHandler('detail', async ({ page, pushData }) => …)`. The router itself is a handler. */
export function createRouter() {
  const labelled = new Map();
  const middlewares = [];
  let byDefault;

  const mustBeFunction = (handler, whose) => {
    if (typeof handler !== 'function') throw badArgument(`the handler ${whose} must be a function, not ${kind(handler)}`);
    return handler;
  };

  const find = (label) => {
    const handler = label === undefined ? byDefault : labelled.get(label);
    if (handler) return handler;
    const known = [...labelled.keys()].map((one) => `\`${one}\``).join(', ');
    const there = known ? `there are handlers for ${known}`
      : `the router has ${byDefault ? 'the default handler alone, which is for requests without a label' : 'no handlers'}: add one with \`addHandler\``;
    const message = label === undefined
      ? 'the request has no label, and the router no default handler: add one with `addDefaultHandler`'
      : `no handler is for the label \`${label}\`; ${there}`;
    throw new NonRetryableError(message, { code: 'unknown-label' });
  };

  const run = (context, at, handler) => {
    if (at === middlewares.length) return handler(context);
    const returned = middlewares[at](context);
    return typeof returned?.then === 'function' ? returned.then(() => run(context, at + 1, handler)) : run(context, at + 1, handler);
  };

  const router = (context) => run(context, 0, find(context.request.label));
  return Object.assign(router, {
    /** Handles requests with this label. */
    addHandler(label, handler) {
      if (typeof label !== 'string') throw badArgument(`\`addHandler\` takes a label and a function, not ${kind(label)}; for requests without a label there is \`addDefaultHandler\``);
      if (labelled.has(label)) throw badArgument(`the router has a handler for \`${label}\` already`);
      labelled.set(label, mustBeFunction(handler, `for \`${label}\``));
      return router;
    },
    /** Handles requests without a label. */
    addDefaultHandler(handler) {
      if (byDefault) throw badArgument('the router has a default handler already');
      byDefault = mustBeFunction(handler, 'by default');
      return router;
    },
    /** Runs before every handler. */
    use(middleware) {
      middlewares.push(mustBeFunction(middleware, 'passed to `use`'));
      return router;
    },
    /** The handler for a label. */
    getHandler: find,
  });
}
