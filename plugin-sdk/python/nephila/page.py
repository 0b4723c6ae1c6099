"""The page in hand. The host keeps and parses it; a handler says in one call all that it wants from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, NoReturn, Optional

from nephila import _check, _elsewhere, _json, fields as _fields, row as _row
from nephila._wit import call, page as wit, types
from nephila.fields import Fields
from nephila.row import Row

Link = wit.Link
Hop = types.Hop


class Page:
    """A fetched page (Crawlee: `http_response` and `soup`, `selector` or `parsed_content`)."""

    def __init__(self, raw: wit.Document) -> None:
        self._raw = raw
        self._meta: Optional[types.PageMeta] = None

    @property
    def meta(self) -> types.PageMeta:
        """All that is known of it without looking into its body: URL, status, headers, charset, redirects, timings."""
        if self._meta is None:
            self._meta = self._raw.meta()
        return self._meta

    @property
    def url(self) -> str:
        """The URL that answered, without a fragment."""
        return self.meta.url

    @property
    def status(self) -> int:
        """Its HTTP status."""
        return self.meta.status

    @property
    def content_type(self) -> Optional[str]:
        """The media type in lower case without parameters."""
        return self.meta.content_type

    @property
    def headers(self) -> Dict[str, str]:
        """The response's header fields by their names in lower case; those of one name are joined with a comma."""
        return headers_by_name(self.meta.headers)

    def title(self) -> Optional[str]:
        """The text of `<title>`, if there is one."""
        return call(self._raw.title)

    def extract(self, fields: Fields) -> Row:
        """Takes many fields from the page in one call."""
        wanted = _fields.into_wit(fields)
        return _row.from_wit(wanted, call(self._raw.extract, wanted))

    def extract_each(self, item: str, fields: Fields) -> List[Row]:
        """Takes rows: for each element that `item` matches, the fields within it."""
        wanted = _fields.into_wit(fields)
        rows = call(self._raw.extract_each, _check.text("the item's selector", item), wanted)
        return [_row.from_wit(wanted, found) for found in rows]

    def links(self, selector: Optional[str] = None) -> List[Link]:
        """The links of the page, as absolute URLs: all of them, or those of the elements that a selector matches."""
        return call(self._raw.links, _check.optional_text("the selector", selector))

    def text(self) -> str:
        """The body as text, decoded by its charset. A copy of it enters the plugin's memory."""
        return call(self._raw.text)

    def body(self) -> bytes:
        """The decompressed body. A copy of it enters the plugin's memory."""
        return self._raw.body()

    def json(self) -> Any:
        """The body as JSON."""
        return _json.read("the page", self.text())

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            _elsewhere.refuse_attribute(self, "the page", name, _elsewhere.OF_PAGE)


def headers_by_name(headers: List[types.Header]) -> Dict[str, str]:
    found: Dict[str, str] = {}
    for header in headers:
        name = header.name.lower()
        found[name] = f"{found[name]}, {header.value}" if name in found else header.value
    return found
