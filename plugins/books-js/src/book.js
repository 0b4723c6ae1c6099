// A book, and how it is read from its page. No host is needed for that, so it is tested without one (`npm test`).

import { attr, between, firstNumber, NonRetryableError, text, withoutQuery } from 'nephila';

/** Where the texts of a detail page are. */
export const DETAIL = {
  title: text('h1').required(),
  price: text('.price_color').required(),
  availability: '.availability',
  rating: attr('p.star-rating', 'class'),
  category: text('ul.breadcrumb li:nth-child(3)').required(),
};

/** The rows of the table of product information. */
export const PRODUCT = { name: 'th', value: 'td' };

/** What is pushed for a book. `url` is the page's final URL, without a query: a page that was reached through a redirect gives the same row. */
export function bookOf(url, detail, product) {
  const upc = product.find(({ name }) => name === 'UPC')?.value;
  if (upc == null) throw new NonRetryableError('the table of product information has no UPC', { code: 'no-upc' });
  const price = firstNumber(detail.price);
  if (price === null) throw new NonRetryableError(`there is no number in the price \`${detail.price}\``, { code: 'no-price' });
  return {
    url: withoutQuery(url),
    title: detail.title,
    upc,
    price,
    currency: currencyOf(detail.price),
    in_stock: inStock(detail.availability ?? ''),
    rating: ratingOf(detail.rating ?? ''),
    category: detail.category,
  };
}

// The second is the first in UTF-8, read as Latin-1: some shops of this shape declare the wrong charset.
const CURRENCIES = { '£': 'GBP', 'Â£': 'GBP', '€': 'EUR', $: 'USD', '¥': 'JPY' };

/** An ISO 4217 code where the sign is known, else the sign itself; null if there is none. */
export function currencyOf(price) {
  const sign = price.trim().replace(/^[0-9.,\- ]+|[0-9.,\- ]+$/g, '');
  return sign === '' ? null : (CURRENCIES[sign] ?? sign);
}

/** Copies available. A book that is in stock without a number counts as one. */
export function inStock(availability) {
  const counted = between(availability, '(', 'available');
  if (counted !== null && /^[0-9]+$/.test(counted)) return Number(counted);
  return availability.toLowerCase().startsWith('in stock') ? 1 : 0;
}

const STARS = ['one', 'two', 'three', 'four', 'five'];

/** Stars, 1 to 5; null if the page shows none. The rating is a word among the classes: `star-rating Three`. */
export function ratingOf(className) {
  for (const word of className.split(/\s+/)) {
    const stars = STARS.indexOf(word.toLowerCase()) + 1;
    if (stars > 0) return stars;
  }
  return null;
}
