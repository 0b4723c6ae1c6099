// A request as a handler gets it (`Request`), and as a handler asks for it (`asNewRequest`).

import { badArgument } from './errors.js';
import { boolean, integer, kind, noOtherKeys, oneOf, optionalInteger, optionalString, string } from './check.js';
import { read, write } from './json.js';
import { headersByName } from './document.js';
import { decode, encode } from './utf8.js';

const METHODS = ['get', 'head', 'post', 'put', 'delete', 'options', 'patch'];

/** The request being handled. */
export class Request {
  #raw;
  #page;
  #userData;

  constructor(rawRequest, page) {
    this.#raw = rawRequest;
    this.#page = page;
  }

  /** The URL that was asked for; after a redirect to another site, the one it was moved to. */
  get url() { return this.#raw.url; }
  /** The URL that was enqueued, before any redirect. */
  get originalUrl() { return this.#raw.originalUrl; }
  /** The URL that answered; undefined if none did. */
  get loadedUrl() { return this.#page()?.url; }
  /** What the router dispatches on. */
  get label() { return this.#raw.label ?? undefined; }
  /** `GET`, `POST` … */
  get method() { return this.#raw.method.toUpperCase(); }
  /** Extra header fields that were asked for, by lower-case name. */
  get headers() { return headersByName(this.#raw.headers); }
  /** The request body as text. */
  get payload() { return this.#raw.payload ? decode(this.#raw.payload) : undefined; }
  /** The data that was enqueued with the request; an empty object if there was none. */
  get userData() {
    return (this.#userData ??= { value: this.#raw.userData ? read("the request's user data", this.#raw.userData) : {} }).value;
  }
  /** Its priority. */
  get priority() { return this.#raw.priority; }
  /** Links between a start URL (0) and this request. */
  get crawlDepth() { return this.#raw.depth; }
  /** Its identity: 32 hexadecimal digits. */
  get uniqueKey() { return this.#raw.uniqueKey; }
  /** The same: Crawlee's name for it. */
  get id() { return this.#raw.uniqueKey; }
  /** The session that must serve it. */
  get sessionId() { return this.#raw.sessionId ?? undefined; }
  /** Retries so far; 0 on the first attempt. */
  get retryCount() { return this.#raw.retryCount; }
  /** Retries at most. */
  get maxRetries() { return this.#raw.maxRetries; }
  /** Whether the first error is the last. */
  get noRetry() { return this.#raw.noRetry; }
  /** Milliseconds for the whole fetch. */
  get timeoutMillis() { return this.#raw.timeoutMillis; }
  /** Redirects followed so far. */
  get hopCount() { return this.#raw.hopCount; }

  toJSON() {
    const { url, originalUrl, label, method, headers, userData, priority, crawlDepth, uniqueKey, retryCount, maxRetries } = this;
    return { url, originalUrl, label, method, headers, userData, priority, crawlDepth, uniqueKey, retryCount, maxRetries };
  }
}

const KEYS = [
  'url', 'method', 'headers', 'payload', 'label', 'userData', 'priority', 'forefront', 'uniqueKey', 'sessionId', 'renderer',
  'acceptedStatuses', 'maxRetries', 'noRetry', 'alwaysEnqueue', 'timeoutMillis',
];
const HINTS = {
  useExtendedUniqueKey: 'the method and the payload are always part of the unique key',
  keepUrlFragment: 'write a `uniqueKey` of your own',
  skipNavigation: 'every request is fetched',
  body: 'it is called `payload`',
  depth: 'the host counts it',
};

/** What `addRequests` passes on: from a URL or an object. */
export function asNewRequest(given, forefront = false) {
  const request = typeof given === 'string' ? { url: given } : given;
  noOtherKeys(request, 'a request', KEYS, HINTS);
  if (typeof request.url !== 'string') throw badArgument(`a request needs a \`url\`; this one has ${kind(request.url)}`);
  const what = (key) => () => `the \`${key}\` of the request for ${kind(request.url)}`;
  return {
    url: string(request.url, 'a URL'),
    method: oneOf(String(request.method ?? 'get').toLowerCase(), what('method'), METHODS),
    headers: asHeaders(request.headers, what('headers')),
    payload: asPayload(request.payload, what('payload')),
    label: optionalString(request.label ?? labelWithin(request.userData), what('label')),
    userData: request.userData === undefined ? undefined : write(what('userData'), request.userData),
    priority: integer(request.priority ?? 0, what('priority'), -(2 ** 31)),
    forefront: boolean(request.forefront ?? forefront, what('forefront')),
    uniqueKey: optionalString(request.uniqueKey, what('uniqueKey')),
    sessionId: optionalString(request.sessionId, what('sessionId')),
    renderer: oneOf(request.renderer ?? 'http', what('renderer'), ['http', 'browser']),
    acceptedStatuses: asRanges(request.acceptedStatuses, what('acceptedStatuses')),
    maxRetries: optionalInteger(request.maxRetries, what('maxRetries')),
    noRetry: boolean(request.noRetry, what('noRetry')),
    alwaysEnqueue: boolean(request.alwaysEnqueue, what('alwaysEnqueue')),
    timeoutMillis: optionalInteger(request.timeoutMillis, what('timeoutMillis'), 1),
    extraJson: undefined,
  };
}

// Crawlee keeps the label within the user data, and some write it there.
export function labelWithin(userData) {
  return typeof userData?.label === 'string' ? userData.label : undefined;
}

function asHeaders(given, what) {
  if (given === undefined || given === null) return [];
  if (typeof given !== 'object' || Array.isArray(given)) throw badArgument(`${what()} must be an object, not ${kind(given)}`);
  return Object.entries(given).map(([name, value]) => ({ name: string(name, 'the name of a header field'), value: string(value, () => `\`${name}\` of ${what()}`) }));
}

function asPayload(given, what) {
  if (given === undefined || given === null) return undefined;
  if (given instanceof Uint8Array) return given;
  if (typeof given === 'string') return encode(given);
  throw badArgument(`${what()} must be a string or a Uint8Array, not ${kind(given)}; objects are for you to write, as with \`JSON.stringify\``);
}

/** `404`, `[400, 499]`, or a list of these. */
function asRanges(given, what) {
  if (given === undefined || given === null) return [];
  const list = Array.isArray(given) ? given : [given];
  return list.map((one) => {
    const [first, last] = Array.isArray(one) ? one : [one, one];
    if (Array.isArray(one) && one.length !== 2) throw badArgument(`${what()}: a range has two ends, as in \`[[400, 499]]\``);
    return { first: status(first, what), last: status(last, what) };
  });
}

function status(value, what) {
  if (!Number.isInteger(value) || value < 100 || value > 999) throw badArgument(`${what()}: ${kind(value)} is no HTTP status`);
  return value;
}
