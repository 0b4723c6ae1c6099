"""
Log lines, with the plugin's name, the request and the page added by the host.
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


class Level(Enum):
    """
    How urgent a line is.
    """
    TRACE = 0
    DEBUG = 1
    INFO = 2
    WARN = 3
    ERROR = 4


def write(level: Level, message: str, fields: Optional[str]) -> None:
    """
    Writes a line; `fields` is a JSON object.
    """
    raise NotImplementedError
