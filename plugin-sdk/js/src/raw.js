// The host's interfaces as the runtime has them. In Node.js, where there is no host, `#raw` of package.json is no-host.js instead,
// so that functions of a plugin that need none can be tested there.

export * as config from 'nephila:crawler/config';
export * as crawl from 'nephila:crawler/crawl';
export * as dataset from 'nephila:crawler/dataset';
export * as events from 'nephila:crawler/events';
export * as keyValue from 'nephila:crawler/key-value';
export * as log from 'nephila:crawler/log';
export * as queue from 'nephila:crawler/queue';
export * as session from 'nephila:crawler/session';
export * as state from 'nephila:crawler/state';
