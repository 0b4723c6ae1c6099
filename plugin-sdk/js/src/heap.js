// The heap that every page begins with.
//
// The runtime collects cycles when its heap has grown to one and a half times of what was there at the last collection. The
// heap of a page that begins in a copy of the plugin's memory would often come to that mark, and a collection walks all of
// it: measured, an eighth of what such a page costs, and more where a plugin has large packages. So the last collection before
// the memory is copied finds a large block, which is given back behind it. Pages begin far below the mark; a sandbox that is
// used again is still collected when it has grown so far.

/** Bytes. Half as much again is where collections begin. They are zeros, so that the component does not grow by them. */
const BLOCK = 8 * 1024 * 1024;

export function settle() {
  globalThis.__cqjs?.runGc();
  let block = new ArrayBuffer(BLOCK);
  // The next object finds the heap beyond the mark.
  const found = {};
  block = undefined;
  return found;
}
