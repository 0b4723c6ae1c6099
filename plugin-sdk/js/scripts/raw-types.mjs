#!/usr/bin/env node
// Writes types/raw.d.ts from the WIT: `node scripts/raw-types.mjs [WIT]`. With `--check` it only says whether the file is current.
//
// Options are written as `T | undefined` and never as optional parameters: the runtime needs every argument of a call.

import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { readWit } from './wit.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
export const RAW_TYPES = join(HERE, '..', 'types', 'raw.d.ts');
export const WIT = join(HERE, '..', '..', '..', 'wit');

const ENTRY_POINTS = ['handler', 'manifest', 'failure', 'finish', 'listener', 'sessions', 'pipeline'];
const PRIMITIVES = { string: 'string', bool: 'boolean', u8: 'number', u16: 'number', u32: 'number', s8: 'number', s16: 'number', s32: 'number', f32: 'number', f64: 'number', char: 'string' };

const camel = (name) => name.replace(/^%/, '').replace(/-([a-z0-9])/g, (_, letter) => letter.toUpperCase());
const pascal = (name) => camel(name).replace(/^./, (letter) => letter.toUpperCase());

/** The text of types/raw.d.ts. */
export function rawTypes(wit) {
  const { version, interfaces } = readWit(wit);
  const lines = [
    '// Made from the WIT by `npm run types`; changes belong there.',
    '//',
    '// The interfaces of the contract as the runtime has them, for what the SDK has no words for (yet). A function whose WIT says',
    '// `result` returns the value, or throws an object with the error as `payload`. Every argument must be passed, `undefined` too.',
    '',
  ];
  for (const one of interfaces) {
    const isEntryPoint = ENTRY_POINTS.includes(one.name);
    const bodies = one.items.map((item) => itemLines(item, isEntryPoint)).filter((body) => body.length > 0);
    const body = bodies.flatMap((item, at) => (at === 0 ? item : ['', ...item]));
    lines.push(...docLines(one.doc, ''), `declare module 'nephila:crawler/${one.name}' {`, ...body.map((line) => (line === '' ? '' : `  ${line}`)), '}', '');
    lines.push(`declare module 'nephila:crawler/${one.name}@${version}' {`, `  export * from 'nephila:crawler/${one.name}';`, '}', '');
  }
  return `${lines.join('\n').trimEnd()}\n`;
}

function docLines(doc, indent) {
  if (doc.length === 0) return [];
  if (doc.length === 1) return [`${indent}/** ${doc[0]} */`];
  return [`${indent}/**`, ...doc.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`];
}

function itemLines(item, isEntryPoint) {
  switch (item.kind) {
    case 'use':
      return [
        `import type { ${item.names.map(pascal).join(', ')} } from 'nephila:crawler/${item.from}';`,
        `export type { ${item.names.map(pascal).join(', ')} };`,
      ];
    case 'record':
      return [...docLines(item.doc, ''), `export interface ${pascal(item.name)} {`, ...item.members.flatMap((field) => [...docLines(field.doc, '  '), `  ${camel(field.name)}: ${typeOf(field.type)};`]), '}'];
    case 'enum':
      return [...docLines(item.doc, ''), `export type ${pascal(item.name)} = ${item.members.map(({ name }) => `'${name}'`).join(' | ')};`];
    case 'variant': {
      const cases = item.members.map(({ doc, name, type }) => [...docLines(doc, '  '), `  | { tag: '${name}'${type ? `; val: ${typeOf(type)}` : ''} }`]);
      return [...docLines(item.doc, ''), `export type ${pascal(item.name)} =`, ...cases.flat().map((line, at, all) => (at === all.length - 1 ? `${line};` : line))];
    }
    case 'resource':
      return [...docLines(item.doc, ''), `export class ${pascal(item.name)} {`, '  private constructor();', ...item.methods.flatMap((method) => [...docLines(method.doc, '  '), `  ${camel(method.name)}${signature(method)};`]), '}'];
    case 'type':
      return [...docLines(item.doc, ''), `export type ${pascal(item.name)} = ${typeOf(item.type)};`];
    case 'func':
      return [...docLines(item.doc, ''), isEntryPoint ? `export type ${pascal(item.name)} = ${signature(item).replace(/: (?=[^:]*$)/, ' => ')};` : `export function ${camel(item.name)}${signature(item)};`];
    default:
      throw new Error(`no words for ${item.kind}`);
  }
}

const RESERVED = ['function', 'default', 'delete', 'new', 'in'];
const parameter = (name) => (RESERVED.includes(camel(name)) ? `${camel(name)}_` : camel(name));

function signature({ params, result }) {
  return `(${params.map(({ name, type }) => `${parameter(name)}: ${typeOf(type)}`).join(', ')}): ${resultOf(result)}`;
}

function resultOf(type) {
  if (type === undefined) return 'void';
  if (type.result) return type.result[0] === '_' ? 'void' : typeOf(type.result[0]);
  return typeOf(type);
}

function typeOf(type) {
  if (typeof type === 'string') return PRIMITIVES[type] ?? pascal(type);
  if (type.list) return type.list[0] === 'u8' ? 'Uint8Array' : arrayOf(typeOf(type.list[0]));
  if (type.option) return `${typeOf(type.option[0])} | null | undefined`;
  if (type.own) return pascal(type.own[0]);
  if (type.tuple) return `[${type.tuple.map(typeOf).join(', ')}]`;
  throw new Error(`no words for ${JSON.stringify(type)}`);
}

const arrayOf = (inner) => (inner.includes('|') ? `(${inner})[]` : `${inner}[]`);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [wit = WIT] = process.argv.slice(2).filter((word) => !word.startsWith('--'));
  const text = rawTypes(wit);
  if (!process.argv.includes('--check')) writeFileSync(RAW_TYPES, text);
  else if (readFileSync(RAW_TYPES, 'utf8') !== text) {
    console.error('types/raw.d.ts is not what the WIT says: run `npm run types`');
    process.exitCode = 1;
  }
}
