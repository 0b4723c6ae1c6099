"""The plugin itself: what it is called, where it starts, and what is called when."""

from __future__ import annotations

import re
from typing import Any, Callable, ClassVar, Dict, Iterable, List, Mapping, NoReturn, Optional, TypeVar, Union

from nephila import _check, _elsewhere, _json, crawl as _crawl
from nephila._log import log
from nephila._ready import Done
from nephila.router import Router, checked, name_of, takes

F = TypeVar("F", bound=Callable[..., Any])

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?\Z")

_ARGUMENTS = ("name", "version", "description", "start_urls", "settings", "request_handler")

ENTRY_POINTS = ("handler", "manifest", "failure", "finish", "listener", "sessions", "pipeline")


class Crawler:
    """A crawler. One is made at the top of the plugin's file.

        crawler = Crawler(name="quotes", description="Collects quotes with their authors.")

        @crawler.router.default_handler
        async def quotes(context: Context) -> None:
            for quote in context.page.extract_each(".quote", {"text": ".text", "author": ".author"}):
                await context.push_data(quote)
            await context.enqueue_links("li.next a")
    """

    made: ClassVar[List["Crawler"]] = []

    def __init__(
        self,
        *,
        name: str,
        version: str = "0.1.0",
        description: str = "",
        start_urls: Iterable[str] = (),
        settings: Optional[Mapping[str, Any]] = None,
        request_handler: Optional[Callable[..., Any]] = None,
        **others: NoReturn,
    ) -> None:
        """Says what the plugin is.

        Args:
            name: Lower-case letters, digits and inner hyphens, at most 64.
            version: For people.
            description: One sentence.
            start_urls: Where a crawl starts when the operator names no URL.
            settings: Defaults for settings of docs/settings.md: `{"delay": 0.5, "max-depth": 3}`. The operator may override them.
            request_handler: The default handler, if it is not given with `@crawler.router.default_handler`.
        """
        _elsewhere.refuse_arguments(others, _ARGUMENTS)
        self.name = _check.text("the crawler's name", name)
        if not _NAME.match(self.name):
            raise ValueError(f"the crawler's name is to be of lower-case letters, digits and inner hyphens, at most 64, not {name!r}")
        self.version = _check.text("the crawler's version", version)
        self.description = _check.text("the crawler's description", description)
        self.start_urls = _check.texts("start_urls", start_urls)
        self.settings: Dict[str, str] = {}
        if settings is not None and not isinstance(settings, Mapping):
            raise TypeError(f"settings are to be a dict, not {type(settings).__name__}")
        for key, value in (settings or {}).items():
            setting = _check.text("a setting's name", key).replace("_", "-")
            self.settings[setting] = _json.write(f"the setting `{setting}`", value)
        self.router = Router()
        if request_handler is not None:
            self.router.default_handler(request_handler)
        self.log = log
        self._on_failure: Optional[Callable[..., Any]] = None
        self._on_finish: Optional[Callable[..., Any]] = None
        self._on_events: Dict[str, List[Callable[..., Any]]] = {}
        self._create_session: Optional[Callable[..., Any]] = None
        self._process_item: Optional[Callable[..., Any]] = None
        Crawler.made.append(self)

    def failed_request_handler(self, handler: F) -> F:
        """Is called with a context and an error when a request is given up. Its effects commit with the failure.

        The error is a `RequestFailed` with `code`, `message`, `attempts` and `status`.
        """
        self._once("failed_request_handler", self._on_failure)
        self._on_failure = checked("failed_request_handler", handler, 1 if takes(handler, 1) else 2)
        return handler

    def on_finish(self, handler: F) -> F:
        """Is called once, when the queue is empty. May read datasets, and may add requests: then the crawl goes on.

        A start that ends at a limit or by a stop, with requests that are pending, does not call it; the one that does the last of them will.
        """
        self._once("on_finish", self._on_finish)
        self._on_finish = checked("on_finish", handler, 0 if takes(handler, 0) else 1)
        return handler

    def on(self, *events: str) -> Callable[[F], F]:
        """Hears events: the host's (`persistState`, `systemInfo`, `crawlerStatus`, `requestFailed` …) and those that handlers emit.

        One instance hears all events of a crawl, one after another, and keeps its memory between them, until it crashes or runs
        into a limit; what must not be lost belongs in the state.
        """
        if not events or callable(events[0]):
            raise TypeError('a listener needs the name of an event: `@crawler.on("persistState")`')
        names = [_check.text("an event's name", event) for event in events]

        def register(handler: F) -> F:
            checked(f"on({names[0]!r})", handler, 0 if takes(handler, 0) else 1)
            for name in names:
                self._on_events.setdefault(name, []).append(handler)
            return handler

        return register

    def create_session(self, handler: F) -> F:
        """Is called when another session is wanted, and returns what it keeps: a dict (Crawlee: `create_session_function`)."""
        self._once("create_session", self._create_session)
        self._create_session = checked("create_session", handler, 0 if takes(handler, 0) else 1)
        return handler

    def process_item(self, handler: F) -> F:
        """Is called with each item on its way to its dataset, and a context (Scrapy: `process_item`).

        What it returns passes instead of the item; if it returns nothing, the item passes with what was changed in it.
        `raise DropItem("no-price")` leaves it out, `raise RejectItem("…")` fails the page that pushed it, as any other exception does.

        It sees the items of this plugin's crawls, and of those that are started with it (`nephila run OTHER --pipeline THIS`), after
        the page was handled and before anything of it is committed. One sandbox sees all items of a page, in order.
        """
        self._once("process_item", self._process_item)
        self._process_item = checked("process_item", handler, 1 if takes(handler, 1) else 2)
        return handler

    def stop(self, reason: str = "Stop was called externally.") -> Done[None]:
        """Ends the crawl once the pages in hand are done; what is pending stays."""
        return _crawl.stop(reason)

    def set_status_message(self, message: str) -> Done[None]:
        """Sets the status message that people see."""
        return _crawl.set_status_message(message)

    def run(self, *_: Any, **__: Any) -> NoReturn:
        raise RuntimeError("the host runs a crawler: `nephila run crawler.py URL`. Leave `crawler.run()` out")

    @property
    def entry_points(self) -> List[str]:
        """The interfaces that the component is to export: what is not used is not exported, so that the host never calls it."""
        used: Dict[str, Union[bool, Any]] = {
            "handler": not self.router.is_empty,
            "manifest": True,
            "failure": self._on_failure,
            "finish": self._on_finish,
            "listener": self._on_events,
            "sessions": self._create_session,
            "pipeline": self._process_item,
        }
        return [name for name in ENTRY_POINTS if used[name]]

    @property
    def subscriptions(self) -> List[str]:
        return list(self._on_events)

    @staticmethod
    def _once(what: str, before: Optional[Callable[..., Any]]) -> None:
        if before is not None:
            raise ValueError(f"there are two functions for `{what}`: `{name_of(before)}` is the first")
