"""`async def` handlers without an event loop.

Decision: every function of the SDK does its work when it is called, since calls into the host return at once. What Crawlee's users
`await` can be awaited here, and is done already; a plain `def` handler leaves the `await` away. A coroutine is therefore driven to
its end by one `send(None)`. What awaits anything else would wait for ever, and is told so at the line that awaits.
"""

from __future__ import annotations

import types
from typing import Any, Generator, Generic, List, TypeVar

T = TypeVar("T")
Self = TypeVar("Self")

FOREIGN = (
    "a handler can only await what the SDK gives it: there is no event loop in a plugin, and no network. "
    "To fetch another page, use `add_requests`; to wait, raise `RetryRequest`"
)


class Done(Generic[T]):
    """A result that is there already; `await` gives it."""

    __slots__ = ("_value",)

    def __init__(self, value: T) -> None:
        self._value = value

    def __await__(self) -> Generator[Any, None, T]:
        return self._value
        yield

    def __repr__(self) -> str:
        return f"Done({self._value!r})"


class Ready:
    """For classes whose objects are results: `await` gives the object itself."""

    __slots__ = ()

    def __await__(self: Self) -> Generator[Any, None, Self]:
        return self
        yield


class ReadyList(List[T]):
    """A list that can be awaited, too."""

    def __await__(self) -> Generator[Any, None, List[T]]:
        return self
        yield


class ReadyText(str):
    """A str that can be awaited, too."""

    __slots__ = ()

    def __await__(self) -> Generator[Any, None, str]:
        return str(self)
        yield


class ForeignAwaitError(TypeError):
    """A handler awaited something that is not the SDK's."""


def finish(result: Any) -> Any:
    """What a handler returned; if that is a coroutine, what it returns."""
    if not isinstance(result, types.CoroutineType):
        return result
    try:
        result.send(None)
    except StopIteration as end:
        return end.value
    except RuntimeError as error:
        # What `asyncio` says to whoever needs its loop.
        if "no running event loop" in str(error) or "no current event loop" in str(error):
            raise ForeignAwaitError(f"{FOREIGN} ({error})").with_traceback(error.__traceback__) from None
        raise
    # Raised where it waits, so that the traceback has the author's line.
    try:
        result.throw(ForeignAwaitError(FOREIGN))
    except StopIteration:
        pass
    result.close()
    raise ForeignAwaitError(FOREIGN)
