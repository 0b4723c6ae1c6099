"""Exceptions: what a call into the host answers with instead of a result, and how a handler gives up on its request.

Whatever else a handler lets through fails its request at once, with the code `exception`: the same page would go wrong again.
(Crawlee tries again after any exception.) None of the effects of a handler that raises are kept.
"""

from __future__ import annotations

from typing import Optional


class CrawlError(Exception):
    """A stable code to branch on, a message for people, and how the handler ends if nobody catches it.

    `ending` is `retry`, `skip` or `fatal`; `None` lets the host decide by the code.
    """

    default_code = "error"
    default_ending: Optional[str] = None

    def __init__(self, message: str = "", *, code: Optional[str] = None, ending: Optional[str] = None) -> None:
        super().__init__(message)
        self.message = str(message)
        self.code = str(code) if code is not None else self.default_code
        self.ending = ending if ending is not None else self.default_ending

    def __str__(self) -> str:
        return self.message


class HostError(CrawlError):
    """The host did not do what it was asked; the codes are in docs/plugin-errors.md.

    A handler that lets it through fails its request with the same code.
    """

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class RetryRequest(CrawlError):
    """Try the request again later, within its maximum of retries: `raise RetryRequest("the cart was empty", code="empty")`."""

    default_code = "retry"
    default_ending = "retry"


class SkipRequest(CrawlError):
    """Set the request aside as skipped; nothing went wrong."""

    default_code = "skip"
    default_ending = "skip"


class FatalError(CrawlError):
    """Fail the request at once."""

    default_code = "fatal"
    default_ending = "fatal"


class SessionError(RetryRequest):
    """The site does not like this session: it is retired, and the request tried again (Crawlee: `SessionError`)."""

    default_code = "session"


class JsonError(CrawlError):
    """Data that cannot be written or read as JSON."""

    default_code = "json"


class RowError(CrawlError):
    """What was found on a page does not fit the class that it is to become."""

    default_code = "bad-row"


class UnknownLabelError(CrawlError):
    """No handler is for the label of a request."""

    default_code = "unknown-label"


class DropItem(Exception):
    """The item is left out, and counted under this reason: `raise DropItem("no-price")` (Scrapy: `DropItem`).

    Only in `process_item`. The reason is a word or two, at most 64 bytes, since statistics group by it.
    """

    def __init__(self, reason: str = "dropped") -> None:
        super().__init__(reason)
        self.reason = reason


class RejectItem(Exception):
    """The page that pushed the item fails for good, with the code `item-rejected` and this sentence; nothing of it is kept.

    Only in `process_item`.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class RequestFailed(CrawlError):
    """Why a request was given up; what `failed_request_handler` gets. Never raised."""

    def __init__(self, message: str, *, code: str, attempts: int, status: Optional[int]) -> None:
        super().__init__(message, code=code)
        self.attempts = attempts
        """Attempts made, at least 1."""
        self.status = status
        """The HTTP status that it ended with, if it got one."""
