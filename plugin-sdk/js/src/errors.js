// How a handler ends early, and what a call into the host throws.
//
// The rule is the one of all SDKs: whatever goes wrong without the plugin saying otherwise fails the request, since the same
// page would go wrong again. (Crawlee retries any exception.) An error of the host passes through as it is, so that
// statistics can tell them apart.

/** An error with a code that statistics group by, and a say in how the request ends. */
export class CrawlerError extends Error {
  /**
   * @param {string} message
   * @param {{ code?: string, ending?: 'retry' | 'skip' | 'fatal', cause?: unknown }} [options]
   */
  constructor(message, options = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = new.target.name;
    this.code = options.code ?? 'error';
    this.ending = options.ending;
  }
}

/** Try the request again later, within its maximum of retries. */
export class RetryRequestError extends CrawlerError {
  constructor(message = 'the handler asks for another try', options = {}) {
    super(message, { code: 'retry', ...options, ending: 'retry' });
  }
}

/** Fail the request at once. */
export class NonRetryableError extends CrawlerError {
  constructor(message, options = {}) {
    super(message, { ...options, ending: 'fatal' });
  }
}

/** Set the request aside as skipped; nothing went wrong. */
export class SkipError extends CrawlerError {
  constructor(message = 'the handler skips this page', options = {}) {
    super(message, { code: 'skip', ...options, ending: 'skip' });
  }
}

/** Retire the session that fetched the page, and try again with another. */
export class SessionError extends CrawlerError {
  constructor(message = 'the session is blocked', options = {}) {
    super(message, { code: 'session', ...options, ending: 'retry' });
  }
}

/** Thrown in `processItem`: the item is left out, and counted under this reason (Scrapy: `DropItem`). */
export class DropItemError extends CrawlerError {
  constructor(reason = 'dropped') {
    super(reasonOf('DropItemError', reason), { code: 'not-there', ending: 'fatal' });
  }
}

/** Thrown in `processItem`: the page that pushed the item fails for good, with the code `item-rejected` and this sentence. */
export class RejectItemError extends CrawlerError {
  constructor(reason) {
    super(reasonOf('RejectItemError', reason), { code: 'not-there', ending: 'fatal' });
  }
}

function reasonOf(name, reason) {
  if (typeof reason !== 'string') throw badArgument(`a \`${name}\` needs its reason, a string: \`throw new ${name}('no-price')\``);
  return reason.toWellFormed();
}

/** What the host answered with instead of a result; `code` is one of docs/plugin-errors.md. */
export class HostError extends CrawlerError {
  /** Reads what a raw function threw; undefined if it is no answer of the host. */
  static from(thrown) {
    const answer = thrown?.payload;
    if (typeof answer?.code !== 'string') return undefined;
    const error = new HostError(answer.message, { code: answer.code, ending: answer.ending ?? undefined });
    return error;
  }
}

/** An argument that cannot be: it is the plugin's mistake, so that another try would not help. */
export function badArgument(message) {
  return new NonRetryableError(message, { code: 'bad-argument' });
}
