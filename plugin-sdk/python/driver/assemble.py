"""The work folder: the world, the entry module, and copies of all that goes into the component.

Copies, because the tool gives the code that it loads the right to write into the folders that it is given, and because it looks
through all of them. The author's file keeps its name, whatever it is: the entry module's is ours, and the SDK's modules are found
before the author's.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import List

from driver.failure import Failure
from driver.scan import Project

ENTRY = "nephila_entry_"
WORLD = "python-crawler"

SDK = Path(__file__).resolve().parent.parent / "nephila"

_BODIES = {
    "handler": """
class Handler(exports.Handler):
    def handle(self, call):
        _guard.handle(CRAWLER, call)
""",
    "manifest": """
class Manifest(exports.Manifest):
    def describe(self):
        name, version, description, start_urls, settings = _guard.describe(CRAWLER)
        wit = exports.manifest
        settings = [wit.Setting(name, value) for name, value in settings.items()]
        return wit.Description(name, version, description, start_urls, settings, None)
""",
    "failure": """
class Failure(exports.Failure):
    def on_failure(self, call, reason):
        _guard.on_failure(CRAWLER, call, reason)
""",
    "finish": """
class Finish(exports.Finish):
    def on_finish(self):
        _guard.on_finish(CRAWLER)
""",
    "listener": """
class Listener(exports.Listener):
    def subscriptions(self):
        return CRAWLER.subscriptions

    def on_event(self, event):
        _guard.on_event(CRAWLER, event)
""",
    "sessions": """
class Sessions(exports.Sessions):
    def create(self):
        return exports.sessions.NewSession(_guard.create_session(CRAWLER), None)
""",
    "pipeline": """
class Pipeline(exports.Pipeline):
    def process_item(self, item):
        verdict, *said = _guard.process_item(CRAWLER, item)
        return getattr(exports.pipeline, f"Verdict_{verdict}")(*said)
""",
}


def prepare(project: Project, wit: Path, work: Path) -> None:
    """Copies everything but the entry module."""
    for old in ("app", "wit", "empty"):
        shutil.rmtree(work / old, ignore_errors=True)
    app = work / "app"
    (app / "packages").mkdir(parents=True)
    # The tool looks for the packages of a virtual environment; this one has none, so that it does not look through all of the real one.
    (work / "empty" / "lib" / "python3" / "site-packages").mkdir(parents=True)
    shutil.copytree(SDK, app / "nephila", ignore=shutil.ignore_patterns("__pycache__", "_bindings", "*.pyi", "py.typed"))
    folder = project.main.path.parent
    for source in project.sources:
        target = app / "author" / os.path.relpath(source.path, folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source.path, target)
    for top, place in project.packages.items():
        copy_package(top, place, app / "packages")
    copy_wit(wit, work / "wit")


def copy_package(top: str, place: Path, target: Path) -> None:
    """A package without its native code; what works without it, works."""
    if place.is_file():
        shutil.copyfile(place, target / place.name)
    else:
        shutil.copytree(place, target / top, ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.pyd", "*.dylib", "*.pyi"))


def copy_wit(wit: Path, target: Path) -> None:
    target.mkdir(parents=True)
    files = sorted(wit.glob("*.wit")) if wit.is_dir() else []
    if not files:
        raise Failure("toolchain", f"there are no .wit files in {wit}", str(wit))
    for file in files:
        shutil.copyfile(file, target / file.name)


def write_entry(work: Path, module: str, main: str, entry_points: List[str], lazy: object) -> None:
    """The world of this crawler, and the module with its exports."""
    package = "package nephila:crawler@0.1.0;"
    for file in (work / "wit").glob("*.wit"):
        found = re.search(r"^package [^;]+;", file.read_text(encoding="utf-8"), re.MULTILINE)
        if found:
            package = found[0]
            break
    exported = "".join(f"    export {name};\n" for name in entry_points)
    world = f"{package}\n\nworld {WORLD} {{\n    include imports;\n{exported}}}\n"
    (work / "wit" / f"{WORLD}.world.wit").write_text(world, encoding="utf-8")
    head = f"""# Made by the driver.
import os.path

from nephila import _build, _guard
from wit_world import exports

CRAWLER = _build.load(os.path.dirname(__file__), {main!r}, {module!r}, {entry_points!r}, {lazy!r})
"""
    (work / "app" / f"{ENTRY}.py").write_text(head + "".join("\n" + _BODIES[name] for name in entry_points), encoding="utf-8")
