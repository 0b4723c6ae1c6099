// What tests/bench-plugin does, in TypeScript: one query, one item, all links of the same host.

import { createRouter, defineCrawler, text, type CrawlingContext } from 'nephila';

const FIELDS = { title: text('title'), h1: text('h1'), price: text('.price') };

const router = createRouter();

router.addDefaultHandler(({ page, pushData, enqueueLinks }: CrawlingContext): void => {
  pushData({ url: page.url, ...page.extract(FIELDS) });
  enqueueLinks();
});

export default defineCrawler({
  name: 'bench',
  version: '0.1.0',
  description: 'Takes title, h1 and price of every page, for the benchmark.',
  router,
});
