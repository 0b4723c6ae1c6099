"""Adds a session, shares auto-saved values, and looks at its own items; `test_in_the_host.py` says what is to come out."""

from nephila import Context, Crawler, DropItem, ItemContext, RejectItem, Request, attr, strings

crawler = Crawler(name="accounts", description="Adds a session, shares values, looks at its own items.")


@crawler.router.default_handler
async def start(context: Context) -> None:
    account = await context.add_session({"account": 7}, id="account-7", cookies=["token=1; Path=/"])
    made_up = await context.add_session(cookies={"/catalogue/": ["token=2; Path=/"]})
    await context.add_requests([
        Request.from_url("/catalogue/page-2.html?account", label="ACCOUNT", session_id=account),
        Request.from_url("/catalogue/page-2.html?other", label="ACCOUNT", session_id=made_up),
        Request.from_url("/catalogue/page-2.html?twice", label="TWICE"),
        Request.from_url("/catalogue/page-2.html?bad", label="BAD"),
    ])  # fmt: skip
    await context.enqueue_links("h3 a", label="BOOK")


@crawler.router.handler("ACCOUNT")
def account(context: Context) -> None:
    session = context.session
    value = [session.id == "account-7", session.user_data, [f"{cookie.name}={cookie.value}" for cookie in session.cookies()]]
    context.push_data({"kind": "account", "value": value})


@crawler.router.handler("TWICE")
def twice(context: Context) -> None:
    context.add_session(id="account-7")


@crawler.router.handler("BAD")
def bad(context: Context) -> None:
    context.push_data([{"kind": "lost"}, {"kind": "bad"}])


@crawler.router.handler("BOOK")
async def book(context: Context) -> None:
    row = context.page.extract({"title": "h1", "price": ".price_color", "stars": attr("p.star-rating", "class")})
    stars = row["stars"].split()[-1]
    counts = await (await context.get_key_value_store()).get_auto_saved_value("stars")
    counts[stars] = counts.get(stars, 0) + 1
    await context.push_data({"kind": "book", **row, "stars": stars})


@crawler.process_item
async def tidy(item: dict, context: ItemContext) -> None:
    if item["kind"] == "bad":
        raise RejectItem("this is no book")
    if item["kind"] == "book":
        context.state.increment("books")
        if item["stars"] == "One":
            raise DropItem("bad-book")
        item["price"] = strings.number(item["price"])


@crawler.on_finish
def finished(context) -> None:
    context.push_data({"kind": "stars", "value": context.get_key_value_store().auto_saved("stars")})
    context.get_key_value_store().set_auto_saved_value("finished", {"yes": True})
