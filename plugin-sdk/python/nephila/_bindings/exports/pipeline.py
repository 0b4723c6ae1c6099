"""
Looks at each item on its way to its dataset: those of the plugin's own crawl, and those of every crawl that is started with it
(`--pipeline`).

It is called after the call that pushed the items has ended well, whatever that was (`handler`, `failure`, `finish`, `listener`), and
before anything of it is committed. The items of one call pass through the first pipeline one after another, in the order in which they
were pushed, then through the next. One instance sees the items of one call, within the limits of one call.

It may read all that a handler may, but for the page and the session; it keeps `state`, which it sees as the calls before it
left it, and writes to the `log`. Whatever else has an effect (items, requests, values, events) is refused with the code `not-in-pipeline`, but for
`crawl.stop` and `crawl.status-message`. If it fails, the call that pushed the items fails with its error, and if what it saw of the
state has changed, that call is run again.
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
class Item:
    """
    An item on its way.
    """
    dataset: Optional[str]
    json: str
    url: Optional[str]
    extra_json: Optional[str]


@dataclass
class Verdict_Keep:
    pass


@dataclass
class Verdict_Change:
    value: str


@dataclass
class Verdict_Drop:
    value: str


@dataclass
class Verdict_Reject:
    value: str


Verdict = Union[Verdict_Keep, Verdict_Change, Verdict_Drop, Verdict_Reject]
"""
What becomes of an item.
"""


