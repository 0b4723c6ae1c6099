"""Runs once, when the component is built: loads the author's file, checks it, and makes the memory ready that every page begins with.

Decision: the author's code is loaded here, inside of the sandbox of the tool that makes the component, and never by the Python that
runs the driver: whoever builds a stranger's crawler runs none of it with rights of his own. What is found goes to the driver
through a file, `report.json`.

There are no files later. So everything that could be imported lazily is imported now, and the author's lines are kept for tracebacks.
"""

from __future__ import annotations

import gc
import importlib
import importlib.machinery
import importlib.util
import json
import linecache
import os
import re
import sys
from types import ModuleType
from typing import Any, Dict, List, NoReturn, Optional, Sequence

from nephila import _guard, _log, _warm
from nephila.crawler import Crawler

OFTEN_LAZY = (
    "_strptime",
    "encodings.ascii",
    "encodings.cp1252",
    "encodings.idna",
    "encodings.iso8859_15",
    "encodings.latin_1",
    "encodings.punycode",
    "encodings.unicode_escape",
    "encodings.utf_16",
    "encodings.utf_16_le",
    "encodings.utf_8_sig",
)
"""What the standard library imports when it is needed, and crawlers are likely to need."""

NEVER = (
    "antigravity", "asyncio", "concurrent", "ctypes", "curses", "doctest", "idlelib", "multiprocessing", "pdb", "pydoc", "socket",
    "sqlite3", "ssl", "subprocess", "test", "this", "tkinter", "turtle", "unittest", "webbrowser", "xmlrpc",
)  # fmt: skip
"""Of these nothing is imported on suspicion: they are large, or of no use here."""

_LAZY = re.compile(r"^[ \t]+(?:import[ \t]+([\w.]+)|from[ \t]+([\w.]+)[ \t]+import)", re.MULTILINE)


class _AuthorsLoader(importlib.machinery.SourceFileLoader):
    """Compiles the author's files under the names that he knows, and keeps their lines."""

    folder = ""

    def source_to_code(self, data: Any, path: Any, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        name = os.path.relpath(str(path), self.folder)
        _guard.AUTHORS_FILES.add(name)
        lines = importlib.util.decode_source(data).splitlines(keepends=True)
        linecache.cache[name] = (len(data), None, lines, name)
        return compile(data, name, "exec", dont_inherit=True)


class _Finder:
    """Finds the author's modules and the packages that came along; the standard library and the SDK win over both."""

    def __init__(self, folder: str, packages: str) -> None:
        self.folder, self.packages = folder, packages

    def find_spec(
        self, name: str, path: Optional[Sequence[str]] = None, target: Optional[ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        if path is None:
            if name in sys.stdlib_module_names:
                return None
            places = [self.folder, self.packages]
        else:
            places = list(path)
            if not places or not places[0].startswith((self.folder, self.packages)):
                return None
        spec = importlib.machinery.PathFinder.find_spec(name, places, target)
        if spec is not None and spec.origin is not None and spec.origin.startswith(self.folder + os.sep):
            if isinstance(spec.loader, importlib.machinery.SourceFileLoader):
                spec.loader = _AuthorsLoader(name, spec.origin)
        return spec


def load(base: str, main: str, module: str, entry_points: List[str], lazy: Dict[str, List[str]]) -> Crawler:
    """Loads the author's file `main` as `module`, and gives its crawler. `lazy`: what modules import within functions."""
    sys.dont_write_bytecode = True
    _log.install()
    folder = os.path.join(base, "author")
    _AuthorsLoader.folder = folder
    finder = _Finder(folder, os.path.join(base, "packages"))
    sys.meta_path.insert(_after_builtins(), finder)
    report = os.path.join(base, "report.json")
    before = set(sys.modules)
    try:
        crawler = _crawler(os.path.join(folder, main), module)
    except BaseException as error:
        _refuse(report, _told(error, main))
    if crawler.entry_points != entry_points:
        _refuse(report, {"entryPoints": crawler.entry_points})
    _import_lazy(lazy, before)
    _make_ready()
    _write(report, {"ok": True})
    return crawler


def _after_builtins() -> int:
    """Behind the finders of built-in and frozen modules, before that of `sys.path`."""
    for at, finder in enumerate(sys.meta_path):
        if finder is importlib.machinery.PathFinder:
            return at
    return len(sys.meta_path)


def _crawler(path: str, module: str) -> Crawler:
    Crawler.made.clear()
    loader = _AuthorsLoader(module, path)
    spec = importlib.util.spec_from_file_location(module, path, loader=loader)
    if spec is None:
        raise ImportError(f"{path} is no Python file")
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[module] = loaded
    loader.exec_module(loaded)
    if not Crawler.made:
        raise _Refused('no crawler was made: write `crawler = Crawler(name="…")` at the top of the file')
    if len(Crawler.made) > 1:
        names = ", ".join(f"`{crawler.name}`" for crawler in Crawler.made)
        raise _Refused(f"{len(Crawler.made)} crawlers were made: {names}; a plugin is one")
    crawler = Crawler.made[0]
    if crawler.router.is_empty:
        used = crawler.entry_points
        if "listener" not in used and "pipeline" not in used:
            raise _Refused("the crawler has no handler: write `@crawler.router.default_handler` before a function")
        for name, decorator in (("failure", "failed_request_handler"), ("finish", "on_finish"), ("sessions", "create_session")):
            if name in used:
                raise _Refused(f"`{decorator}` is never called without a handler: write `@crawler.router.default_handler` before a function")
    return crawler


class _Refused(Exception):
    pass


def _told(error: BaseException, main: str) -> Dict[str, Any]:
    """What the driver tells the author."""
    if isinstance(error, _Refused):
        return {"stage": "load", "message": str(error), "file": main}
    if isinstance(error, SyntaxError) and error.filename in _guard.AUTHORS_FILES:
        place = {"file": error.filename, "line": error.lineno}
        return {"stage": "syntax", "message": error.msg, **place, "column": error.offset, "text": (error.text or "").rstrip("\n")}
    said = str(error)
    message = f"{type(error).__name__}: {said}" if said else type(error).__name__
    told: Dict[str, Any] = {"stage": "load", "message": message, "file": main, "traceback": _guard.traceback_of(error)}
    if isinstance(error, ImportError):
        told["missing"] = error.name
    frame = _guard.place(error)
    if frame is not None and frame.filename in _guard.AUTHORS_FILES:
        column = getattr(frame, "colno", None)
        told.update(file=frame.filename, line=frame.lineno, column=None if column is None else column + 1)
        told["text"] = linecache.getline(frame.filename, frame.lineno or 0).rstrip("\n")
    return told


def _import_lazy(lazy: Dict[str, List[str]], before: "set[str]") -> None:
    for name in OFTEN_LAZY:
        _try(name)
    # What the author's modules, and the packages that came along, import within functions, over and over until nothing is new.
    seen: "set[str]" = set()
    while True:
        new = [name for name in lazy if name in sys.modules and name not in seen]
        if not new:
            break
        seen.update(new)
        for module in new:
            for name in lazy[module]:
                _try(name)
    # What the standard library's modules that were loaded for that import within functions; once, or half of it would come.
    for name in set(sys.modules) - before:
        top = name.partition(".")[0]
        if top not in sys.stdlib_module_names or top in NEVER:
            continue
        loader = getattr(getattr(sys.modules.get(name), "__spec__", None), "loader", None)
        if not isinstance(loader, importlib.machinery.SourceFileLoader):
            continue
        for found in _LAZY.findall(loader.get_source(name) or ""):
            wanted = found[0] or found[1]
            package = wanted.partition(".")[0]
            if package in sys.stdlib_module_names and package not in NEVER:
                _try(wanted)


def _try(name: str) -> None:
    try:
        importlib.import_module(name)
    except Exception:
        # A handler that needs it is told so; see `_guard`.
        pass


def _make_ready() -> None:
    """Every page begins with this memory: what is garbage goes now, and what is there is never looked at by the collector again."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(line_buffering=True)
    importlib.invalidate_caches()
    _warm.warm()
    gc.collect()
    gc.freeze()


def _refuse(report: str, told: Dict[str, Any]) -> NoReturn:
    _write(report, told)
    raise SystemExit(1)


def _write(report: str, told: Dict[str, Any]) -> None:
    with open(report, "w", encoding="utf-8", errors="replace") as file:
        json.dump(told, file)
