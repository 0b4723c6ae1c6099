"""
The page in hand. The host keeps and parses it; a plugin asks for many things in one call.
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


@dataclass
class FieldKind_Text:
    pass


@dataclass
class FieldKind_Html:
    pass


@dataclass
class FieldKind_Attr:
    value: str


@dataclass
class FieldKind_Url:
    value: str


FieldKind = Union[FieldKind_Text, FieldKind_Html, FieldKind_Attr, FieldKind_Url]
"""
What a field takes from the elements that its selector matches.
"""


@dataclass
class Field:
    """
    One thing to extract.
    """
    name: str
    selector: str
    kind: FieldKind
    many: bool

@dataclass
class FieldValue:
    """
    What was found for a field.
    """
    name: str
    values: List[str]

@dataclass
class Link:
    """
    A link of the page.
    """
    url: str
    href: str
    rel: str

class Document:
    """
    A fetched page.
    """

    def meta(self) -> types.PageMeta:
        """
        Status, headers, charset, redirects and timings.
        """
        raise NotImplementedError
    def body(self) -> bytes:
        """
        The decoded (decompressed) body. The escape hatch: a copy of it enters the plugin's memory.
        """
        raise NotImplementedError
    def text(self) -> str:
        """
        The body as text, decoded by its charset; malformed bytes become U+FFFD.

        Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
        """
        raise NotImplementedError
    def title(self) -> Optional[str]:
        """
        The text of `<title>`, white space collapsed; none if there is none. Needs no tree.

        Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
        """
        raise NotImplementedError
    def extract(self, fields: List[Field]) -> List[FieldValue]:
        """
        Takes many fields from the page in one call.

        Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
        """
        raise NotImplementedError
    def extract_each(self, item: str, fields: List[Field]) -> List[List[FieldValue]]:
        """
        Takes rows: for each element that `item` matches, the fields within it.

        Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
        """
        raise NotImplementedError
    def links(self, selector: Optional[str]) -> List[Link]:
        """
        The links of the page. Without a selector those of `a[href]` and `area[href]`, in one streaming pass without a
        tree; with one, the `href` or else `src` of each element that it matches. References that are not
        `http` or `https` URLs are left out.

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



