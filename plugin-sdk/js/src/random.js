// `Math.random` of a plugin. The runtime's own is seeded when the plugin is built, and each page begins with that same memory:
// every page would draw the same numbers. So it is seeded by what is called: another page, another try, another event
// or another item gives other numbers, and the same page the same ones, as a plugin that is run again on it should.

let source;
let state;

/** Says what the call is about; nothing is read from the host unless numbers are drawn. */
export function seed(call) {
  source = call;
  state = undefined;
}

function text() {
  if (typeof source?.request === 'function') {
    const { uniqueKey, retryCount } = source.request();
    return `${uniqueKey}/${retryCount}`;
  }
  return source?.id ?? source?.json ?? String(Date.now());
}

// cyrb53's mixing for the seed, and sfc32 for the numbers.
function start() {
  const words = [0x9e3779b9, 0x243f6a88, 0xb7e15162, 1];
  for (const character of text()) {
    for (let at = 0; at < 3; at += 1) words[at] = Math.imul(words[at] ^ character.charCodeAt(0), [0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f][at]);
  }
  state = words;
  for (let at = 0; at < 12; at += 1) next();
}

function next() {
  let [a, b, c, d] = state;
  const sum = (((a + b) | 0) + d) | 0;
  d = (d + 1) | 0;
  a = b ^ (b >>> 9);
  b = (c + (c << 3)) | 0;
  c = (c << 21) | (c >>> 11);
  c = (c + sum) | 0;
  state = [a, b, c, d];
  return sum >>> 0;
}

export function random() {
  if (!state) start();
  return (next() * 0x200000 + (next() >>> 11)) / 2 ** 53;
}
