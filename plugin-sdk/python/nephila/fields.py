"""What to take from a page: a dict of names, each with a CSS selector and a kind.

    page.extract({"title": "h1", "language": attr("", "lang"), "images": urls("img", "src")})

A plain selector means the text of its first match. The plural of a kind takes all matches, in the order of the page. An empty
selector means the item itself in `extract_each`, and the root element in `extract`.
"""

from __future__ import annotations

from typing import List, Mapping, Union

from nephila._check import text as checked_text
from nephila._wit import page


class Field:
    """One thing to take from a page; made by `text`, `attr`, `url` and the others."""

    __slots__ = ("kind", "many", "selector")

    def __init__(self, selector: str, kind: "page.FieldKind", many: bool) -> None:
        self.selector = checked_text("a selector", selector)
        self.kind = kind
        self.many = many

    def __repr__(self) -> str:
        return f"Field({self.selector!r}, {self.kind!r}, many={self.many})"


Fields = Mapping[str, Union[str, Field]]


def text(selector: str = "") -> Field:
    """The text of the first match and all below it, white space collapsed and trimmed."""
    return Field(selector, page.FieldKind_Text(), False)


def texts(selector: str = "") -> Field:
    """The texts of all matches."""
    return Field(selector, page.FieldKind_Text(), True)


def html(selector: str = "") -> Field:
    """The markup inside the first match."""
    return Field(selector, page.FieldKind_Html(), False)


def htmls(selector: str = "") -> Field:
    """The markup inside each match."""
    return Field(selector, page.FieldKind_Html(), True)


def attr(selector: str, name: str) -> Field:
    """The value of an attribute, of the first match that has it."""
    return Field(selector, page.FieldKind_Attr(checked_text("an attribute", name)), False)


def attrs(selector: str, name: str) -> Field:
    """The values of an attribute, of all matches that have it."""
    return Field(selector, page.FieldKind_Attr(checked_text("an attribute", name)), True)


def url(selector: str, attribute: str = "href") -> Field:
    """The value of an attribute as an absolute URL, of the first match that has a valid one."""
    return Field(selector, page.FieldKind_Url(checked_text("an attribute", attribute)), False)


def urls(selector: str, attribute: str = "href") -> Field:
    """The values of an attribute as absolute URLs, of all matches that have a valid one."""
    return Field(selector, page.FieldKind_Url(checked_text("an attribute", attribute)), True)


def into_wit(fields: Fields) -> List[page.Field]:
    if not isinstance(fields, Mapping):
        raise TypeError(f"fields are to be a dict of names and selectors, not {type(fields).__name__}")
    wit = []
    for name, field in fields.items():
        if not isinstance(field, Field):
            if not isinstance(field, str):
                raise TypeError(f"the field {name!r} is to be a selector or a Field (`text`, `attr`, `urls` …), not {type(field).__name__}")
            field = text(field)
        wit.append(page.Field(checked_text("a field's name", name), field.selector, field.kind, field.many))
    return wit
