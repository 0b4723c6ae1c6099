"""Key-value stores: small files by name. A call sees its own writes; they are kept when its effects commit."""

from __future__ import annotations

from typing import Any, Optional

from nephila import _check, _json
from nephila._ready import Done, Ready
from nephila._wit import call, key_value as wit
from nephila.auto_saved import AutoSaved

Entry = wit.Entry


class KeyValueStore(Ready):
    """A named store, which the crawls of one store share, or by default the crawl's own."""

    def __init__(self, name: Optional[str] = None, auto_saved: Optional[AutoSaved] = None) -> None:
        self.name = _check.optional_text("a key-value store's name", name)
        self._auto_saved = auto_saved

    def get_value(self, key: str, default_value: Any = None) -> Done[Any]:
        """Reads a value, to be awaited; a plain `def` handler uses `get`."""
        return Done(self.get(key, default_value))

    def get(self, key: str, default: Any = None) -> Any:
        """Reads a value: JSON becomes what it stands for, `text/…` a str, anything else bytes."""
        entry = self.get_entry(key)
        if entry is None:
            return default
        media_type = entry.content_type.split(";")[0].strip().lower()
        if media_type == "application/json" or media_type.endswith("+json"):
            return _json.read(f"the value of `{key}`", entry.value.decode("utf-8", "replace"))
        if media_type.startswith("text/"):
            return entry.value.decode("utf-8", "replace")
        return entry.value

    def set_value(self, key: str, value: Any, content_type: Optional[str] = None) -> Done[None]:
        """Writes a value: bytes and str as they are, anything else as JSON. `None` removes it, as in Crawlee."""
        key = _check.text("a key", key)
        if value is None:
            return self.remove(key)
        if isinstance(value, (bytes, bytearray, memoryview)):
            kind, written = "application/octet-stream", bytes(value)
        elif isinstance(value, str):
            kind, written = "text/plain; charset=utf-8", _check.clean(value).encode()
        else:
            kind, written = "application/json", _json.write(f"the value of `{key}`", value).encode()
        call(wit.set, self.name, key, Entry(_check.optional_text("content_type", content_type) or kind, written))
        return Done(None)

    set = set_value

    def remove(self, key: str) -> Done[None]:
        """Removes a value; removing what is not there is no error."""
        call(wit.remove, self.name, _check.text("a key", key))
        return Done(None)

    def get_entry(self, key: str) -> Optional[Entry]:
        """Reads a value's bytes with their media type."""
        return call(wit.get, self.name, _check.text("a key", key))

    def get_auto_saved_value(self, key: str, default_value: Any = None) -> Done[Any]:
        """An auto-saved value, to be awaited; a plain `def` handler uses `auto_saved`."""
        return Done(self.auto_saved(key, default_value))

    def auto_saved(self, key: str, default: Any = None) -> Any:
        """A dict or list that all handlers share, and that the host shows as a record of the store now and then and at the end.

        What is changed in it is saved when the handler ends, together with the page; if another handler was quicker, this one runs
        again. It begins as the record that the store has under the key, or else as the default: without one, an empty dict.
        """
        return self._of_the_call().get(self.name, _check.text("a key", key), default)

    def set_auto_saved_value(self, key: str, value: Any) -> Done[None]:
        """Replaces an auto-saved value, whatever it is: that never conflicts. What `get_auto_saved_value` gave before is let go."""
        self._of_the_call().set(self.name, _check.text("a key", key), value)
        return Done(None)

    def _of_the_call(self) -> AutoSaved:
        if self._auto_saved is None:
            raise RuntimeError("an auto-saved value is saved when the handler ends: get its store with `context.get_key_value_store(…)`")
        return self._auto_saved
