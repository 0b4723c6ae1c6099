// What the operator gave the crawl.

import { string } from './check.js';
import { ask, raw } from './host.js';
import { read } from './json.js';

/** The plugin's input (`--input`); null if there is none. */
export function input() {
  return read("the plugin's input", ask('getInput', () => raw.config.input()));
}

/** The value of a setting of the host; undefined if there is no such setting. */
export function setting(name) {
  const text = ask('getSetting', () => raw.config.setting(string(name, 'the name of a setting')));
  return text === null || text === undefined ? undefined : read(`the setting \`${name}\``, text);
}

/** Crawlee's way to the same. */
export class Configuration {
  static getGlobalConfig() {
    return new Configuration();
  }

  get(name, defaultValue) {
    return setting(name) ?? defaultValue;
  }
}
