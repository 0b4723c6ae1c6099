"""
The request queue. What is enqueued is accepted when the call's effects commit.
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
from ..imports import types

@dataclass
class Enqueued:
    """
    What became of one enqueued request, as far as it can be told before the commit.
    """
    unique_key: str
    already_known: bool
    refused: Optional[str]

class Strategy(Enum):
    """
    Which links of a page are followed (Crawlee: `EnqueueStrategy`).
    """
    ALL = 0
    SAME_DOMAIN = 1
    SAME_HOSTNAME = 2
    SAME_ORIGIN = 3

@dataclass
class LinkOptions:
    """
    Which links to enqueue, and how.
    """
    selector: Optional[str]
    strategy: Strategy
    globs: List[str]
    regexes: List[str]
    exclude_globs: List[str]
    exclude_regexes: List[str]
    label: Optional[str]
    user_data: Optional[str]
    priority: int
    forefront: bool
    limit: Optional[int]
    extra_json: Optional[str]

@dataclass
class LinkSummary:
    """
    What `enqueue-links` did.
    """
    found: int
    enqueued: int
    already_known: int
    refused: int

class RequestState(Enum):
    """
    Where a request stands.
    """
    PENDING = 0
    HANDLED = 1
    FAILED = 2
    SKIPPED = 3

@dataclass
class RequestStatus:
    """
    What the queue knows of a URL.
    """
    state: RequestState
    final_url: Optional[str]
    reason: Optional[str]
    status: Optional[int]


def enqueue(requests: List[types.NewRequest]) -> List[Enqueued]:
    """
    Enqueues requests; one answer each, in order.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def enqueue_links(options: LinkOptions) -> LinkSummary:
    """
    Enqueues links of the page in hand (Crawlee: `enqueueLinks`). The code `no-page` where there is none.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def lookup(urls: List[str]) -> List[Optional[RequestStatus]]:
    """
    Looks URLs up (as GET requests without an explicit key); one answer each, in order, none for one never accepted.
    A look, not a promise: outside `finish` the answer may be old by the time it is read.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
