"""Real components in the real host, against the real test site.

`NEPHILA_BIN` and `NEPHILA_SITE_BIN` name the two programs (`cargo xtask build` makes them), `NEPHILA_PLUGINS` the folder with
`books.wasm`. What is not given is skipped by its name.
"""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import pytest
from conftest import REPOSITORY, SDK

BIN = os.environ.get("NEPHILA_BIN")
SITE = os.environ.get("NEPHILA_SITE_BIN")
PLUGINS = os.environ.get("NEPHILA_PLUGINS")

pytestmark = pytest.mark.skipif(not (BIN and SITE), reason="NEPHILA_BIN and NEPHILA_SITE_BIN are not given")


@pytest.fixture(scope="module")
def shop() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    site = subprocess.Popen([str(SITE), "bookshop", "--port", str(port)], stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}/"
    for _ in range(100):
        try:
            urllib.request.urlopen(address).close()
            break
        except OSError:
            time.sleep(0.1)
    yield address
    site.terminate()
    site.wait()


def build(source: Path, folder: Path) -> Path:
    out = folder / f"{source.stem}.wasm"
    command = [sys.executable, str(SDK / "build.py"), "--source", str(source), "--wit", str(REPOSITORY / "wit"), "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert json.loads(done.stdout)["ok"], done.stdout + done.stderr
    return out


class Crawl:
    """A crawl that has ended."""

    def __init__(self, plugin: Path, url: str, folder: Path, *more: str) -> None:
        job, output = folder / "job", folder / "items.jsonl"
        folder.mkdir(parents=True, exist_ok=True)
        command = [str(BIN), "run", str(plugin), url, "--delay", "0", "--json", "--job", str(job), "-o", str(output), *more]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
        self.log = done.stderr
        assert done.stdout, self.log
        self.statistics: Dict[str, Any] = json.loads(done.stdout)
        with sqlite3.connect(job / "nephila.db") as database:
            self.state: List[Tuple[str, str]] = sorted(database.execute("select key, value from state"))
            self.records: Dict[str, Any] = {key: json.loads(value) for key, value in database.execute("select key, value from key_values")}
            every = [json.loads(row[0]) for row in database.execute("select json from items")]
        self.every: List[Any] = every
        self.items: List[Any] = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]

    def errors(self) -> Dict[str, str]:
        return {error["code"]: error["message"] for error in self.statistics["errors"]}


@pytest.mark.skipif(not PLUGINS, reason="NEPHILA_PLUGINS is not given")
def test_books_in_python_gives_what_books_in_rust_gives(shop: str, tmp_path: Path) -> None:
    python = Crawl(build(REPOSITORY / "plugins" / "books-python" / "crawler.py", tmp_path), shop, tmp_path / "python")
    reused = Crawl(tmp_path / "crawler.wasm", shop, tmp_path / "reused", "--set", "plugin-reuse=100")
    rust = Crawl(Path(str(PLUGINS)) / "books.wasm", shop, tmp_path / "rust")

    def by_url(items: List[Any]) -> List[Any]:
        return sorted(items, key=lambda item: item["url"])

    counts = [
        "requestsFinished", "requestsFailed", "requestsTotal", "requestsPending", "requestsRefused", "requestsRetries",
        "requestsSkipped", "retryHistogram", "statusCodes", "items", "itemsByDataset", "errors", "plugin", "status", "finishReason",
    ]  # fmt: skip
    assert len(rust.items) == 1000
    for crawl in (python, reused):
        assert by_url(crawl.items) == by_url(rust.items)
        assert crawl.state == rust.state
        for count in counts:
            assert crawl.statistics[count] == rust.statistics[count], count


def test_everything_that_the_sdk_can_do_works_in_the_host(shop: str, tmp_path: Path) -> None:
    plugin = build(SDK / "tests" / "crawlers" / "everything.py", tmp_path)
    crawl = Crawl(plugin, shop, tmp_path, "--set", "session-pool=yes", "--set", "retry-delay=0.01", "--input", '{"a": 1}')

    values = {item["kind"]: item["value"] for item in crawl.items}
    assert 0 <= values.pop("random") < 1
    assert values == {
        "enqueued": 16,
        "title": "All products | Page 1 of 50",
        "links": 20,
        "refused": 20,
        "stored": {"b": [1, "ä"]},
        "input": {"a": 1},
        "setting": 2,
        "session": [{"made": True, "visits": 1}, ["a"]],
        "user data": {"what": "value"},
        "retried": 1,
        "rotated": True,
        "state": [[""], True, 0, ["middleware", "seen", "set"]],
        "count": 12,
    }
    failed = {item["value"][0]: item["value"][1:] for item in crawl.every if item["kind"] == "failed"}
    assert {label: code for label, (code, _) in failed.items()} == {
        "plain": "exception", "host": "bad-selector", "fatal": "broken", "await": "exception", "gather": "exception",
        "type": "exception", "label": "unknown-label", "lazy": "exception", "exit": "exception", "deep": "exception",
        "encoding": "exception", "surrogate": "json",
    }  # fmt: skip
    assert "ValueError: could not convert string to float: '£1' (at everything.py:" in failed["plain"][1]
    assert "in helper: return float(row" in failed["plain"][1]
    for label in ("await", "gather"):
        assert "can only await what the SDK gives it" in failed[label][1] and "await asyncio" in failed[label][1]
    assert "write `import encodings.cp1251` at the top" in failed["encoding"][1]
    assert "write `import chunked_nothing` at the top" in failed["lazy"][1]
    assert crawl.statistics["requestsSkipped"] == {"no-matter": 1}
    heard = sorted(item["value"][0] for item in crawl.every if item["kind"] == "heard")
    assert heard == ["crawlStarted", "started"]
    assert "a warning of another" in crawl.log and "printed without an end" in crawl.log
    assert "trap" not in crawl.errors()


def test_sessions_are_added_values_auto_saved_and_items_judged(shop: str, tmp_path: Path) -> None:
    plugin = build(SDK / "tests" / "crawlers" / "accounts.py", tmp_path)
    crawl = Crawl(plugin, shop, tmp_path / "alone", "--set", "session-pool=yes")
    books = [item for item in crawl.items if item["kind"] == "book"]
    assert len(books) == 15 and all(isinstance(book["price"], float) and book["stars"] != "One" for book in books)
    others = sorted((item["kind"], item["value"]) for item in crawl.items if item["kind"] != "book")
    stars = {"One": 5, "Two": 5, "Three": 7, "Four": 1, "Five": 2}
    assert others == [("account", [False, {}, ["token=2"]]), ("account", [True, {"account": 7}, ["token=1"]]), ("stars", stars)]
    assert crawl.statistics["itemsDropped"] == {"bad-book": 5}
    assert ("books", "20") in crawl.state
    assert (crawl.records["stars"], crawl.records["finished"]) == (stars, {"yes": True})
    errors = crawl.errors()
    assert set(errors) == {"item-rejected", "session-exists"}
    assert "this is no book" in errors["item-rejected"] and "in twice: context.add_session" in errors["session-exists"]

    only_items = build(SDK / "tests" / "crawlers" / "only_items.py", tmp_path)
    more = ["--set", "session-pool=yes", "--pipeline", str(only_items), "--input", '{"a": 1}']
    crawl = Crawl(plugin, shop, tmp_path / "both", *more)
    assert len(crawl.items) == 10 and crawl.statistics["itemsDropped"] == {"bad-book": 5, "no-book": 3}
    for item in crawl.items:
        assert sorted(item) == ["input", "price", "title", "url"] and item["url"].startswith(shop + "catalogue/") and item["input"] == {"a": 1}
    said = crawl.errors()["not-in-pipeline"]
    assert "in the pipeline of only-items" in said and "in judge: context.push_data(item)" in said
    done = subprocess.run([str(BIN), "run", str(only_items), shop, "--job", str(tmp_path / "none")], capture_output=True, text=True)
    assert done.returncode != 0 and "--pipeline" in done.stderr


def test_a_plugin_that_only_listens_needs_no_handler(shop: str, tmp_path: Path) -> None:
    crawler, ear = tmp_path / "page.py", tmp_path / "ear.py"
    head = "from nephila import Crawler\n"
    crawler.write_text(f'{head}crawler = Crawler(name="page")\n@crawler.router.default_handler\ndef page(context): ...\n')
    ear.write_text(
        f'{head}crawler = Crawler(name="ear")\n'
        '@crawler.on("crawlStarted")\n'
        "def heard(context):\n"
        '    context.get_key_value_store().auto_saved("heard", []).append(context.event.name)\n'
        '    context.push_data({"session": context.add_session(id="heard")})\n'
    )
    crawl = Crawl(build(crawler, tmp_path), shop, tmp_path, "--set", "session-pool=yes", "--listener", str(build(ear, tmp_path)))
    assert crawl.items == [{"session": "heard"}] and crawl.records["heard"] == ["crawlStarted"]


def test_random_numbers_are_others_in_each_sandbox(shop: str, tmp_path: Path) -> None:
    source = tmp_path / "dice.py"
    source.write_text(
        "import random\nfrom nephila import Crawler\n"
        'crawler = Crawler(name="dice")\n'
        "@crawler.router.default_handler\n"
        "def page(context):\n"
        '    context.push_data({"n": random.random()})\n'
        '    context.enqueue_links("h3 a")\n'
    )
    items = Crawl(build(source, tmp_path), shop, tmp_path, "--max-requests", "20").items
    assert len({item["n"] for item in items}) == len(items) >= 20


def test_a_package_that_is_all_python_comes_along_with_what_it_imports_lazily(shop: str, tmp_path: Path) -> None:
    site = tmp_path / ".venv" / "lib" / "python3.11" / "site-packages"
    (site / "pure").mkdir(parents=True)
    (site / "pure" / "__init__.py").write_text("def name():\n    from . import later\n    import colorsys\n    return later.NAME + colorsys.__name__\n")
    (site / "pure" / "later.py").write_text('NAME = "later "\n')
    source = tmp_path / "crawler.py"
    source.write_text(
        "import pure\nfrom nephila import Crawler\n"
        'crawler = Crawler(name="packages")\n'
        "@crawler.router.default_handler\n"
        "def page(context):\n"
        '    context.push_data({"name": pure.name()})\n'
    )
    crawl = Crawl(build(source, tmp_path), shop, tmp_path)
    assert crawl.items == [{"name": "later colorsys"}], crawl.log
