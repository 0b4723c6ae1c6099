// Items on their way to their datasets: what `processItem` is given, and what becomes of an item.
//
// An item passes when `processItem` ends. It is dropped or rejected by what is thrown, so that any function within can do it, and
// so that a `return` that was forgotten lets no item pass that was to be left out.

import { badArgument, DropItemError, NonRetryableError, RejectItemError } from './errors.js';
import { kind } from './check.js';
import { Context } from './context.js';
import { read, write } from './json.js';
import { runToEnd } from './promise.js';

/** What has no meaning while an item is looked at, and what to take instead. */
const nowhere = {
  page: 'the page has been handled; the item has what was taken from it, and `url` in the context says where it was',
  request: 'the page has been handled; `url` in the context is its URL',
  session: 'the page has been handled; a handler knows its session',
  enqueueLinks: 'a pipeline enqueues nothing; let a handler do that',
};

/** The context of `processItem`. */
export class ItemContext extends Context {
  #item;

  constructor(item) {
    super();
    this.#item = item;
  }

  /** The dataset that the item was pushed to; undefined for the crawl's own. */
  get dataset() {
    return this.#item.dataset ?? undefined;
  }

  /** The URL of the page in hand, or of the request that was given up; undefined for what `finish` or a listener pushed. */
  get url() {
    return this.#item.url ?? undefined;
  }
}
for (const [name, instead] of Object.entries(nowhere)) {
  Object.defineProperty(ItemContext.prototype, name, {
    get() {
      throw new NonRetryableError(`there is no \`${name}\` in \`processItem\`: ${instead}`, { code: 'not-there' });
    },
  });
}

/** What the author's function makes of an item. */
export function verdictOf(processItem, item) {
  const given = read('the item', item.json);
  let returned;
  try {
    returned = runToEnd(processItem(given, new ItemContext(item)));
  } catch (thrown) {
    if (thrown instanceof DropItemError) return { tag: 'drop', val: thrown.message };
    if (thrown instanceof RejectItemError) return { tag: 'reject', val: thrown.message };
    throw thrown;
  }
  const passes = returned === undefined ? given : returned;
  if (typeof passes !== 'object' || passes === null || Array.isArray(passes)) {
    throw badArgument(`\`processItem\` must return an item, which is an object, or nothing, not ${kind(passes)}; \`throw new DropItemError('why')\` leaves the item out`);
  }
  const text = write('the changed item', passes);
  // What another language has only spelt in another way is no change, and keeps its numbers to the last digit.
  return text === item.json || text === write('the item', read('the item', item.json)) ? { tag: 'keep' } : { tag: 'change', val: text };
}
