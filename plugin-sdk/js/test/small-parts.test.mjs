import assert from 'node:assert/strict';
import { test } from 'node:test';

import './support/host.mjs';

const { between, firstNumber, withoutQuery } = await import('../src/text.js');
const { decode, encode } = await import('../src/utf8.js');
const { write } = await import('../src/json.js');
const ours = await import('../src/url.js');
const { random, seed } = await import('../src/random.js');

test('the first number of a text is the same as in the Rust SDK', () => {
  const cases = [
    ['£51.77', 51.77], ['In stock (22 available)', 22], ['-3 °C', -3], ['ISBN-10', 10], ['1,234,567.5', 1234567.5],
    ['1,2', 1], ['7. place', 7], ['1.2.3', 1.2], ['none', null], ['', null], ['€-4', -4], ['1,2345', 1], ['1.5,000', 1.5],
  ];
  for (const [text, expected] of cases) assert.equal(firstNumber(text), expected, text);
});

test('parts of a text are found', () => {
  assert.equal(between('In stock (22 available)', '(', 'available'), '22');
  assert.equal(between('In stock', '(', ')'), null);
  assert.equal(withoutQuery('http://a/b?c=1#d'), 'http://a/b');
  assert.equal(withoutQuery('http://a/b#d?'), 'http://a/b');
});

test('UTF-8 is what Node.js says it is, also where it is broken', () => {
  for (const text of ['', 'plain', 'Été', '日本', '😀 \u{10ffff}', 'x\ud800y']) assert.deepEqual(encode(text), new TextEncoder().encode(text), text);
  const broken = [[0xff], [0xc0, 0x80], [0xe0, 0x80, 0x80], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98], [0xe2, 0x82, 0x41], [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x41], [0xc3]];
  for (const bytes of [...broken, [...new TextEncoder().encode('日本😀é')]]) {
    assert.equal(decode(Uint8Array.from(bytes)), new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes)), String(bytes));
  }
  assert.equal(decode(encode('é'.repeat(10_000))), 'é'.repeat(10_000));
});

test('JSON has no lone surrogates', () => {
  assert.equal(write('a value', { a: 'x\ud800y', b: '\\ud800', c: '😀' }), '{"a":"x\ufffdy","b":"\\\\ud800","c":"😀"}');
  assert.throws(() => write('an item', undefined), { code: 'json', message: /an item cannot be written as JSON: it is undefined/ });
  const round = {};
  round.self = round;
  assert.throws(() => write('an item', round), { code: 'json', message: /circular/ });
});

const URLS = [
  ['http://Example.com:80/a/../b/./c?x=1#y'], ['https://user:pass@example.com:8080/p%20q?a b#c d'], ['//other/x', 'https://a/b'], ['../up?x', 'http://a/b/c/d?y#z'],
  ['?only=query', 'http://a/b/c?old#frag'], ['#frag', 'http://a/b?q#old'], ['', 'http://a/b?q#old'], ['/root', 'http://a/b/c'], ['x y', 'http://a/b/'],
  ['mailto:someone@example.com'], ['data:text/plain,hi?x#y'], ['javascript:void(0)'], ['http:\\\\a\\b'], ['  http://a/ '], ['http://a/%2e%2E/b'], ['http:foo', 'http://a/b/c'],
  ['https:foo', 'http://a/b/c'], ['http://127.1/'], ['http://0x7f000001/'], ['http://[::1]:8080/x'], ['http://a b/'], ['nonsense'], ['/x'], ['http://a:99999/'], ['http://'],
  ['ftp://host/file'], ['http://a?x'], ['http://a/b/..'], ['.', 'http://a/b/c'], ['./', 'http://a/b/c'], ['a/b/../c', 'http://h/x/'], ["http://a/?q='x'"], ['http://a/é?é#é'], ['x:y', 'http://a/'],
  ['HTTP://A/B'], ['http://a/\tb\n'], ['?a|b', 'mailto:x'], ['#a', 'mailto:x'], ['ws://a:80/'], ['http://a@b@c/'], ['http://1.2.3.256/'], ['http://a//b'], ['///x', 'http://h/p'],
];

test('a URL is what Node.js says it is', () => {
  for (const [text, base] of URLS) {
    let expected;
    try {
      expected = new URL(text, base);
    } catch {
      assert.throws(() => new ours.URL(text, base), TypeError, `${text} on ${base}`);
      continue;
    }
    const found = new ours.URL(text, base);
    for (const part of ['href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash', 'origin']) {
      assert.equal(found[part], expected[part], `${part} of ${text} on ${base}`);
    }
  }
});

test('parts of a URL can be changed', () => {
  for (const made of [new URL('http://a/b?x=1&y=2#z'), new ours.URL('http://a/b?x=1&y=2#z')]) {
    made.searchParams.set('x', 'a b&c');
    made.searchParams.append('é', '=');
    made.searchParams.delete('y');
    made.pathname = '/new path/../x';
    made.hash = '';
    made.protocol = 'https';
    made.port = '8080';
    made.hostname = 'Other.example';
    assert.equal(made.href, 'https://other.example:8080/x?x=a+b%26c&%C3%A9=%3D');
    made.search = '?q=1';
    assert.equal(made.searchParams.get('q'), '1');
  }
  const [theirs, mine] = [new URLSearchParams('?a=1&b=%20x+y&a=2&c'), new ours.URLSearchParams('?a=1&b=%20x+y&a=2&c')];
  assert.deepEqual([...mine], [...theirs]);
  assert.equal(mine.toString(), theirs.toString());
  assert.deepEqual(mine.getAll('a'), ['1', '2']);
});

test('random numbers are those of the page, the try or the event', () => {
  const drawn = (call) => { seed(call); return [random(), random(), random()]; };
  const page = (uniqueKey, retryCount = 0) => ({ request: () => ({ uniqueKey, retryCount }) });
  assert.deepEqual(drawn(page('a')), drawn(page('a')));
  assert.notDeepEqual(drawn(page('a')), drawn(page('b')));
  assert.notDeepEqual(drawn(page('a')), drawn(page('a', 1)));
  assert.notDeepEqual(drawn({ id: 'e1' }), drawn({ id: 'e2' }));
  seed(page('many'));
  const many = Array.from({ length: 10_000 }, random);
  assert.ok(many.every((one) => one >= 0 && one < 1));
  const mean = many.reduce((sum, one) => sum + one) / many.length;
  assert.ok(Math.abs(mean - 0.5) < 0.02, `the mean is ${mean}`);
});
