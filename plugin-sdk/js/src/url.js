// `URL` and `URLSearchParams`, which the runtime does not have.
//
// For what a crawler meets: `http`, `https`, `ws`, `wss`, `ftp` as the URL Standard parses them, and other schemes well enough
// to be told apart (`mailto:`, `data:`, `javascript:`). Hosts beyond ASCII are kept in lower case and not turned into Punycode:
// the host of the crawl does that. Links need none of this: `page.links()` and `url(selector)` are resolved already.

import { decode, encode } from './utf8.js';

const PORTS = { 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443', 'ftp:': '21' };
const FRAGMENT = /[\u0000- "<>`\u007f-\u{10ffff}]/gu;
const QUERY = /[\u0000- "#<>'\u007f-\u{10ffff}]/gu;
const PATH = /[\u0000- "#<>?^`{}\u007f-\u{10ffff}]/gu;
const USER = /[\u0000- "#<>?^`{}/:;=@[\]|\\\u007f-\u{10ffff}]/gu;

const escape = (text, what) =>
  text.replace(what, (character) => Array.from(encode(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''));

export class URL {
  #parts;
  #searchParams;

  constructor(url, base) {
    const against = base === undefined ? undefined : parse(String(base));
    const parts = base !== undefined && !against ? undefined : parse(String(url), against);
    if (!parts) throw Object.assign(new TypeError(`\`${url}\` is no URL${base === undefined ? '' : ` on \`${base}\``}`), { code: 'ERR_INVALID_URL' });
    this.#parts = parts;
  }

  static canParse(url, base) {
    return URL.parse(url, base) !== null;
  }

  static parse(url, base) {
    try {
      return new URL(url, base);
    } catch {
      return null;
    }
  }

  get href() { return write(this.#parts); }
  set href(value) { this.#parts = new URL(value).#parts; this.#renewParams(); }
  get protocol() { return this.#parts.scheme; }
  set protocol(value) {
    const scheme = `${String(value).split(':', 1)[0].toLowerCase()}:`;
    if (scheme in PORTS && this.#parts.scheme in PORTS) {
      this.#parts.scheme = scheme;
      if (this.#parts.port === PORTS[scheme]) this.#parts.port = '';
    }
  }
  get username() { return this.#parts.username; }
  set username(value) { if (this.#parts.host) this.#parts.username = escape(String(value), USER); }
  get password() { return this.#parts.password; }
  set password(value) { if (this.#parts.host) this.#parts.password = escape(String(value), USER); }
  get hostname() { return this.#parts.host ?? ''; }
  set hostname(value) { const host = this.#parts.scheme in PORTS && parseHost(String(value)); if (host) this.#parts.host = host; }
  get port() { return this.#parts.port; }
  set port(value) { const port = parsePort(String(value), this.#parts.scheme); if (port !== undefined) this.#parts.port = port; }
  get host() { return this.hostname + (this.port && `:${this.port}`); }
  set host(value) {
    const [, host, port] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(String(value)) ?? [];
    if (host) this.hostname = host;
    if (host && port) this.port = port;
  }
  get origin() { return this.protocol in PORTS ? `${this.protocol}//${this.host}` : 'null'; }
  get pathname() { return this.#parts.path; }
  set pathname(value) { if (!this.#parts.opaque) this.#parts.path = parsePath(String(value), this.#parts, []); }
  get search() { return this.#parts.query ? `?${this.#parts.query}` : ''; }
  set search(value) { this.#parts.query = asPart(value, '?', QUERY); this.#renewParams(); }
  get hash() { return this.#parts.fragment ? `#${this.#parts.fragment}` : ''; }
  set hash(value) { this.#parts.fragment = asPart(value, '#', FRAGMENT); }

  get searchParams() {
    return (this.#searchParams ??= new URLSearchParams(this.#parts.query ?? '', (text) => { this.#parts.query = text === '' ? undefined : text; }));
  }

  #renewParams() {
    this.#searchParams = undefined;
  }

  toString() { return this.href; }
  toJSON() { return this.href; }
  get [Symbol.toStringTag]() { return 'URL'; }
}

function asPart(value, sign, what) {
  const text = String(value);
  const bare = text.startsWith(sign) ? text.slice(1) : text;
  return bare === '' ? undefined : escape(bare, what);
}

function write({ scheme, username, password, host, port, path, query, fragment }) {
  const user = username || password ? `${username}${password && `:${password}`}@` : '';
  const authority = host === undefined ? '' : `//${user}${host}${port && `:${port}`}`;
  const safePath = host === undefined && path.startsWith('//') ? `/.${path}` : path;
  return `${scheme}${authority}${safePath}${query === undefined ? '' : `?${query}`}${fragment === undefined ? '' : `#${fragment}`}`;
}

function parse(text, base) {
  let rest = text.replace(/^[\u0000- ]+|[\u0000- ]+$/g, '').replace(/[\t\n\r]/g, '').toWellFormed();
  const hash = rest.indexOf('#');
  const fragment = hash < 0 ? undefined : escape(rest.slice(hash + 1), FRAGMENT);
  if (hash >= 0) rest = rest.slice(0, hash);

  const found = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(rest);
  const scheme = found ? found[0].toLowerCase() : base?.scheme;
  if (!scheme) return undefined;
  const special = scheme in PORTS;
  // `http:path` on a base of the same scheme is relative, by an old custom that the standard keeps.
  const absolute = found && !(special && base?.scheme === scheme && !/^[/\\]/.test(rest.slice(found[0].length)));
  if (found) rest = rest.slice(found[0].length);
  if (special) {
    const end = rest.indexOf('?');
    rest = end < 0 ? rest.replaceAll('\\', '/') : rest.slice(0, end).replaceAll('\\', '/') + rest.slice(end);
  }

  const mark = rest.indexOf('?');
  let query = mark < 0 ? undefined : escape(rest.slice(mark + 1), special ? QUERY : /[\u0000- "#<>\u007f-\u{10ffff}]/gu);
  if (mark >= 0) rest = rest.slice(0, mark);

  if (absolute && !special && !rest.startsWith('/')) {
    return { scheme, username: '', password: '', host: undefined, port: '', path: escape(rest, /[\u0000-\u001f\u007f-\u{10ffff}]/gu), query, fragment, opaque: true };
  }
  if (!absolute && base.opaque) return rest === '' && query === undefined && hash >= 0 ? { ...base, fragment } : undefined;

  if (special ? absolute || rest.startsWith('//') : rest.startsWith('//')) {
    const after = special ? rest.replace(/^\/*/, '') : rest.slice(2);
    const end = after.indexOf('/');
    const authority = parseAuthority(end < 0 ? after : after.slice(0, end), scheme);
    if (!authority) return undefined;
    return { scheme, ...authority, path: parsePath(end < 0 ? '' : after.slice(end), { scheme }, []), query, fragment };
  }
  const from = absolute ? { scheme, username: '', password: '', host: undefined, port: '' } : { scheme, username: base.username, password: base.password, host: base.host, port: base.port };
  if (rest === '' && !absolute) return { ...from, path: base.path, query: query ?? (mark < 0 ? base.query : undefined), fragment };
  const folder = rest.startsWith('/') || absolute ? [] : base.path.split('/').slice(1, -1);
  return { ...from, path: parsePath(rest, from, folder), query, fragment };
}

function parseAuthority(text, scheme) {
  const at = text.lastIndexOf('@');
  const user = at < 0 ? '' : text.slice(0, at);
  const [, hostText, portText] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(text.slice(at + 1)) ?? [];
  if (hostText === undefined) return undefined;
  const host = scheme in PORTS ? parseHost(hostText) : hostText;
  const port = portText ? parsePort(portText, scheme) : '';
  if (host === undefined || port === undefined) return undefined;
  const colon = user.indexOf(':');
  return {
    username: escape(colon < 0 ? user : user.slice(0, colon), USER),
    password: colon < 0 ? '' : escape(user.slice(colon + 1), USER),
    host,
    port,
  };
}

function parsePort(text, scheme) {
  if (text === '') return '';
  if (!/^\d+$/.test(text) || Number(text) > 65535) return undefined;
  const port = String(Number(text));
  return port === PORTS[scheme] ? '' : port;
}

function parseHost(text) {
  if (text.startsWith('[')) return /^\[[0-9a-fA-F:.]+\]$/.test(text) ? text.toLowerCase() : undefined;
  const host = decode(unescape(text)).toLowerCase();
  if (host === '' || /[\u0000- #%/:<>?@[\\\]^|\u007f]/.test(host)) return undefined;
  return /^(?:.*\.)?(?:0x[0-9a-f]*|\d+)\.?$/.test(host) ? parseAddress(host) : host;
}

// An IPv4 address in any of its spellings: `127.1` and `0x7f000001` are 127.0.0.1.
function parseAddress(host) {
  const parts = host.replace(/\.$/, '').split('.');
  if (parts.length > 4) return undefined;
  const numbers = parts.map((part) => (/^0x[0-9a-f]*$/.test(part) ? parseInt(part.slice(2) || '0', 16) : /^0[0-7]*$/.test(part) ? parseInt(part, 8) : /^\d+$/.test(part) && !/^0/.test(part) ? Number(part) : NaN));
  const last = numbers.pop();
  if (!(last < 256 ** (4 - numbers.length)) || !numbers.every((number) => number < 256)) return undefined;
  const address = numbers.reduce((sum, number, at) => sum + number * 256 ** (3 - at), last);
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
}

function parsePath(text, { scheme }, folder) {
  const special = scheme in PORTS;
  if (text === '' && folder.length === 0) return special ? '/' : '';
  const path = [...folder];
  const segments = (special ? text.replaceAll('\\', '/') : text).replace(/^\//, '').split('/');
  segments.forEach((segment, at) => {
    const plain = segment.replace(/%2e/gi, '.');
    const isLast = at === segments.length - 1;
    if (plain === '..') {
      path.pop();
      if (isLast) path.push('');
    } else if (plain === '.') {
      if (isLast) path.push('');
    } else {
      path.push(escape(segment, PATH));
    }
  });
  return `/${path.join('/')}`;
}

function unescape(text) {
  const bytes = encode(text);
  const plain = [];
  for (let at = 0; at < bytes.length; at += 1) {
    const hex = bytes[at] === 0x25 ? String.fromCharCode(bytes[at + 1] ?? 0, bytes[at + 2] ?? 0) : '';
    if (/^[0-9a-fA-F]{2}$/.test(hex)) {
      plain.push(parseInt(hex, 16));
      at += 2;
    } else {
      plain.push(bytes[at]);
    }
  }
  return Uint8Array.from(plain);
}

const readForm = (text) => decode(unescape(text.replaceAll('+', ' ')));
const writeForm = (text) => escape(text.toWellFormed(), /[^A-Za-z0-9*._ -]/gu).replaceAll(' ', '+');

export class URLSearchParams {
  #pairs = [];
  #changed;

  /** The second argument is for `URL` alone. */
  constructor(init = '', changed = undefined) {
    if (typeof init === 'object' && init !== null) {
      const pairs = typeof (/** @type {any} */ (init))[Symbol.iterator] === 'function' ? /** @type {any} */ (init) : Object.entries(init);
      for (const [name, value] of pairs) this.#pairs.push([String(name), String(value)]);
    } else {
      for (const part of String(init).replace(/^\?/, '').split('&')) {
        if (part === '') continue;
        const equals = part.indexOf('=');
        this.#pairs.push(equals < 0 ? [readForm(part), ''] : [readForm(part.slice(0, equals)), readForm(part.slice(equals + 1))]);
      }
    }
    this.#changed = changed;
  }

  #change(pairs) {
    this.#pairs = pairs;
    this.#changed?.(this.toString());
  }

  get size() { return this.#pairs.length; }
  get(name) { return this.#pairs.find(([one]) => one === String(name))?.[1] ?? null; }
  getAll(name) { return this.#pairs.filter(([one]) => one === String(name)).map(([, value]) => value); }
  has(name, value) { return this.#pairs.some(([one, other]) => one === String(name) && (value === undefined || other === String(value))); }
  append(name, value) { this.#change([...this.#pairs, [String(name), String(value)]]); }
  delete(name, value) { this.#change(this.#pairs.filter(([one, other]) => one !== String(name) || (value !== undefined && other !== String(value)))); }
  set(name, value) {
    const at = this.#pairs.findIndex(([one]) => one === String(name));
    const others = this.#pairs.filter(([one], index) => one !== String(name) || index === at);
    if (at < 0) others.push([String(name), String(value)]);
    else others[at] = [String(name), String(value)];
    this.#change(others);
  }
  sort() { this.#change([...this.#pairs].sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))); }
  forEach(visit, self) { for (const [name, value] of this.#pairs) visit.call(self, value, name, this); }
  *keys() { for (const [name] of this.#pairs) yield name; }
  *values() { for (const [, value] of this.#pairs) yield value; }
  *entries() { for (const pair of this.#pairs) yield [...pair]; }
  [Symbol.iterator]() { return this.entries(); }
  toString() { return this.#pairs.map(([name, value]) => `${writeForm(name)}=${writeForm(value)}`).join('&'); }
}
