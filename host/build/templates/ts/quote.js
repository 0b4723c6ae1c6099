// How a quote is read. No host is needed for that, so it is tested in quote.test.js.

/**
 * A quote's text without the quotation marks around it.
 *
 * @param {string} text
 */
export function clean(text) {
  return text.trim().replace(/^“/, '').replace(/”$/, '');
}
