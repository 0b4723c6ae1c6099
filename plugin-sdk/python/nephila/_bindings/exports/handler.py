"""
Entry points. Each is an interface of its own: the host probes which of them a component exports, an absent one
means "not subscribed", and a plugin has a `handler`, a `pipeline` or a `listener` at least.
Handles fetched pages.
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


