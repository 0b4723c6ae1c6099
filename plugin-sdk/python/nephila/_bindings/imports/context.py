"""
What a handler is called with.
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
from ..imports import types
from ..imports import page

class Call:
    """
    One call's view of the world. It is worth nothing after the call.
    """

    def request(self) -> types.Request:
        """
        The request being handled.
        """
        raise NotImplementedError
    def document(self) -> page.Document:
        """
        The page that was fetched for it. The code `no-page` where there is none (in `failure`, when no page came).

        Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
        """
        raise NotImplementedError
    def __enter__(self) -> Self:
        """Returns self"""
        return self

    def __exit__(self, exc_type: type[BaseException] | None, exc_value: BaseException | None, traceback: TracebackType | None) -> bool | None:
        """
        Release this resource.
        """
        raise NotImplementedError



