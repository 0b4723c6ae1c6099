"""A request as a handler gets it (`Request`), and as a handler asks for it (`NewRequest`)."""

from __future__ import annotations

import datetime
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple, Union

from nephila import _check, _json
from nephila._wit import types
from nephila.page import headers_by_name

Statuses = Iterable[Union[int, Tuple[int, int]]]


class NewRequest:
    """A request to be made; `add_requests` takes it. Crawlee's `Request.from_url` makes it, too."""

    __slots__ = ("wit",)

    def __init__(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Optional[Mapping[str, str]] = None,
        payload: Union[bytes, str, None] = None,
        label: Optional[str] = None,
        user_data: Any = None,
        priority: int = 0,
        forefront: bool = False,
        unique_key: Optional[str] = None,
        always_enqueue: bool = False,
        session_id: Optional[str] = None,
        renderer: str = "http",
        accepted_statuses: Statuses = (),
        max_retries: Optional[int] = None,
        no_retry: bool = False,
        timeout: Union[float, datetime.timedelta, None] = None,
    ) -> None:
        """A page to fetch.

        Args:
            url: Absolute, or resolved against the page in hand.
            method: `GET`, `HEAD`, `POST`, `PUT`, `DELETE`, `OPTIONS` or `PATCH`.
            headers: Extra header fields; they win over the host's own.
            payload: The request body. It is part of the request's identity, like the URL and the method.
            label: What the router dispatches on.
            user_data: Data that comes back with the request.
            priority: Higher goes first.
            forefront: Before every other request of the same site and priority; last in, first out.
            unique_key: The request's identity, instead of the one that URL, method and payload give.
            always_enqueue: Accept the request even if its URL was seen. Not together with `unique_key`.
            session_id: The session that must serve the request.
            renderer: `http`, or `browser`, which is refused by hosts that have none.
            accepted_statuses: Statuses that reach the handler: `[404, (500, 599)]`. Without any: 200 to 299.
            max_retries: Retries at most, instead of the crawl's setting.
            no_retry: Fail at the first error.
            timeout: Seconds for the whole fetch, instead of the crawl's setting.
        """
        self.wit = types.NewRequest(
            url=_check.text("a request's url", url),
            method=_one_of(types.Method, "method", method),
            headers=_check.headers(headers),
            payload=None if payload is None else _check.octets("payload", payload),
            label=_check.optional_text("label", label),
            user_data=None if user_data is None else _json.write("the user data of a request", user_data),
            priority=_check.whole("priority", priority, _check.I32),
            forefront=_check.truth("forefront", forefront),
            unique_key=_check.optional_text("unique_key", unique_key),
            session_id=_check.optional_text("session_id", session_id),
            renderer=_one_of(types.Renderer, "renderer", renderer),
            accepted_statuses=[_range(status) for status in accepted_statuses],
            max_retries=_check.optional_whole("max_retries", max_retries, _check.U32),
            no_retry=_check.truth("no_retry", no_retry),
            always_enqueue=_check.truth("always_enqueue", always_enqueue),
            timeout_millis=_check.millis("timeout", timeout),
            extra_json=None,
        )

    @property
    def url(self) -> str:
        return self.wit.url

    def __repr__(self) -> str:
        return f"NewRequest({self.wit.url!r}, label={self.wit.label!r})"


class Request:
    """The request being handled."""

    def __init__(self, raw: types.Request) -> None:
        self.raw = raw
        self._user_data: Any = None

    from_url = NewRequest
    """A new request: `Request.from_url(url, label="DETAIL")`."""

    @property
    def url(self) -> str:
        """The URL that was asked for; after a redirect to another site, the one it was moved to."""
        return self.raw.url

    @property
    def original_url(self) -> str:
        """The URL that was enqueued, before any redirect."""
        return self.raw.original_url

    @property
    def method(self) -> str:
        return self.raw.method.name

    @property
    def headers(self) -> Dict[str, str]:
        """Extra header fields that were asked for, by their names in lower case."""
        return headers_by_name(self.raw.headers)

    @property
    def payload(self) -> Optional[bytes]:
        return self.raw.payload

    @property
    def label(self) -> Optional[str]:
        """What the router dispatches on."""
        return self.raw.label

    @property
    def user_data(self) -> Any:
        """The data that was enqueued with the request; an empty dict if there was none. Changes to it are not kept."""
        if self._user_data is None:
            written = self.raw.user_data
            self._user_data = {} if written is None else _json.read("the request's user data", written)
        return self._user_data

    @property
    def priority(self) -> int:
        return self.raw.priority

    @property
    def crawl_depth(self) -> int:
        """Links between a start URL (0) and this request."""
        return self.raw.depth

    @property
    def unique_key(self) -> str:
        """Its identity: 32 hexadecimal digits."""
        return self.raw.unique_key

    @property
    def session_id(self) -> Optional[str]:
        """The session that must serve it."""
        return self.raw.session_id

    @property
    def retry_count(self) -> int:
        """Retries so far; 0 on the first attempt."""
        return self.raw.retry_count

    @property
    def max_retries(self) -> int:
        return self.raw.max_retries

    @property
    def no_retry(self) -> bool:
        return self.raw.no_retry

    def __repr__(self) -> str:
        return f"Request({self.raw.url!r}, label={self.raw.label!r})"


def new_requests(requests: Any) -> List[types.NewRequest]:
    """What `add_requests` takes: URLs, `NewRequest`s, and dicts of what `NewRequest` takes."""
    if isinstance(requests, (str, NewRequest, Mapping)):
        requests = [requests]
    if not isinstance(requests, Iterable):
        raise TypeError(f"requests are to be a list, not {type(requests).__name__}")
    wanted = []
    for request in requests:
        if isinstance(request, str):
            request = NewRequest(request)
        elif isinstance(request, Mapping):
            request = NewRequest(**request)
        if not isinstance(request, NewRequest):
            raise TypeError(f"each request is to be a URL or a `Request.from_url(…)`, not {type(request).__name__}")
        wanted.append(request.wit)
    return wanted


def _range(status: Any) -> types.StatusRange:
    first, last = status if isinstance(status, (tuple, list)) and len(status) == 2 else (status, status)
    limits = (100, 599)
    return types.StatusRange(
        _check.whole("each of accepted_statuses", first, limits), _check.whole("each of accepted_statuses", last, limits)
    )


def _one_of(kind: Any, what: str, value: Any) -> Any:
    name = value.upper().replace("-", "_") if isinstance(value, str) else None
    if name not in kind.__members__:
        known = ", ".join(f"`{member.replace('_', '-')}`" for member in kind.__members__)
        raise ValueError(f"{what} is to be one of {known}, not {value!r}")
    return kind[name]
