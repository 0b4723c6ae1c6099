"""`use_state`: a map of keys to JSON values that all handlers of a crawler id share.

It feels like a dict of one's own, and is safe like one: if anything that a call read has changed by the time it commits, the host
runs the handler again on the same page. `increment`, `append` and `max` write without a read, and never conflict.

Decision: a key is read when it is asked for, and written when the handler ends, if its value is another by then. So two handlers
that work on different keys do not conflict, and what is changed within a list or a dict is kept, too.
"""

from __future__ import annotations

import copy
from typing import Any, Dict, Iterator, Mapping, MutableMapping, Optional, Set

from nephila import _check, _json
from nephila._ready import Done, Ready
from nephila._wit import call, state as wit


class State(Ready, MutableMapping[str, Any]):
    """The shared state, as one call sees it."""

    def __init__(self) -> None:
        self._values: Dict[str, Any] = {}
        self._read: Dict[str, Optional[str]] = {}
        """What the host has for the keys that were read; `None` for nothing."""
        self._removed: Set[str] = set()
        self._defaults: Dict[str, Any] = {}

    def with_defaults(self, defaults: Optional[Mapping[str, Any]]) -> "State":
        if defaults is not None:
            if not isinstance(defaults, Mapping):
                raise TypeError(f"the default of use_state is to be a dict, not {type(defaults).__name__}")
            self._defaults.update(defaults)
        return self

    def __getitem__(self, key: str) -> Any:
        key = _check.text("a key of the state", key)
        if key not in self._values:
            if key in self._removed:
                raise KeyError(key)
            written = self._written(key)
            if written is not None:
                self._values[key] = _json.read(f"the state's `{key}`", written)
            elif key in self._defaults:
                self._values[key] = copy.deepcopy(self._defaults[key])
            else:
                raise KeyError(key)
        return self._values[key]

    def _written(self, key: str) -> Optional[str]:
        if key not in self._read:
            self._read[key] = call(wit.get, key)
        return self._read[key]

    def __setitem__(self, key: str, value: Any) -> None:
        key = _check.text("a key of the state", key)
        self._values[key] = value
        self._removed.discard(key)

    def __delitem__(self, key: str) -> None:
        self[key]
        del self._values[key]
        self._removed.add(key)

    def __iter__(self) -> Iterator[str]:
        keys = [key for key in call(wit.keys) if key not in self._removed]
        known = set(keys)
        keys += [key for key in self._values if key not in known]
        known.update(keys)
        keys += [key for key in self._defaults if key not in known and key not in self._removed]
        return iter(keys)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"State({self._values!r})"

    def increment(self, key: str, by: int = 1) -> Done[None]:
        """Adds to a whole number; an absent key counts as 0. Never conflicts."""
        amount = _check.whole("what is added", by, _check.I32)
        call(wit.increment, self._settled(key), amount)
        return Done(None)

    def append(self, key: str, value: Any) -> Done[None]:
        """Appends a value to a list; an absent key counts as an empty one. Never conflicts."""
        written = _json.write(f"the state's `{key}`", value)
        call(wit.append, self._settled(key), written)
        return Done(None)

    def max(self, key: str, value: float) -> Done[None]:
        """Keeps the greater of what is there and `value`. Never conflicts."""
        greatest = _check.number("the greatest value", value)
        call(wit.max, self._settled(key), greatest)
        return Done(None)

    def _settled(self, key: str) -> str:
        """The host does the next thing with this key: it gets what was changed, and is asked again afterwards."""
        key = _check.text("a key of the state", key)
        self._flush(key)
        self._values.pop(key, None)
        self._removed.discard(key)
        self._read.pop(key, None)
        return key

    def flush(self) -> None:
        """Writes what was changed."""
        for key in [*self._values, *self._removed]:
            self._flush(key)

    def _flush(self, key: str) -> None:
        if key in self._removed:
            call(wit.remove, key)
            return
        if key not in self._values:
            return
        value = self._values[key]
        before = self._read.get(key)
        if before is None and key in self._read and key in self._defaults and _same(value, self._defaults[key]):
            return
        written = _json.write(f"the state's `{key}`", value)
        if before is not None and _json.unchanged(written, before):
            return
        call(wit.set, key, written)
        self._read[key] = written


def _same(one: Any, other: Any) -> bool:
    return _json.write("a value of the state", one) == _json.write("a default of the state", other)
