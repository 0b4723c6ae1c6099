// From esbuild's source map to the table that src/positions.js reads: only what is the author's, and no names.

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/**
 * @param {{ sources: string[], mappings: string }} map
 * @param {(source: string) => string | undefined} nameOf what a source is called; undefined leaves it out
 */
export function positionsOf(map, nameOf) {
  const files = [];
  const numbers = map.sources.map((source) => {
    const name = nameOf(source);
    return name === undefined ? -1 : files.push(name) - 1;
  });
  const rows = [];
  let source = 0;
  let line = 0;
  let column = 0;
  for (const row of map.mappings.split(';')) {
    let start = 0;
    const segments = [];
    for (const text of row === '' ? [] : row.split(',')) {
      const [ahead, ...rest] = decode(text);
      start += ahead;
      if (rest.length === 0) {
        segments.push([start, -1, 0, 0]);
        continue;
      }
      source += rest[0];
      line += rest[1];
      column += rest[2];
      const file = numbers[source];
      if (file >= 0) segments.push([start, file, line, column]);
      else if (segments.length > 0 && segments.at(-1)[1] >= 0) segments.push([start, -1, 0, 0]);
    }
    rows.push(segments);
  }
  return { table: { files, rows: encodeRows(rows) }, find: (row, at) => find(files, rows, row, at) };
}

/** `{ file, line, column }`, counted from 1, of a position in the bundle. */
function find(files, rows, row, at) {
  const best = (rows[row - 1] ?? []).filter(([start]) => start <= at - 1).at(-1);
  return best && best[1] >= 0 ? { file: files[best[1]], line: best[2] + 1, column: best[3] + 1 } : undefined;
}

function encodeRows(rows) {
  let file = 0;
  let line = 0;
  let column = 0;
  const written = rows.map((segments) => {
    let start = 0;
    return segments
      .map(([at, one, row, place]) => {
        const ahead = encode(at - start);
        start = at;
        if (one < 0) return ahead;
        const text = ahead + encode(one - file) + encode(row - line) + encode(place - column);
        file = one;
        line = row;
        column = place;
        return text;
      })
      .join();
  });
  return written.join(';').replace(/;+$/, '');
}

function decode(text) {
  const numbers = [];
  let value = 0;
  let shift = 0;
  for (const character of text) {
    const digit = DIGITS.indexOf(character);
    value += (digit & 31) << shift;
    if (digit & 32) {
      shift += 5;
    } else {
      numbers.push(value & 1 ? -(value >> 1) : value >> 1);
      value = shift = 0;
    }
  }
  return numbers;
}

function encode(number) {
  let left = number < 0 ? (-number << 1) | 1 : number << 1;
  let text = '';
  do {
    const digit = left & 31;
    left >>>= 5;
    text += DIGITS[left > 0 ? digit | 32 : digit];
  } while (left > 0);
  return text;
}
