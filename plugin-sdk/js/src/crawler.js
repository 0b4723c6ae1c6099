// A plugin is what `defineCrawler` is given. It is checked here, when the plugin is built, so that a mistake in it is said then.

import { badArgument } from './errors.js';
import { kind, noOtherKeys, string, strings } from './check.js';
import { hear } from './events.js';
import { write } from './json.js';

const KEYS = ['name', 'version', 'description', 'startUrls', 'settings', 'router', 'handle', 'failed', 'finish', 'on', 'createSession', 'processItem'];
const HINTS = {
  requestHandler: 'it is called `handle` or `router`',
  failedRequestHandler: 'it is called `failed`',
  errorHandler: 'the host retries by itself; what is given up is heard by `failed`',
  createSessionFunction: 'it is called `createSession`',
  process_item: 'it is called `processItem`',
  pipeline: 'it is called `processItem`, a function',
  pipelines: 'there is one, a function `processItem`; those of other plugins are named by `nephila run --pipeline`',
  maxRequestsPerCrawl: 'that is a setting: `settings: { "max-requests": 100 }`',
  maxConcurrency: 'that is a setting: `settings: { concurrency: 10 }`',
  maxRequestRetries: 'that is a setting: `settings: { "max-retries": 3 }`',
  maxRequestRetriesPerRequest: 'that is a setting: `settings: { "max-retries": 3 }`',
};

/** Marks what `defineCrawler` made, also if a second copy of the SDK made it. */
const MADE = Symbol.for('nephila.crawler');

/** The code that understands a site: `export default defineCrawler({ name, router, … })`. */
export function defineCrawler(options) {
  noOtherKeys(options, '`defineCrawler`', KEYS, HINTS);
  const { router, handle, failed, finish, on, createSession, processItem } = options;
  if (router !== undefined && handle !== undefined) throw badArgument('`defineCrawler` takes `router` or `handle`, not both');
  const handler = router ?? handle;
  if (handler === undefined && on === undefined && processItem === undefined) {
    throw badArgument('`defineCrawler` needs what handles pages: `router`, made with `createRouter()`, or a function `handle`. (A plugin that only listens has `on`, one that only looks at items `processItem`.)');
  }
  for (const [name, value] of Object.entries({ [router ? 'router' : 'handle']: handler, failed, finish, createSession, processItem })) {
    if (value !== undefined && typeof value !== 'function') throw badArgument(`\`${name}\` of \`defineCrawler\` must be a function, not ${kind(value)}`);
  }
  if (on !== undefined) {
    if (typeof on !== 'object' || on === null) throw badArgument(`\`on\` of \`defineCrawler\` must be an object of functions by event, not ${kind(on)}`);
    for (const [name, listen] of Object.entries(on)) hear(name, listen);
  }
  return {
    [MADE]: true,
    description: description(options),
    handler,
    failed,
    finish,
    subscriptions: on && Object.keys(on),
    createSession,
    processItem,
  };
}

function description(options) {
  const name = string(options.name, 'the `name` of `defineCrawler`');
  if (!/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/.test(name)) {
    throw badArgument(`the \`name\` of \`defineCrawler\` must be lower-case letters, digits and inner hyphens, at most 64; \`${name}\` is not`);
  }
  const settings = options.settings ?? {};
  if (typeof settings !== 'object' || Array.isArray(settings)) throw badArgument(`the \`settings\` of \`defineCrawler\` must be an object, not ${kind(settings)}`);
  return {
    name,
    version: string(options.version ?? '0.0.0', 'the `version` of `defineCrawler`'),
    description: string(options.description ?? '', 'the `description` of `defineCrawler`'),
    startUrls: strings(options.startUrls ?? [], 'the `startUrls` of `defineCrawler`'),
    settings: Object.entries(settings).map(([key, value]) => ({ name: key, value: write(`the setting \`${key}\``, value) })),
    extraJson: undefined,
  };
}

export function isCrawler(value) {
  return typeof value === 'object' && value !== null && value[MADE] === true;
}
