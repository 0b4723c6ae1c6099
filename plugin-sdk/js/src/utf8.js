// UTF-8, which the runtime has no words for. Malformed bytes become U+FFFD, as everywhere.

export function encode(text) {
  const bytes = [];
  for (const character of text) {
    const code = character.codePointAt(0);
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
    else if (code >= 0xd800 && code < 0xe000) bytes.push(0xef, 0xbf, 0xbd);
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
  }
  return Uint8Array.from(bytes);
}

export function decode(bytes) {
  let text = '';
  let units = [];
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at];
    const length = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
    let code = length === 1 ? first : length === 2 ? first & 31 : length === 3 ? first & 15 : first & 7;
    let read = 1;
    if (length === 0) code = 0xfffd;
    // The second byte is bounded so that no character has two spellings, and none is a surrogate or beyond the last.
    let low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
    let high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
    while (read < length) {
      const next = bytes[at + read];
      if (next === undefined || next < low || next > high) {
        code = 0xfffd;
        break;
      }
      code = (code << 6) | (next & 63);
      low = 0x80;
      high = 0xbf;
      read += 1;
    }
    at += read;
    if (code >= 0x10000) units.push(0xd800 + ((code - 0x10000) >> 10), 0xdc00 + ((code - 0x10000) & 0x3ff));
    else units.push(code);
    if (units.length > 4000) {
      text += String.fromCharCode.apply(null, units);
      units = [];
    }
  }
  return text + String.fromCharCode.apply(null, units);
}
