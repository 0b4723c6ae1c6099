// A book, and how it is read from its page. No host is needed for that.

import { attr, between, firstNumber, NonRetryableError, text, withoutQuery, type Row } from 'nephila';

/** What is pushed for every book. */
export interface Book {
  /** The page's final URL, without a query: a page that was reached through a redirect gives the same row. */
  url: string;
  title: string;
  /** The shop's own number for the book. */
  upc: string;
  price: number;
  /** An ISO 4217 code where the sign is known, else the sign itself; null if there is none. */
  currency: string | null;
  /** Copies available. A book that is in stock without a number counts as one. */
  in_stock: number;
  /** Stars, 1 to 5; null if the page shows none. */
  rating: number | null;
  category: string;
}

/** Where the texts of a detail page are. */
export const DETAIL = {
  title: text('h1').required(),
  price: text('.price_color').required(),
  availability: text('.availability'),
  rating: attr('p.star-rating', 'class'),
  category: text('ul.breadcrumb li:nth-child(3)').required(),
};

/** The rows of the table of product information. */
export const PRODUCT = { name: text('th'), value: text('td') };

export function bookOf(url: string, detail: Row<typeof DETAIL>, product: Row<typeof PRODUCT>[]): Book {
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
const CURRENCIES: Record<string, string> = { '£': 'GBP', 'Â£': 'GBP', '€': 'EUR', $: 'USD', '¥': 'JPY' };

export function currencyOf(price: string): string | null {
  const sign = price.trim().replace(/^[0-9.,\- ]+|[0-9.,\- ]+$/g, '');
  return sign === '' ? null : (CURRENCIES[sign] ?? sign);
}

export function inStock(availability: string): number {
  const counted = between(availability, '(', 'available');
  if (counted !== null && /^[0-9]+$/.test(counted)) return Number(counted);
  return availability.toLowerCase().startsWith('in stock') ? 1 : 0;
}

const STARS = ['one', 'two', 'three', 'four', 'five'];

/** The rating is a word among the classes: `star-rating Three`. */
export function ratingOf(className: string): number | null {
  for (const word of className.split(/\s+/)) {
    const stars = STARS.indexOf(word.toLowerCase()) + 1;
    if (stars > 0) return stars;
  }
  return null;
}
