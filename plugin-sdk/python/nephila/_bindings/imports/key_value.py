"""
Key-value stores: small files by name.
"""
# Made by generate_bindings.py from the WIT; not to be edited.
from __future__ import annotations
from dataclasses import dataclass
from enum import Enum
from types import TracebackType
from typing import TYPE_CHECKING, Any, List, Optional, Protocol, Tuple, Union

if TYPE_CHECKING:
    from typing_extensions import Self

from nephila._bindings.componentize_py_types import Err, Ok, Result, Some


@dataclass
class Entry:
    """
    A value with its media type.
    """
    content_type: str
    value: bytes


def get(store: Optional[str], key: str) -> Optional[Entry]:
    """
    Reads a value from the named store, or from the crawl's default one. Sees the call's own writes.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def set(store: Optional[str], key: str, entry: Entry) -> None:
    """
    Writes a value.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def remove(store: Optional[str], key: str) -> None:
    """
    Removes a value; removing what is not there is no error.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def get_auto_saved(store: Optional[str], key: str) -> Optional[str]:
    """
    Reads an auto-saved value (Crawlee: `get_auto_saved_value`): JSON that all handlers of the crawler id share and change as they do
    `state`, and that the host shows as a record of the store, under the same key, at each `persistState` and at the end. Until somebody has
    set it, it is the record that the store has under the key (the code `bad-json` if that is not JSON); none if there is none. Sees the
    call's own writes. A read like one of `state`: if the value has changed by the commit, the host runs the handler again.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def set_auto_saved(store: Optional[str], key: str, value: str) -> None:
    """
    Writes an auto-saved value (JSON, at most `max-state-value` bytes): an effect of the call. What `set` puts under the same key is
    replaced when the value is shown next.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
