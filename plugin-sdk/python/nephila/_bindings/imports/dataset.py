"""
Datasets: append-only lists of items.
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
class Slice:
    """
    A part of a dataset.
    """
    items: List[str]
    next: Optional[str]


def push(dataset: Optional[str], items: List[str]) -> None:
    """
    Appends items, each a JSON object, to the named dataset, or to the crawl's default one.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def read(dataset: Optional[str], cursor: Optional[str], limit: int) -> Slice:
    """
    Reads committed items from `cursor` (none: the beginning), at most `limit` (and at most 1,000).

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
