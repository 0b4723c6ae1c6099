// Promises that settle within the call that made them.
//
// A handler may be `async`, but nothing in it ever waits: the host answers each call at once, and the runtime has no event
// loop (a promise of its own would never go on). So these promises queue their reactions in a list that `runToEnd` works off
// before an entry point returns. The build compiles `async` functions to ones that use `Promise` as they find it, and this
// one is found: it replaces the global one. Order of reactions is that of the language.
//
// What this costs: a promise that waits for something outside, as for a timer, never settles; `runToEnd` says so.

const reactions = [];
const unhandled = new Set();

export function enqueue(job) {
  reactions.push(job);
}

/** Makes a promise without a function, for what is made here. */
const BARE = () => {};
const NOBODY = [];

class SettlingPromise {
  #state = 'pending';
  #value;
  #waiting = [];

  constructor(executor) {
    if (executor === BARE) return;
    if (typeof executor !== 'function') throw new TypeError('a promise is made with a function');
    const { resolve, reject } = this.#settlers();
    try {
      executor(resolve, reject);
    } catch (error) {
      reject(error);
    }
  }

  #settlers() {
    let settled = false;
    const reject = (reason) => {
      if (settled) return;
      settled = true;
      this.#settle('rejected', reason);
    };
    const resolve = (value) => {
      if (settled) return;
      settled = true;
      this.#follow(value);
    };
    return { resolve, reject };
  }

  #follow(value) {
    if (value === this) return this.#settle('rejected', new TypeError('a promise cannot wait for itself'));
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return this.#settle('fulfilled', value);
    let then;
    try {
      then = value.then;
    } catch (error) {
      return this.#settle('rejected', error);
    }
    if (typeof then !== 'function') return this.#settle('fulfilled', value);
    enqueue(() => {
      const { resolve, reject } = this.#settlers();
      try {
        then.call(value, resolve, reject);
      } catch (error) {
        reject(error);
      }
    });
  }

  #settle(state, value) {
    this.#state = state;
    this.#value = value;
    const waiting = this.#waiting;
    if (state === 'rejected' && waiting.length === 0) unhandled.add(this);
    if (waiting.length > 0) {
      for (const react of waiting) enqueue(react);
      this.#waiting = NOBODY; // Of a settled promise nobody is added to it.
    }
  }

  then(onFulfilled, onRejected) {
    const Made = this.constructor?.[Symbol.species] ?? SettlingPromise;
    if (Made !== SettlingPromise) return new Made((resolve, reject) => this.#react(onFulfilled, onRejected, resolve, reject));
    const next = new SettlingPromise(BARE);
    this.#react(onFulfilled, onRejected, (value) => next.#follow(value), (reason) => next.#settle('rejected', reason));
    return next;
  }

  #react(onFulfilled, onRejected, resolve, reject) {
    const react = () => {
      const handle = this.#state === 'fulfilled' ? onFulfilled : onRejected;
      if (typeof handle !== 'function') return this.#state === 'fulfilled' ? resolve(this.#value) : reject(this.#value);
      let result;
      try {
        result = handle(this.#value);
      } catch (error) {
        return reject(error);
      }
      resolve(result);
    };
    if (this.#state === 'pending') this.#waiting.push(react);
    else reactions.push(react);
    if (this.#state === 'rejected') unhandled.delete(this);
  }

  catch(onRejected) {
    return this.then(undefined, onRejected);
  }

  finally(onFinally) {
    if (typeof onFinally !== 'function') return this.then(onFinally, onFinally);
    const Made = this.constructor?.[Symbol.species] ?? SettlingPromise;
    return this.then(
      (value) => Made.resolve(onFinally()).then(() => value),
      (reason) => Made.resolve(onFinally()).then(() => { throw reason; }),
    );
  }

  /** How it stands: no part of the language, for `runToEnd`. */
  static stateOf(promise) {
    return { state: promise.#state, value: promise.#value };
  }

  static isOurs(value) {
    return typeof value === 'object' && value !== null && #state in value;
  }

  static handled(promise) {
    unhandled.delete(promise);
  }

  static get [Symbol.species]() {
    return this;
  }

  get [Symbol.toStringTag]() {
    return 'Promise';
  }

  static resolve(value) {
    if (SettlingPromise.isOurs(value) && value.constructor === this) return value;
    if (this !== SettlingPromise) return new this((resolve) => resolve(value));
    const promise = new SettlingPromise(BARE);
    promise.#follow(value);
    return promise;
  }

  static reject(reason) {
    return new this((_, reject) => reject(reason));
  }

  static withResolvers() {
    let resolve, reject;
    const promise = new this((one, other) => { resolve = one; reject = other; });
    return { promise, resolve, reject };
  }

  static try(callback, ...args) {
    return new this((resolve) => resolve(callback(...args)));
  }

  static all(values) {
    return SettlingPromise.#gather.call(this, values, (each, results, { settle, reject }) => each((value, index) => { results[index] = value; settle(); }, reject), (results, resolve) => resolve(results));
  }

  static allSettled(values) {
    return SettlingPromise.#gather.call(
      this,
      values,
      (each, results, { settle }) =>
        each(
          (value, index) => { results[index] = { status: 'fulfilled', value }; settle(); },
          (reason, index) => { results[index] = { status: 'rejected', reason }; settle(); },
        ),
      (results, resolve) => resolve(results),
    );
  }

  static any(values) {
    return SettlingPromise.#gather.call(
      this,
      values,
      (each, errors, { settle, resolve }) => each(resolve, (reason, index) => { errors[index] = reason; settle(); }),
      (errors, _, reject) => reject(new AggregateError(errors, 'all promises were rejected')),
    );
  }

  static race(values) {
    return new this((resolve, reject) => {
      for (const value of values) this.resolve(value).then(resolve, reject);
    });
  }

  static #gather(values, visit, end) {
    return new this((resolve, reject) => {
      const results = [];
      let open = 1;
      const settle = () => { if (--open === 0) end(results, resolve, reject); };
      let index = 0;
      for (const value of values) {
        const at = index++;
        open += 1;
        results[at] = undefined;
        const each = (good, bad) => this.resolve(value).then((result) => good(result, at), (reason) => bad(reason, at));
        visit(each, results, { settle, resolve, reject });
      }
      settle();
    });
  }
}
Object.defineProperty(SettlingPromise, 'name', { value: 'Promise' });

export { SettlingPromise };

/** The promise never settles; the guard says it in words. */
export class NeverSettles extends Error {
  constructor() {
    super(
      'the handler waits for a promise that never settles. Every call into the host is done when it returns, and there are no timers and no network beside it: nothing will ever wake it.',
    );
    this.name = 'NeverSettles';
    this.code = 'never-settles';
    this.ending = 'fatal';
  }
}

/** Forgets what an earlier call left over, which may have ended in the middle. */
export function forget() {
  reactions.length = 0;
  unhandled.clear();
}

/**
 * Works off all reactions, and gives the value that `returned` came to. A rejection that nobody handles is thrown: it is the
 * error of a call whose `await` was forgotten.
 */
export function runToEnd(returned) {
  const isPromise = typeof returned === 'object' && returned !== null && typeof returned.then === 'function';
  const promise = isPromise ? SettlingPromise.resolve(returned) : undefined;
  if (promise) SettlingPromise.handled(promise);
  for (let next = 0; next < reactions.length; next += 1) {
    reactions[next]();
    // The list is cut now and then, so that a long chain does not keep all of its links.
    if (next === 1023) {
      reactions.splice(0, 1024);
      next = -1;
    }
  }
  reactions.length = 0;
  let value = returned;
  if (promise) {
    const { state, value: reached } = SettlingPromise.stateOf(promise);
    unhandled.delete(promise);
    if (state === 'rejected') throw reached;
    if (state === 'pending') throw new NeverSettles();
    value = reached;
  }
  for (const forgotten of unhandled) {
    unhandled.clear();
    throw SettlingPromise.stateOf(forgotten).value;
  }
  return value;
}
