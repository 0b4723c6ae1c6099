"""Small tools for the text of pages."""

from __future__ import annotations

import re
from typing import Optional

from nephila import _check

_NUMBER = re.compile(r"[0-9]+(?:,[0-9]{3}(?![0-9]))*(?:\.[0-9]+)?")


def number(text: Optional[str]) -> Optional[float]:
    """The first number in a text: `£51.77` gives 51.77, `In stock (22 available)` gives 22, `-3` gives -3.

    Commas between groups of three digits are passed over (`1,234.5` gives 1234.5); a comma is no decimal point.
    `None`, which is what a field has where nothing was found, has no number: `None`.
    """
    if text is None:
        return None
    found = _NUMBER.search(_check.text("the text", text))
    if found is None:
        return None
    start = found.start()
    value = float(found.group().replace(",", ""))
    before = text[start - 2 : start - 1] if start > 1 else ""
    negative = start > 0 and text[start - 1] == "-" and not (before.isascii() and before.isalnum())
    return -value if negative else value


def between(text: Optional[str], before: str, after: str) -> Optional[str]:
    """The part of a text between two others, trimmed: `between("In stock (22 available)", "(", "available")` gives `22`.

    `None` has no parts, as it has no number.
    """
    if text is None:
        return None
    _, found, rest = text.partition(before)
    if not found:
        return None
    inner, found, _ = rest.partition(after)
    return inner.strip() if found else None


def without_query(url: str) -> str:
    """A URL without its query and fragment."""
    return url.partition("#")[0].partition("?")[0]
