"""What users of other frameworks write, and what they are told."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from conftest import FakeHost

from nephila import Context, Crawler, strings


@pytest.mark.parametrize(
    "given, words",
    [
        ({"max_requests_per_crawl": 10}, 'no argument `max_requests_per_crawl`: that is a setting: `settings={"max-requests": 10}`'),
        ({"request_handler_timeout": datetime.timedelta(minutes=1)}, 'settings={"plugin-time": 60}'),
        ({"use_session_pool": True}, 'settings={"session-pool": True}'),
        ({"router": object()}, "@crawler.router.default_handler"),
        ({"proxy_configuration": None}, "not here yet"),
        ({"ignore_http_error_status_codes": [404]}, "accepted_statuses=[404]"),
        ({"nmae": "a"}, "there are `name`, `version`, `description`, `start_urls`, `settings`, `request_handler`"),
    ],
)
def test_an_argument_of_crawlees_is_told_what_it_is_here(given: Any, words: str) -> None:
    made = len(Crawler.made)
    with pytest.raises(TypeError) as refused:
        Crawler(name="a", **given)
    assert words in str(refused.value)
    assert len(Crawler.made) == made


@pytest.mark.parametrize(
    "name, words",
    [
        ("soup", "page.extract("),
        ("selector", "page.extract("),
        ("parsed_content", "page.text()"),
        ("response", "`context.page` has `status`"),
        ("http_response", "`context.page` has `status`"),
        ("send_request", "context.add_requests"),
    ],
)
def test_an_attribute_of_crawlees_context_is_told_what_to_use(host: FakeHost, crawler: Crawler, name: str, words: str) -> None:
    crawler.router.default_handler(lambda context: getattr(context, name))
    error = host.handle(crawler)
    assert error is not None and error.code == "exception"
    assert f"AttributeError: the context has no `{name}`: " in error.message and words in error.message


def test_a_page_is_no_soup_and_other_names_are_pythons_to_refuse(host: FakeHost, crawler: Crawler) -> None:
    def handler(context: Context) -> None:
        with pytest.raises(AttributeError, match="the page has no `select_one`: .*extract"):
            getattr(context.page, "select_one")
        for owner in (context, context.page):
            with pytest.raises(AttributeError, match="object has no attribute 'something'"):
                getattr(owner, "something")

    crawler.router.default_handler(handler)
    assert host.handle(crawler) is None


def test_a_field_without_a_text_has_no_number() -> None:
    assert strings.number(None) is None
    assert strings.between(None, "(", ")") is None
    with pytest.raises(TypeError, match="the text is to be a str, not float"):
        strings.number(3.0)  # type: ignore[arg-type]
