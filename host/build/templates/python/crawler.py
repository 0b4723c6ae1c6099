"""Collects quotes with their authors and tags."""

from nephila import Context, Crawler, texts

from quote import clean

crawler = Crawler(name="{{name}}", version="0.1.0", description="Collects quotes with their authors and tags.")


@crawler.router.default_handler
async def quotes(context: Context) -> None:
    for quote in context.page.extract_each(".quote", {"text": ".text", "author": ".author", "tags": texts(".tag")}):
        await context.push_data({**quote, "text": clean(quote.get_text("text"))})
    await context.enqueue_links("li.next a")
