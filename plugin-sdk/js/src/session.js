// The session that fetched the page in hand. What a call asks of it takes effect with the call's end, also if the handler fails.

import { badArgument, HostError } from './errors.js';
import { isThenable, kind, noOtherKeys, optionalString, string } from './check.js';
import { ask, raw } from './host.js';
import { read, write } from './json.js';

let current;

export class Session {
  #id;
  #userData;
  #text;

  constructor(id) {
    this.#id = id;
  }

  get id() {
    return this.#id;
  }

  /** What it keeps with it; what is changed in the object is saved when the handler ends, also if it fails. */
  get userData() {
    if (!this.#userData) {
      this.#userData = read("the session's user data", ask('session.userData', () => raw.session.userData()));
      this.#text = write("the session's user data", this.#userData);
    }
    return this.#userData;
  }

  set userData(data) {
    this.#text ??= '';
    this.#userData = userDataOf(data);
  }

  /** It did well. Without a word from the plugin, the host judges by how the request ends. */
  markGood() { ask('session.markGood', () => raw.session.good()); }
  /** It did badly. */
  markBad() { ask('session.markBad', () => raw.session.bad()); }
  /** It is not to be used again. */
  retire() { ask('session.retire', () => raw.session.retire()); }

  /** The cookies that it sends with a request for a URL, by default the page's own. */
  getCookies(url) {
    return ask('session.getCookies', () => raw.session.cookies(optionalString(url, 'a URL')));
  }

  /** The same as the value of a `Cookie` header field. */
  getCookieString(url) {
    return this.getCookies(url).map(({ name, value }) => `${name}=${value}`).join('; ');
  }

  /** Sets cookies as if a URL (by default the page's own) had answered with these `Set-Cookie` lines, or objects `{ name, value, path, … }`. */
  setCookies(cookies, url) {
    const lines = linesOf(cookies, '`setCookies`');
    ask('session.setCookies', () => raw.session.setCookies(optionalString(url, 'a URL'), lines));
  }

  /** Saves the user data if it has changed. */
  save() {
    if (!this.#userData) return;
    const text = write("the session's user data", this.#userData);
    if (text === this.#text) return;
    ask('session.userData', () => raw.session.setUserData(text));
    this.#text = text;
  }
}

function userDataOf(data) {
  if (typeof data !== 'object' || data === null || Array.isArray(data) || isThenable(data)) throw badArgument(`the session's user data must be an object, not ${kind(data)}`);
  return data;
}

function linesOf(cookies, what) {
  if (!Array.isArray(cookies)) throw badArgument(`${what} takes an array, not ${kind(cookies)}`);
  return cookies.map(asLine);
}

function asLine(cookie) {
  if (typeof cookie === 'string') return string(cookie, 'a cookie');
  const { name, value, domain, path, expires, secure, httpOnly, sameSite } = cookie ?? {};
  const parts = [`${string(name, "a cookie's name")}=${string(value, "a cookie's value")}`];
  if (domain) parts.push(`Domain=${string(domain, "a cookie's domain")}`);
  if (path) parts.push(`Path=${string(path, "a cookie's path")}`);
  if (expires !== undefined && expires !== null && expires !== -1) {
    // Crawlee's are seconds since 1970, or a date.
    const date = expires instanceof Date ? expires : new Date(typeof expires === 'number' ? expires * 1000 : expires);
    if (Number.isNaN(date.getTime())) throw badArgument(`a cookie's \`expires\` is no date: ${kind(expires)}`);
    parts.push(`Expires=${date.toUTCString()}`);
  }
  if (secure) parts.push('Secure');
  if (httpOnly) parts.push('HttpOnly');
  if (sameSite) parts.push(`SameSite=${string(sameSite, "a cookie's sameSite")}`);
  return parts.join('; ');
}

const LIMITS = 'the limits of all sessions are settings: `session-max-age`, `session-max-uses`, `session-max-error-score`';
const HINTS = {
  maxAgeSecs: LIMITS,
  maxUsageCount: LIMITS,
  maxErrorScore: LIMITS,
  cookieJar: 'pass `cookies`, an array of `Set-Cookie` lines or of objects',
};

/** Adds a session to the crawl's pool, and says its id, for `sessionId` of a request. An effect of the call. */
export function addSession(options = {}) {
  noOtherKeys(options, 'the options of `addSession`', ['id', 'userData', 'cookies'], HINTS);
  const addition = {
    id: optionalString(options.id, "the session's `id`"),
    userData: write("the session's user data", userDataOf(options.userData ?? {})),
    cookies: cookiesByUrl(options.cookies),
    extraJson: undefined,
  };
  return ask('addSession', () => raw.session.add(addition));
}

// An array is for the page's own URL, an object has arrays by URL.
function cookiesByUrl(cookies) {
  const what = '`cookies` of `addSession`';
  if (cookies === undefined || cookies === null) return [];
  if (Array.isArray(cookies)) return [{ url: undefined, setCookieLines: linesOf(cookies, what) }];
  if (typeof cookies !== 'object' || isThenable(cookies)) throw badArgument(`${what} must be an array, or an object of arrays by URL, not ${kind(cookies)}`);
  return Object.entries(cookies).map(([url, some]) => ({ url: string(url, 'a URL'), setCookieLines: linesOf(some, `${what}, for \`${url}\`,`) }));
}

/** The session of the call in hand; undefined where there is none. */
export function session() {
  if (current === undefined) {
    try {
      current = { session: new Session(ask('session', () => raw.session.id())) };
    } catch (error) {
      if (!(error instanceof HostError) || error.code !== 'no-session') throw error;
      current = { session: undefined };
    }
  }
  return current.session;
}

export function begin() {
  current = undefined;
}

export function save() {
  current?.session?.save();
}
