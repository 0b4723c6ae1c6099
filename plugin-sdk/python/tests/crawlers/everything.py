"""Uses all of the SDK; `test_in_the_host.py` builds it and says what is to come out. What a page does is in its query."""

import asyncio
import json
import logging
import random
from dataclasses import dataclass

from nephila import Context, Crawler, Event, FatalError, Glob, Request, RetryRequest, SessionError, SkipRequest, attr, texts

crawler = Crawler(
    name="everything",
    description="Uses all of the SDK.",
    settings={"max_retries": 2},
)


@dataclass
class Item:
    kind: str
    value: object


@crawler.router.use
async def before(context: Context) -> None:
    context.state.increment("middleware")


@crawler.router.default_handler
async def start(context: Context) -> None:
    wanted = [
        "value", "plain", "host", "retry", "skip", "fatal", "await", "gather", "type", "label", "lazy", "exit", "deep", "session",
        "encoding", "surrogate",
    ]
    answers = await context.add_requests(
        [Request.from_url(f"/catalogue/page-1.html?{what}", label=what, user_data={"what": what}) for what in wanted]
    )
    await context.push_data(Item("enqueued", len([answer for answer in answers if answer.refused is None])))
    row = context.page.extract({"title": "title", "hrefs": texts("h3 a"), "first": attr("h3 a", "href")})
    await context.push_data([Item("title", row["title"]), Item("links", len(row["hrefs"]))])
    summary = await context.enqueue_links("h3 a", include=[Glob("**/nothing/**")], limit=3)
    await context.push_data(Item("refused", summary.refused))
    store = await context.get_key_value_store()
    await store.set_value("a", {"b": [1, "ä"]})
    await context.push_data(Item("stored", await store.get_value("a")))
    state = await context.use_state({"seen": [], "gone": 1})
    state["seen"].append(context.request.url.rpartition("/")[2])
    state["set"] = {"a": 1}
    await context.emit("started", {"n": 1})
    await context.crawl.set_status_message("all is well")
    logging.getLogger("other").warning("a warning of %s", "another", extra={"field": 1})
    print("printed without an end", end="")
    await context.push_data(Item("input", context.input))
    await context.push_data(Item("setting", context.setting("max-retries")))


@crawler.router.handler("value")
def value(context: Context) -> None:
    context.session.user_data["visits"] = 1
    context.session.set_cookies(["a=b; Path=/"])
    names = [cookie.name for cookie in context.session.cookies()]
    context.push_data({"kind": "session", "value": [context.session.user_data, names]})
    context.push_data({"kind": "user data", "value": context.request.user_data})
    context.push_data({"kind": "random", "value": random.random()})


@crawler.router.handler("plain")
def plain(context: Context) -> None:
    context.push_data({"kind": "lost", "value": 1})
    helper({"price": "£1"})


def helper(row: dict) -> float:
    return float(row["price"])


@crawler.router.handler("host")
def host(context: Context) -> None:
    context.page.extract({"broken": "h1[["})


@crawler.router.handler("retry")
def again(context: Context) -> None:
    if context.request.retry_count == 0:
        raise RetryRequest("not yet", code="not-yet")
    context.push_data({"kind": "retried", "value": context.request.retry_count})


@crawler.router.handler("skip")
def skip(context: Context) -> None:
    raise SkipRequest("nothing to see", code="no-matter")


@crawler.router.handler("fatal")
def fatal(context: Context) -> None:
    raise FatalError("broken", code="broken")


@crawler.router.handler("await")
async def waits(context: Context) -> None:
    await asyncio.sleep(0)


@crawler.router.handler("gather")
async def gathers(context: Context) -> None:
    await asyncio.gather(context.push_data({"kind": "lost", "value": 2}))


@crawler.router.handler("type")
def wrong_type(context: Context) -> None:
    context.add_requests([{"url": "/x", "priority": 2**40}])


@crawler.router.handler("lazy")
def lazy(context: Context) -> None:
    import colorsys
    from helpers import tools

    context.push_data({"kind": "lazy", "value": [colorsys.rgb_to_hls(0, 0, 0)[0], tools.twice(2)]})
    __import__("chunk" + "ed_nothing")


@crawler.router.handler("exit")
def leaves(context: Context) -> None:
    raise SystemExit(3)


@crawler.router.handler("deep")
def deep(context: Context) -> None:
    deep(context)


@crawler.router.handler("session")
def blocked(context: Context) -> None:
    if context.request.retry_count == 0:
        raise SessionError("who are you")
    context.push_data({"kind": "rotated", "value": True})


@crawler.router.handler("encoding")
def encoding(context: Context) -> None:
    "ä".encode("cp1251x".rstrip("x"))


@crawler.router.handler("surrogate")
def surrogate(context: Context) -> None:
    context.push_data({"kind": "surrogate", "value": json.loads('"\\ud83d!"')})
    context.push_data({"kind": "no json", "value": {1, 2}})


@crawler.failed_request_handler
async def failed(context: Context, error: Exception) -> None:
    await context.push_data({"kind": "failed", "value": [context.request.label, error.code, error.message]}, "failures")


@crawler.on("started", "crawlStarted")
def heard(context) -> None:
    event: Event = context.event
    context.push_data({"kind": "heard", "value": [event.name, event.payload if event.name == "started" else None]}, "heard")


@crawler.on_finish
async def finished(context) -> None:
    count = 0
    async for _ in context.get_dataset().iterate_items():
        count += 1
    state = await context.use_state()
    await context.push_data({"kind": "state", "value": [state["seen"], "set" in state, state.get("gone", 0), sorted(state)]})
    await context.push_data({"kind": "count", "value": count})


@crawler.create_session
def new_session(context) -> dict:
    return {"made": True}
