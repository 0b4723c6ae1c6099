"""
`use_state`: a map of keys to JSON values that all handlers of a crawler id share.

Serialisable: if anything that a call read has changed by the time it commits, the host runs the handler again on the
same page, so that read-modify-write is safe without locks. Writes without a read never conflict.
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



def get(key: str) -> Optional[str]:
    """
    Reads a value. Sees the call's own writes.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def keys() -> List[str]:
    """
    The keys that have a value, in order.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def set(key: str, value: str) -> None:
    """
    Writes a value (JSON).

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def remove(key: str) -> None:
    """
    Removes a key.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def increment(key: str, by: int) -> None:
    """
    Adds to a whole number (of 64 bits in the store); an absent key counts as 0. Returns nothing, so that it never conflicts.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def append(key: str, value: str) -> None:
    """
    Appends a JSON value to a list; an absent key counts as an empty one.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def max(key: str, value: float) -> None:
    """
    Keeps the greater of what is there and `value`.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
