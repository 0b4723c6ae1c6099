"""What tests/bench-plugin does, in Python: one query, one item, all links of the same host."""

from nephila import Context, Crawler

crawler = Crawler(
    name="bench", version="0.1.0", description="Takes title, h1 and price of every page, for the benchmark."
)

FIELDS = {"title": "title", "h1": "h1", "price": ".price"}


@crawler.router.default_handler
async def page(context: Context) -> None:
    await context.push_data({"url": context.page.url, **context.page.extract(FIELDS)})
    await context.enqueue_links()
