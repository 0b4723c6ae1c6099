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
