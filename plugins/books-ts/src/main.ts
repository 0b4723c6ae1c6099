// Crawls a bookshop of the shape of books.toscrape.com.
//
// Two kinds of pages: a *listing* leads to books and to the next listing, a *detail* page is a book. Details have the higher
// priority, so that the queue stays as short as one listing instead of growing to the whole shop.

import { createRouter, defineCrawler, type CrawlingContext } from 'nephila';

import { bookOf, DETAIL, PRODUCT } from './book.ts';

const router = createRouter();

async function listing({ enqueueLinks }: CrawlingContext): Promise<void> {
  await enqueueLinks({ selector: 'article.product_pod h3 a', label: 'detail', priority: 1 });
  await enqueueLinks({ selector: 'li.next a', label: 'listing' });
}

router.addDefaultHandler(listing);
router.addHandler('listing', listing);

router.addHandler('detail', async ({ page, pushData, state }) => {
  const book = bookOf(page.url, page.extract(DETAIL), page.extractEach('table tr', PRODUCT));
  await pushData(book);
  state.increment(`category:${book.category}`);
});

export default defineCrawler({
  name: 'books',
  version: '0.1.0',
  description: 'Collects every book of a shop shaped like books.toscrape.com, with price, stock, rating and category.',
  router,
});
