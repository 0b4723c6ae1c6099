"""
The records of the protocol.

Open data (items, user data, state values, input) travels as JSON strings; what the host and a plugin must
agree on travels as records. Whole numbers have at most 32 bits, and counts stay below 2^31: JavaScript toolchains pass no
others safely. A record can never grow once it is released, so what a plugin *asks* for
(`new-request`) and what it *gets* (`request`) are separate, and both have an `extra-json` for what comes later.
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


class Method(Enum):
    """
    An HTTP request method (RFC 9110, section 9.3, and RFC 5789).
    """
    GET = 0
    HEAD = 1
    POST = 2
    PUT = 3
    DELETE = 4
    OPTIONS = 5
    PATCH = 6

@dataclass
class Header:
    """
    One header field. Names are compared without regard to case; bytes that are not UTF-8 arrive as U+FFFD.
    """
    name: str
    value: str

class Renderer(Enum):
    """
    What fetches the page.
    """
    HTTP = 0
    BROWSER = 1

@dataclass
class StatusRange:
    """
    A range of HTTP status codes, both ends included.
    """
    first: int
    last: int

@dataclass
class NewRequest:
    """
    A request that a plugin wants to be made (Crawlee: the options of `addRequests`).
    """
    url: str
    method: Method
    headers: List[Header]
    payload: Optional[bytes]
    label: Optional[str]
    user_data: Optional[str]
    priority: int
    forefront: bool
    unique_key: Optional[str]
    session_id: Optional[str]
    renderer: Renderer
    accepted_statuses: List[StatusRange]
    max_retries: Optional[int]
    no_retry: bool
    always_enqueue: bool
    timeout_millis: Optional[int]
    extra_json: Optional[str]

@dataclass
class Request:
    """
    A request as a handler gets it.
    """
    url: str
    original_url: str
    method: Method
    headers: List[Header]
    payload: Optional[bytes]
    label: Optional[str]
    user_data: Optional[str]
    priority: int
    depth: int
    unique_key: str
    session_id: Optional[str]
    renderer: Renderer
    accepted_statuses: List[StatusRange]
    retry_count: int
    max_retries: int
    no_retry: bool
    timeout_millis: int
    hop_count: int
    extra_json: Optional[str]

class HopKind(Enum):
    """
    Why one address led to the next.
    """
    HTTP_REDIRECT = 0
    META_REFRESH = 1

@dataclass
class Hop:
    """
    One step of a redirect chain.
    """
    url: str
    status: int
    kind: HopKind

@dataclass
class Timings:
    """
    Where the time of a fetch went, in milliseconds. Coarse on purpose: a plugin has no clock finer than this.
    """
    first_byte_millis: int
    total_millis: int

@dataclass
class PageMeta:
    """
    What is known of a page without looking into its body.
    """
    url: str
    status: int
    headers: List[Header]
    content_type: Optional[str]
    charset: Optional[str]
    redirect_chain: List[Hop]
    timings: Timings
    body_bytes: int
    extra_json: Optional[str]

class Ending(Enum):
    """
    How a handler that does not succeed ends. None of its effects are kept.
    """
    RETRY = 0
    SKIP = 1
    FATAL = 2

@dataclass
class Error:
    """
    What a call into the host answers with instead of a result, and what a handler that gives up ends with.

    One type for both, so that an error of the host which a handler lets through arrives as what it is in every
    language, and not as a trap of the bindings.
    """
    code: str
    message: str
    ending: Optional[Ending]


