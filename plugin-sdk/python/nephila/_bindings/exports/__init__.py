# Made by generate_bindings.py from the WIT; not to be edited.
from __future__ import annotations
from dataclasses import dataclass
from enum import Enum
from types import TracebackType
from typing import TYPE_CHECKING, Any, List, Optional, Protocol, Tuple, Union

if TYPE_CHECKING:
    from typing_extensions import Self

from nephila._bindings.componentize_py_types import Err, Ok, Result, Some
from ..exports import manifest
from ..exports import listener
from ..exports import sessions
from ..exports import pipeline
from ..imports import context
from ..exports import failure

class Manifest(Protocol):

    def describe(self) -> manifest.Description:
        """
        Describes the plugin.
        """
        raise NotImplementedError


class Finish(Protocol):

    def on_finish(self) -> None:
        """
        Called once in the life of a crawl, when its queue is empty: not where a limit or a signal ends a start while requests are
        pending. May read datasets, and may enqueue: then the crawl goes on.

        Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
        """
        raise NotImplementedError


class Listener(Protocol):

    def subscriptions(self) -> List[str]:
        """
        The names of the events that it wants to hear, at most 1,000. Called once per instance, before all else, without access
        to any crawl but its `config`. `events.on` and `events.off` change them later.
        """
        raise NotImplementedError

    def on_event(self, event: listener.Event) -> None:
        """
        Called once per event. There is no page and no session. Its effects commit like a handler's; an error from it is logged,
        its effects are dropped, and the instance lives on.

        Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
        """
        raise NotImplementedError


class Sessions(Protocol):

    def create(self) -> sessions.NewSession:
        """
        Called when the session pool wants another session, without access to any crawl but its `config`.

        Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
        """
        raise NotImplementedError


class Pipeline(Protocol):

    def process_item(self, item: pipeline.Item) -> pipeline.Verdict:
        """
        Called once per item (Scrapy: `process_item`).

        Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
        """
        raise NotImplementedError


class Handler(Protocol):

    def handle(self, call: context.Call) -> None:
        """
        Called once per page, in a sandbox of its own. Its effects commit together with the request's mark.

        Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
        """
        raise NotImplementedError


class Failure(Protocol):

    def on_failure(self, call: context.Call, reason: failure.Reason) -> None:
        """
        Called when a request's retries are over (Crawlee: `failedRequestHandler`). Its effects commit with the failure;
        an error from it is logged and changes nothing.

        Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
        """
        raise NotImplementedError


