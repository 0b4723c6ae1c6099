"""Between the host's calls and the author's functions: nothing that an author does may leave as a bare trap.

An exception becomes the WIT's error: ours as what they say, any other with the code `exception`, its type, its message and the
author's line. The whole traceback of such a one goes to the log before.
"""

from __future__ import annotations

import os.path
import sys
import traceback
from types import TracebackType
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from nephila import _check
from nephila._log import log
from nephila._ready import finish
from nephila._wit import Err, context as wit_context, types
from nephila.context import Context, Event, EventContext, FailureContext, FinishContext, ItemContext, SessionContext
from nephila.crawler import Crawler
from nephila.errors import CrawlError, DropItem, FatalError, RejectItem, RequestFailed, RetryRequest, SessionError, SkipRequest
from nephila._json import read, unchanged, write_object

AUTHORS_FILES: Set[str] = set()
"""The names under which the author's files were compiled."""

_SDK = os.path.dirname(__file__) + os.sep

_ENDINGS: Dict[str, types.Ending] = {ending.name.lower(): ending for ending in types.Ending}


def handle(crawler: Crawler, call: wit_context.Call) -> None:
    context = Context(call)
    _guard(context, lambda: crawler.router.dispatch(context))


def on_failure(crawler: Crawler, call: wit_context.Call, reason: Any) -> None:
    error = RequestFailed(reason.message, code=reason.code, attempts=reason.attempts, status=reason.status)
    context = FailureContext(call, error)
    handler = _there(crawler._on_failure)
    _guard(context, lambda: finish(_call(handler, context, error)))


def on_finish(crawler: Crawler) -> None:
    context = FinishContext()
    handler = _there(crawler._on_finish)
    _guard(context, lambda: finish(_call(handler, context)))


def on_event(crawler: Crawler, raw: Any) -> None:
    event = Event(raw)
    context = EventContext(event)

    def hear() -> None:
        for handler in crawler._on_events.get(event.name) or _of_others(crawler):
            finish(_call(handler, context))

    _guard(context, hear)


def create_session(crawler: Crawler) -> str:
    """The new session's user data."""
    context = SessionContext()
    handler = _there(crawler._create_session)
    made: List[str] = []

    def make() -> None:
        data = finish(_call(handler, context))
        made.append(write_object("what create_session returns", {} if data is None else data))

    _guard(context, make)
    return made[0]


def process_item(crawler: Crawler, raw: Any) -> Tuple[str, ...]:
    """What becomes of an item: `Keep`, `Change` and the item, `Drop` or `Reject` and why."""
    context = ItemContext(raw)
    handler = _there(crawler._process_item)
    verdict: Tuple[str, ...] = ()

    def judge() -> None:
        nonlocal verdict
        try:
            item = read("the item", raw.json)
            returned = finish(_call(handler, item, context))
        except DropItem as error:
            verdict = "Drop", _check.text("the reason of DropItem", error.reason)
        except RejectItem as error:
            verdict = "Reject", _check.text("the reason of RejectItem", error.reason)
        else:
            what = "what process_item returns (nothing lets the item pass, `raise DropItem(…)` leaves it out)"
            written = write_object(what, item if returned is None else returned)
            verdict = ("Keep",) if unchanged(written, raw.json) else ("Change", written)

    _guard(context, judge)
    return verdict


def describe(crawler: Crawler) -> Tuple[str, str, str, List[str], Dict[str, str]]:
    return crawler.name, crawler.version, crawler.description, crawler.start_urls, crawler.settings


def _of_others(crawler: Crawler) -> List[Callable[..., Any]]:
    """An event that `context.on` asked for goes to whoever asked, which nobody knows: to all, once each."""
    return list(dict.fromkeys(handler for handlers in crawler._on_events.values() for handler in handlers))


def _there(handler: Optional[Callable[..., Any]]) -> Callable[..., Any]:
    if handler is None:
        raise AssertionError("an entry point without a function is not exported")
    return handler


def _call(handler: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a handler with as many of the arguments as it takes."""
    code = getattr(handler, "__code__", None)
    if code is not None and not code.co_flags & 0x04:
        bound = 1 if hasattr(handler, "__self__") else 0
        arguments = arguments[: code.co_argcount - bound]
    return handler(*arguments)


def _guard(context: SessionContext, body: Callable[[], None]) -> None:
    try:
        try:
            body()
            context.flush()
        except SessionError:
            session = getattr(context, "session", None)
            if session is not None:
                session.retire()
            raise
        finally:
            context.flush_session()
            # What was printed without an end of line is a line of this call, too.
            sys.stdout.flush()
    except BaseException as error:
        raise Err(wit_error(error)) from None


def wit_error(error: BaseException) -> types.Error:
    """What the host gets for an exception."""
    if isinstance(error, Err) and isinstance(error.value, types.Error):
        return error.value
    if isinstance(error, CrawlError):
        message = error.message
        if not isinstance(error, (RetryRequest, SkipRequest, FatalError)):
            message += _where(error)
        return types.Error(_check.clean(error.code), _check.clean(message), _ENDINGS.get(error.ending or ""))
    said = str(error) if not isinstance(error, SystemExit) else f"exit({error.code!r}); a handler ends with `return`"
    name = type(error).__name__
    message = f"{name}: {said}" if said else name
    log.error("%s", _check.clean(traceback_of(error)))
    return types.Error("exception", _check.clean(message + _hint(error) + _where(error)), None)


def _hint(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name is not None:
        return (
            f" (a sandbox has no files, so that everything is imported when the plugin is built: "
            f"write `import {error.name}` at the top of the file)"
        )
    if isinstance(error, (DropItem, RejectItem)):
        return f" ({type(error).__name__} is for `process_item`; a handler does not push what it does not want, or raises `SkipRequest` or `FatalError`)"
    if isinstance(error, LookupError) and "unknown encoding" in str(error):
        name = str(error).rpartition(": ")[2].replace("-", "_").lower()
        return f" (encodings are files, too: write `import encodings.{name}` at the top of the file)"
    if isinstance(error, OSError):
        return " (a sandbox has no files and no network: pages come by `add_requests`, files go to `get_key_value_store`)"
    return ""


def place(error: BaseException) -> Optional[traceback.FrameSummary]:
    """The innermost line of the author's; without any, the innermost that is not the SDK's."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(_SDK)]
    return next((frame for frame in reversed(frames) if frame.filename in AUTHORS_FILES), frames[-1] if frames else None)


def _where(error: BaseException) -> str:
    frame = place(error)
    if frame is None:
        return ""
    line = f": {frame.line.strip()}" if frame.line else ""
    return f" (at {frame.filename}:{frame.lineno} in {frame.name}{line})"


def traceback_of(error: BaseException) -> str:
    """The traceback without the SDK's own frames."""
    whole = traceback.TracebackException(type(error), error, _without_sdk(error.__traceback__))
    whole.stack[:] = [frame for frame in whole.stack if not frame.filename.startswith(_SDK)]
    return "".join(whole.format()).rstrip()


def _without_sdk(trace: Optional[TracebackType]) -> Optional[TracebackType]:
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_SDK):
        trace = trace.tb_next
    return trace
