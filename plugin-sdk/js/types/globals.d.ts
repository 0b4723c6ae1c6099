// What is there in a plugin without an import, beside the language itself. A project needs no `"lib": ["dom"]` and no
// `@types/node`; where it has them, theirs are taken.

interface NephilaConsole {
  log(...values: unknown[]): void;
  info(...values: unknown[]): void;
  debug(...values: unknown[]): void;
  trace(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
  dir(value: unknown): void;
  table(value: unknown): void;
  assert(condition: unknown, ...values: unknown[]): void;
}

interface NephilaURLSearchParams extends Iterable<[string, string]> {
  readonly size: number;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  set(name: string, value: string): void;
  sort(): void;
  forEach(visit: (value: string, name: string) => void): void;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  entries(): IterableIterator<[string, string]>;
  toString(): string;
}

interface NephilaURL {
  href: string;
  protocol: string;
  username: string;
  password: string;
  host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  hash: string;
  readonly origin: string;
  readonly searchParams: NephilaURLSearchParams;
  toString(): string;
  toJSON(): string;
}

// `typeof globalThis` has a word only where another library declares it: then that one counts.
declare var console: typeof globalThis extends { onmessage: any; console: infer T } ? T : NephilaConsole;
declare var URL: typeof globalThis extends { onmessage: any; URL: infer T } ? T : { new (url: string | NephilaURL, base?: string | NephilaURL): NephilaURL; canParse(url: string, base?: string): boolean; parse(url: string, base?: string): NephilaURL | null };
declare var URLSearchParams: typeof globalThis extends { onmessage: any; URLSearchParams: infer T } ? T : { new (init?: string | Record<string, string> | Iterable<[string, string]>): NephilaURLSearchParams };
declare var TextEncoder: typeof globalThis extends { onmessage: any; TextEncoder: infer T } ? T : { new (): { encode(text?: string): Uint8Array } };
declare var TextDecoder: typeof globalThis extends { onmessage: any; TextDecoder: infer T } ? T : { new (label?: string): { decode(bytes?: Uint8Array): string } };
declare function structuredClone<T>(value: T): T;
declare function queueMicrotask(job: () => void): void;
