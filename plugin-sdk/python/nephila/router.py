"""Which function handles a request: its label decides."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, List, Optional, TypeVar

from nephila import _check
from nephila._ready import finish
from nephila.context import Context
from nephila.errors import UnknownLabelError

Handler = Callable[[Context], Any]
F = TypeVar("F", bound=Callable[..., Any])


class Router:
    """Handlers by label.

    Requests without a label go to the default handler. A label that no handler is for is a mistake in the plugin, and fails the
    request with the code `unknown-label` (in Crawlee it goes to the default handler).
    """

    def __init__(self) -> None:
        self._default: Optional[Handler] = None
        self._labelled: Dict[str, Handler] = {}
        self._before: List[Handler] = []

    def default_handler(self, handler: F) -> F:
        """Handles requests without a label: `@crawler.router.default_handler`."""
        self._default = checked("default_handler", handler, 1)
        return handler

    def handler(self, label: str) -> Callable[[F], F]:
        """Handles requests with this label: `@crawler.router.handler("DETAIL")`."""
        if callable(label):
            raise TypeError('a handler needs a label: `@crawler.router.handler("DETAIL")`')
        name = _check.text("a label", label)
        if name in self._labelled:
            raise ValueError(f"there are two handlers for the label `{name}`")

        def register(handler: F) -> F:
            self._labelled[name] = checked(f"handler({name!r})", handler, 1)
            return handler

        return register

    def use(self, middleware: F) -> F:
        """Is called before every handler: `@crawler.router.use`."""
        self._before.append(checked("use", middleware, 1))
        return middleware

    @property
    def is_empty(self) -> bool:
        return self._default is None and not self._labelled

    def find(self, label: Optional[str]) -> Handler:
        handler = self._default if label is None else self._labelled.get(label)
        if handler is None:
            if label is not None:
                raise UnknownLabelError(f"no handler is for the label `{label}`; {self._there()}")
            raise UnknownLabelError("the request has no label, and there is no `@crawler.router.default_handler`")
        return handler

    def _there(self) -> str:
        if self._labelled:
            return "there are handlers for " + ", ".join(f"`{known}`" for known in self._labelled)
        if self._default is not None:
            return "there is the default handler alone, which is for requests without a label"
        return "there are no handlers"

    def dispatch(self, context: Context) -> None:
        handler = self.find(context.request.label)
        for middleware in self._before:
            finish(middleware(context))
        finish(handler(context))


def checked(what: str, handler: Any, arguments: int) -> Any:
    """A handler that can be called with the arguments that it will get, and does not yield."""
    if not callable(handler):
        raise TypeError(f"`{what}` is for a function, not {type(handler).__name__}")
    if inspect.isgeneratorfunction(handler) or inspect.isasyncgenfunction(handler):
        raise TypeError(f"`{name_of(handler)}` yields; items are kept with `context.push_data(…)`, requests with `context.add_requests(…)`")
    try:
        inspect.signature(handler).bind(*range(arguments))
    except TypeError as error:
        raise TypeError(f"`{name_of(handler)}` is to take {arguments} argument{'s' * (arguments != 1)}: {error}") from None
    except ValueError:
        pass
    return handler


def name_of(handler: Any) -> str:
    return str(getattr(handler, "__name__", handler))


def takes(handler: Any, arguments: int) -> bool:
    """Whether a handler can be called with so many arguments."""
    try:
        inspect.signature(handler).bind(*range(arguments))
    except TypeError:
        return False
    except ValueError:
        return True
    return True
