// The page in hand. The host keeps and parses it; a handler says in one call all that it wants from it.

import { badArgument, NonRetryableError } from './errors.js';
import { kind, optionalString, string } from './check.js';
import { ask } from './host.js';
import { read } from './json.js';
import { firstNumber } from './text.js';

/** What to take from the elements that a selector matches. */
export class Field {
  constructor(selector, kind, many, convert) {
    this.selector = string(selector, 'a selector');
    this.kind = kind;
    this.many = many;
    this.convert = convert;
    this.isRequired = false;
  }

  /** The same field, but a page where nothing is found for it fails with the code `bad-row`. */
  required() {
    return Object.assign(Object.create(Field.prototype), this, { isRequired: true });
  }

  /** The same field with a function over each value that is found. */
  map(change) {
    if (typeof change !== 'function') throw badArgument(`\`map\` takes a function, not ${kind(change)}`);
    const before = this.convert;
    return Object.assign(Object.create(Field.prototype), this, { convert: before ? (value) => change(before(value)) : change });
  }
}

const TEXT = { tag: 'text' };
const HTML = { tag: 'html' };
const attribute = (tag, name) => ({ tag, val: string(name, 'the name of an attribute') });

/** The text of the first match and all below it, white space collapsed and trimmed. */
export const text = (selector) => new Field(selector, TEXT, false);
/** The texts of all matches. */
export const texts = (selector) => new Field(selector, TEXT, true);
/** The first number in the text of the first match: `£1,051.77` gives 1051.77. */
export const number = (selector) => new Field(selector, TEXT, false, firstNumber);
/** The markup inside the first match. */
export const html = (selector) => new Field(selector, HTML, false);
/** The markup inside each match. */
export const htmls = (selector) => new Field(selector, HTML, true);
/** The value of an attribute, of the first match that has it. */
export const attr = (selector, name) => new Field(selector, attribute('attr', name), false);
/** The values of an attribute, of all matches that have it. */
export const attrs = (selector, name) => new Field(selector, attribute('attr', name), true);
/** The value of an attribute as an absolute URL, of the first match that has a valid one. */
export const url = (selector, name = 'href') => new Field(selector, attribute('url', name), false);
/** The values of an attribute as absolute URLs, of all matches that have a valid one. */
export const urls = (selector, name = 'href') => new Field(selector, attribute('url', name), true);

function asField(name, given) {
  if (given instanceof Field) return given;
  if (typeof given === 'string') return text(given);
  if (Array.isArray(given) && given.length === 1 && typeof given[0] === 'string') return texts(given[0]);
  throw badArgument(`the field \`${name}\` must be a selector, or what \`text\`, \`attr\`, \`url\` and their like make of one, not ${kind(given)}`);
}

function asFields(given) {
  if (typeof given !== 'object' || given === null || Array.isArray(given) || given instanceof Field) {
    throw badArgument(`the fields must be an object of selectors by name, not ${given instanceof Field ? 'a single field' : kind(given)}`);
  }
  return Object.entries(given).map(([name, one]) => [name, asField(name, one)]);
}

const asWit = (fields) => fields.map(([name, { selector, kind, many }]) => ({ name: name.toWellFormed(), selector, kind, many }));

// The host answers in the order of the fields, so that a name is hardly ever looked up.
function asRow(fields, found) {
  const row = {};
  for (let at = 0; at < fields.length; at += 1) {
    const [name, field] = fields[at];
    let { values } = found[at].name === name ? found[at] : found.find((one) => one.name === name);
    if (field.isRequired && values.length === 0) {
      throw new NonRetryableError(`nothing was found for the field \`${name}\` (selector \`${field.selector}\`)`, { code: 'bad-row' });
    }
    if (field.convert) values = values.map(field.convert);
    row[name] = field.many ? values : (values[0] ?? null);
  }
  return row;
}

const QUERY = 'ask it with `page.extract({ title: "h1" })`, `page.extractEach(item, fields)` or `page.text(selector)`';
const NO_BROWSER = 'there is no browser; pages are what the server sends';

/** What Playwright's, Cheerio's and the DOM's pages have, and what to take instead. */
const elsewhere = {
  $: QUERY,
  $$: QUERY,
  $eval: QUERY,
  $$eval: QUERY,
  locator: QUERY,
  querySelector: QUERY,
  querySelectorAll: QUERY,
  find: QUERY,
  click: NO_BROWSER,
  evaluate: NO_BROWSER,
  goto: NO_BROWSER,
  waitForSelector: NO_BROWSER,
  statusCode: 'it is called `status`',
};

/** A fetched page. */
export class Page {
  #raw;
  #meta;
  #json;

  constructor(rawDocument) {
    this.#raw = rawDocument;
  }

  /** Status, headers, charset, redirects and timings. */
  get meta() {
    return (this.#meta ??= ask('page.meta', () => this.#raw.meta()));
  }

  /** The URL that answered, without a fragment. */
  get url() {
    return this.meta.url;
  }

  get status() {
    return this.meta.status;
  }

  /** The header fields of the response by their lower-case names. Of several with one name the values are joined by `, `. */
  get headers() {
    return headersByName(this.meta.headers);
  }

  /** The media type in lower case without parameters; null if there was none. */
  get contentType() {
    return this.meta.contentType ?? null;
  }

  /** The text of `<title>`; null if there is none. */
  title() {
    return ask('page.title', () => this.#raw.title()) ?? null;
  }

  /** Takes many fields from the page in one call. */
  extract(fields) {
    const wanted = asFields(fields);
    return asRow(wanted, ask('page.extract', () => this.#raw.extract(asWit(wanted))));
  }

  /** Takes rows: for each element that `item` matches, the fields within it. */
  extractEach(item, fields) {
    const wanted = asFields(fields);
    const rows = ask('page.extractEach', () => this.#raw.extractEach(string(item, 'the selector of the items'), asWit(wanted)));
    return rows.map((found) => asRow(wanted, found));
  }

  /** One field, without an object around it: `page.get(url('link[rel=canonical]'))`. */
  get(field) {
    return this.extract({ value: field }).value;
  }

  /** The text of the first match; null if nothing matches. */
  text(selector) {
    return this.get(text(selector));
  }

  /** The texts of all matches. */
  texts(selector) {
    return this.get(texts(selector));
  }

  /** The markup inside the first match; null if nothing matches. */
  html(selector) {
    return this.get(html(selector));
  }

  /** The value of an attribute, of the first match that has it; null if there is none. */
  attr(selector, name) {
    return this.get(attr(selector, name));
  }

  /** The links of the page, as absolute URLs: all of them, or those of the elements that a selector matches. */
  links(selector) {
    return ask('page.links', () => this.#raw.links(optionalString(selector, 'a selector')));
  }

  /** The body as text, decoded by its charset. A copy of it enters the plugin's memory. */
  content() {
    return ask('page.content', () => this.#raw.text());
  }

  /** The body as JSON. */
  json() {
    return (this.#json ??= { value: read('the body of the page', this.content()) }).value;
  }

  /** The decompressed body as bytes. A copy of it enters the plugin's memory. */
  body() {
    return ask('page.body', () => this.#raw.body());
  }
}

for (const [name, instead] of Object.entries(elsewhere)) {
  Object.defineProperty(Page.prototype, name, {
    get() {
      throw new NonRetryableError(`the page has no \`${name}\`: ${instead}`, { code: 'not-there' });
    },
  });
}

export function headersByName(fields) {
  const headers = {};
  for (const { name, value } of fields) {
    const key = name.toLowerCase();
    headers[key] = key in headers ? `${headers[key]}, ${value}` : value;
  }
  return headers;
}

