// Whether a name is one that was mistyped.

/** Changes of one letter (another one, one more, one less) that make one name of another. Names are short. */
export function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 0; i < a.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j += 1) {
      next.push(Math.min(row[j] + (a[i] === b[j] ? 0 : 1), row[j + 1] + 1, next[j] + 1));
    }
    row = next;
  }
  return row[b.length];
}

/** Two changes are near, since one letter may be heard as two: `nefila`. */
export const isNear = (name, meant) => distance(name.toLowerCase(), meant) <= 2;
