"""A host that is none: what the SDK asks of it is kept, and answered from dicts."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Dict, List, Optional

import pytest

SDK = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SDK))
REPOSITORY = SDK.parent.parent

from nephila import _guard  # noqa: E402
from nephila._wit import Err, config, crawl, dataset, events, key_value, log, page, queue, session, state, types  # noqa: E402
from nephila.crawler import Crawler  # noqa: E402


class FakeHost:
    """The effects of a call, and what the host would answer."""

    def __init__(self) -> None:
        self.items: List[Any] = []
        self.requests: List[types.NewRequest] = []
        self.links: List[queue.LinkOptions] = []
        self.state: Dict[str, str] = {}
        self.state_calls: List[Any] = []
        self.files: Dict[Any, key_value.Entry] = {}
        self.lines: List[Any] = []
        self.emitted: List[Any] = []
        self.session: Optional[Dict[str, Any]] = None
        self.session_calls: List[Any] = []
        self.added: List[session.Addition] = []
        self.auto_saved: Dict[Any, str] = {}
        self.auto_saved_calls: List[Any] = []
        self.stopped: List[str] = []
        self.input = "null"
        self.found: Dict[str, List[str]] = {}
        self.label: Optional[str] = None
        self.user_data: Optional[str] = None
        self.no_page = False

    def fail(self, code: str, message: str = "no") -> Any:
        raise Err(types.Error(code, message, None))

    def call(self) -> Any:
        request = types.Request(
            "http://a/", "http://a/", types.Method.GET, [types.Header("X-A", "1"), types.Header("x-a", "2")], None, self.label,
            self.user_data, 0, 2, "0" * 32, None, types.Renderer.HTTP, [], 1, 3, False, 60_000, 0, None,
        )  # fmt: skip
        document = self._document() if not self.no_page else None
        return SimpleNamespace(request=lambda: request, document=lambda: document or self.fail("no-page"))

    def _document(self) -> Any:
        meta = types.PageMeta("http://a/b", 200, [], "text/html", None, [], types.Timings(1, 2), 3, None)

        def extract(fields: List[page.Field]) -> List[page.FieldValue]:
            return [page.FieldValue(field.name, self.found.get(field.selector, [])) for field in fields]

        return SimpleNamespace(
            meta=lambda: meta,
            title=lambda: "T",
            extract=extract,
            extract_each=lambda item, fields: [extract(fields), extract(fields)],
            links=lambda selector: [page.Link("http://a/c", "c", "")],
            text=lambda: '{"a": 1}',
            body=lambda: b"{}",
        )

    def handle(self, crawler: Crawler) -> Optional[types.Error]:
        """Handles a page; what went wrong, if anything did."""
        return self.run(_guard.handle, crawler, self.call())

    def run(self, function: Any, *arguments: Any) -> Any:
        try:
            function(*arguments)
        except Err as error:
            return error.value
        return None

    def _push(self, name: Optional[str], items: List[str]) -> None:
        self.items += [json.loads(item) if name is None else (name, json.loads(item)) for item in items]

    def _enqueue(self, requests: List[types.NewRequest]) -> List[queue.Enqueued]:
        self.requests += requests
        return [queue.Enqueued("0" * 32, False, None) for _ in requests]

    def _enqueue_links(self, options: queue.LinkOptions) -> queue.LinkSummary:
        self.links.append(options)
        return queue.LinkSummary(3, 2, 1, 0)

    def _session(self, name: str, answer: Any = None) -> Any:
        def called(*arguments: Any) -> Any:
            if self.session is None:
                return self.fail("no-session")
            self.session_calls.append((name, *arguments))
            return answer(self.session) if answer else None

        return called

    def install(self, patch: pytest.MonkeyPatch) -> None:
        def state_call(name: str) -> Any:
            return lambda *arguments: self.state_calls.append((name, *arguments))

        def set_state(key: str, value: str) -> None:
            self.state_calls.append(("set", key, value))
            self.state[key] = value

        def set_auto_saved(store: Optional[str], key: str, value: str) -> None:
            self.auto_saved_calls.append(("set", store, key, value))
            self.auto_saved[store, key] = value

        def add(addition: session.Addition) -> str:
            self.added.append(addition)
            return addition.id or "made-up"

        replaced = {
            dataset: {"push": self._push, "read": self._read},
            queue: {"enqueue": self._enqueue, "enqueue_links": self._enqueue_links, "lookup": lambda urls: [None for _ in urls]},
            state: {
                "get": lambda key: (self.state_calls.append(("get", key)), self.state.get(key))[1],
                "keys": lambda: sorted(self.state),
                "set": set_state,
                "remove": state_call("remove"),
                "increment": state_call("increment"),
                "append": state_call("append"),
                "max": state_call("max"),
            },
            key_value: {
                "get": lambda store, key: self.files.get((store, key)),
                "set": lambda store, key, entry: self.files.__setitem__((store, key), entry),
                "remove": lambda store, key: self.files.pop((store, key), None),
                "get_auto_saved": lambda store, key: (self.auto_saved_calls.append(("get", store, key)), self.auto_saved.get((store, key)))[1],
                "set_auto_saved": set_auto_saved,
            },
            log: {"write": lambda level, message, fields: self.lines.append((level.name, message, fields))},
            events: {"emit": lambda name, payload: self.emitted.append((name, payload))},
            config: {"input": lambda: self.input, "setting": lambda name: "1" if name == "delay" else None},
            crawl: {"stop": self.stopped.append, "status_message": self.stopped.append},
            session: {
                "id": self._session("id", lambda known: "s1"),
                "user_data": self._session("user_data", json.dumps),
                "set_user_data": self._session("set_user_data"),
                "set_cookies": self._session("set_cookies"),
                "retire": self._session("retire"),
                "good": self._session("good"),
                "add": add,
            },
        }
        for module, functions in replaced.items():
            for name, function in functions.items():
                patch.setattr(module, name, function)

    def _read(self, name: Optional[str], cursor: Optional[str], limit: int) -> dataset.Slice:
        at = int(cursor or 0)
        return dataset.Slice([json.dumps({"n": at})], str(at + 1) if at < 2 else None)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> FakeHost:
    fake = FakeHost()
    fake.install(monkeypatch)
    return fake


@pytest.fixture
def crawler() -> Crawler:
    return Crawler(name="test")
