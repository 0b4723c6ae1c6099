"""Handles no pages; it takes part in the crawls of others, with `--pipeline`."""

from nephila import Crawler, DropItem

crawler = Crawler(name="only-items", description="Takes the books of a crawl, each once, with their address.")


@crawler.process_item
def judge(item, context):
    if item["kind"] != "book":
        raise DropItem("no-book")
    if item["stars"] == "Two":
        context.push_data(item)
    return {"title": item["title"], "price": item["price"], "url": context.url, "input": context.input}
