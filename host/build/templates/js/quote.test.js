import assert from 'node:assert/strict';
import { test } from 'node:test';

import { clean } from './quote.js';

test('quotation marks are left away', () => {
  assert.equal(clean(' “To be, or not to be” '), 'To be, or not to be');
  assert.equal(clean('plain'), 'plain');
});
