// Collects quotes with their authors and tags.

import { createRouter, defineCrawler, text, texts } from 'nephila';

import { clean } from './quote.js';

const router = createRouter();

const FIELDS = { text: text('.text').required().map(clean), author: text('.author').required(), tags: texts('.tag') };

router.addDefaultHandler(({ page, pushData, enqueueLinks }) => {
  pushData(page.extractEach('.quote', FIELDS));
  enqueueLinks({ selector: 'li.next a' });
});

export default defineCrawler({
  name: '{{name}}',
  version: '0.1.0',
  description: 'Collects quotes with their authors and tags.',
  router,
});
