"""What a handler is called with."""

from __future__ import annotations

import logging
from types import ModuleType
from typing import TYPE_CHECKING, Any, Iterable, List, Mapping, NoReturn, Optional

from nephila import _check, _elsewhere, _json, crawl as _crawl, links as _links
from nephila._log import log as _log
from nephila._ready import Done, ReadyList, ReadyText
from nephila._wit import call, config, context as wit, events, queue, session as wit_session
from nephila.auto_saved import AutoSaved
from nephila.dataset import Dataset
from nephila.errors import HostError, RequestFailed
from nephila.key_value import KeyValueStore
from nephila.links import LinkSummary, Pattern
from nephila.page import Page
from nephila.request import Request, new_requests
from nephila.session import Cookies, Session, addition
from nephila.state import State

Enqueued = queue.Enqueued
RequestStatus = queue.RequestStatus
RequestState = queue.RequestState


class SessionContext:
    """What `create_session` is called with: the crawl's input and settings."""

    log: logging.Logger = _log
    """The crawler's log. The standard `logging` and `print` go to the same place."""

    def __init__(self) -> None:
        self._input: Any = None
        self._input_known = False

    @property
    def input(self) -> Any:
        """The plugin's input (`--input`); `None` if there is none."""
        if not self._input_known:
            self._input = _json.read("the input", config.input())
            self._input_known = True
        return self._input

    def setting(self, name: str) -> Any:
        """The value of a setting of docs/settings.md; `None` if there is no such setting."""
        return _json.read(f"the setting `{name}`", config.setting(_check.text("a setting's name", name)))

    def flush(self) -> None:
        """Writes what was changed in dicts that the handler got; it is called when the handler ends."""

    def flush_session(self) -> None:
        """The same for what holds also if the call fails."""


class BaseContext(SessionContext):
    """What every handler can do. `FinishContext` has no more."""

    crawl: ModuleType = _crawl
    """`stop(reason)` and `set_status_message(message)`."""

    def __init__(self) -> None:
        super().__init__()
        self._state: Optional[State] = None
        self._auto_saved: Optional[AutoSaved] = None

    def push_data(self, data: Any, dataset_name: Optional[str] = None) -> Done[None]:
        """Appends an item (a dict, a data class …), or a list of items, to the crawl's default dataset, or to a named one."""
        return Dataset(dataset_name).push_data(data)

    def add_requests(self, requests: Any) -> ReadyList[Enqueued]:
        """Enqueues requests: URLs, or what `Request.from_url(url, label=…)` makes. One answer each, in order."""
        return ReadyList(call(queue.enqueue, new_requests(requests)))

    def lookup(self, urls: Iterable[str]) -> List[Optional[RequestStatus]]:
        """What the queue knows of URLs; one answer each, in order, `None` for one that was never accepted."""
        return call(queue.lookup, _check.texts("urls", urls))

    @property
    def state(self) -> State:
        """The state that all handlers share: a dict, with `increment`, `append` and `max` beside."""
        if self._state is None:
            self._state = State()
        return self._state

    def use_state(self, default_value: Optional[Mapping[str, Any]] = None) -> State:
        """The state that all handlers share. What is missing in it reads as in `default_value`.

        What is changed is saved when the handler ends, together with the page; if another handler was quicker, this one runs again.
        """
        return self.state.with_defaults(default_value)

    def get_dataset(self, name: Optional[str] = None) -> Dataset:
        """A named dataset, or by default the crawl's own."""
        return Dataset(name)

    def get_key_value_store(self, name: Optional[str] = None) -> KeyValueStore:
        """A named key-value store, or by default the crawl's own."""
        if self._auto_saved is None:
            self._auto_saved = AutoSaved()
        return KeyValueStore(name, self._auto_saved)

    def add_session(self, user_data: Any = None, *, id: Optional[str] = None, cookies: Cookies = ()) -> ReadyText:
        """Adds a session to the crawl's pool, and gives its id, for `session_id=` of a request (Crawlee: `SessionPool.add_session`).

        It is there when the call is committed, and not if the handler fails. It works without a session of the call's own.

        Args:
            user_data: What it keeps: a dict or a data class, at most 64 KiB.
            id: 1 to 128 bytes without control characters; without it, one is made up.
            cookies: `Set-Cookie` header fields, as if the page had come with them: `["token=1; Path=/"]`; or a dict of such lists by
                URL. What a URL may not set is passed over.
        """
        return ReadyText(call(wit_session.add, addition(user_data, id, cookies)))

    def emit(self, event: str, payload: Any = None) -> Done[None]:
        """Emits an event. It is delivered after the call's commit."""
        name = _check.text("an event's name", event)
        call(events.emit, name, _json.write(f"the payload of the event `{name}`", payload))
        return Done(None)

    def flush(self) -> None:
        if self._state is not None:
            self._state.flush()
        if self._auto_saved is not None:
            self._auto_saved.flush()


class FinishContext(BaseContext):
    """What `on_finish` is called with. It may read datasets, and may add requests: then the crawl goes on."""


class Context(BaseContext):
    """What a page's handler is called with."""

    def __init__(self, raw: wit.Call) -> None:
        super().__init__()
        self._raw = raw
        self._request: Optional[Request] = None
        self._page: Optional[Page] = None
        self._session: Optional[Session] = None
        self._session_known = False

    @property
    def request(self) -> Request:
        """The request being handled."""
        if self._request is None:
            self._request = Request(self._raw.request())
        return self._request

    @property
    def page(self) -> Page:
        """The page that was fetched for it. `HostError` with the code `no-page` where there is none."""
        if self._page is None:
            self._page = Page(call(self._raw.document))
        return self._page

    @property
    def document(self) -> Page:
        """The same as `page`."""
        return self.page

    @property
    def session(self) -> Optional[Session]:
        """The session that fetched the page; `None` where there is none."""
        if not self._session_known:
            try:
                self._session = Session(call(wit_session.id))
            except HostError as error:
                if error.code != "no-session":
                    raise
            self._session_known = True
        return self._session

    def enqueue_links(
        self,
        selector: Optional[str] = None,
        *,
        label: Optional[str] = None,
        user_data: Any = None,
        strategy: str = "same-hostname",
        include: Iterable[Pattern] = (),
        exclude: Iterable[Pattern] = (),
        limit: Optional[int] = None,
        priority: int = 0,
        forefront: bool = False,
    ) -> LinkSummary:
        """Enqueues links of the page.

        Args:
            selector: Only the `href`, or else `src`, of elements that this matches. Without it: `a[href]` and `area[href]`.
            label: The label of the new requests.
            user_data: Data that comes back with each of them.
            strategy: `all`, `same-domain`, `same-hostname` or `same-origin`.
            include: If any are given, a URL must match one of these globs or compiled patterns.
            exclude: A URL that matches one of these is refused, whatever else matches.
            limit: New requests at most; links that were known already do not count.
            priority: Higher goes first.
            forefront: Before every other request of the same site and priority.
        """
        wanted = _links.options(selector, strategy, include, exclude, label, user_data, priority, forefront, limit)
        return LinkSummary(call(queue.enqueue_links, wanted))

    def flush_session(self) -> None:
        if self._session is not None:
            self._session.flush()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            _elsewhere.refuse_attribute(self, "the context", name, _elsewhere.OF_CONTEXT)


class FailureContext(Context):
    """What `failed_request_handler` is called with. There may be no page."""

    def __init__(self, raw: wit.Call, failure: RequestFailed) -> None:
        super().__init__(raw)
        self.failure = failure
        """Why the request was given up."""


class Event:
    """Something that happened."""

    def __init__(self, raw: Any) -> None:
        self.id: str = raw.id
        """What tells it from all others of the crawl. An event that is heard once more has the same one."""
        self.name: str = raw.name
        self.created_at: str = raw.created_at
        """When it was emitted: RFC 3339, UTC."""
        self._payload: str = raw.payload

    @property
    def payload(self) -> Any:
        """What is said about it."""
        return _json.read(f"the payload of the event `{self.name}`", self._payload)

    def __repr__(self) -> str:
        return f"Event({self.name!r}, {self._payload})"


class EventContext(BaseContext):
    """What a listener is called with. There is no page and no session."""

    def __init__(self, event: Event) -> None:
        super().__init__()
        self.event = event

    def on(self, event: str) -> Done[None]:
        """Hears an event from now on. It holds at once, also if the call fails, and until the instance is gone."""
        call(events.on, _check.text("an event's name", event))
        return Done(None)

    def off(self, event: str) -> Done[None]:
        """Hears an event no more."""
        call(events.off, _check.text("an event's name", event))
        return Done(None)


class ItemContext(BaseContext):
    """What `process_item` is called with beside the item.

    It may read all that a handler may, keep state, write to the log and say something of the crawl. Whatever else has an effect is
    refused with the code `not-in-pipeline`. There is no page and no session.
    """

    def __init__(self, raw: Any) -> None:
        super().__init__()
        self.dataset_name: Optional[str] = raw.dataset
        """The dataset that the item was pushed to; `None` for the crawl's own."""
        self.url: Optional[str] = raw.url
        """The URL of the page in hand, or of the request that was given up; `None` for what `on_finish` or a listener pushed."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            if name in ("page", "document", "request", "session", "enqueue_links"):
                raise AttributeError(
                    f"there is no `{name}` in process_item: the page is handled already; what an item needs of it, a handler pushes with it"
                )
            raise AttributeError(f"'ItemContext' object has no attribute '{name}'", name=name, obj=self)
