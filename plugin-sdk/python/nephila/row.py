"""What was found on a page, by field, and how it becomes a data class.

A page knows only text, a data class has numbers and options. `Row.into` reads a text as what the class asks for. It is strict: a
number is a number and nothing beside it (`nephila.strings` has functions for "£51.77"). A field of which nothing was found is as
good as absent: `Optional`, a default, or an error.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
import typing
from typing import Any, Dict, Iterable, List, Optional, Type, TypeVar, Union

from nephila._wit import page
from nephila.errors import RowError

T = TypeVar("T")

_TRUE = ("", "true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")
_HINTS: Dict[type, Dict[str, Any]] = {}


class Row(Dict[str, Any]):
    """A dict: for a field the text that was found or `None`, for one in the plural (`texts`, `attrs` …) a list."""

    def get_text(self, name: str, default: str = "") -> str:
        """The text of a field; `default` if nothing was found."""
        value = self.get(name)
        if isinstance(value, list):
            value = value[0] if value else None
        return default if value is None else str(value)

    def into(self, kind: Type[T]) -> T:
        """The row as a data class, its fields by name. `RowError` (the code `bad-row`) if it does not fit.

        `int`, `float`, `bool` (`true`, `yes`, `on`, `1` and their opposites; an empty attribute is `True`, as in HTML), enums by
        value and `Literal` are read from the text, lists from fields in the plural.
        """
        if not dataclasses.is_dataclass(kind):
            raise TypeError(f"a row becomes a data class; {kind!r} is none. Write `@dataclass` before it")
        hints = _HINTS.get(kind)
        if hints is None:
            hints = _HINTS[kind] = typing.get_type_hints(kind)
        values = {}
        for field in dataclasses.fields(kind):
            if not field.init:
                continue
            found = self.get(field.name)
            absent = dataclasses.MISSING
            if found is None:
                if field.default is not absent or field.default_factory is not absent:
                    continue
                if not _accepts_none(hints[field.name]):
                    raise RowError(f"nothing was found for the field `{field.name}`")
            try:
                values[field.name] = _read(found, hints[field.name])
            except _Misfit as misfit:
                raise RowError(f"field `{field.name}`: {misfit}") from None
        return typing.cast(T, kind(**values))


class _Misfit(Exception):
    pass


def _union(kind: Any) -> Optional[Iterable[Any]]:
    origin = typing.get_origin(kind)
    if origin is Union or (sys.version_info >= (3, 10) and type(kind).__name__ in ("UnionType", "Union")):
        return typing.get_args(kind)
    return None


def _accepts_none(kind: Any) -> bool:
    union = _union(kind)
    return kind is Any or (union is not None and type(None) in union)


def _read(found: Any, kind: Any) -> Any:
    union = _union(kind)
    if union is not None:
        if found is None:
            return None
        misfit: Exception = _Misfit("nothing fits")
        for one in union:
            if one is not type(None):
                try:
                    return _read(found, one)
                except _Misfit as error:
                    misfit = error
        raise misfit
    if kind is Any:
        return found
    origin = typing.get_origin(kind) or kind
    if origin in (list, tuple, set, frozenset):
        inner = (typing.get_args(kind) or (str,))[0]
        many = found if isinstance(found, list) else [found]
        values = [_read(value, inner) for value in many]
        return values if origin is list else origin(values)
    if isinstance(found, list):
        if not found:
            raise _Misfit("nothing was found")
        found = found[0]
    return _scalar(found, kind)


def _scalar(found: Any, kind: Any) -> Any:
    if typing.get_origin(kind) is typing.Literal:
        for value in typing.get_args(kind):
            if str(value) == found.strip():
                return value
        raise _Misfit(f"`{found}` is none of {', '.join(map(str, typing.get_args(kind)))}")
    if kind is str or not isinstance(found, str):
        return found
    trimmed = found.strip()
    if kind is bool:
        word = trimmed.lower()
        if word in _TRUE or word in _FALSE:
            return word in _TRUE
        raise _Misfit(f"`{found}` is neither true nor false")
    if kind in (int, float):
        # Python reads "1_000", "١" and "infinity" as numbers, too; pages mean none of these.
        plain = trimmed.isascii() and "_" not in trimmed and not trimmed.lstrip("+-").lower().startswith(("inf", "nan"))
        try:
            if plain:
                return kind(trimmed)
        except ValueError:
            pass
        raise _Misfit(f"`{found}` is not a {'whole ' if kind is int else ''}number")
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        for member in kind:
            if str(member.value) == trimmed:
                return member
        raise _Misfit(f"`{found}` is none of {', '.join(str(member.value) for member in kind)}")
    try:
        return kind(found)
    except (TypeError, ValueError) as error:
        raise _Misfit(str(error)) from None


def from_wit(fields: List[page.Field], found: List[page.FieldValue]) -> Row:
    many = {field.name for field in fields if field.many}
    row = Row()
    for value in found:
        values = value.values
        row[value.name] = values if value.name in many else (values[0] if values else None)
    return row
