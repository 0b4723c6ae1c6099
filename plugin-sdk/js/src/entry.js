// The component's exports, made of a crawler. Each is guarded: whatever is thrown becomes the WIT's error with its message
// and the author's position, since the runtime traps without a word on anything else.

import * as autoSaved from './auto-saved.js';
import { isThenable, kind } from './check.js';
import { Context, PageContext } from './context.js';
import { isCrawler } from './crawler.js';
import { CrawlerError, DropItemError, NonRetryableError, RejectItemError, SessionError } from './errors.js';
import { listenerOf } from './events.js';
import { hostIsThere } from './host.js';
import { read, write } from './json.js';
import { log } from './log.js';
import { verdictOf } from './pipeline.js';
import { describe, framesOf } from './positions.js';
import { forget, runToEnd } from './promise.js';
import { seed } from './random.js';
import * as session from './session.js';
import * as state from './state.js';

/** The most of a message that is worth keeping with a failed request. */
const LONGEST = 8000;

/** The names of a crawler's entry points, as the contract has them. */
export function entryPointsOf(crawler) {
  if (!isCrawler(crawler)) {
    throw new NonRetryableError(
      crawler === undefined
        ? 'the module has no default export: write `export default defineCrawler({ … })`'
        : `the default export must be what \`defineCrawler\` makes, not ${kind(crawler)}`,
      { code: 'no-crawler' },
    );
  }
  return [
    'manifest',
    ...(crawler.handler ? ['handler'] : []),
    ...(crawler.failed ? ['failure'] : []),
    ...(crawler.finish ? ['finish'] : []),
    ...(crawler.subscriptions ? ['listener'] : []),
    ...(crawler.createSession ? ['sessions'] : []),
    ...(crawler.processItem ? ['pipeline'] : []),
  ];
}

/** What the component exports, by entry point. */
export function exportsOf(crawler) {
  return {
    manifest: { describe: () => crawler.description },
    handler: { handle: guarded(crawler.handler, (call) => [new PageContext(call)]) },
    failure: { onFailure: guarded(crawler.failed, (call, reason) => [new PageContext(call), failureOf(reason)]) },
    finish: { onFinish: guarded(crawler.finish, () => [new Context()]) },
    listener: {
      subscriptions: () => crawler.subscriptions,
      onEvent: guarded((event, context) => listenerOf(event.name)?.(event, context), (event) => [eventOf(event), new Context()]),
    },
    sessions: { create: guarded(crawler.createSession, () => [{ log }], newSessionOf) },
    pipeline: { processItem: guarded((item) => verdictOf(crawler.processItem, item), (item) => [item], (verdict) => verdict) },
  };
}

/**
 * @param {(...given: any[]) => any} entry the author's function
 * @param {(...raws: any[]) => any[]} argumentsOf
 * @param {(returned: any) => any} resultOf
 */
function guarded(entry, argumentsOf, resultOf = () => undefined) {
  return (...raws) => {
    forget();
    state.begin();
    autoSaved.begin();
    session.begin();
    hostIsThere(true);
    try {
      seed(raws[0]);
      const result = resultOf(runToEnd(entry(...argumentsOf(...raws))));
      state.save();
      autoSaved.save();
      session.save();
      return result;
    } catch (thrown) {
      const error = asWit(thrown);
      try {
        // What is said about a session holds also if the handler fails.
        session.save();
      } catch {
        // The first error is the one to tell.
      }
      throw error;
    } finally {
      seed(undefined);
    }
  };
}

function asWit(thrown) {
  if (thrown instanceof SessionError) {
    try {
      session.session()?.retire();
    } catch {
      // Without a session there is none to retire.
    }
  }
  const isOurs = thrown instanceof CrawlerError || (typeof thrown?.code === 'string' && typeof thrown?.ending === 'string');
  const ending = isOurs && ['retry', 'skip', 'fatal'].includes(thrown.ending) ? thrown.ending : undefined;
  const code = isOurs ? String(thrown.code) : 'exception';
  return { code: code.toWellFormed(), message: messageOf(thrown).toWellFormed().slice(0, LONGEST).toWellFormed(), ending };
}

// An error that a handler throws on purpose says by its text what is the matter, and where it was thrown from is one line;
// of any other the whole stack is worth having.
function messageOf(thrown) {
  if (!(thrown instanceof CrawlerError)) return describe(thrown);
  if (thrown instanceof DropItemError || thrown instanceof RejectItemError) {
    return `a \`${thrown.name}\` (${thrown.message}) was thrown outside of \`processItem\`: what handles pages pushes no item that it does not want, or throws a \`SkipError\``;
  }
  if (thrown.ending === 'skip' || thrown.ending === 'retry') return thrown.message;
  const [first] = framesOf(thrown);
  return first ? `${thrown.message}\n${first}` : thrown.message;
}

/** Why a request failed for good. */
class FailureReason extends Error {
  constructor({ code, message, attempts, status }) {
    super(message);
    this.name = 'FailureReason';
    Object.assign(this, { code, attempts, status: status ?? undefined });
  }
}

const failureOf = (reason) => new FailureReason(reason);

/** Something that happened. */
const eventOf = ({ id, name, payload, createdAt }) => ({
  id,
  name,
  createdAt,
  get payload() {
    return read(`the payload of \`${name}\``, payload);
  },
});

function newSessionOf(returned) {
  const userData = returned?.userData ?? {};
  if (isThenable(userData) || typeof userData !== 'object' || Array.isArray(userData)) {
    throw new NonRetryableError(`\`createSession\` must return \`{ userData: { … } }\`, not ${kind(returned)}`, { code: 'bad-argument' });
  }
  return { userData: write("the session's user data", userData), extraJson: undefined };
}

