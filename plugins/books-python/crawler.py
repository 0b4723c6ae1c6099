"""Crawls a bookshop of the shape of books.toscrape.com.

Two kinds of pages: a *listing* leads to books and to the next listing, a *detail* page is a book. Details have the higher
priority, so that the queue stays as short as one listing instead of growing to the whole shop.
"""

from nephila import Context, Crawler

import book

crawler = Crawler(
    name="books",
    version="0.1.0",
    description="Collects every book of a shop shaped like books.toscrape.com, with price, stock, rating and category.",
)


@crawler.router.default_handler
@crawler.router.handler("listing")
async def listing(context: Context) -> None:
    await context.enqueue_links("article.product_pod h3 a", label="detail", priority=1)
    await context.enqueue_links("li.next a", label="listing")


@crawler.router.handler("detail")
async def detail(context: Context) -> None:
    page = context.page.extract(book.FIELDS)
    product = context.page.extract_each("table tr", book.PRODUCT_FIELDS)

    found = book.read(context.page.url, page, product)
    await context.push_data(found)
    await context.state.increment(f"category:{found.category}")
