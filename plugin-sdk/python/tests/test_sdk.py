"""The SDK by itself, with a host that is none."""

from __future__ import annotations

import asyncio
import datetime
import enum
import logging
import re
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, List, Literal, Optional

import pytest
from conftest import FakeHost

from nephila import (
    Context,
    Crawler,
    DropItem,
    FatalError,
    Glob,
    JsonError,
    KeyValueStore,
    RejectItem,
    Request,
    RetryRequest,
    Row,
    RowError,
    SessionError,
    SkipRequest,
    _guard,
    _log,
    attr,
    strings,
    texts,
)
from nephila._wit import Err, log as wit_log, page as wit_page, queue, session as wit_session, types


def default(crawler: Crawler, handler: Any) -> Crawler:
    crawler.router.default_handler(handler)
    return crawler


def test_a_label_goes_to_its_handler_and_no_label_to_the_default(host: FakeHost, crawler: Crawler) -> None:
    called: List[str] = []
    crawler.router.default_handler(lambda context: called.append("default"))
    crawler.router.handler("DETAIL")(lambda context: called.append("detail"))

    host.handle(crawler)
    host.label = "DETAIL"
    host.handle(crawler)
    assert called == ["default", "detail"]


def test_an_unknown_label_does_not_fall_back_to_the_default(host: FakeHost, crawler: Crawler) -> None:
    default(crawler, lambda context: None)
    host.label = "DETAILS"
    error = host.handle(crawler)
    assert error is not None and error.code == "unknown-label" and "`DETAILS`" in error.message
    assert "the default handler alone, which is for requests without a label" in error.message


def test_middleware_comes_before_every_handler(host: FakeHost, crawler: Crawler) -> None:
    order: List[str] = []

    @crawler.router.use
    async def before(context: Context) -> None:
        order.append("before")

    default(crawler, lambda context: order.append("handler"))
    host.handle(crawler)
    assert order == ["before", "handler"]


def test_everything_that_crawlee_awaits_works_with_and_without_await(host: FakeHost, crawler: Crawler) -> None:
    async def awaits(context: Context) -> None:
        await context.push_data({"n": 1})
        summary = await context.enqueue_links()
        answers = await context.add_requests(["/a"])
        state = await context.use_state({"n": 1})
        store = await context.get_key_value_store()
        await store.set_value("k", [1])
        items = await context.get_dataset().list_items()
        await context.push_data({"all": [summary.found, len(answers), state["n"], await store.get_value("k"), len(items)]})

    def plain(context: Context) -> None:
        context.push_data({"n": 1})
        summary = context.enqueue_links()
        answers = context.add_requests(["/a"])
        state = context.use_state({"n": 1})
        store = context.get_key_value_store()
        store.set("k", [1])
        items = context.get_dataset().list_items()
        context.push_data({"all": [summary.found, len(answers), state["n"], store.get("k"), len(items)]})

    for handler in (awaits, plain):
        host.items.clear()
        assert host.handle(default(crawler, handler)) is None
        assert host.items == [{"n": 1}, {"all": [3, 1, 1, [1], 3]}]


def test_a_foreign_await_is_told_with_the_line_that_awaits(
    host: FakeHost, crawler: Crawler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_guard, "AUTHORS_FILES", {__file__})

    async def bare(context: Context) -> None:
        await asyncio.sleep(0)

    async def with_a_loop(context: Context) -> None:
        await asyncio.sleep(1)

    for handler in (bare, with_a_loop):
        error = host.handle(default(crawler, handler))
        assert error is not None and error.code == "exception"
        assert "can only await what the SDK gives it" in error.message and "await asyncio.sleep" in error.message


def test_exceptions_become_errors_of_the_contract(host: FakeHost, crawler: Crawler) -> None:
    cases = [
        (RetryRequest("later", code="busy"), types.Error("busy", "later", types.Ending.RETRY)),
        (SkipRequest("never mind"), types.Error("skip", "never mind", types.Ending.SKIP)),
        (FatalError("broken", code="no-price"), types.Error("no-price", "broken", types.Ending.FATAL)),
    ]
    for raised, expected in cases:

        def handler(context: Context, raised: Exception = raised) -> None:
            raise raised

        assert host.handle(default(crawler, handler)) == expected


def test_any_other_exception_names_its_type_message_and_line(host: FakeHost, crawler: Crawler) -> None:
    _log.install()

    def handler(context: Context) -> None:
        int("£")

    error = host.handle(default(crawler, handler))
    assert error is not None and (error.code, error.ending) == ("exception", None)
    assert error.message.startswith("ValueError: invalid literal") and 'in handler: int("£")' in error.message
    level, message, _ = host.lines[-1]
    assert level == "ERROR" and message.startswith("Traceback") and "nephila/_guard.py" not in message


def test_an_exit_and_an_endless_recursion_are_errors_too(host: FakeHost, crawler: Crawler) -> None:
    def leaves(context: Context) -> None:
        raise SystemExit(3)

    def deep(context: Context) -> None:
        deep(context)

    assert "SystemExit: exit(3)" in host.handle(default(crawler, leaves)).message  # type: ignore[union-attr]
    assert "RecursionError" in host.handle(default(crawler, deep)).message  # type: ignore[union-attr]


def test_an_error_of_the_host_passes_through_and_can_be_caught(host: FakeHost, crawler: Crawler) -> None:
    host.no_page = True
    error = host.handle(default(crawler, lambda context: context.page.title()))
    assert error is not None and error.code == "no-page"


def test_what_would_trap_the_bindings_is_refused_before(host: FakeHost, crawler: Crawler) -> None:
    cases: List[Any] = [
        (lambda context: context.enqueue_links(5), "selector is to be a str, not int (5)"),
        (lambda context: context.enqueue_links(priority=2**40), "priority is to be from"),
        (lambda context: context.enqueue_links(strategy="same"), "`SAME-DOMAIN`"),
        (lambda context: context.add_requests([3]), "each request is to be a URL"),
        (lambda context: context.push_data([1]), "an item is to be a dict"),
        (lambda context: context.state.increment("a", 1.5), "what is added is to be an int"),
        (lambda context: context.state.max("a", "1"), "the greatest value is to be a number"),
        (lambda context: context.page.extract(["h1"]), "fields are to be a dict"),
        (lambda context: context.page.extract({"a": 1}), "the field 'a' is to be a selector"),
        (lambda context: context.push_data({"a": float("nan")}), "cannot be written as JSON"),
    ]
    for handler, said in cases:
        error = host.handle(default(crawler, handler))
        assert error is not None and said in error.message, said


def test_half_a_surrogate_pair_is_replaced(host: FakeHost, crawler: Crawler) -> None:
    default(crawler, lambda context: context.push_data({"a": "\ud83d!", "b": "\ud83d\ude00"}))
    assert host.handle(crawler) is None
    assert host.items == [{"a": "\ufffd!", "b": "😀"}]


def test_items_are_dicts_data_classes_and_lists_of_them(host: FakeHost, crawler: Crawler) -> None:
    @dataclass
    class Item:
        at: datetime.date

    model = SimpleNamespace(model_dump=lambda mode: {"m": mode})

    def handler(context: Context) -> None:
        context.push_data([Item(datetime.date(2026, 12, 1)), {"a": 1}], "named")
        context.push_data(model)

    host.handle(default(crawler, handler))
    assert host.items == [("named", {"at": "2026-12-01"}), ("named", {"a": 1}), {"m": "json"}]


def test_a_request_says_what_is_asked_for(host: FakeHost, crawler: Crawler) -> None:
    wanted = Request.from_url(
        "/a", label="DETAIL", user_data={"a": 1}, headers={"A": "b"}, accepted_statuses=[404, (500, 599)], timeout=datetime.timedelta(seconds=2)
    )
    default(crawler, lambda context: context.add_requests([wanted, "/b", {"url": "/c", "method": "post", "payload": "ä"}]))
    assert host.handle(crawler) is None
    first, second, third = host.requests
    assert (first.label, first.user_data, first.timeout_millis) == ("DETAIL", '{"a":1}', 2000)
    assert first.accepted_statuses == [types.StatusRange(404, 404), types.StatusRange(500, 599)]
    assert (second.url, third.method, third.payload) == ("/b", types.Method.POST, "ä".encode())


def test_the_request_in_hand(host: FakeHost, crawler: Crawler) -> None:
    host.user_data = '{"a": 1}'
    seen: List[Any] = []
    default(crawler, lambda context: seen.extend([context.request.user_data, context.request.headers, context.request.crawl_depth]))
    assert host.handle(crawler) is None
    assert seen == [{"a": 1}, {"x-a": "1, 2"}, 2]


def test_patterns_of_links_are_globs_or_anchored_expressions(host: FakeHost, crawler: Crawler) -> None:
    default(
        crawler,
        lambda context: context.enqueue_links("a", include=["**/a/**", Glob("*"), re.compile("HTTP://x", re.I)], exclude=re.compile("y")),
    )
    assert host.handle(crawler) is None
    options = host.links[0]
    assert (options.globs, options.regexes) == (["**/a/**", "*"], ["\\A(?i:HTTP://x)"])
    assert (options.exclude_regexes, options.strategy) == (["\\A(?:y)"], queue.Strategy.SAME_HOSTNAME)


def test_state_is_written_once_at_the_end_and_only_if_it_changed(host: FakeHost, crawler: Crawler) -> None:
    host.state = {"list": "[1]", "same": '{"a": 1}', "gone": "1"}

    def handler(context: Context) -> None:
        state = context.use_state({"new": {"n": 0}, "unused": 1})
        state["list"].append(2)
        state["same"]["a"] = 1
        state["new"]["n"] += 1
        assert state["unused"] == 1
        del state["gone"]
        assert "gone" not in state and sorted(state) == ["list", "new", "same", "unused"]

    assert host.handle(default(crawler, handler)) is None
    written = [call for call in host.state_calls if call[0] != "get"]
    assert written == [("set", "list", "[1,2]"), ("set", "new", '{"n":1}'), ("remove", "gone")]


def test_a_handler_that_fails_writes_no_state(host: FakeHost, crawler: Crawler) -> None:
    def handler(context: Context) -> None:
        context.state["a"] = 1
        raise FatalError("no")

    host.handle(default(crawler, handler))
    assert host.state_calls == []


def test_increment_after_a_change_of_the_same_key_keeps_the_order(host: FakeHost, crawler: Crawler) -> None:
    def handler(context: Context) -> None:
        context.state["a"] = 1
        context.state.increment("a", 2)
        context.state.increment("b")

    host.handle(default(crawler, handler))
    assert host.state_calls == [("set", "a", "1"), ("increment", "a", 2), ("increment", "b", 1)]


def test_a_session_keeps_its_data_also_if_the_handler_fails(host: FakeHost, crawler: Crawler) -> None:
    host.session = {"a": 1}

    def handler(context: Context) -> None:
        assert context.session is not None and context.session.id == "s1"
        context.session.user_data["b"] = 2
        raise SessionError("blocked")

    error = host.handle(default(crawler, handler))
    assert error == types.Error("session", "blocked", types.Ending.RETRY)
    assert ("retire",) in host.session_calls and ("set_user_data", '{"a":1,"b":2}') in host.session_calls


def test_without_a_session_there_is_none(host: FakeHost, crawler: Crawler) -> None:
    seen: List[Any] = []
    default(crawler, lambda context: seen.append(context.session))
    assert host.handle(crawler) is None
    assert seen == [None]


def test_values_of_a_store_come_back_as_what_they_are(host: FakeHost, crawler: Crawler) -> None:
    def handler(context: Context) -> None:
        store = context.get_key_value_store("named")
        for key, value in {"json": {"a": 1}, "text": "ä", "bytes": b"\0"}.items():
            store.set_value(key, value)
            assert store.get(key) == value
        store.set_value("json", None)
        assert store.get("json", "none") == "none"

    assert host.handle(default(crawler, handler)) is None
    assert host.files[("named", "text")].content_type == "text/plain; charset=utf-8"


def test_the_standard_logging_goes_to_the_host_with_level_and_fields(host: FakeHost) -> None:
    _log.install()
    logging.getLogger("anything").warning("a %s", "b", extra={"price": 3})
    logging.getLogger("anything").debug("left out")
    logging.getLogger("nephila").debug("kept")
    assert host.lines == [("WARN", "a b", '{"price":3}'), ("DEBUG", "kept", None)]
    assert wit_log.Level.WARN.name == "WARN"


def test_failures_finish_events_and_sessions(host: FakeHost, crawler: Crawler) -> None:
    @crawler.failed_request_handler
    async def failed(context: Context, error: Any) -> None:
        await context.push_data({"failed": [error.code, error.attempts, error.status]})

    @crawler.on_finish
    async def finished(context: Any) -> None:
        await context.push_data({"n": [item["n"] async for item in context.get_dataset().iterate_items()]})

    @crawler.on("offer", "other")
    def heard(context: Any) -> None:
        context.push_data({"heard": [context.event.name, context.event.payload]})

    @crawler.create_session
    def new() -> Any:
        return {"language": "en"}

    default(crawler, lambda context: None)
    assert crawler.entry_points == ["handler", "manifest", "failure", "finish", "listener", "sessions"]
    assert crawler.subscriptions == ["offer", "other"]
    reason = SimpleNamespace(code="status", message="404", attempts=2, status=404)
    event = SimpleNamespace(id="1", name="offer", payload="[1]", created_at="", extra_json=None)
    assert host.run(_guard.on_failure, crawler, host.call(), reason) is None
    assert host.run(_guard.on_finish, crawler) is None
    assert host.run(_guard.on_event, crawler, event) is None
    assert _guard.create_session(crawler) == '{"language":"en"}'
    assert host.items == [{"failed": ["status", 2, 404]}, {"n": [0, 1, 2]}, {"heard": ["offer", [1]]}]


def test_a_session_is_added_with_data_and_cookies_and_gives_its_id(host: FakeHost, crawler: Crawler) -> None:
    async def handler(context: Context) -> None:
        known = await context.add_session({"account": 7}, id="seven", cookies=["a=b; Path=/"])
        made_up = context.add_session(cookies={"http://b/": ["c=d"], "http://c/": []})
        await context.add_requests([Request.from_url("/a", session_id=known), Request.from_url("/b", session_id=made_up)])
        await context.push_data({"ids": [known, made_up]})

    assert host.handle(default(crawler, handler)) is None
    assert host.added == [
        wit_session.Addition("seven", '{"account":7}', [wit_session.UrlCookies(None, ["a=b; Path=/"])], None),
        wit_session.Addition(None, "{}", [wit_session.UrlCookies("http://b/", ["c=d"])], None),
    ]
    assert [request.session_id for request in host.requests] == ["seven", "made-up"]
    assert type(host.requests[1].session_id) is str and host.items == [{"ids": ["seven", "made-up"]}]
    wrong: List[Any] = [
        ({"cookies": "a=b"}, "cookies are to be a list of str"),
        ({"cookies": {"http://a/": "a=b"}}, "cookies are to be a list of str"),
        ({"user_data": [1]}, "the session's user data is to be a dict"),
        ({"id": 7}, "id is to be a str"),
    ]
    for arguments, said in wrong:
        error = host.handle(default(crawler, lambda context, arguments=arguments: context.add_session(**arguments)))
        assert error is not None and said in error.message, said


def test_an_auto_saved_value_is_written_once_at_the_end_and_only_if_it_changed(host: FakeHost, crawler: Crawler) -> None:
    host.auto_saved = {(None, "list"): "[ 1 ]", ("named", "same"): '{"a": 1}'}
    default_value = {"seen": {"n": 0}}

    async def handler(context: Context) -> None:
        store = await context.get_key_value_store()
        new = await store.get_auto_saved_value("new", default_value)
        new["seen"]["n"] += 1
        assert context.get_key_value_store().auto_saved("new", default_value) is new
        assert await store.get_auto_saved_value("unused") == {}
        store.auto_saved("list", []).append(2)
        assert context.get_key_value_store("named").auto_saved("same") == {"a": 1}

    assert host.handle(default(crawler, handler)) is None
    written = [call for call in host.auto_saved_calls if call[0] == "set"]
    assert written == [("set", None, "new", '{"seen":{"n":1}}'), ("set", None, "list", "[1,2]")]
    assert default_value == {"seen": {"n": 0}}
    assert len(host.auto_saved_calls) == 6


def test_an_auto_saved_value_is_replaced_without_being_read(host: FakeHost, crawler: Crawler) -> None:
    def handler(context: Context) -> None:
        store = context.get_key_value_store()
        store.auto_saved("old")["lost"] = 1
        store.set_auto_saved_value("old", 5)
        store.set_auto_saved_value("new", [1])
        assert store.auto_saved("old") == 5

    assert host.handle(default(crawler, handler)) is None
    assert host.auto_saved_calls == [("get", None, "old"), ("set", None, "old", "5"), ("set", None, "new", "[1]"), ("get", None, "old")]


def test_mistakes_with_auto_saved_values_are_told(host: FakeHost, crawler: Crawler) -> None:
    def fails(context: Context) -> None:
        context.get_key_value_store().auto_saved("a")["b"] = 1
        raise FatalError("no")

    cases: List[Any] = [
        (lambda context: context.get_key_value_store().auto_saved("n", 0), 'write `{"value": 0}`'),
        (lambda context: KeyValueStore("a").auto_saved("n"), "with `context.get_key_value_store(…)`"),
        (lambda context: context.get_key_value_store().auto_saved("n").update(a={1}), "the auto-saved value `n` cannot be written as JSON"),
        (lambda context: context.get_key_value_store().auto_saved(1), "a key is to be a str"),
        (fails, "no"),
    ]
    for handler, said in cases:
        error = host.handle(default(crawler, handler))
        assert error is not None and said in error.message, said
    assert host.auto_saved == {}


def judged(crawler: Crawler, item: str = '{"n": 1.0}') -> Any:
    return _guard.process_item(crawler, SimpleNamespace(dataset="named", json=item, url="http://a/", extra_json=None))


def test_an_item_passes_is_changed_dropped_or_rejected(host: FakeHost) -> None:
    def drops(item: Any, context: Any) -> None:
        context.state["dropped"] = 1
        raise DropItem("no-price")

    def rejects(item: Any) -> None:
        raise RejectItem("what is this")

    async def awaits(item: Any, context: Any) -> Any:
        state = await context.use_state({"n": 1})
        return {**item, "where": [context.dataset_name, context.url, state["n"]]}

    @dataclass
    class Book:
        n: float

    cases: List[Any] = [
        (lambda item: None, ("Keep",)),
        (lambda item: item, ("Keep",)),
        (lambda item: Book(1.0), ("Keep",)),
        (lambda item: item.update(m="ä"), ("Change", '{"n":1.0,"m":"ä"}')),
        (lambda item: Book(2), ("Change", '{"n":2}')),
        (awaits, ("Change", '{"n":1.0,"where":["named","http://a/",1]}')),
        (drops, ("Drop", "no-price")),
        (rejects, ("Reject", "what is this")),
    ]
    for handler, verdict in cases:
        crawler = Crawler(name="tidy")
        crawler.process_item(handler)
        assert crawler.entry_points == ["manifest", "pipeline"]
        assert judged(crawler) == verdict
    assert host.state == {"dropped": "1"}


def test_mistakes_in_a_pipeline_are_told(host: FakeHost, crawler: Crawler) -> None:
    cases: List[Any] = [
        (lambda item: False, "`raise DropItem(…)` leaves it out) is to be a dict or a data class, not bool"),
        (lambda item, context: context.page, "there is no `page` in process_item"),
        (lambda item, context: context.nothing, "no attribute 'nothing'"),
        (lambda item: {"a": {1}}, "cannot be written as JSON"),
        (lambda item: (_ for _ in ()).throw(DropItem(5)), "the reason of DropItem is to be a str"),  # type: ignore[arg-type]
        (lambda item: item["price"], "KeyError: 'price'"),
    ]
    for handler, said in cases:
        crawler._process_item = handler
        with pytest.raises(Err) as raised:
            judged(crawler)
        assert said in raised.value.value.message, said

    def drops(context: Context) -> None:
        raise DropItem("no-price")

    error = host.handle(default(crawler, drops))
    assert error is not None and error.code == "exception" and "DropItem is for `process_item`" in error.message


def test_mistakes_at_registration_are_told_at_once(crawler: Crawler) -> None:
    def yields(context: Context) -> Any:
        yield {}

    cases: List[Any] = [
        (lambda: Crawler(name="Two Words"), "lower-case letters"),
        (lambda: Crawler(name="a", start_urls="http://a"), "start_urls are to be a list"),
        (lambda: crawler.router.handler(lambda context: None), "a handler needs a label"),
        (lambda: crawler.router.default_handler(yields), "`yields` yields"),
        (lambda: crawler.router.default_handler(lambda: None), "is to take 1 argument"),
        (lambda: crawler.on(lambda event: None), "needs the name of an event"),
        (lambda: crawler.process_item(lambda: None), "is to take 2 arguments"),
        (lambda: crawler.run(["http://a"]), "nephila run crawler.py"),
    ]
    for mistake, said in cases:
        with pytest.raises((TypeError, ValueError, RuntimeError), match=re.escape(said)):
            mistake()


def test_a_page_gives_rows(host: FakeHost, crawler: Crawler) -> None:
    host.found = {"h1": ["Emma"], "a": ["x", "y"]}
    seen: List[Any] = []

    def handler(context: Context) -> None:
        fields = {"title": "h1", "links": texts("a"), "none": "h2", "many": texts("h2"), "href": attr("a", "href")}
        seen.append(context.page.extract(fields))
        seen.append(len(context.page.extract_each("li", fields)))
        seen.append((context.page.url, context.page.title(), context.page.json()))

    assert host.handle(default(crawler, handler)) is None
    assert seen == [{"title": "Emma", "links": ["x", "y"], "none": None, "many": [], "href": "x"}, 2, ("http://a/b", "T", {"a": 1})]
    assert wit_page.FieldKind_Attr("href") == attr("a", "href").kind


class Kind(enum.Enum):
    NEW = "new"
    USED = "used"


@dataclass
class Book:
    title: str
    price: float
    pages: Optional[int]
    kind: Kind
    tags: List[str]
    sizes: "list[int]" = field(default_factory=list)
    signed: bool = False
    cover: Literal["hard", "soft"] = "hard"
    notes: str = ""


def test_a_row_becomes_a_data_class() -> None:
    row = Row(title="Emma", price=" 51.77 ", pages=None, kind="used", tags=["a"], sizes=["1", "2"], signed="", cover="soft", notes=None)
    assert row.into(Book) == Book("Emma", 51.77, None, Kind.USED, ["a"], [1, 2], True, "soft", "")


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"price": "£51"}, "field `price`: `£51` is not a number"),
        ({"price": "1_000"}, "`1_000` is not a number"),
        ({"price": "nan"}, "`nan` is not a number"),
        ({"title": None}, "nothing was found for the field `title`"),
        ({"pages": "1.5"}, "field `pages`: `1.5` is not a whole number"),
        ({"kind": "old"}, "`old` is none of new, used"),
        ({"signed": "maybe"}, "neither true nor false"),
    ],
)
def test_a_row_that_does_not_fit_names_the_field_and_the_text(cells: Any, said: str) -> None:
    row = Row({"title": "Emma", "price": "1", "kind": "new", "tags": [], **cells})
    with pytest.raises(RowError, match=re.escape(said)):
        row.into(Book)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("£51.77", 51.77), ("In stock (22 available)", 22.0), ("-3 °C", -3.0), ("ISBN-10", 10.0), ("1,234,567.5", 1234567.5),
        ("1,2", 1.0), ("7. place", 7.0), ("1.2.3", 1.2), ("none", None), ("", None),
    ],
)  # fmt: skip
def test_the_first_number_of_a_text_is_found_as_in_the_other_sdks(text: str, expected: Optional[float]) -> None:
    assert strings.number(text) == expected


def test_parts_of_a_text_are_found() -> None:
    assert strings.between("In stock (22 available)", "(", "available") == "22"
    assert strings.between("In stock", "(", ")") is None
    assert strings.without_query("http://a/b?c=1#d") == "http://a/b"
    assert strings.without_query("http://a/b#d?") == "http://a/b"


def test_input_settings_events_and_the_crawl(host: FakeHost, crawler: Crawler) -> None:
    host.input = '{"a": 1}'
    seen: List[Any] = []

    def handler(context: Context) -> None:
        seen.extend([context.input, context.setting("delay"), context.setting("nothing")])
        context.emit("offer", {"a": 1})
        context.crawl.set_status_message("well")
        crawler.stop("enough")

    assert host.handle(default(crawler, handler)) is None
    assert seen == [{"a": 1}, 1, None]
    assert (host.emitted, host.stopped) == ([("offer", '{"a":1}')], ["well", "enough"])


def test_json_of_the_host_that_is_none_has_a_code_of_its_own(host: FakeHost, crawler: Crawler) -> None:
    host.user_data = "{"
    error = host.handle(default(crawler, lambda context: context.request.user_data))
    assert error is not None and error.code == JsonError.default_code
