// Datasets: append-only lists of items. What is pushed is kept when the call's effects commit.

import { NonRetryableError } from './errors.js';
import { integer, isThenable, kind, noOtherKeys, optionalString } from './check.js';
import { ask, raw } from './host.js';
import { read, write } from './json.js';

/** Items that a reader asks for at a time. */
const SLICE = 200;

function asItem(item) {
  if (typeof item !== 'object' || item === null || Array.isArray(item) || isThenable(item)) {
    throw new NonRetryableError(`an item must be an object, not ${kind(item)}`, { code: 'bad-json' });
  }
  return write('an item', item);
}

/** A dataset: a named one, which the crawls of one store share, or by default the crawl's own. */
export class Dataset {
  #name;

  constructor(name) {
    this.#name = optionalString(name, 'the name of a dataset');
  }

  static open(name) {
    return new Dataset(name);
  }

  static pushData(data) {
    return new Dataset().pushData(data);
  }

  static getData(options) {
    return new Dataset().getData(options);
  }

  /** Appends an item, or an array of items. */
  pushData(data) {
    const items = (Array.isArray(data) ? data : [data]).map(asItem);
    ask('pushData', () => raw.dataset.push(this.#name, items));
  }

  /** Committed items, oldest first: at most `limit` (and at most 1,000) from `cursor` on. `next` is the cursor to go on with. */
  getData(options = {}) {
    noOtherKeys(options, 'the options of `getData`', ['limit', 'cursor'], {
      offset: 'a dataset is read from its beginning; go on with `next` as `cursor`',
      desc: 'a dataset is read from its beginning',
    });
    const limit = integer(options.limit ?? 1000, 'the `limit`', 1);
    const cursor = optionalString(options.cursor, 'the `cursor`');
    const slice = ask('getData', () => raw.dataset.read(this.#name, cursor, limit));
    return { items: slice.items.map((item) => read('an item of the dataset', item)), next: slice.next ?? undefined };
  }

  /** The committed items, oldest first, fetched from the host in slices. */
  *[Symbol.iterator]() {
    let cursor;
    do {
      const { items, next } = this.getData({ cursor, limit: SLICE });
      yield* items;
      cursor = next;
    } while (cursor !== undefined);
  }

  forEach(visit) {
    let index = 0;
    for (const item of this) visit(item, index++);
  }

  map(change) {
    return Array.from(this, change);
  }

  reduce(step, initial) {
    let memo = initial;
    let index = 0;
    for (const item of this) memo = memo === undefined && index === 0 ? item : step(memo, item, index), index += 1;
    return memo;
  }
}

/** Appends an item, or an array of items, to the crawl's own dataset or to a named one. */
export function pushData(data, datasetName) {
  new Dataset(datasetName).pushData(data);
}
