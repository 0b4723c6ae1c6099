"""The one place that knows the generated bindings.

In a component they are the real ones, which call the host. Everywhere else (in a plugin's own tests, for a type checker) they
are the copies in `_bindings`, with the same types and functions that raise `NotImplementedError`; a test says when they are
no longer what the WIT gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, TypeVar

if TYPE_CHECKING:
    from nephila._bindings.componentize_py_types import Err as Err
    from nephila._bindings.imports import (
        config as config,
        context as context,
        crawl as crawl,
        dataset as dataset,
        events as events,
        key_value as key_value,
        log as log,
        page as page,
        queue as queue,
        session as session,
        state as state,
        types as types,
    )
else:
    try:
        from componentize_py_types import Err
        from wit_world.imports import (
            config,
            context,
            crawl,
            dataset,
            events,
            key_value,
            log,
            page,
            queue,
            session,
            state,
            types,
        )
    except ModuleNotFoundError:
        from nephila._bindings.componentize_py_types import Err
        from nephila._bindings.imports import (
            config,
            context,
            crawl,
            dataset,
            events,
            key_value,
            log,
            page,
            queue,
            session,
            state,
            types,
        )

from nephila.errors import HostError

T = TypeVar("T")


def call(function: Callable[..., T], *arguments: Any) -> T:
    """Calls the host. What it answers instead of a result is raised as `HostError`.

    The bindings trap on an argument of a wrong type, so that everything an author gives goes through `_check` before.
    """
    try:
        return function(*arguments)
    except Err as error:
        wit: types.Error = error.value
        ending = None if wit.ending is None else wit.ending.name.lower()
        raise HostError(wit.message, code=wit.code, ending=ending) from None
