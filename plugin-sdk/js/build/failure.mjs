// What a build ends with instead of a component: the stage, a sentence, and the place in the author's source if one is known.

import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';

/** A failure that the author can act on. */
export class BuildError extends Error {
  /**
   * @param {'syntax' | 'load' | 'toolchain' | 'componentize'} stage
   * @param {string} message
   * @param {{ file?: string, line?: number, column?: number, snippet?: string }} [place] line and column count from 1
   */
  constructor(stage, message, place = {}) {
    super(message);
    this.stage = stage;
    this.place = place;
  }

  toJSON() {
    const { file, line, column } = this.place;
    const snippet = this.place.snippet ?? (file && line ? snippetOf(file, line, column) : undefined);
    return { ok: false, stage: this.stage, message: this.message, file, line, column, snippet };
  }
}

/** The line with its neighbour above, and a mark under the column. */
export function snippetOf(file, line, column) {
  let lines;
  try {
    lines = readFileSync(file, 'utf8').split(/\r?\n/);
  } catch {
    return undefined;
  }
  if (lines[line - 1] === undefined) return undefined;
  const width = String(line).length;
  const shown = [line - 1, line].filter((number) => number >= 1).map((number) => `${String(number).padStart(width)} | ${lines[number - 1]}`);
  const mark = column ? [`${' '.repeat(width)} | ${lines[line - 1].slice(0, column - 1).replace(/[^\t]/g, ' ')}^`] : [];
  return [...shown, ...mark].join('\n');
}

/** A path as the author would write it. */
export function shortPath(path, base = process.cwd()) {
  const short = relative(base, resolve(base, path));
  return short.startsWith('..') ? resolve(base, path) : short.replaceAll('\\', '/');
}
