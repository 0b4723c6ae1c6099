"""The crawl as a whole."""

from __future__ import annotations

from nephila import _check
from nephila._ready import Done
from nephila._wit import crawl as wit


def stop(reason: str = "Stop was called externally.") -> Done[None]:
    """Ends the crawl once the pages in hand are done; what is pending stays. Takes effect with the call's commit."""
    wit.stop(_check.text("the reason", reason))
    return Done(None)


def set_status_message(message: str) -> Done[None]:
    """Sets the status message that people see. Takes effect with the call's commit."""
    wit.status_message(_check.text("the status message", message))
    return Done(None)
