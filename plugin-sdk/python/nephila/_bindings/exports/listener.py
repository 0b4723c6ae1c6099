"""
Hears of events: the host's own (`persistState`, `systemInfo`, `crawlerStatus` …) and those that plugins emit.

A plugin hears the events of its own crawls, and of those that are started with it (`--listener`). Where several listen to one
crawl, they hear an event one after another, and all that they ask for is committed together.

One instance hears all of a crawl's events, one after another, and keeps its memory between them; what must outlive it
belongs in `state`. It is thrown away after a trap, a limit or a time-out, and before an event is heard once more because
state that the call had read changed meanwhile; a fresh one is asked for its subscriptions again. A slow listener delays
no page, but for one whose call is in conflict over the state: like a handler's it runs alone at its second time, and handlers that
write state wait for it. What it enqueues or emits on the last events of a crawl is left out.
When no page is left, it hears no more `systemInfo`, `crawlerStatus` and `persistState` but the last one: a listener that needs
longer for one of them than until the next would keep its crawl from ending.
An event that a plugin emitted and that kills the host whenever it is heard is given up after a few times.
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
class Event:
    """
    Something that happened.
    """
    id: str
    name: str
    payload: str
    created_at: str
    extra_json: Optional[str]

