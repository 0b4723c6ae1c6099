"""
Says what the plugin is. Called once when it is loaded, without access to any crawl.
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
class Setting:
    """
    A default for a setting that the operator may override.
    """
    name: str
    value: str

@dataclass
class Description:
    """
    What a plugin says of itself.
    """
    name: str
    version: str
    description: str
    start_urls: List[str]
    settings: List[Setting]
    extra_json: Optional[str]

