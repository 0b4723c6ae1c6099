"""Which links of a page are followed, and how."""

from __future__ import annotations

import re
from typing import Any, Iterable, List, Optional, Tuple, Union

from nephila import _check, _json
from nephila._ready import Ready
from nephila._wit import queue
from nephila.request import _one_of


class Glob:
    """A pattern for URLs (`*`, `**`, `?`, `[…]`, `{a,b}`); a plain str among `include` and `exclude` is one, too."""

    def __init__(self, glob: str) -> None:
        self.glob = _check.text("a glob", glob)


Pattern = Union[str, Glob, "re.Pattern[str]"]


class LinkSummary(Ready):
    """What `enqueue_links` did."""

    __slots__ = ("already_known", "enqueued", "found", "refused")

    def __init__(self, raw: queue.LinkSummary) -> None:
        self.found: int = raw.found
        """Links that the page has, each URL once."""
        self.enqueued: int = raw.enqueued
        """Of these, accepted and not known before."""
        self.already_known: int = raw.already_known
        self.refused: int = raw.refused
        """Of these, refused by strategy, patterns, depth or limit."""

    def __repr__(self) -> str:
        return f"LinkSummary(found={self.found}, enqueued={self.enqueued}, already_known={self.already_known}, refused={self.refused})"


def options(
    selector: Optional[str],
    strategy: str,
    include: Iterable[Pattern],
    exclude: Iterable[Pattern],
    label: Optional[str],
    user_data: Any,
    priority: int,
    forefront: bool,
    limit: Optional[int],
) -> queue.LinkOptions:
    globs, regexes = _patterns("include", include)
    exclude_globs, exclude_regexes = _patterns("exclude", exclude)
    return queue.LinkOptions(
        selector=_check.optional_text("selector", selector),
        strategy=_one_of(queue.Strategy, "strategy", strategy),
        globs=globs,
        regexes=regexes,
        exclude_globs=exclude_globs,
        exclude_regexes=exclude_regexes,
        label=_check.optional_text("label", label),
        user_data=None if user_data is None else _json.write("the user data of links", user_data),
        priority=_check.whole("priority", priority, _check.I32),
        forefront=_check.truth("forefront", forefront),
        limit=_check.optional_whole("limit", limit, _check.U32),
        extra_json=None,
    )


def _patterns(what: str, patterns: Iterable[Pattern]) -> Tuple[List[str], List[str]]:
    globs: List[str] = []
    regexes: List[str] = []
    if isinstance(patterns, (str, Glob, re.Pattern)):
        patterns = [patterns]
    for pattern in patterns:
        if isinstance(pattern, str):
            globs.append(_check.clean(pattern))
        elif isinstance(pattern, Glob):
            globs.append(pattern.glob)
        elif isinstance(pattern, re.Pattern):
            regexes.append(_anchored(pattern))
        else:
            raise TypeError(f"each of `{what}` is to be a glob or a `re.compile(…)`, not {type(pattern).__name__}")
    return globs, regexes


def _anchored(pattern: "re.Pattern[str]") -> str:
    """Crawlee matches from the beginning of the URL, as `re.match` does; the host searches."""
    if not isinstance(pattern.pattern, str):
        raise TypeError("a pattern for URLs is to be compiled from a str")
    flags = "".join(
        letter for letter, flag in (("i", re.IGNORECASE), ("m", re.MULTILINE), ("s", re.DOTALL), ("x", re.VERBOSE)) if pattern.flags & flag
    )
    group = f"(?{flags}:" if flags else "(?:"
    # The line break ends a comment that `re.VERBOSE` allows at the end.
    end = "\n)" if "x" in flags else ")"
    return f"\\A{group}{_check.clean(pattern.pattern)}{end}"
