"""Datasets: append-only lists of items. What is pushed is kept when the call's effects commit."""

from __future__ import annotations

from typing import Any, AsyncIterator, Iterator, Optional

from nephila import _check, _json
from nephila._ready import Done, Ready, ReadyList
from nephila._wit import call, dataset as wit

SLICE = 200
"""Items that are asked for at a time."""


class Dataset(Ready):
    """A named dataset, which the crawls of one store share, or by default the crawl's own."""

    def __init__(self, name: Optional[str] = None) -> None:
        self.name = _check.optional_text("a dataset's name", name)

    def push_data(self, data: Any) -> Done[None]:
        """Appends an item (a dict, a data class, a model with `model_dump`), or a list of items."""
        items = data if isinstance(data, (list, tuple)) and not hasattr(data, "_fields") else [data]
        call(wit.push, self.name, [_json.write_object("an item", item) for item in items])
        return Done(None)

    def iterate_items(self) -> "Items":
        """The committed items, oldest first: `for item in …` or `async for item in …`."""
        return Items(self)

    def __iter__(self) -> Iterator[Any]:
        return iter(Items(self))

    def list_items(self, limit: Optional[int] = None) -> ReadyList[Any]:
        """The committed items, oldest first, as a list."""
        items: ReadyList[Any] = ReadyList()
        for item in self:
            if limit is not None and len(items) >= limit:
                break
            items.append(item)
        return items


class Items:
    """The committed items of a dataset, fetched from the host in slices."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    def __iter__(self) -> Iterator[Any]:
        cursor: Optional[str] = None
        while True:
            part = call(wit.read, self._dataset.name, cursor, SLICE)
            for item in part.items:
                yield _json.read("an item of the dataset", item)
            cursor = part.next
            if cursor is None:
                return

    async def __aiter__(self) -> AsyncIterator[Any]:
        for item in self:
            yield item

