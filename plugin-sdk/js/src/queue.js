// The request queue. What is enqueued is accepted when the call's effects commit.

import { badArgument } from './errors.js';
import { boolean, integer, isThenable, kind, noOtherKeys, oneOf, optionalInteger, optionalString, string, strings } from './check.js';
import { ask, raw } from './host.js';
import { write } from './json.js';
import { asNewRequest, labelWithin } from './request.js';

/** Enqueues requests: URLs, or objects with a `url`. One answer each, in order. */
export function addRequests(requests, options = {}) {
  noOtherKeys(options, 'the options of `addRequests`', ['forefront'], {
    waitForAllRequestsToBeAdded: 'all are added with the commit of the call',
    batchSize: 'all are added with the commit of the call',
  });
  const list = Array.isArray(requests) ? requests : isIterable(requests) ? [...requests] : [requests];
  const wanted = list.map((one) => asNewRequest(one, options.forefront));
  return ask('addRequests', () => raw.queue.enqueue(wanted));
}

function isIterable(value) {
  return typeof value === 'object' && value !== null && typeof value[Symbol.iterator] === 'function';
}

export const EnqueueStrategy = { All: 'all', SameDomain: 'same-domain', SameHostname: 'same-hostname', SameOrigin: 'same-origin' };

const KEYS = ['selector', 'strategy', 'globs', 'regexps', 'exclude', 'label', 'userData', 'priority', 'forefront', 'limit'];
const WHAT = Object.fromEntries(KEYS.map((key) => [key, `the \`${key}\` of \`enqueueLinks\``]));
const STRATEGIES = Object.values(EnqueueStrategy);
const HINTS = {
  urls: 'pass them to `addRequests`',
  transformRequestFunction: 'take `page.links()`, choose, and pass what you want to `addRequests`',
  baseUrl: 'links are resolved against the page and its `<base href>`',
  regexes: 'they are called `regexps`, as in Crawlee',
  pseudoUrls: 'write them as `globs` or `regexps`',
  requestQueue: 'a crawl has one queue',
  robotsTxtFile: 'that is a setting of the host',
  skipNavigation: 'every request is fetched',
};

/** Enqueues links of the page in hand. */
export function enqueueLinks(options = {}) {
  noOtherKeys(options, 'the options of `enqueueLinks`', KEYS, HINTS);
  const included = patterns(options.globs, WHAT.globs);
  const others = patterns(options.regexps, WHAT.regexps);
  const excluded = patterns(options.exclude, WHAT.exclude);
  const wit = {
    selector: optionalString(options.selector, WHAT.selector),
    strategy: oneOf(options.strategy ?? 'same-hostname', WHAT.strategy, STRATEGIES),
    globs: [...included.globs, ...others.globs],
    regexes: [...included.regexes, ...others.regexes],
    excludeGlobs: excluded.globs,
    excludeRegexes: excluded.regexes,
    label: optionalString(options.label ?? labelWithin(options.userData), WHAT.label),
    userData: options.userData === undefined ? undefined : write(WHAT.userData, options.userData),
    priority: integer(options.priority ?? 0, WHAT.priority, -(2 ** 31)),
    forefront: boolean(options.forefront, WHAT.forefront),
    limit: optionalInteger(options.limit, WHAT.limit),
    extraJson: undefined,
  };
  return ask('enqueueLinks', () => raw.queue.enqueueLinks(wit));
}

const NONE = { globs: [], regexes: [] };

/** Globs as strings, or `{ glob }`, and regular expressions as such, or `{ regexp }`. */
function patterns(given, what) {
  if (given === undefined || given === null) return NONE;
  const found = { globs: [], regexes: [] };
  for (const one of Array.isArray(given) ? given : [given]) {
    const pattern = one?.glob ?? one?.regexp ?? one;
    if (typeof pattern === 'string') found.globs.push(string(pattern, what));
    else if (pattern instanceof RegExp) found.regexes.push(asRegex(pattern));
    else throw badArgument(`${what} must be globs and regular expressions, not ${kind(pattern)}`);
  }
  return found;
}

// The host's regular expressions have flags within, and no look-around and back-references; it says so if one is there.
function asRegex({ source, flags }) {
  const kept = [...flags].filter((flag) => 'ims'.includes(flag)).join('');
  return (kept ? `(?${kept})${source}` : source).toWellFormed();
}

/** What the queue knows of these URLs: one answer each, in order, null for one never accepted. */
export function lookupRequests(urls) {
  if (isThenable(urls)) throw badArgument('the URLs must be an array, not a promise: is an `await` missing?');
  const wanted = strings(urls, 'the URLs');
  return ask('lookupRequests', () => raw.queue.lookup(wanted)).map((status) => status ?? null);
}
