// Collects quotes with their authors and tags.

import { createRouter, defineCrawler, text, texts } from 'nephila';

import { clean } from './quote.js';

interface Quote {
  text: string;
  author: string;
  tags: string[];
}

const router = createRouter();

const FIELDS = { text: text('.text').required().map(clean), author: text('.author').required(), tags: texts('.tag') };

router.addDefaultHandler(({ page, pushData, enqueueLinks }) => {
  const quotes: Quote[] = page.extractEach('.quote', FIELDS);
  pushData(quotes);
  enqueueLinks({ selector: 'li.next a' });
});

export default defineCrawler({
  name: '{{name}}',
  version: '0.1.0',
  description: 'Collects quotes with their authors and tags.',
  router,
});
