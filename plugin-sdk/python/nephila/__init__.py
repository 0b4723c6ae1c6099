"""Write Nephila plugins in Python.

A plugin is a function from *(request, page, state)* to *effects*. The host fetches the page and keeps it; the plugin asks it for
what it needs, pushes items and adds requests. All effects of a call are committed together, or none.

    from nephila import Context, Crawler

    crawler = Crawler(name="quotes", description="Collects quotes with their authors.")

    @crawler.router.default_handler
    async def quotes(context: Context) -> None:
        for quote in context.page.extract_each(".quote", {"text": ".text", "author": ".author"}):
            await context.push_data(quote)
        await context.enqueue_links("li.next a")
"""

from nephila._log import log
from nephila.context import (
    Context,
    Enqueued,
    Event,
    EventContext,
    FailureContext,
    FinishContext,
    ItemContext,
    RequestState,
    RequestStatus,
    SessionContext,
)
from nephila.crawler import Crawler
from nephila.dataset import Dataset
from nephila.errors import (
    CrawlError,
    DropItem,
    FatalError,
    HostError,
    JsonError,
    RejectItem,
    RequestFailed,
    RetryRequest,
    RowError,
    SessionError,
    SkipRequest,
    UnknownLabelError,
)
from nephila.fields import Field, Fields, attr, attrs, html, htmls, text, texts, url, urls
from nephila.key_value import Entry, KeyValueStore
from nephila.links import Glob, LinkSummary
from nephila.page import Link, Page
from nephila.request import NewRequest, Request
from nephila.router import Router
from nephila.row import Row
from nephila.session import Cookie, Session
from nephila.state import State

__all__ = [
    "Context",
    "Cookie",
    "CrawlError",
    "Crawler",
    "Dataset",
    "DropItem",
    "Enqueued",
    "Entry",
    "Event",
    "EventContext",
    "FailureContext",
    "FatalError",
    "Field",
    "Fields",
    "FinishContext",
    "Glob",
    "HostError",
    "ItemContext",
    "JsonError",
    "KeyValueStore",
    "Link",
    "LinkSummary",
    "NewRequest",
    "Page",
    "RejectItem",
    "Request",
    "RequestFailed",
    "RequestState",
    "RequestStatus",
    "RetryRequest",
    "Router",
    "Row",
    "RowError",
    "Session",
    "SessionContext",
    "SessionError",
    "SkipRequest",
    "State",
    "UnknownLabelError",
    "attr",
    "attrs",
    "html",
    "htmls",
    "log",
    "text",
    "texts",
    "url",
    "urls",
]
