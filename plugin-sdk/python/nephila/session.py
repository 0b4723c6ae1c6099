"""The session that fetched the page in hand: an identity at a site, with its cookies and data.

What a call asks for takes effect with its commit and, unlike its effects, also if it fails: a handler that says `retire` and then
gives up means it. A call sees its own changes.
"""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Mapping, Optional, Union

from nephila import _check, _json
from nephila._wit import call, session as wit

Cookie = wit.Cookie

Cookies = Union[Iterable[str], Mapping[str, Iterable[str]]]
"""`Set-Cookie` header fields for the page's own URL, or a dict of them by URL."""


class Session:
    """The session in hand."""

    def __init__(self, id: str) -> None:
        self.id = id
        self._user_data: Optional[Dict[str, Any]] = None
        self._written: Optional[str] = None

    @property
    def user_data(self) -> Dict[str, Any]:
        """What it keeps with it: a dict whose changes are saved when the handler ends. At most 64 KiB."""
        if self._user_data is None:
            data: Dict[str, Any] = _json.read("the session's user data", call(wit.user_data))
            self._user_data = data
            self._written = _json.write("the session's user data", data)
        return self._user_data

    @user_data.setter
    def user_data(self, data: Dict[str, Any]) -> None:
        self._user_data = data
        self._written = None

    def cookies(self, url: Optional[str] = None) -> List[Cookie]:
        """The cookies that it sends with a request for a URL; by default the page's own."""
        return call(wit.cookies, _check.optional_text("url", url))

    def set_cookies(self, lines: Iterable[str], url: Optional[str] = None) -> None:
        """Sets cookies as if a URL (by default the page's own) had answered with these `Set-Cookie` header fields:
        `["currency=GBP; Path=/"]`. What it may not set is passed over."""
        call(wit.set_cookies, _check.optional_text("url", url), _check.texts("cookies", lines))

    def mark_good(self) -> None:
        """It did well. Without a word from the plugin, the host judges by how the request ends."""
        call(wit.good)

    def mark_bad(self) -> None:
        """It did badly. Of `mark_good` and `mark_bad` the last one counts."""
        call(wit.bad)

    def retire(self) -> None:
        """It is not to be used again. Final."""
        call(wit.retire)

    def flush(self) -> None:
        """Writes the user data if they were changed."""
        if self._user_data is not None:
            written = _json.write_object("the session's user data", self._user_data)
            if written != self._written:
                call(wit.set_user_data, written)
                self._written = written


def addition(user_data: Any, id: Optional[str], cookies: Cookies) -> wit.Addition:
    """A session to be added."""
    data = _json.write_object("the session's user data", {} if user_data is None else user_data)
    by_url: Dict[Any, Any] = dict(cookies) if isinstance(cookies, Mapping) else {None: cookies}
    set_cookies = [
        wit.UrlCookies(_check.optional_text("each url of cookies", url), _check.texts("cookies", lines)) for url, lines in by_url.items()
    ]
    return wit.Addition(_check.optional_text("id", id), data, [one for one in set_cookies if one.set_cookie_lines], None)
