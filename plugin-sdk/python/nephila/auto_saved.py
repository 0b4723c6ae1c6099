"""Auto-saved values: dicts and lists that all handlers share and change as safely as the state, and that the host shows as records of
their store at each `persistState` and at the end.

Decision: a value is read when it is asked for, and written when the handler ends, if it is another by then; as with the state.
"""

from __future__ import annotations

import copy
from typing import Any, Dict, Optional, Tuple

from nephila import _json
from nephila._wit import call, key_value as wit

Name = Tuple[Optional[str], str]


class AutoSaved:
    """Those that one call has asked for, by store and key."""

    def __init__(self) -> None:
        self._values: Dict[Name, Any] = {}
        self._known: Dict[Name, str] = {}
        """What need not be written: what the host has, or the default."""

    def get(self, store: Optional[str], key: str, default: Any) -> Any:
        name = (store, key)
        if name not in self._values:
            default = {} if default is None else default
            if not isinstance(default, (dict, list)):
                raise TypeError(
                    f"the default of {_what(key)} is to be a dict or a list, in which changes can be seen, "
                    f'not {type(default).__name__}: write `{{"value": {default!r:.40}}}`'
                )
            written = call(wit.get_auto_saved, store, key)
            if written is None:
                # A copy, so that it is the same for the next page of a sandbox that is reused.
                self._values[name] = copy.deepcopy(default)
                written = _json.write(f"the default of {_what(key)}", default)
            else:
                self._values[name] = _json.read(_what(key), written)
            self._known[name] = written
        return self._values[name]

    def set(self, store: Optional[str], key: str, value: Any) -> None:
        call(wit.set_auto_saved, store, key, _json.write(_what(key), value))
        self._values.pop((store, key), None)

    def flush(self) -> None:
        """Writes what was changed."""
        for (store, key), value in self._values.items():
            written = _json.write(_what(key), value)
            if not _json.unchanged(written, self._known[store, key]):
                call(wit.set_auto_saved, store, key, written)
                self._known[store, key] = written


def _what(key: str) -> str:
    return f"the auto-saved value `{key}`"
