"""
The session that fetched the page in hand. The code `no-session` where there is none: in `finish`, in `listener`, and where
the crawl uses none. Only `add` needs no session.

What a call asks for its session takes effect with its commit and, unlike its effects, also if the call fails: a handler that
says `retire` and then gives up means it. A call sees its own changes.
"""
# Made by generate_bindings.py from the WIT; not to be edited.
from __future__ import annotations
from dataclasses import dataclass
from enum import Enum
from types import TracebackType
from typing import TYPE_CHECKING, Any, List, Optional, Protocol, Tuple, Union

if TYPE_CHECKING:
    from typing_extensions import Self

from nephila._bindings.componentize_py_types import Err, Ok, Result, Some


@dataclass
class Cookie:
    """
    A cookie of the session.
    """
    name: str
    value: str
    domain: str
    host_only: bool
    path: str
    secure: bool
    http_only: bool
    expires: Optional[str]
    same_site: Optional[str]
    extra_json: Optional[str]

@dataclass
class UrlCookies:
    """
    Cookies for a session that is added.
    """
    url: Optional[str]
    set_cookie_lines: List[str]

@dataclass
class Addition:
    """
    What a session that is added is to be.
    """
    id: Optional[str]
    user_data: str
    cookies: List[UrlCookies]
    extra_json: Optional[str]


def id() -> str:
    """
    Its id (Crawlee: `session.id`).

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def user_data() -> str:
    """
    What it keeps with it: a JSON object (Crawlee: `session.user_data`).

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def set_user_data(json: str) -> None:
    """
    Replaces its user data by a JSON object of at most 64 KiB.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def cookies(url: Optional[str]) -> List[Cookie]:
    """
    The cookies that it sends with a request for `url`: absolute, or resolved against the page in hand; by default the
    page's own.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def set_cookies(url: Optional[str], set_cookie_lines: List[str]) -> None:
    """
    Sets cookies as if `url` (by default the page's own) had answered with these `Set-Cookie` header fields (their values,
    without the name). What that URL may not set is passed over, as in a browser. A call may set 1,000.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def good() -> None:
    """
    It did well (Crawlee: `session.mark_good`). Without a word from the plugin, the host judges by how the request ends. Of
    `good` and `bad` the last one counts; `retire` is final.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def bad() -> None:
    """
    It did badly (Crawlee: `session.mark_bad`).

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def retire() -> None:
    """
    It is not to be used again (Crawlee: `session.retire`).

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def add(session: Addition) -> str:
    """
    Adds a session to the crawl's pool (Crawlee: `SessionPool.add_session`), and says its id: for `new-request.session-id`, or for
    whichever page is next. Its limits are those of the crawl's settings; it may be one more than the pool's size. An effect of
    the call: it is there when the call is committed, once, and not if the call fails. Also in `finish` and `listener`.

    The code `no-session-pool` where the crawl uses none; `session-exists` if the pool has, or had, one of that id. If another call
    takes the id before this one is committed, this one runs again and is told so. A call may add 100.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
