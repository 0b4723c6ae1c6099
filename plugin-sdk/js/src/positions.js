// Positions in the author's source.
//
// What runs is one bundle, so that a stack names lines of that. The build appends a table to the bundle: of each of its lines
// the columns where something of the author's begins, with file, line and column there, as differences in the digits of
// source maps. It lies unread in memory until something goes wrong; lines of the SDK are not in it, so that a stack has
// frames of the author's (and of the author's packages) only.

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const FRAME = /^\s*at (?:(.*?) \()?(.*?):(\d+)(?::(\d+))?\)?$/;
const BUNDLE = /componentize-qjs:|user\.js$|nephila-bundle/;

let decoded;

/** An error with its stack, as a text: `TypeError: …\n    at detail (src/main.js:12:7)`. */
export function describe(error) {
  if (!(error instanceof Error)) return `a value that is no error was thrown: ${show(error)}`;
  const name = error.name || error.constructor?.name || 'Error';
  const frames = framesOf(error);
  const cause = error.cause === undefined ? '' : `\ncaused by ${describe(error.cause)}`;
  return [`${name}: ${error.message}`, ...frames].join('\n') + cause;
}

function show(value) {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

/** The frames of an error's stack that are the author's, as lines. */
export function framesOf(error) {
  const lines = String(error.stack ?? '').split('\n');
  return lines.map(mapped).filter((line) => line !== undefined);
}

function mapped(line) {
  const found = FRAME.exec(line);
  if (!found) return undefined;
  const [, name, file, row, column] = found;
  if (!BUNDLE.test(file)) return undefined;
  const place = originalPosition(Number(row), Number(column ?? 1));
  if (!place) return undefined;
  return name && !/^<?(anonymous|eval)>?$/.test(name) ? `    at ${name} (${place})` : `    at ${place}`;
}

/** `file:line:column`, all counted from 1; undefined if it is nothing of the author's. */
export function originalPosition(row, column) {
  decoded ??= decode(globalThis.__nephilaPositions);
  const segments = decoded?.rows[row - 1];
  if (!segments) return undefined;
  let best;
  for (const segment of segments) {
    if (segment[0] > column - 1) break;
    best = segment;
  }
  if (!best || best[1] < 0) return undefined;
  return `${decoded.files[best[1]]}:${best[2] + 1}:${best[3] + 1}`;
}

function decode(table) {
  if (!table) return undefined;
  let file = 0;
  let line = 0;
  let column = 0;
  const rows = table.rows.split(';').map((row) => {
    if (row === '') return [];
    let start = 0;
    return row.split(',').map((text) => {
      const numbers = digits(text);
      start += numbers[0];
      if (numbers.length === 1) return [start, -1, 0, 0];
      file += numbers[1];
      line += numbers[2];
      column += numbers[3];
      return [start, file, line, column];
    });
  });
  return { files: table.files, rows };
}

function digits(text) {
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
