"""What users of Crawlee and Scrapy look for, and what there is here instead.

Decision: such a name is no other spelling of ours. It is refused, and whoever wrote it is told what to write.
"""

from __future__ import annotations

import datetime
from typing import Any, Dict, Iterable, Mapping, NoReturn

SETTINGS: Dict[str, str] = {
    "abort_on_error": "abort-on-error",
    "keep_alive": "keep-alive",
    "max_crawl_depth": "max-depth",
    "max_request_retries": "max-retries",
    "max_requests_per_crawl": "max-requests",
    "max_session_rotations": "max-session-rotations",
    "navigation_timeout": "request-timeout",
    "request_handler_timeout": "plugin-time",
    "retry_on_blocked": "session-block-text",
    "save_error_snapshots": "error-snapshots",
    "status_message_logging_interval": "status-interval",
    "use_session_pool": "session-pool",
}
"""Arguments of Crawlee's crawlers that are settings here."""

_STATUSES = "each request says which statuses reach its handler: `Request.from_url(url, accepted_statuses=[404])`"
_BROWSER = "there is no browser; pages are what the server sends"
_HOSTS = "that is the host's affair; leave it out"

ARGUMENTS: Dict[str, str] = {
    "additional_http_error_status_codes": _STATUSES,
    "browser_pool": _BROWSER,
    "browser_type": _BROWSER,
    "concurrency_settings": 'that is two settings: `settings={"concurrency": 16, "min-concurrency": 1}`',
    "configuration": _HOSTS,
    "event_manager": "events are heard with `@crawler.on(name)`",
    "headless": _BROWSER,
    "http_client": _HOSTS,
    "ignore_http_error_status_codes": _STATUSES,
    "proxy_configuration": "proxies are not here yet; leave it out",
    "request_manager": _HOSTS,
    "respect_robots_txt_file": "robots.txt is not read yet; enqueue only what may be fetched",
    "router": "a crawler has its own: `@crawler.router.default_handler`",
    "session_pool": 'sessions are settings: `settings={"session-pool": True}`',
    "storage_client": _HOSTS,
}
"""Others of their arguments."""

_QUERY = 'the host keeps and parses the page; ask it with `page.extract({"title": "h1"})` or `page.extract_each(item, fields)`'
_PARSED = f"{_QUERY}. A parser of your own gets `page.text()`"
_ANSWER = "`context.page` has `status`, `headers`, `text()`, `body()` and `json()`"

OF_CONTEXT: Dict[str, str] = {
    "block_requests": _BROWSER,
    "extract_links": "`context.page.links(selector)` gives them, `context.enqueue_links(selector)` enqueues them",
    "get_snapshot": 'the setting `error-snapshots` keeps pages that fail: `settings={"error-snapshots": True}`',
    "http_response": _ANSWER,
    "infinite_scroll": _BROWSER,
    "parse_with_static_parser": _PARSED,
    "parsed_content": _PARSED,
    "proxy_info": "proxies are not here yet",
    "response": _ANSWER,
    "selector": _PARSED,
    "send_request": "a handler does not fetch; `context.add_requests` enqueues the request, and the handler of its label gets the page",
    "soup": _PARSED,
}
"""What Crawlee's contexts have."""

OF_PAGE: Dict[str, str] = {
    **dict.fromkeys(("css", "find", "find_all", "locator", "query_selector", "query_selector_all", "re", "select", "select_one"), _QUERY),
    "xpath": f"selectors are CSS: {_QUERY}",
    "click": _BROWSER,
    "content": "it is called `text()`",
    "goto": _BROWSER,
    "status_code": "it is called `status`",
    "urljoin": 'a field `url("a")` is absolute already, and so is a link; `add_requests` takes relative URLs, too',
}
"""What pages and responses have in Scrapy, BeautifulSoup and Playwright."""


def refuse_arguments(given: Mapping[str, Any], known: Iterable[str]) -> None:
    """Says of the first argument that a crawler does not have what to write instead."""
    for name, value in given.items():
        setting = SETTINGS.get(name)
        if setting is not None:
            instead = f'that is a setting: `settings={{"{setting}": {_shown(value)}}}`'
        else:
            instead = ARGUMENTS.get(name, f"there are {', '.join(f'`{one}`' for one in known)}")
        raise TypeError(f"`Crawler` has no argument `{name}`: {instead}")


def refuse_attribute(owner: object, what: str, name: str, instead: Mapping[str, str]) -> NoReturn:
    """`AttributeError`, with what there is instead."""
    if name in instead:
        raise AttributeError(f"{what} has no `{name}`: {instead[name]}")
    raise AttributeError(f"'{type(owner).__name__}' object has no attribute '{name}'", name=name, obj=owner)


def _shown(value: Any) -> str:
    if isinstance(value, datetime.timedelta):
        return f"{value.total_seconds():g}"
    return repr(value) if isinstance(value, (bool, int, float, str)) else "…"
