// `TextEncoder` and `TextDecoder`, for UTF-8: pages are decoded by the host, whatever their charset.

import { decode, encode } from './utf8.js';

export class TextEncoder {
  get encoding() {
    return 'utf-8';
  }

  encode(text = '') {
    return encode(String(text));
  }
}

export class TextDecoder {
  constructor(label = 'utf-8') {
    if (!/^\s*(utf-?8|unicode-1-1-utf-8)\s*$/i.test(label)) {
      throw new RangeError(`only UTF-8 can be decoded here, not \`${label}\`; \`page.content()\` decodes a page by its charset`);
    }
  }

  get encoding() {
    return 'utf-8';
  }

  /** @param {ArrayBufferView | ArrayBuffer} bytes */
  decode(bytes = new Uint8Array()) {
    const text = decode(ArrayBuffer.isView(bytes) ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) : new Uint8Array(bytes));
    return text.startsWith('\ufeff') ? text.slice(1) : text;
  }
}
