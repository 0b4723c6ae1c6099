// Small tools for the text of pages: the same as in the other SDKs, with the same answers.

/**
 * The first number in a text: `£51.77` gives 51.77, `-3` gives -3; null if there is none. Commas between groups of three
 * digits are passed over; a comma is no decimal point.
 */
export function firstNumber(text) {
  const start = text.search(/[0-9]/);
  if (start < 0) return null;
  const isNegative = text[start - 1] === '-' && !/[0-9A-Za-z]/.test(text[start - 2] ?? '');
  const [digits] = /^[0-9](?:[0-9]|,(?=[0-9]{3}(?![0-9])))*(?:\.[0-9]+)?/.exec(text.slice(start));
  return Number((isNegative ? '-' : '') + digits.replaceAll(',', ''));
}

/** The part of a text between two others, trimmed: `between('In stock (22 available)', '(', 'available')` gives `22`. */
export function between(text, before, after) {
  const start = text.indexOf(before);
  if (start < 0) return null;
  const rest = text.slice(start + before.length);
  const end = rest.indexOf(after);
  return end < 0 ? null : rest.slice(0, end).trim();
}

/** A URL without its query and fragment. */
export function withoutQuery(url) {
  return url.split(/[?#]/, 1)[0];
}
