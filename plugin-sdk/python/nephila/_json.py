"""JSON, as it travels between host and plugin."""

from __future__ import annotations

import dataclasses
import datetime
import json
from typing import Any, Optional

from nephila._check import clean
from nephila.errors import JsonError


def _more(value: Any) -> Any:
    """What the standard encoder does not know: data classes, models with `model_dump`, dates and times."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        return dump(mode="json")
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    raise TypeError(f"a {type(value).__name__} is no JSON")


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_more).encode


def write(what: str, value: Any) -> str:
    try:
        return clean(_encode(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise JsonError(f"{what} cannot be written as JSON: {error}") from None


def write_object(what: str, value: Any) -> str:
    written = write(what, value)
    if not written.startswith("{"):
        raise JsonError(f"{what} is to be a dict or a data class, not {type(value).__name__}: {written:.80}")
    return written


def unchanged(written: str, before: str) -> bool:
    """Whether what was written says what the host had, which may spell it in another way."""
    return written == before or written == write("what was read", read("what was read", before))


def read(what: str, written: Optional[str]) -> Any:
    if written is None:
        return None
    try:
        return json.loads(written)
    except ValueError as error:
        raise JsonError(f"{what} is no JSON: {error}") from None
