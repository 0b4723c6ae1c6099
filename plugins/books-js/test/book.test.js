import assert from 'node:assert/strict';
import { test } from 'node:test';

import { bookOf, currencyOf, inStock, ratingOf } from '../src/book.js';

const UPC = [{ name: 'UPC', value: 'a897fe39b1053632' }];
const DETAIL = { title: 'Emma', price: '£51.77', availability: 'In stock (22 available)', rating: 'star-rating Three', category: 'Fiction' };

test('a detail page becomes a book', () => {
  assert.deepEqual(bookOf('http://shop/catalogue/emma_1/index.html?moved=1', DETAIL, UPC), {
    url: 'http://shop/catalogue/emma_1/index.html', title: 'Emma', upc: 'a897fe39b1053632', price: 51.77, currency: 'GBP', in_stock: 22, rating: 3, category: 'Fiction',
  });
});

test('a page without a price or a UPC fails with a code of its own', () => {
  assert.throws(() => bookOf('http://shop/', { ...DETAIL, price: 'ask' }, UPC), { code: 'no-price' });
  assert.throws(() => bookOf('http://shop/', DETAIL, []), { code: 'no-upc' });
});

test('signs, stock and stars are read', () => {
  assert.deepEqual(['Â£51.77', '12,50 kr', '51.77', '€ 5'].map(currencyOf), ['GBP', 'kr', null, 'EUR']);
  assert.deepEqual(['In stock', 'Out of stock', '', 'In stock (3 available)'].map(inStock), [1, 0, 0, 3]);
  assert.deepEqual(['star-rating Five', 'star-rating', ''].map(ratingOf), [5, null, null]);
});
