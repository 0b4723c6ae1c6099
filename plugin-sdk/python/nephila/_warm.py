"""Uses the SDK before the first page does, while the component is built.

A page begins with the memory that the build leaves, in which what Python's interpreter learns of a function at its first calls is then
there already. Otherwise each page would learn, and write, the same again, and pay for every piece of memory that it writes to.
Nothing of the author's is called, and no host is there: what would call it is replaced meanwhile.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Callable, List, Tuple

from nephila import _guard
from nephila._wit import dataset, log, page, queue, state, types
from nephila.crawler import Crawler
from nephila.fields import attr, texts

ROUNDS = 40

_META = types.PageMeta("http://a/", 200, [], "text/html", "UTF-8", [], types.Timings(1, 1), 1, None)
_REQUEST = types.Request(
    "http://a/", "http://a/", types.Method.GET, [], None, None, None, 0, 0, "0", None, types.Renderer.HTTP, [], 0, 3, False, 60_000, 0, None
)


class _Document:
    def meta(self) -> types.PageMeta:
        return _META

    def title(self) -> str:
        return "a"

    def extract(self, fields: List[page.Field]) -> List[page.FieldValue]:
        return [page.FieldValue(field.name, ["a", "ä"]) for field in fields]

    def extract_each(self, item: str, fields: List[page.Field]) -> List[List[page.FieldValue]]:
        return [self.extract(fields), self.extract(fields)]


class _Call:
    def request(self) -> types.Request:
        return _REQUEST

    def document(self) -> _Document:
        return _Document()


def _nothing(*_: Any) -> None:
    return None


_REPLACED: List[Tuple[Any, str, Callable[..., Any]]] = [
    (dataset, "push", _nothing),
    (queue, "enqueue", lambda requests: [queue.Enqueued("0", False, None) for _ in requests]),
    (queue, "enqueue_links", lambda options: queue.LinkSummary(1, 1, 0, 0)),
    (state, "get", lambda key: "1"),
    (state, "set", _nothing),
    (state, "increment", _nothing),
    (log, "write", _nothing),
]


def warm() -> None:
    """Handles a page that is none, some times over."""
    real = [(module, name, getattr(module, name)) for module, name, _ in _REPLACED]
    made = list(Crawler.made)
    try:
        for module, name, replacement in _REPLACED:
            setattr(module, name, replacement)
        crawler = Crawler(name="warm")
        crawler.router.default_handler(_page)
        crawler.process_item(_item)
        for _ in range(ROUNDS):
            _guard.handle(crawler, _Call())  # type: ignore[arg-type]
            _guard.process_item(crawler, SimpleNamespace(dataset=None, json='{"a":1}', url="http://a/"))
    finally:
        for module, name, function in real:
            setattr(module, name, function)
        Crawler.made[:] = made


def _item(item: Any, context: Any) -> Any:
    context.state["a"] = 2
    return {**item, "b": 1}


async def _page(context: Any) -> None:
    fields = {"a": "a", "b": attr("a", "href"), "c": texts("a")}
    row = context.page.extract(fields)
    context.page.extract_each("a", fields)
    await context.push_data({"url": context.page.url, "n": 1, "f": 1.5, "o": None, **row})
    await context.enqueue_links("a", label="a", priority=1, user_data={"a": 1})
    await context.add_requests(["/a"])
    await context.state.increment("a")
    found = await context.use_state({"b": 1})
    found["a"] = found["a"] + 1
    context.log.info("a %s", 1)
