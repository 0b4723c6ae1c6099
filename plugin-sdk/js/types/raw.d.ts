// Made from the WIT by `npm run types`; changes belong there.
//
// The interfaces of the contract as the runtime has them, for what the SDK has no words for (yet). A function whose WIT says
// `result` returns the value, or throws an object with the error as `payload`. Every argument must be passed, `undefined` too.

/** Handles fetched pages. */
declare module 'nephila:crawler/handler' {
  import type { Error } from 'nephila:crawler/types';
  export type { Error };

  import type { Call } from 'nephila:crawler/context';
  export type { Call };

  /** Called once per page, in a sandbox of its own. Its effects commit together with the request's mark. */
  export type Handle = (call: Call) => void;
}

declare module 'nephila:crawler/handler@0.1.0' {
  export * from 'nephila:crawler/handler';
}

/** Says what the plugin is. Called once when it is loaded, without access to any crawl. */
declare module 'nephila:crawler/manifest' {
  /** A default for a setting that the operator may override. */
  export interface Setting {
    /** A name of docs/settings.md. */
    name: string;
    /** Its value as JSON. */
    value: string;
  }

  /** What a plugin says of itself. */
  export interface Description {
    /** Its name: lower-case letters, digits and inner hyphens, at most 64. */
    name: string;
    /** Its version, for people. */
    version: string;
    /** One sentence. */
    description: string;
    /** Where a crawl starts when the operator names no URL. */
    startUrls: string[];
    /** Defaults for settings. */
    settings: Setting[];
    /** JSON object for fields of later versions. */
    extraJson: string | null | undefined;
  }

  /** Describes the plugin. */
  export type Describe = () => Description;
}

declare module 'nephila:crawler/manifest@0.1.0' {
  export * from 'nephila:crawler/manifest';
}

/** Hears of requests that are given up. */
declare module 'nephila:crawler/failure' {
  import type { Error } from 'nephila:crawler/types';
  export type { Error };

  import type { Call } from 'nephila:crawler/context';
  export type { Call };

  /** Why a request failed for good. */
  export interface Reason {
    /** A stable word, for example `status`, `connect`, `timeout`, `trap`, or the handler's own code. */
    code: string;
    /** A sentence for people. */
    message: string;
    /** Attempts made, at least 1. */
    attempts: number;
    /** The HTTP status that it ended with, if it got one. */
    status: number | null | undefined;
  }

  /**
   * Called when a request's retries are over (Crawlee: `failedRequestHandler`). Its effects commit with the failure;
   * an error from it is logged and changes nothing.
   */
  export type OnFailure = (call: Call, reason: Reason) => void;
}

declare module 'nephila:crawler/failure@0.1.0' {
  export * from 'nephila:crawler/failure';
}

/** Is called when nothing is left to do. */
declare module 'nephila:crawler/finish' {
  import type { Error } from 'nephila:crawler/types';
  export type { Error };

  /**
   * Called once in the life of a crawl, when its queue is empty: not where a limit or a signal ends a start while requests are
   * pending. May read datasets, and may enqueue: then the crawl goes on.
   */
  export type OnFinish = () => void;
}

declare module 'nephila:crawler/finish@0.1.0' {
  export * from 'nephila:crawler/finish';
}

/**
 * Hears of events: the host's own (`persistState`, `systemInfo`, `crawlerStatus` …) and those that plugins emit.
 *
 * A plugin hears the events of its own crawls, and of those that are started with it (`--listener`). Where several listen to one
 * crawl, they hear an event one after another, and all that they ask for is committed together.
 *
 * One instance hears all of a crawl's events, one after another, and keeps its memory between them; what must outlive it
 * belongs in `state`. It is thrown away after a trap, a limit or a time-out, and before an event is heard once more because
 * state that the call had read changed meanwhile; a fresh one is asked for its subscriptions again. A slow listener delays
 * no page, but for one whose call is in conflict over the state: like a handler's it runs alone at its second time, and handlers that
 * write state wait for it. What it enqueues or emits on the last events of a crawl is left out.
 * When no page is left, it hears no more `systemInfo`, `crawlerStatus` and `persistState` but the last one: a listener that needs
 * longer for one of them than until the next would keep its crawl from ending.
 * An event that a plugin emitted and that kills the host whenever it is heard is given up after a few times.
 */
declare module 'nephila:crawler/listener' {
  import type { Error } from 'nephila:crawler/types';
  export type { Error };

  /** Something that happened. */
  export interface Event {
    /**
     * What tells it from all others of the crawl. An event that is heard once more, after a crash or a conflict, has the
     * same one.
     */
    id: string;
    /** Its name. */
    name: string;
    /** What is said about it, as JSON. */
    payload: string;
    /** When it was emitted: RFC 3339, UTC, with milliseconds. Text, like the times in the host's own payloads. */
    createdAt: string;
    /** JSON object for fields of later versions. */
    extraJson: string | null | undefined;
  }

  /**
   * The names of the events that it wants to hear, at most 1,000. Called once per instance, before all else, without access
   * to any crawl but its `config`. `events.on` and `events.off` change them later.
   */
  export type Subscriptions = () => string[];

  /**
   * Called once per event. There is no page and no session. Its effects commit like a handler's; an error from it is logged,
   * its effects are dropped, and the instance lives on.
   */
  export type OnEvent = (event: Event) => void;
}

declare module 'nephila:crawler/listener@0.1.0' {
  export * from 'nephila:crawler/listener';
}

/** Makes sessions (Crawlee: `create_session_function`). */
declare module 'nephila:crawler/sessions' {
  import type { Error } from 'nephila:crawler/types';
  export type { Error };

  /** What a new session is to be. */
  export interface NewSession {
    /** What it keeps with it: a JSON object (Crawlee: `user_data`). */
    userData: string;
    /** JSON object for fields of later versions. */
    extraJson: string | null | undefined;
  }

  /** Called when the session pool wants another session, without access to any crawl but its `config`. */
  export type Create = () => NewSession;
}

declare module 'nephila:crawler/sessions@0.1.0' {
  export * from 'nephila:crawler/sessions';
}

/**
 * Looks at each item on its way to its dataset: those of the plugin's own crawl, and those of every crawl that is started with it
 * (`--pipeline`).
 *
 * It is called after the call that pushed the items has ended well, whatever that was (`handler`, `failure`, `finish`, `listener`), and
 * before anything of it is committed. The items of one call pass through the first pipeline one after another, in the order in which they
 * were pushed, then through the next. One instance sees the items of one call, within the limits of one call.
 *
 * It may read all that a handler may, but for the page and the session; it keeps `state`, which it sees as the calls before it
 * left it, and writes to the `log`. Whatever else has an effect (items, requests, values, events) is refused with the code `not-in-pipeline`, but for
 * `crawl.stop` and `crawl.status-message`. If it fails, the call that pushed the items fails with its error, and if what it saw of the
 * state has changed, that call is run again.
 */
declare module 'nephila:crawler/pipeline' {
  import type { Error } from 'nephila:crawler/types';
  export type { Error };

  /** An item on its way. */
  export interface Item {
    /** The dataset that it was pushed to; none for the crawl's own. */
    dataset: string | null | undefined;
    /** The item: a JSON object in one line. */
    json: string;
    /** The URL of the page in hand, or of the request that was given up; none for what `finish` or a `listener` pushed. */
    url: string | null | undefined;
    /** JSON object for fields of later versions. */
    extraJson: string | null | undefined;
  }

  /** What becomes of an item. */
  export type Verdict =
    /** It passes as it is. */
    | { tag: 'keep' }
    /** It passes as this JSON object. */
    | { tag: 'change'; val: string }
    /** It is left out and counted under this reason: a word or two, at most 64 bytes, since statistics group by it. */
    | { tag: 'drop'; val: string }
    /** The call that pushed it fails for good, with the code `item-rejected` and this sentence; nothing of it is kept. */
    | { tag: 'reject'; val: string };

  /** Called once per item (Scrapy: `process_item`). */
  export type ProcessItem = (item: Item) => Verdict;
}

declare module 'nephila:crawler/pipeline@0.1.0' {
  export * from 'nephila:crawler/pipeline';
}

/** The page in hand. The host keeps and parses it; a plugin asks for many things in one call. */
declare module 'nephila:crawler/page' {
  import type { PageMeta, Error } from 'nephila:crawler/types';
  export type { PageMeta, Error };

  /** What a field takes from the elements that its selector matches. */
  export type FieldKind =
    /** The text of the element and all below it, white space collapsed and trimmed. */
    | { tag: 'text' }
    /** The markup inside the element. */
    | { tag: 'html' }
    /** The value of an attribute; elements without it are passed over. */
    | { tag: 'attr'; val: string }
    /** The value of an attribute as a URL, resolved against the page; elements without a valid one are passed over. */
    | { tag: 'url'; val: string };

  /** One thing to extract. */
  export interface Field {
    /** The name that it comes back under. */
    name: string;
    /** A CSS selector. Empty means the item itself in `extract-each`, and the root element in `extract`. */
    selector: string;
    /** What to take. */
    kind: FieldKind;
    /** All matches in document order, or only the first. */
    many: boolean;
  }

  /** What was found for a field. */
  export interface FieldValue {
    /** The field's name. */
    name: string;
    /** The values found, in document order; empty if nothing matched. */
    values: string[];
  }

  /** A link of the page. */
  export interface Link {
    /** The absolute URL with its fragment, resolved against the page and `<base href>`. */
    url: string;
    /** The attribute as the page has it, entities decoded. */
    href: string;
    /** The `rel` attribute, in lower case; empty if there is none. */
    rel: string;
  }

  /** A fetched page. */
  export class Document {
    private constructor();
    /** Status, headers, charset, redirects and timings. */
    meta(): PageMeta;
    /** The decoded (decompressed) body. The escape hatch: a copy of it enters the plugin's memory. */
    body(): Uint8Array;
    /** The body as text, decoded by its charset; malformed bytes become U+FFFD. */
    text(): string;
    /** The text of `<title>`, white space collapsed; none if there is none. Needs no tree. */
    title(): string | null | undefined;
    /** Takes many fields from the page in one call. */
    extract(fields: Field[]): FieldValue[];
    /** Takes rows: for each element that `item` matches, the fields within it. */
    extractEach(item: string, fields: Field[]): FieldValue[][];
    /**
     * The links of the page. Without a selector those of `a[href]` and `area[href]`, in one streaming pass without a
     * tree; with one, the `href` or else `src` of each element that it matches. References that are not
     * `http` or `https` URLs are left out.
     */
    links(selector: string | null | undefined): Link[];
  }
}

declare module 'nephila:crawler/page@0.1.0' {
  export * from 'nephila:crawler/page';
}

/** What a handler is called with. */
declare module 'nephila:crawler/context' {
  import type { Request, Error } from 'nephila:crawler/types';
  export type { Request, Error };

  import type { Document } from 'nephila:crawler/page';
  export type { Document };

  /** One call's view of the world. It is worth nothing after the call. */
  export class Call {
    private constructor();
    /** The request being handled. */
    request(): Request;
    /** The page that was fetched for it. The code `no-page` where there is none (in `failure`, when no page came). */
    document(): Document;
  }
}

declare module 'nephila:crawler/context@0.1.0' {
  export * from 'nephila:crawler/context';
}

/** The request queue. What is enqueued is accepted when the call's effects commit. */
declare module 'nephila:crawler/queue' {
  import type { NewRequest, Error } from 'nephila:crawler/types';
  export type { NewRequest, Error };

  /** What became of one enqueued request, as far as it can be told before the commit. */
  export interface Enqueued {
    /** Its unique key: 32 hexadecimal digits. Empty if it was refused. */
    uniqueKey: string;
    /** Whether the queue, or this call, knew it already. Advisory: a handler beside this one may be quicker. */
    alreadyKnown: boolean;
    /** Why it was refused, as a stable word (`depth`, `scope`, `scheme`, `limit` …); none if it was not. */
    refused: string | null | undefined;
  }

  /** Which links of a page are followed (Crawlee: `EnqueueStrategy`). */
  export type Strategy = 'all' | 'same-domain' | 'same-hostname' | 'same-origin';

  /** Which links to enqueue, and how. */
  export interface LinkOptions {
    /** As in `document.links`. */
    selector: string | null | undefined;
    /** Which hosts are followed. */
    strategy: Strategy;
    /** If any are given, a URL must match one of these globs (`*`, `**`, `?`, `[…]`, `{a,b}`) or of the regexes. */
    globs: string[];
    /** If any are given, a URL must match one of these regular expressions or of the globs. */
    regexes: string[];
    /** A URL that matches one of these globs is refused, whatever else matches. */
    excludeGlobs: string[];
    /** A URL that matches one of these regular expressions is refused, whatever else matches. */
    excludeRegexes: string[];
    /** The label of the new requests. */
    label: string | null | undefined;
    /** JSON that comes with each of them. */
    userData: string | null | undefined;
    /** Their priority. */
    priority: number;
    /** Whether they go before the others of their priority. */
    forefront: boolean;
    /** New requests at most; links that were known already do not count. */
    limit: number | null | undefined;
    /** JSON object for fields of later versions; unknown keys are ignored. */
    extraJson: string | null | undefined;
  }

  /** What `enqueue-links` did. */
  export interface LinkSummary {
    /** Links that the page has, each URL once. */
    found: number;
    /** Of these, accepted and not known before. */
    enqueued: number;
    /** Of these, known already. */
    alreadyKnown: number;
    /** Of these, refused by strategy, patterns, depth or limit. */
    refused: number;
  }

  /** Where a request stands. */
  export type RequestState = 'pending' | 'handled' | 'failed' | 'skipped';

  /** What the queue knows of a URL. */
  export interface RequestStatus {
    /** Where the request stands. */
    state: RequestState;
    /** The URL that answered, once one has; none before. */
    finalUrl: string | null | undefined;
    /** Why it failed or was skipped, as a stable word. */
    reason: string | null | undefined;
    /** The last HTTP status that it got. */
    status: number | null | undefined;
  }

  /** Enqueues requests; one answer each, in order. */
  export function enqueue(requests: NewRequest[]): Enqueued[];

  /** Enqueues links of the page in hand (Crawlee: `enqueueLinks`). The code `no-page` where there is none. */
  export function enqueueLinks(options: LinkOptions): LinkSummary;

  /**
   * Looks URLs up (as GET requests without an explicit key); one answer each, in order, none for one never accepted.
   * A look, not a promise: outside `finish` the answer may be old by the time it is read.
   */
  export function lookup(urls: string[]): (RequestStatus | null | undefined)[];
}

declare module 'nephila:crawler/queue@0.1.0' {
  export * from 'nephila:crawler/queue';
}

/** Datasets: append-only lists of items. */
declare module 'nephila:crawler/dataset' {
  import type { Error } from 'nephila:crawler/types';
  export type { Error };

  /** A part of a dataset. */
  export interface Slice {
    /** The items, oldest first, as JSON. */
    items: string[];
    /** Where to go on; none at the end. */
    next: string | null | undefined;
  }

  /** Appends items, each a JSON object, to the named dataset, or to the crawl's default one. */
  export function push(dataset: string | null | undefined, items: string[]): void;

  /** Reads committed items from `cursor` (none: the beginning), at most `limit` (and at most 1,000). */
  export function read(dataset: string | null | undefined, cursor: string | null | undefined, limit: number): Slice;
}

declare module 'nephila:crawler/dataset@0.1.0' {
  export * from 'nephila:crawler/dataset';
}

/** Key-value stores: small files by name. */
declare module 'nephila:crawler/key-value' {
  import type { Error } from 'nephila:crawler/types';
  export type { Error };

  /** A value with its media type. */
  export interface Entry {
    /** For example `application/json`. */
    contentType: string;
    /** The bytes. */
    value: Uint8Array;
  }

  /** Reads a value from the named store, or from the crawl's default one. Sees the call's own writes. */
  export function get(store: string | null | undefined, key: string): Entry | null | undefined;

  /** Writes a value. */
  export function set(store: string | null | undefined, key: string, entry: Entry): void;

  /** Removes a value; removing what is not there is no error. */
  export function remove(store: string | null | undefined, key: string): void;

  /**
   * Reads an auto-saved value (Crawlee: `get_auto_saved_value`): JSON that all handlers of the crawler id share and change as they do
   * `state`, and that the host shows as a record of the store, under the same key, at each `persistState` and at the end. Until somebody has
   * set it, it is the record that the store has under the key (the code `bad-json` if that is not JSON); none if there is none. Sees the
   * call's own writes. A read like one of `state`: if the value has changed by the commit, the host runs the handler again.
   */
  export function getAutoSaved(store: string | null | undefined, key: string): string | null | undefined;

  /**
   * Writes an auto-saved value (JSON, at most `max-state-value` bytes): an effect of the call. What `set` puts under the same key is
   * replaced when the value is shown next.
   */
  export function setAutoSaved(store: string | null | undefined, key: string, value: string): void;
}

declare module 'nephila:crawler/key-value@0.1.0' {
  export * from 'nephila:crawler/key-value';
}

/**
 * `use_state`: a map of keys to JSON values that all handlers of a crawler id share.
 *
 * Serialisable: if anything that a call read has changed by the time it commits, the host runs the handler again on the
 * same page, so that read-modify-write is safe without locks. Writes without a read never conflict.
 */
declare module 'nephila:crawler/state' {
  import type { Error } from 'nephila:crawler/types';
  export type { Error };

  /** Reads a value. Sees the call's own writes. */
  export function get(key: string): string | null | undefined;

  /** The keys that have a value, in order. */
  export function keys(): string[];

  /** Writes a value (JSON). */
  export function set(key: string, value: string): void;

  /** Removes a key. */
  export function remove(key: string): void;

  /** Adds to a whole number (of 64 bits in the store); an absent key counts as 0. Returns nothing, so that it never conflicts. */
  export function increment(key: string, by: number): void;

  /** Appends a JSON value to a list; an absent key counts as an empty one. */
  export function append(key: string, value: string): void;

  /** Keeps the greater of what is there and `value`. */
  export function max(key: string, value: number): void;
}

declare module 'nephila:crawler/state@0.1.0' {
  export * from 'nephila:crawler/state';
}

/** Log lines, with the plugin's name, the request and the page added by the host. */
declare module 'nephila:crawler/log' {
  /** How urgent a line is. */
  export type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error';

  /** Writes a line; `fields` is a JSON object. */
  export function write(level: Level, message: string, fields: string | null | undefined): void;
}

declare module 'nephila:crawler/log@0.1.0' {
  export * from 'nephila:crawler/log';
}

/** What the operator gave the crawl. */
declare module 'nephila:crawler/config' {
  /** The plugin's input (`--input`) as JSON; `null` if there is none. */
  export function input(): string;

  /** The value of a setting (docs/settings.md) as JSON; none if there is no such setting. */
  export function setting(name: string): string | null | undefined;
}

declare module 'nephila:crawler/config@0.1.0' {
  export * from 'nephila:crawler/config';
}

/** The crawl as a whole. */
declare module 'nephila:crawler/crawl' {
  /** Ends the crawl once the pages in hand are done; what is pending stays. Takes effect with the call's commit. */
  export function stop(reason: string): void;

  /** Sets the status message that people see (Crawlee: `setStatusMessage`). Takes effect with the call's commit. */
  export function statusMessage(message: string): void;
}

declare module 'nephila:crawler/crawl@0.1.0' {
  export * from 'nephila:crawler/crawl';
}

/**
 * Events, for those who listen to them: this plugin's listener, and the program around the host.
 *
 * The host's own names are `persistState`, `systemInfo`, `crawlerStatus`, `migrating`, `aborting`, `exit`, `sessionRetired`,
 * `browserLaunched`, `browserRetired`, `browserClosed`, `pageCreated`, `pageClosed`, `crawlStarted`, `crawlFinished` and
 * `requestFailed`. Not all of them reach a listener yet: `exit` comes when the crawls have ended; those of browsers and pages have
 * nothing that they could tell of. `sessionRetired` comes once for each session that is over, whatever ended it, like an event of a
 * plugin's: it is written with what ended the session and waits for the listener, through a crash too. Only a session that reaches its
 * age after the crawl is finished ends untold. A plugin's are a letter, then at most 127 letters, digits, `.`, `_`, `-`, `:` or `/`; one of the host's in
 * another case is not among them. The code of any other is `bad-event`.
 */
declare module 'nephila:crawler/events' {
  import type { Error } from 'nephila:crawler/types';
  export type { Error };

  /**
   * Hears an event from now on (Crawlee: `event_manager.on`). Only within `listener.on-event`, elsewhere the code
   * `not-a-listener`. It is no effect: it belongs to the instance, holds at once, also if the call fails, and ends with the
   * instance.
   */
  export function on(event: string): void;

  /** Hears an event no more (Crawlee: `event_manager.off`); what was not heard is no error. Otherwise like `on`. */
  export function off(event: string): void;

  /**
   * Emits an event with a payload (JSON). An effect of the call: it is delivered after the call's commit. The name must not
   * be one of the host's own. A call may emit 1,000.
   */
  export function emit(event: string, payload: string): void;
}

declare module 'nephila:crawler/events@0.1.0' {
  export * from 'nephila:crawler/events';
}

/**
 * The session that fetched the page in hand. The code `no-session` where there is none: in `finish`, in `listener`, and where
 * the crawl uses none. Only `add` needs no session.
 *
 * What a call asks for its session takes effect with its commit and, unlike its effects, also if the call fails: a handler that
 * says `retire` and then gives up means it. A call sees its own changes.
 */
declare module 'nephila:crawler/session' {
  import type { Error } from 'nephila:crawler/types';
  export type { Error };

  /** A cookie of the session. */
  export interface Cookie {
    /** Its name. */
    name: string;
    /** Its value. */
    value: string;
    /** The host that set it, or the domain that it was set for, without a leading dot. */
    domain: string;
    /** Whether only that host gets it, and none below it. */
    hostOnly: boolean;
    /** The path that it is for, with all below it. */
    path: string;
    /** Whether it is sent by `https` only. */
    secure: boolean;
    /** Whether scripts of a page do not see it. */
    httpOnly: boolean;
    /** When it ends: RFC 3339, UTC; none if it ends with the session. */
    expires: string | null | undefined;
    /** `Strict`, `Lax` or `None`; none if the site did not say. */
    sameSite: string | null | undefined;
    /** JSON object for fields of later versions. */
    extraJson: string | null | undefined;
  }

  /** Cookies for a session that is added. */
  export interface UrlCookies {
    /** Whose they are: absolute, or resolved against the page in hand; by default the page's own URL. */
    url: string | null | undefined;
    /** `Set-Cookie` header fields (their values, without the name), as if the URL had answered with them. */
    setCookieLines: string[];
  }

  /** What a session that is added is to be. */
  export interface Addition {
    /** Its id: 1 to 128 bytes without control characters; none: one is made up. */
    id: string | null | undefined;
    /** What it keeps with it: a JSON object of at most 64 KiB. */
    userData: string;
    /** The cookies that it begins with. */
    cookies: UrlCookies[];
    /** JSON object for fields of later versions. */
    extraJson: string | null | undefined;
  }

  /** Its id (Crawlee: `session.id`). */
  export function id(): string;

  /** What it keeps with it: a JSON object (Crawlee: `session.user_data`). */
  export function userData(): string;

  /** Replaces its user data by a JSON object of at most 64 KiB. */
  export function setUserData(json: string): void;

  /**
   * The cookies that it sends with a request for `url`: absolute, or resolved against the page in hand; by default the
   * page's own.
   */
  export function cookies(url: string | null | undefined): Cookie[];

  /**
   * Sets cookies as if `url` (by default the page's own) had answered with these `Set-Cookie` header fields (their values,
   * without the name). What that URL may not set is passed over, as in a browser. A call may set 1,000.
   */
  export function setCookies(url: string | null | undefined, setCookieLines: string[]): void;

  /**
   * It did well (Crawlee: `session.mark_good`). Without a word from the plugin, the host judges by how the request ends. Of
   * `good` and `bad` the last one counts; `retire` is final.
   */
  export function good(): void;

  /** It did badly (Crawlee: `session.mark_bad`). */
  export function bad(): void;

  /** It is not to be used again (Crawlee: `session.retire`). */
  export function retire(): void;

  /**
   * Adds a session to the crawl's pool (Crawlee: `SessionPool.add_session`), and says its id: for `new-request.session-id`, or for
   * whichever page is next. Its limits are those of the crawl's settings; it may be one more than the pool's size. An effect of
   * the call: it is there when the call is committed, once, and not if the call fails. Also in `finish` and `listener`.
   *
   * The code `no-session-pool` where the crawl uses none; `session-exists` if the pool has, or had, one of that id. If another call
   * takes the id before this one is committed, this one runs again and is told so. A call may add 100.
   */
  export function add(session: Addition): string;
}

declare module 'nephila:crawler/session@0.1.0' {
  export * from 'nephila:crawler/session';
}

/**
 * The records of the protocol.
 *
 * Open data (items, user data, state values, input) travels as JSON strings; what the host and a plugin must
 * agree on travels as records. Whole numbers have at most 32 bits, and counts stay below 2^31: JavaScript toolchains pass no
 * others safely. A record can never grow once it is released, so what a plugin *asks* for
 * (`new-request`) and what it *gets* (`request`) are separate, and both have an `extra-json` for what comes later.
 */
declare module 'nephila:crawler/types' {
  /** An HTTP request method (RFC 9110, section 9.3, and RFC 5789). */
  export type Method = 'get' | 'head' | 'post' | 'put' | 'delete' | 'options' | 'patch';

  /** One header field. Names are compared without regard to case; bytes that are not UTF-8 arrive as U+FFFD. */
  export interface Header {
    name: string;
    value: string;
  }

  /** What fetches the page. */
  export type Renderer = 'http' | 'browser';

  /** A range of HTTP status codes, both ends included. */
  export interface StatusRange {
    /** The first status of the range, for example 200. */
    first: number;
    /** The last status of the range, for example 299. */
    last: number;
  }

  /** A request that a plugin wants to be made (Crawlee: the options of `addRequests`). */
  export interface NewRequest {
    /** An absolute `http` or `https` URL, or a reference that is resolved against the page in hand. */
    url: string;
    /** The request method. */
    method: Method;
    /** Extra header fields; they win over the host's own. */
    headers: Header[];
    /** The request body. */
    payload: Uint8Array | null | undefined;
    /** What the plugin's router dispatches on (Crawlee: `label`). */
    label: string | null | undefined;
    /** JSON that comes back with the request (Crawlee: `userData`). */
    userData: string | null | undefined;
    /** Higher goes first within a site, and the highest head goes first among sites. Default 0. */
    priority: number;
    /** Before every other request of the same site and priority; last in, first out (Crawlee: `forefront`). */
    forefront: boolean;
    /** Overrides what the URL, method and payload give (Crawlee: `uniqueKey`). Not together with `always-enqueue`. */
    uniqueKey: string | null | undefined;
    /** The session that must serve the request (Crawlee: `sessionId`). */
    sessionId: string | null | undefined;
    /** What fetches the page. */
    renderer: Renderer;
    /** Statuses that reach the handler; empty means 200 to 299. */
    acceptedStatuses: StatusRange[];
    /** Retries at most (Crawlee: `maxRetries`); none means the crawl's setting. */
    maxRetries: number | null | undefined;
    /** Fail at the first error (Crawlee: `noRetry`). */
    noRetry: boolean;
    /** Accept the request even if its URL was seen (Crawlee: `alwaysEnqueue`, Scrapy: `dont_filter`). */
    alwaysEnqueue: boolean;
    /** Milliseconds for the whole fetch; none means the crawl's setting. */
    timeoutMillis: number | null | undefined;
    /** JSON object for fields of later versions; unknown keys are ignored. */
    extraJson: string | null | undefined;
  }

  /** A request as a handler gets it. */
  export interface Request {
    /** The URL that is, or was, asked for; after a redirect to another site, the one it was moved to. */
    url: string;
    /** The URL that was enqueued, before any redirect. */
    originalUrl: string;
    /** The request method. */
    method: Method;
    /** Extra header fields that were asked for. */
    headers: Header[];
    /** The request body. */
    payload: Uint8Array | null | undefined;
    /** What the plugin's router dispatches on. */
    label: string | null | undefined;
    /** JSON that was given with the request. */
    userData: string | null | undefined;
    /** Its priority. */
    priority: number;
    /** Links between a start URL (0) and this request; the least that it was found at. */
    depth: number;
    /** Its identity: 32 hexadecimal digits. */
    uniqueKey: string;
    /** The session that must serve it. */
    sessionId: string | null | undefined;
    /** What fetches the page. */
    renderer: Renderer;
    /** Statuses that reach the handler; never empty. */
    acceptedStatuses: StatusRange[];
    /** Retries so far; 0 on the first attempt. */
    retryCount: number;
    /** Retries at most. */
    maxRetries: number;
    /** Whether the first error is the last. */
    noRetry: boolean;
    /** Milliseconds for the whole fetch. */
    timeoutMillis: number;
    /** Redirects followed so far. */
    hopCount: number;
    /** JSON object for fields of later versions. */
    extraJson: string | null | undefined;
  }

  /** Why one address led to the next. */
  export type HopKind = 'http-redirect' | 'meta-refresh';

  /** One step of a redirect chain. */
  export interface Hop {
    /** The URL that answered with the redirect. */
    url: string;
    /** The status that it answered with. */
    status: number;
    /** Why it led on. */
    kind: HopKind;
  }

  /** Where the time of a fetch went, in milliseconds. Coarse on purpose: a plugin has no clock finer than this. */
  export interface Timings {
    /** From the start of the fetch to the response header. */
    firstByteMillis: number;
    /** From the start of the fetch to the last byte of the body. */
    totalMillis: number;
  }

  /** What is known of a page without looking into its body. */
  export interface PageMeta {
    /** The URL that answered, without a fragment. Relative references resolve against it and `<base href>`. */
    url: string;
    /** Its HTTP status. */
    status: number;
    /** The response's header fields, in the order in which they came. */
    headers: Header[];
    /** The media type in lower case without parameters, for example `text/html`; none if there was none. */
    contentType: string | null | undefined;
    /** The encoding that `text` decodes with (a WHATWG name); none for bodies that are not text. */
    charset: string | null | undefined;
    /** The redirects that led here, oldest first. */
    redirectChain: Hop[];
    /** Where the time went. */
    timings: Timings;
    /** Bytes of the decoded (decompressed) body. */
    bodyBytes: number;
    /** JSON object for fields of later versions. */
    extraJson: string | null | undefined;
  }

  /** How a handler that does not succeed ends. None of its effects are kept. */
  export type Ending = 'retry' | 'skip' | 'fatal';

  /**
   * What a call into the host answers with instead of a result, and what a handler that gives up ends with.
   *
   * One type for both, so that an error of the host which a handler lets through arrives as what it is in every
   * language, and not as a trap of the bindings.
   */
  export interface Error {
    /**
     * A stable word to branch on; statistics group errors by it. The host's are in docs/plugin-errors.md (`bad-selector`,
     * `bad-json`, `quota`, `denied`, `no-page` …); a plugin has its own. The list grows: treat an unknown one like any error.
     */
    code: string;
    /** A sentence for people: what failed, on what, and the way out. */
    message: string;
    /** How the handler ends; none lets the host decide by the code (`fatal`, unless the page says otherwise). */
    ending: Ending | null | undefined;
  }
}

declare module 'nephila:crawler/types@0.1.0' {
  export * from 'nephila:crawler/types';
}
