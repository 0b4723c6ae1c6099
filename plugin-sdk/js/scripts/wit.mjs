// Reads the contract's WIT: as much of the language as it uses (rules of docs/architecture.md), and an error for the rest.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The interfaces of a folder of .wit files, and the version of their package. */
export function readWit(folder) {
  const files = readdirSync(folder).filter((name) => name.endsWith('.wit')).sort();
  const parsed = files.map((name) => parseFile(readFileSync(join(folder, name), 'utf8'), name));
  return { version: parsed[0].version, interfaces: parsed.flatMap(({ interfaces }) => interfaces) };
}

function parseFile(text, name) {
  const tokens = [];
  let doc = [];
  for (const [word] of text.matchAll(/\n[ \t]*(?=\n)|\/\/\/.*|\/\/.*|->|[A-Za-z%][A-Za-z0-9-]*|[0-9][0-9.]*|[^\s]/g)) {
    // A comment with an empty line behind it is the file's.
    if (word.startsWith('\n')) doc = [];
    else if (word.startsWith('///')) doc.push(word.slice(3).replace(/^ /, ''));
    else if (!word.startsWith('//')) {
      tokens.push({ word, doc });
      doc = [];
    }
  }
  let at = 0;
  const peek = () => tokens[at]?.word;
  const next = () => tokens[at++]?.word;
  const docHere = () => tokens[at]?.doc ?? [];
  const fail = (what) => { throw new Error(`${name}: ${what}, not \`${peek()}\` (token ${at})`); };
  const expect = (word) => (peek() === word ? next() : fail(`expected \`${word}\``));
  const list = (end, item) => {
    const items = [];
    while (peek() !== end) {
      items.push(item());
      if (peek() !== end) expect(',');
    }
    expect(end);
    return items;
  };

  const type = () => {
    const word = next();
    if (!['list', 'option', 'result', 'own', 'borrow', 'tuple'].includes(word) || peek() !== '<') return word;
    expect('<');
    return { [word]: list('>', type) };
  };
  const func = () => {
    expect('func');
    expect('(');
    const params = list(')', () => {
      const param = next();
      expect(':');
      return { name: param, type: type() };
    });
    let result;
    if (peek() === '->') {
      next();
      result = type();
    }
    expect(';');
    return { params, result };
  };
  const named = (payload) => () => {
    const doc = docHere();
    return { doc, name: next(), ...payload() };
  };
  const field = named(() => (expect(':'), { type: type() }));
  const variantCase = named(() => {
    if (peek() !== '(') return {};
    next();
    const payload = type();
    expect(')');
    return { type: payload };
  });

  const item = () => {
    const doc = docHere();
    const word = next();
    if (word === 'use') {
      const from = next();
      expect('.');
      expect('{');
      const names = list('}', next);
      expect(';');
      return { kind: 'use', from, names };
    }
    if (word === 'record' || word === 'variant' || word === 'enum') {
      const itemName = next();
      expect('{');
      return { kind: word, doc, name: itemName, members: list('}', word === 'record' ? field : word === 'enum' ? named(() => ({})) : variantCase) };
    }
    if (word === 'resource') {
      const itemName = next();
      expect('{');
      const methods = [];
      while (peek() !== '}') {
        const methodDoc = docHere();
        const method = next();
        expect(':');
        methods.push({ doc: methodDoc, name: method, ...func() });
      }
      expect('}');
      return { kind: 'resource', doc, name: itemName, methods };
    }
    if (word === 'type') {
      const itemName = next();
      expect('=');
      const aliased = type();
      expect(';');
      return { kind: 'type', doc, name: itemName, type: aliased };
    }
    expect(':');
    return { kind: 'func', doc, name: word, ...func() };
  };

  expect('package');
  const packageName = [];
  while (peek() !== ';') packageName.push(next());
  expect(';');
  const version = packageName.join('').split('@')[1];
  const interfaces = [];
  while (at < tokens.length) {
    const doc = docHere();
    const word = next();
    if (word === 'world') {
      while (next() !== '}');
    } else if (word === 'interface') {
      const interfaceName = next();
      expect('{');
      const items = [];
      while (peek() !== '}') items.push(item());
      expect('}');
      interfaces.push({ doc, name: interfaceName, items });
    } else {
      at -= 1;
      fail('expected an interface or a world');
    }
  }
  return { version, interfaces };
}
