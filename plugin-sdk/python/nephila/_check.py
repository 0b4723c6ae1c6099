"""What an author gives is checked here before it goes to the bindings, which would trap without a word."""

from __future__ import annotations

import datetime
from typing import Any, Iterable, List, Mapping, Optional

from nephila._wit import types

I32 = (-(2**31), 2**31 - 1)
U32 = (0, 2**32 - 1)
U16 = (0, 2**16 - 1)


def clean(value: str) -> str:
    """Text that UTF-8 can carry: halves of surrogate pairs become U+FFFD."""
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return value


def text(what: str, value: Any) -> str:
    if isinstance(value, str):
        return clean(str(value)) if type(value) is not str else clean(value)
    raise TypeError(f"{what} is to be a str, not {_kind(value)}")


def optional_text(what: str, value: Any) -> Optional[str]:
    return None if value is None else text(what, value)


def texts(what: str, values: Any) -> List[str]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{what} are to be a list of str, not {_kind(values)}")
    return [text(f"each of {what}", value) for value in values]


def whole(what: str, value: Any, limits: "tuple[int, int]") -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} is to be an int, not {_kind(value)}")
    if not limits[0] <= value <= limits[1]:
        raise ValueError(f"{what} is to be from {limits[0]} to {limits[1]}, not {value}")
    return int(value)


def optional_whole(what: str, value: Any, limits: "tuple[int, int]") -> Optional[int]:
    return None if value is None else whole(what, value, limits)


def number(what: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{what} is to be a number, not {_kind(value)}")
    return float(value)


def truth(what: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise TypeError(f"{what} is to be True or False, not {_kind(value)}")


def octets(what: str, value: Any) -> bytes:
    """Bytes; text is written as UTF-8."""
    if isinstance(value, str):
        return clean(value).encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"{what} is to be bytes or a str, not {_kind(value)}")


def millis(what: str, value: Any) -> Optional[int]:
    """A length of time as milliseconds: seconds, or a `timedelta`."""
    if value is None:
        return None
    seconds = value.total_seconds() if isinstance(value, datetime.timedelta) else number(f"{what} (seconds)", value)
    return whole(f"{what} in milliseconds", round(seconds * 1000), (1, U32[1]))


def headers(values: Optional[Mapping[str, str]]) -> List[types.Header]:
    if values is None:
        return []
    if not isinstance(values, Mapping):
        raise TypeError(f"headers are to be a dict, not {_kind(values)}")
    return [types.Header(text("a header's name", name), text(f"the header {name}", value)) for name, value in values.items()]


def _kind(value: Any) -> str:
    return "None" if value is None else f"{type(value).__name__} ({value!r:.60})"
