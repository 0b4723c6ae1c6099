"""
What the operator gave the crawl.
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



def input() -> str:
    """
    The plugin's input (`--input`) as JSON; `null` if there is none.
    """
    raise NotImplementedError
def setting(name: str) -> Optional[str]:
    """
    The value of a setting (docs/settings.md) as JSON; none if there is no such setting.
    """
    raise NotImplementedError
