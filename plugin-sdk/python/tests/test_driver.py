"""The driver, by its one JSON object. What needs `componentize-py` takes some seconds each, and is skipped without it."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List

import pytest
from conftest import REPOSITORY, SDK

from driver.scan import scan

needs_the_tool = pytest.mark.skipif(importlib.util.find_spec("componentize_py") is None, reason="componentize-py is not installed")

HEAD = 'from nephila import Crawler\ncrawler = Crawler(name="a")\n'
HANDLER = "@crawler.router.default_handler\ndef page(context): ...\n"


def build(folder: Path, source: str, name: str = "crawler.py", python: str = sys.executable) -> Dict[str, Any]:
    path = folder / name
    path.write_text(source, encoding="utf-8")
    command = [python, str(SDK / "build.py"), "--source", str(path), "--wit", str(REPOSITORY / "wit")]
    command += ["--out", str(folder / "out.wasm"), "--work", str(folder / "work")]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    told: Dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (0 if told["ok"] else 1)
    assert len(done.stdout.splitlines()) == 1
    if not told["ok"] and "file" in told:
        assert told["file"] == str(path), told
    return told


def test_a_syntax_error_has_file_line_column_and_snippet(tmp_path: Path) -> None:
    told = build(tmp_path, "x = 1\n\tprint(x)\n")
    assert (told["stage"], told["line"]) == ("syntax", 2)
    told = build(tmp_path, "x = 1\nprint((1, 2)\n")
    assert (told["stage"], told["message"], told["line"], told["column"]) == ("syntax", "'(' was never closed", 2, 6)
    assert told["snippet"] == "print((1, 2)\n     ^"


def test_a_file_that_is_not_there_or_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "crawler.py").write_bytes(b"x = '\xff'\n")
    command = [sys.executable, str(SDK / "build.py"), "--wit", str(REPOSITORY / "wit"), "--out", str(tmp_path / "o"), "--source"]
    told = json.loads(subprocess.run([*command, str(tmp_path / "crawler.py")], capture_output=True).stdout)
    assert told["stage"] == "syntax" and "UTF-8" in told["message"]
    told = json.loads(subprocess.run([*command, str(tmp_path / "nothing.py")], capture_output=True).stdout)
    assert told["stage"] == "load" and "there is no file" in told["message"]
    told = json.loads(subprocess.run(command[:-1], capture_output=True).stdout)
    assert told["stage"] == "toolchain" and "--source" in told["message"]


def test_a_missing_module_has_its_line_and_the_way_out(tmp_path: Path) -> None:
    told = build(tmp_path, HEAD + "import nothing_of_that_name\n")
    assert (told["stage"], told["line"], told["column"]) == ("load", 3, 1)
    assert "pip install nothing_of_that_name" in told["message"]
    for near in ("nefila", "nephilla", "nehpila"):
        told = build(tmp_path, HEAD + f"import {near}\n")
        assert (told["stage"], told["message"]) == ("load", f"no module named `{near}`: did you mean `nephila`?")


def test_a_missing_module_within_a_function_is_told_when_it_is_built(tmp_path: Path) -> None:
    told = build(tmp_path, HEAD + "@crawler.router.default_handler\ndef page(context):\n    import nothing_of_that_name\n")
    assert (told["stage"], told["line"], told["column"]) == ("load", 5, 5)


def test_a_package_of_native_code_is_told(tmp_path: Path) -> None:
    site = tmp_path / ".venv" / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True)
    (site / f"fast{importlib.machinery.EXTENSION_SUFFIXES[0]}").write_bytes(b"")
    told = build(tmp_path, HEAD + "import fast\n")
    assert (told["stage"], told["line"]) == ("load", 3) and "code for this machine" in told["message"]


@pytest.mark.parametrize(("name", "said"), [("requests", "no network"), ("crawlee", "from nephila import")])
def test_what_makes_no_sense_in_a_plugin_is_told_with_what_does(tmp_path: Path, name: str, said: str) -> None:
    if importlib.util.find_spec(name) is not None:
        pytest.skip(f"{name} is installed here")
    assert said in build(tmp_path, f"import {name}\n")["message"]


def test_without_the_tool_the_command_that_installs_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "crawler.py").write_text(HEAD + HANDLER)
    # `-S` leaves out what is installed.
    command = [sys.executable, "-S", str(SDK / "build.py"), "--wit", str(REPOSITORY / "wit")]
    command += ["--out", str(tmp_path / "o"), "--source", str(tmp_path / "crawler.py")]
    told = json.loads(subprocess.run(command, capture_output=True).stdout)
    assert told["stage"] == "toolchain" and "pip install componentize-py" in told["message"]


def test_the_modules_beside_it_and_packages_are_found_without_running_them(tmp_path: Path) -> None:
    (tmp_path / "helpers").mkdir()
    (tmp_path / "helpers" / "__init__.py").write_text("from . import tools\n")
    (tmp_path / "helpers" / "tools.py").write_text("raise SystemExit('this is run')\n")
    (tmp_path / "other.py").write_text("import json\n@crawler.on_finish\ndef f(): ...\n")
    site = tmp_path / ".venv" / "lib" / "python3.11" / "site-packages"
    (site / "pure").mkdir(parents=True)
    (site / "pure" / "__init__.py").write_text("def f():\n    import csv, needed\n")
    (site / "needed.py").write_text("")
    main = tmp_path / "crawler.py"
    main.write_text("import helpers, pure\ntry:\n    import maybe\nexcept ImportError: ...\ndef f():\n    import other\n")
    project = scan(main)
    assert [source.module for source in project.sources] == ["crawler", "helpers", "other", "helpers.tools"]
    assert sorted(project.packages) == ["needed", "pure"]
    assert project.lazy["pure"] == ["csv", "needed"]
    assert project.entry_points == ["handler", "manifest", "finish"]


@pytest.mark.parametrize(
    ("source", "entry_points"),
    [
        ("@crawler.process_item\ndef tidy(item): ...\n", ["manifest", "pipeline"]),
        ('@crawler.on("offer")\ndef heard(): ...\n', ["manifest", "listener"]),
        (HANDLER + "@crawler.process_item\ndef tidy(item): ...\n", ["handler", "manifest", "pipeline"]),
        ("", ["handler", "manifest"]),
    ],
)
def test_a_plugin_that_handles_no_pages_exports_no_handler(tmp_path: Path, source: str, entry_points: List[str]) -> None:
    (tmp_path / "crawler.py").write_text(HEAD + source)
    assert scan(tmp_path / "crawler.py").entry_points == entry_points


@needs_the_tool
def test_an_exception_when_it_is_loaded_has_the_authors_line(tmp_path: Path) -> None:
    told = build(tmp_path, HEAD + "value = 1 + int('x')\n" + HANDLER)
    assert (told["stage"], told["line"], told["column"]) == ("load", 3, 13)
    assert told["message"].startswith("ValueError: invalid literal") and told["snippet"].startswith("value = 1 + int('x')")


@needs_the_tool
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import nephila\n", "no crawler was made"),
        (HEAD, "the crawler has no handler"),
        (HEAD + "crawler.process_item(print)\n@crawler.on_finish\ndef end(): ...\n", "`on_finish` is never called without a handler"),
        (HEAD + HANDLER + 'Crawler(name="b")\n', "2 crawlers were made: `a`, `b`"),
    ],
)
def test_what_is_no_crawler_is_told(tmp_path: Path, source: str, said: str) -> None:
    told = build(tmp_path, source)
    assert told["stage"] == "load" and said in told["message"]


@needs_the_tool
def test_entry_points_that_only_the_loaded_crawler_knows_are_exported(tmp_path: Path) -> None:
    source = HEAD + HANDLER + 'getattr(crawler, "on_" + "finish")(lambda: None)\n'
    told = build(tmp_path, source)
    assert told["ok"] and told["entryPoints"] == ["handler", "manifest", "finish"]
    assert told["size"] == (tmp_path / "out.wasm").stat().st_size


@needs_the_tool
@pytest.mark.parametrize("name", ["nephila.py", "python-crawler.py", "json.py", "wit_world.py"])
def test_a_file_may_have_any_name(tmp_path: Path, name: str) -> None:
    assert build(tmp_path, HEAD + HANDLER, name)["ok"]


@needs_the_tool
def test_the_same_again_is_not_built_again_and_a_change_is(tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text("WORD = 1\n")
    source = "import words\n" + HEAD + HANDLER
    first = build(tmp_path, source)
    assert not first["cached"] and first["inputs"] == [str(tmp_path / "crawler.py"), str(tmp_path / "words.py")]
    assert build(tmp_path, source)["cached"]
    (tmp_path / "words.py").write_text("WORD = 2\n")
    assert not build(tmp_path, source)["cached"]


@needs_the_tool
def test_syntax_that_is_newer_than_this_python_is_judged_by_the_components(tmp_path: Path) -> None:
    newer = "import re\ndef first[T](of: list[T]) -> T:\n    return of[0]\nnames = {'a': 1}\ntext = f'{names['a']}'\n"
    assert build(tmp_path, HEAD + newer + HANDLER)["ok"]
    told = build(tmp_path, HEAD + "def first[T](of: list[T]) -> T:\n    return of[0]\nx = = 1\n")
    assert (told["stage"], told["message"], told["line"], told["column"]) == ("syntax", "invalid syntax", 5, 5)
    assert told["snippet"] == "x = = 1\n    ^"


@needs_the_tool
def test_the_generated_types_are_current() -> None:
    done = subprocess.run([sys.executable, str(SDK / "generate_bindings.py"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + "\n`python generate_bindings.py` makes them"
