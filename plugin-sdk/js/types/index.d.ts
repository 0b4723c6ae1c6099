// Write Nephila plugins in JavaScript and TypeScript. README.md is the way in.
//
// No function here needs an `await`: the host answers at once. `await` is allowed everywhere, as in Crawlee.

/// <reference path="./raw.d.ts" />
/// <reference path="./globals.d.ts" />

import type * as rawConfig from 'nephila:crawler/config';
import type * as rawCrawl from 'nephila:crawler/crawl';
import type * as rawDataset from 'nephila:crawler/dataset';
import type * as rawEvents from 'nephila:crawler/events';
import type * as rawKeyValue from 'nephila:crawler/key-value';
import type * as rawLog from 'nephila:crawler/log';
import type * as rawQueue from 'nephila:crawler/queue';
import type * as rawSession from 'nephila:crawler/session';
import type * as rawState from 'nephila:crawler/state';
import type { Link } from 'nephila:crawler/page';
import type { PageMeta } from 'nephila:crawler/types';

export type { Link, PageMeta };
export type Enqueued = rawQueue.Enqueued;
export type LinkSummary = rawQueue.LinkSummary;
export type RequestStatus = rawQueue.RequestStatus;
export type RequestState = rawQueue.RequestState;
export type Cookie = rawSession.Cookie;

/** Data that can be written as JSON. */
export type Dictionary<T = any> = Record<string, T>;
type Awaitable<T> = T | PromiseLike<T>;

// --- the plugin ---

/** What a plugin is made of. */
export interface CrawlerOptions {
  /** Lower-case letters, digits and inner hyphens, at most 64. */
  name: string;
  /** For people. Default `0.0.0`. */
  version?: string;
  /** One sentence. */
  description?: string;
  /** Where a crawl starts when the operator names no URL. */
  startUrls?: string[];
  /** Defaults for settings of the host (docs/settings.md), which the operator may override. */
  settings?: Record<string, unknown>;
  /** Handles pages, by label. Either this or `handle`. */
  router?: Router;
  /** Handles pages. Its effects commit together with the request's mark; if it throws, none are kept. */
  handle?: RequestHandler;
  /** Hears of a request that is given up (Crawlee: `failedRequestHandler`). There may be no page. */
  failed?: (context: FailedContext, reason: FailureReason) => Awaitable<void>;
  /** Called once when the queue is empty. May read datasets, and may enqueue: then the crawl goes on. */
  finish?: (context: PlainContext) => Awaitable<void>;
  /** What the plugin's listener does, by event. One instance hears all events, one after another, and keeps its memory. */
  on?: Record<string, EventListener>;
  /** Makes the user data of a new session. There is no access to any crawl but its input and settings. */
  createSession?: (context: { log: Log }) => Awaitable<{ userData?: Dictionary } | void>;
  /**
   * The plugin's pipeline: called once per item on its way to its dataset, in the plugin's own crawls and in those that are started with it
   * (`nephila run OTHER --pipeline PLUGIN`). The item passes, with what was changed in it, or the one that is returned does; a thrown
   * `DropItemError` leaves it out, a `RejectItemError` fails the page that pushed it. Any other error fails the page as its handler's own would.
   */
  processItem?: (item: Dictionary, context: ItemContext) => Awaitable<object | void>;
}

/** What `defineCrawler` makes; the default export of a plugin's module. */
export interface Crawler {
  readonly description: unknown;
}

/** The code that understands a site: `export default defineCrawler({ name, router })`. */
export function defineCrawler(options: CrawlerOptions): Crawler;

export type RequestHandler<UserData extends Dictionary = Dictionary> = (context: CrawlingContext<UserData>) => Awaitable<void>;
export type EventListener = (event: Event, context: PlainContext) => Awaitable<void>;

/** Handlers by label. Is itself a handler. */
export interface Router {
  (context: CrawlingContext): Awaitable<void>;
  /** Handles requests with this label. */
  addHandler<UserData extends Dictionary = Dictionary>(label: string, handler: RequestHandler<UserData>): Router;
  /** Handles requests without a label. One with a label that no handler is for fails with the code `unknown-label`. */
  addDefaultHandler<UserData extends Dictionary = Dictionary>(handler: RequestHandler<UserData>): Router;
  /** Runs before every handler. */
  use(middleware: (context: CrawlingContext) => Awaitable<void>): Router;
  /** The handler of a label. */
  getHandler(label?: string): RequestHandler;
}

export function createRouter(): Router;

// --- what a handler is called with ---

/** What is there in every handler. */
export interface PlainContext {
  crawler: CrawlerControls;
  log: Log;
  pushData: typeof pushData;
  addRequests: typeof addRequests;
  useState: typeof useState;
  state: State;
  getKeyValueStore: typeof getKeyValueStore;
}

interface RequestContext<UserData extends Dictionary = Dictionary> extends PlainContext {
  /** The request being handled. */
  request: Request<UserData>;
  /** The session that fetched the page; undefined where the crawl uses none. */
  session: Session | undefined;
  /** The request's unique key. */
  id: string;
  enqueueLinks: typeof enqueueLinks;
}

/** What a handler is called with. Each part is made when it is asked for. */
export interface CrawlingContext<UserData extends Dictionary = Dictionary> extends RequestContext<UserData> {
  /** The page that was fetched. */
  page: Page;
  response: { url: string; statusCode: number; headers: Record<string, string> };
  contentType: { type: string | null; encoding: string | null };
  /** The body as text. A copy of it enters the plugin's memory. */
  body: string;
  /** The body as JSON. */
  json: any;
}

/** What `failed` is called with. */
export interface FailedContext<UserData extends Dictionary = Dictionary> extends RequestContext<UserData> {
  /** The page, if one was fetched. */
  page: Page | undefined;
  response: { url: string; statusCode: number; headers: Record<string, string> } | undefined;
}

/**
 * What `processItem` is called with. A pipeline decides about the item that it was given, and keeps state: what else has an effect is
 * refused with the code `not-in-pipeline`.
 */
export interface ItemContext {
  /** The dataset that the item was pushed to; undefined for the crawl's own. */
  dataset: string | undefined;
  /** The URL of the page in hand, or of the request that was given up; undefined for what `finish` or a listener pushed. */
  url: string | undefined;
  crawler: Pick<CrawlerControls, 'stop' | 'setStatusMessage' | 'lookupRequests' | 'useState' | 'getKeyValueStore' | 'getDataset'>;
  log: Log;
  useState: typeof useState;
  state: State;
  getKeyValueStore: typeof getKeyValueStore;
}

/** Why a request failed for good. */
export interface FailureReason extends Error {
  /** A stable word, for example `status`, `connect`, `timeout`, `trap`, or the handler's own. */
  code: string;
  /** Attempts made, at least 1. */
  attempts: number;
  /** The HTTP status that it ended with, if it got one. */
  status: number | undefined;
}

/** The crawl as a whole. */
export interface CrawlerControls {
  /** Ends the crawl once the pages in hand are done; what is pending stays. Takes effect with the call's commit. */
  stop(reason?: string): void;
  /** Sets the status message that people see. Takes effect with the call's commit. */
  setStatusMessage(message: string): void;
  addRequests: typeof addRequests;
  addSession: typeof addSession;
  lookupRequests: typeof lookupRequests;
  pushData: typeof pushData;
  useState: typeof useState;
  getKeyValueStore: typeof getKeyValueStore;
  getDataset<T extends Dictionary = Dictionary>(name?: string): Dataset<T>;
}

/** The same as in the context. */
export const crawler: CrawlerControls;

// --- the page ---

/** What to take from the elements that a selector matches. Made by `text`, `attr`, `url` and their like. */
export class Field<T> {
  private constructor();
  /** The same field, but a page where nothing is found for it fails with the code `bad-row`. */
  required(): Field<NonNullable<T>>;
  /** The same field with a function over each value that is found. */
  map<R>(change: (value: T extends (infer One)[] ? One : NonNullable<T>) => R): Field<T extends unknown[] ? R[] : null extends T ? R | null : R>;
  /** For the compiler only. */
  private readonly value: T;
}

/** The text of the first match and all below it, white space collapsed and trimmed. */
export function text(selector: string): Field<string | null>;
/** The texts of all matches. */
export function texts(selector: string): Field<string[]>;
/** The first number in the text of the first match: `£1,051.77` gives 1051.77. */
export function number(selector: string): Field<number | null>;
/** The markup inside the first match. */
export function html(selector: string): Field<string | null>;
/** The markup inside each match. */
export function htmls(selector: string): Field<string[]>;
/** The value of an attribute, of the first match that has it. */
export function attr(selector: string, name: string): Field<string | null>;
/** The values of an attribute, of all matches that have it. */
export function attrs(selector: string, name: string): Field<string[]>;
/** The value of an attribute (by default `href`) as an absolute URL, of the first match that has a valid one. */
export function url(selector: string, name?: string): Field<string | null>;
/** The values of an attribute (by default `href`) as absolute URLs, of all matches that have a valid one. */
export function urls(selector: string, name?: string): Field<string[]>;

/** What to take, by name: a selector is short for `text(selector)`, `[selector]` for `texts(selector)`. */
export type Fields = Record<string, string | [string] | Field<any>>;

/** What was found for some fields. */
export type Row<F extends Fields> = {
  [Name in keyof F]: F[Name] extends Field<infer T> ? T : F[Name] extends string ? string | null : string[];
};

/** The page in hand. The host keeps and parses it; a handler asks for many things in one call. */
export interface Page {
  /** Status, headers, charset, redirects and timings. */
  readonly meta: PageMeta;
  /** The URL that answered, without a fragment. */
  readonly url: string;
  /** The HTTP status. */
  readonly status: number;
  /** The header fields of the response by lower-case name. */
  readonly headers: Record<string, string>;
  /** The media type in lower case without parameters. */
  readonly contentType: string | null;
  /** The text of `<title>`. */
  title(): string | null;
  /**
   * Takes many fields from the page in one call:
   * `page.extract({ title: 'h1', price: number('.price'), image: url('img', 'src') })`. An empty selector is the root element.
   */
  extract<const F extends Fields>(fields: F): Row<F>;
  /** Takes rows: for each element that `item` matches, the fields within it. An empty selector is the item itself. */
  extractEach<const F extends Fields>(item: string, fields: F): Row<F>[];
  /** One field: `page.get(url('link[rel=canonical]'))`. */
  get<T>(field: Field<T>): T;
  get(selector: string): string | null;
  /** The text of the first match. */
  text(selector: string): string | null;
  /** The texts of all matches. */
  texts(selector: string): string[];
  /** The markup inside the first match. */
  html(selector: string): string | null;
  /** The value of an attribute, of the first match that has it. */
  attr(selector: string, name: string): string | null;
  /** The links of the page, as absolute URLs: all of them, or those of the elements that a selector matches. */
  links(selector?: string): Link[];
  /** The body as text, decoded by its charset. A copy of it enters the plugin's memory. */
  content(): string;
  /** The body as JSON. */
  json<T = any>(): T;
  /** The decompressed body. A copy of it enters the plugin's memory. */
  body(): Uint8Array;
}

// --- requests ---

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS' | 'PATCH';

/** The request being handled. */
export interface Request<UserData extends Dictionary = Dictionary> {
  /** The URL that was asked for; after a redirect to another site, the one it was moved to. */
  readonly url: string;
  /** The URL that was enqueued, before any redirect. */
  readonly originalUrl: string;
  /** The URL that answered. */
  readonly loadedUrl: string | undefined;
  readonly label: string | undefined;
  readonly method: Method;
  /** Extra header fields that were asked for, by lower-case name. */
  readonly headers: Record<string, string>;
  readonly payload: string | undefined;
  /** The data that was enqueued with the request; an empty object if there was none. */
  readonly userData: UserData;
  readonly priority: number;
  /** Links between a start URL (0) and this request. */
  readonly crawlDepth: number;
  /** Its identity: 32 hexadecimal digits. */
  readonly uniqueKey: string;
  readonly id: string;
  readonly sessionId: string | undefined;
  /** Retries so far; 0 on the first attempt. */
  readonly retryCount: number;
  readonly maxRetries: number;
  readonly noRetry: boolean;
  readonly timeoutMillis: number;
  /** Redirects followed so far. */
  readonly hopCount: number;
}

/** A request to be made. */
export interface RequestOptions<UserData = unknown> {
  /** An absolute URL, or a reference that is resolved against the page in hand. */
  url: string;
  /** Default `GET`. */
  method?: Method | Lowercase<Method>;
  /** Extra header fields; they win over the host's own. */
  headers?: Record<string, string>;
  /** The request body. With URL and method it makes the request's identity. */
  payload?: string | Uint8Array;
  /** What the router dispatches on. */
  label?: string;
  /** Data that comes back with the request. */
  userData?: UserData;
  /** Higher goes first. Default 0. */
  priority?: number;
  /** Before every other request of the same site and priority; last in, first out. */
  forefront?: boolean;
  /** The request's identity, instead of the one that URL, method and payload give. Not together with `alwaysEnqueue`. */
  uniqueKey?: string;
  /** The session that must serve the request. */
  sessionId?: string;
  /** What fetches the page. `browser` is refused by hosts that have none. */
  renderer?: 'http' | 'browser';
  /** Statuses that reach the handler: `404`, `[404, 410]`, `[[400, 499]]`. Default: 200 to 299. */
  acceptedStatuses?: number | (number | [number, number])[];
  /** Retries at most, instead of the crawl's setting. */
  maxRetries?: number;
  /** Fail at the first error. */
  noRetry?: boolean;
  /** Accept the request even if its URL was seen. */
  alwaysEnqueue?: boolean;
  /** Milliseconds for the whole fetch, instead of the crawl's setting. */
  timeoutMillis?: number;
}

/** Enqueues requests. One answer each, in order; what is refused says why (docs/plugin-errors.md). */
export function addRequests(requests: string | RequestOptions | Iterable<string | RequestOptions>, options?: { forefront?: boolean }): Enqueued[];

export const EnqueueStrategy: {
  readonly All: 'all';
  readonly SameDomain: 'same-domain';
  readonly SameHostname: 'same-hostname';
  readonly SameOrigin: 'same-origin';
};
export type EnqueueStrategy = (typeof EnqueueStrategy)[keyof typeof EnqueueStrategy];

/** Which links of a page are followed, and how. */
export interface EnqueueLinksOptions {
  /** Only the `href`, or else `src`, of elements that this matches. Default: `a[href]` and `area[href]`. */
  selector?: string;
  /** Which hosts are followed. Default `same-hostname`. */
  strategy?: EnqueueStrategy;
  /** If any globs or regular expressions are given, a URL must match one of them. */
  globs?: (string | { glob: string } | RegExp)[];
  /** Without look-around and back-references, which the host's regular expressions do not have. */
  regexps?: (RegExp | { regexp: RegExp })[];
  /** A URL that matches one of these is refused, whatever else matches. */
  exclude?: (string | RegExp | { glob: string } | { regexp: RegExp })[];
  label?: string;
  userData?: unknown;
  /** Higher goes first. Default 0. */
  priority?: number;
  forefront?: boolean;
  /** New requests at most; links that were known already do not count. */
  limit?: number;
}

/** Enqueues links of the page in hand. */
export function enqueueLinks(options?: EnqueueLinksOptions): LinkSummary;

/** What the queue knows of these URLs: one answer each, in order, null for one never accepted. Outside `finish` a look, not a promise. */
export function lookupRequests(urls: string[]): (RequestStatus | null)[];

// --- results ---

/** Appends an item, or an array of items, to the crawl's own dataset or to a named one. */
export function pushData(data: object | object[], datasetName?: string): void;

/** A dataset: append-only, and kept when the call's effects commit. */
export class Dataset<T extends Dictionary = Dictionary> implements Iterable<T> {
  private constructor();
  /** A dataset by name, which the crawls of one store share, or the crawl's own. */
  static open<T extends Dictionary = Dictionary>(name?: string): Dataset<T>;
  static pushData(data: object | object[]): void;
  static getData<T extends Dictionary = Dictionary>(options?: { limit?: number; cursor?: string }): { items: T[]; next: string | undefined };
  /** Appends an item, or an array of items. */
  pushData(data: object | object[]): void;
  /** Committed items, oldest first: at most `limit` (and at most 1,000) from `cursor` on. `next` is the cursor to go on with. */
  getData(options?: { limit?: number; cursor?: string }): { items: T[]; next: string | undefined };
  /** All committed items, oldest first, fetched in slices. */
  [Symbol.iterator](): Iterator<T>;
  forEach(visit: (item: T, index: number) => void): void;
  map<R>(change: (item: T, index: number) => R): R[];
  reduce<R>(step: (memo: R, item: T, index: number) => R, initial: R): R;
}

/** A key-value store: small files by name. A call sees its own writes. */
export class KeyValueStore {
  private constructor();
  /** A store by name, which the crawls of one store share, or the crawl's own. */
  static open(name?: string): KeyValueStore;
  static getValue<T = unknown>(key: string): T | null;
  static getValue<T = unknown>(key: string, defaultValue: T): T;
  static setValue(key: string, value: unknown, options?: { contentType?: string }): void;
  static getAutoSavedValue<T extends object = Dictionary>(key: string, defaultValue?: T): T;
  static setAutoSavedValue(key: string, value: unknown): void;
  /** The plugin's input. */
  static getInput<T = any>(): T | null;
  /** A value: parsed if it is JSON, a string if it is text, else bytes. Without one `defaultValue`, or null. */
  getValue<T = unknown>(key: string): T | null;
  getValue<T = unknown>(key: string, defaultValue: T): T;
  /** Whether there is a value. */
  recordExists(key: string): boolean;
  /** Writes a value: an object as JSON, a string as text, bytes as they are. `null` removes it. */
  setValue(key: string, value: unknown, options?: { contentType?: string }): void;
  /**
   * An object that all handlers share. What is changed in it is written when the handler ends, and shown as a record of the store, under
   * the same key, at each `persistState` and at the end. It begins with the record that is there, or with `defaultValue` (else `{}`). It is
   * as safe as the state: if another handler was quicker, the host runs this one again on the same page.
   */
  getAutoSavedValue<T extends object = Dictionary>(key: string, defaultValue?: T): T;
  /**
   * Replaces an auto-saved value, whatever it is: that never conflicts. Changes to an object that `getAutoSavedValue` gave before are not
   * written any more.
   */
  setAutoSavedValue(key: string, value: unknown): void;
}

/** A store by name, or the crawl's own. */
export function getKeyValueStore(name?: string): KeyValueStore;

// --- what all handlers share ---

/**
 * The state as an object; what is changed in it is written when the handler ends. Of a key that the state does not have,
 * `defaultValue` says the value. Each key is read when it is asked for: two handlers conflict only over a key that one has read
 * and another one changed meanwhile, and then the host runs the first again on the same page.
 */
export function useState<T extends object = Dictionary>(defaultValue?: T): T;

/** Single operations on the state. */
export interface State {
  get<T = any>(key: string): T | undefined;
  /** Without a read before it never conflicts. */
  set(key: string, value: unknown): void;
  /** Reads a value, changes it, and writes it: atomic. */
  update<T = any>(key: string, change: (value: T | undefined) => T): void;
  /** The keys that have a value, in order. */
  keys(): string[];
  remove(key: string): void;
  /** Adds to a whole number; an absent key counts as 0. Never conflicts. */
  increment(key: string, by?: number): void;
  /** Appends a value to a list; an absent key counts as an empty one. Never conflicts. */
  append(key: string, value: unknown): void;
  /** Keeps the greater of what is there and `value`. Never conflicts. */
  max(key: string, value: number): void;
}
export const state: State;

// --- events ---

/** Something that happened: the host's own (`persistState`, `systemInfo`, `crawlerStatus` …), or what plugins emit. */
export interface Event<Payload = any> {
  /** What tells it from all others of the crawl. */
  readonly id: string;
  readonly name: string;
  readonly payload: Payload;
  /** RFC 3339, UTC, with milliseconds. */
  readonly createdAt: string;
}

export const events: {
  /** Hears an event from now on. Only within a listener, and for that instance. */
  on(name: string, listen?: EventListener): void;
  /** Hears an event no more. Only within a listener. */
  off(name: string): void;
  /** Emits an event: an effect, delivered after the call's commit. */
  emit(name: string, payload?: unknown): void;
};

// --- sessions ---

/** A cookie to set. */
export interface CookieToSet {
  name: string;
  value: string;
  domain?: string;
  path?: string;
  /** Seconds since 1970, or a date. */
  expires?: number | string | Date;
  secure?: boolean;
  httpOnly?: boolean;
  sameSite?: 'Strict' | 'Lax' | 'None';
}

/** The session that fetched the page. What a call asks of it holds also if the handler fails. */
export class Session {
  private constructor();
  readonly id: string;
  /** What it keeps with it; what is changed in the object is saved when the handler ends. */
  userData: Dictionary;
  markGood(): void;
  markBad(): void;
  /** It is not to be used again. */
  retire(): void;
  /** The cookies that it sends with a request for a URL, by default the page's own. */
  getCookies(url?: string): Cookie[];
  getCookieString(url?: string): string;
  /** Sets cookies as if a URL (by default the page's own) had answered with them; what it may not set is passed over. */
  setCookies(cookies: (CookieToSet | string)[], url?: string): void;
}

/** A session to add. */
export interface SessionOptions {
  /** 1 to 128 bytes without control characters; one is made up unless it is given. */
  id?: string;
  /** What it keeps with it, at most 64 KiB as JSON. */
  userData?: Dictionary;
  /** Cookies as if the page's URL had set them, or by URL: `{ 'https://a/': ['token=1'] }`. Where there is no page, only the latter. */
  cookies?: (CookieToSet | string)[] | Record<string, (CookieToSet | string)[]>;
}

/**
 * Adds a session to the crawl's pool, for example one that a login page has given its cookies, and says its id, for `sessionId` of a request.
 * An effect of the call: the session is there when the call is committed, and not if it fails. It needs no session of its own.
 *
 * The code `no-session-pool` where the crawl uses none; `session-exists` if the pool has, or had, one of that id. A call may add 100.
 */
export function addSession(options?: SessionOptions): string;

// --- the run ---

/** The plugin's input (`--input`); null if there is none. */
export function getInput<T = any>(): T | null;
/** The value of a setting of the host; undefined if there is no such setting. */
export function getSetting<T = any>(name: string): T | undefined;

export class Configuration {
  static getGlobalConfig(): Configuration;
  get<T = any>(name: string, defaultValue?: T): T;
}

/** Log lines. The host adds the plugin's name, the request and the page. */
export interface Log {
  trace(message: unknown, data?: unknown): void;
  debug(message: unknown, data?: unknown): void;
  info(message: unknown, data?: unknown): void;
  warning(message: unknown, data?: unknown): void;
  warn(message: unknown, data?: unknown): void;
  error(message: unknown, data?: unknown): void;
  /** An error with its stack, in the positions of the source. */
  exception(error: unknown, message?: string, data?: unknown): void;
}
export const log: Log;

// --- giving up ---

interface ErrorOptionsWithCode {
  /** A stable word that statistics group by. */
  code?: string;
  cause?: unknown;
}

/** An error with a code, and a say in how the request ends. Without an ending the host decides by the code (`fatal`, for one of the plugin's own). */
export class CrawlerError extends Error {
  constructor(message: string, options?: ErrorOptionsWithCode & { ending?: 'retry' | 'skip' | 'fatal' });
  code: string;
  ending: 'retry' | 'skip' | 'fatal' | undefined;
}
/** Try the request again later, within its maximum of retries. */
export class RetryRequestError extends CrawlerError {
  constructor(message?: string, options?: ErrorOptionsWithCode);
}
/** Fail the request at once. */
export class NonRetryableError extends CrawlerError {
  constructor(message: string, options?: ErrorOptionsWithCode);
}
/** Set the request aside as skipped; nothing went wrong. */
export class SkipError extends CrawlerError {
  constructor(message?: string, options?: ErrorOptionsWithCode);
}
/** Retire the session that fetched the page, and try again with another. */
export class SessionError extends CrawlerError {
  constructor(message?: string, options?: ErrorOptionsWithCode);
}
/** Thrown in `processItem`: the item is left out, and counted under this reason: a word or two, at most 64 bytes, since statistics group by it. */
export class DropItemError extends CrawlerError {
  constructor(reason?: string);
}
/** Thrown in `processItem`: the page that pushed the item fails for good, with the code `item-rejected` and this sentence. */
export class RejectItemError extends CrawlerError {
  constructor(reason: string);
}
/** What the host answered with instead of a result; `code` is one of docs/plugin-errors.md. */
export class HostError extends CrawlerError {}

// --- small tools for the text of pages ---

/** The first number in a text: `£51.77` gives 51.77; null if there is none. */
export function firstNumber(text: string): number | null;
/** The part of a text between two others, trimmed; null if it is not there. */
export function between(text: string, before: string, after: string): string | null;
/** A URL without its query and fragment. */
export function withoutQuery(url: string): string;

/** The generated bindings, for what the SDK has no words for (yet). Every argument must be passed, `undefined` too. */
export const raw: {
  config: typeof rawConfig;
  crawl: typeof rawCrawl;
  dataset: typeof rawDataset;
  events: typeof rawEvents;
  keyValue: typeof rawKeyValue;
  log: typeof rawLog;
  queue: typeof rawQueue;
  session: typeof rawSession;
  state: typeof rawState;
};
