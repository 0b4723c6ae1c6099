"""From a source file to a component."""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, Iterator, List, NoReturn, Optional, Sequence

from driver import assemble
from driver.failure import Failure
from driver.scan import FRAMEWORKS, NETWORK, Project, scan

TOOL = "componentize-py"
VERSION = "0.25.1"


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with the arguments as JSON, too."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        raise Failure("toolchain", f"build.py: {message}")


def main(arguments: Optional[Sequence[str]] = None) -> int:
    try:
        told = build(parse(arguments))
    except Failure as failure:
        told = failure.told()
    except OSError as error:
        told = Failure("toolchain", f"{error.strerror}: {error.filename}").told()
    print(json.dumps(told, ensure_ascii=True))
    return 0 if told["ok"] else 1


def parse(arguments: Optional[Sequence[str]]) -> argparse.Namespace:
    parser = _Parser(prog="build.py", description="Makes a component of a Python crawler.")
    parser.add_argument("--source", required=True, type=Path, metavar="FILE", help="the crawler")
    parser.add_argument("--wit", required=True, type=Path, metavar="DIR", help="the contract: the folder with the .wit files")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="the component to write")
    parser.add_argument("--work", type=Path, metavar="DIR", help="where the build's files go; the next build begins there")
    parser.add_argument("--tools", type=Path, metavar="DIR", help="not used: the tools are those of the Python that runs this")
    return parser.parse_args(arguments)


def build(options: argparse.Namespace) -> Dict[str, Any]:
    project = scan(options.source.absolute())
    for warning in project.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    version = tool_version()
    if options.work is not None:
        options.work.mkdir(parents=True, exist_ok=True)
        return build_in(options.work.absolute(), project, options, version)
    with tempfile.TemporaryDirectory(prefix="nephila-python-") as work:
        return build_in(Path(work), project, options, version)


def tool_version() -> str:
    try:
        return importlib.metadata.version(TOOL)
    except importlib.metadata.PackageNotFoundError:
        command = f"{sys.executable} -m pip install {TOOL}=={VERSION}"
        raise Failure("toolchain", f"{TOOL} is not installed for this Python; `{command}` installs it") from None


def build_in(work: Path, project: Project, options: argparse.Namespace, version: str) -> Dict[str, Any]:
    component, record = work / "component.wasm", work / "built.json"
    key = digest(project, options.wit, version)
    told = built_before(record, component, key)
    if told is None:
        record.unlink(missing_ok=True)
        entry_points = make(work, project, options.wit, component)
        told = {"ok": True, "entryPoints": entry_points, "size": component.stat().st_size}
        record.write_text(json.dumps({"key": key, "told": told}), encoding="utf-8")
        told = {**told, "cached": False}
    else:
        told = {**told, "cached": True}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    # Beside its place first, so that whoever watches it never sees half of it.
    beside = options.out.with_name(options.out.name + ".new")
    shutil.copyfile(component, beside)
    os.replace(beside, options.out)
    return {**told, "inputs": [str(source.path) for source in project.sources], "packages": sorted(project.packages)}


def built_before(record: Path, component: Path, key: str) -> Optional[Dict[str, Any]]:
    try:
        known = json.loads(record.read_text(encoding="utf-8"))
        told: Dict[str, Any] = known["told"]
        return told if known["key"] == key and component.stat().st_size == told["size"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def digest(project: Project, wit: Path, version: str) -> str:
    """What the component is made of. Packages by their files' names, sizes and times: they are many, and nobody edits them."""
    hash = hashlib.sha256(version.encode())
    ours = [*assemble.SDK.glob("*.py"), *Path(__file__).parent.glob("*.py"), *wit.glob("*.wit")]
    for path in [*sorted(ours), *(source.path for source in project.sources)]:
        hash.update(f"\0{path.name}\0".encode("utf-8", "surrogateescape"))
        hash.update(path.read_bytes())
    for top, place in sorted(project.packages.items()):
        for path in sorted(files_of(place)):
            status = path.stat()
            hash.update(f"\0{top}\0{path}\0{status.st_size}\0{status.st_mtime_ns}".encode("utf-8", "surrogateescape"))
    return hash.hexdigest()


def files_of(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
    else:
        yield from (path for path in place.rglob("*") if path.suffix != ".pyc" and path.is_file())


def make(work: Path, project: Project, wit: Path, component: Path) -> List[str]:
    """Builds the component, and gives its entry points."""
    assemble.prepare(project, wit, work)
    entry_points = project.entry_points
    for _ in range(2):
        told = componentize(work, project, entry_points, component)
        if told.get("ok"):
            return entry_points
        if "entryPoints" not in told:
            raise refused(told, project)
        # The guess was wrong; the loaded crawler knows.
        entry_points = told["entryPoints"]
    raise Failure("load", "the crawler has other entry points each time that it is loaded", str(project.main.path))


def componentize(work: Path, project: Project, entry_points: List[str], component: Path) -> Dict[str, Any]:
    main = project.main.path
    # Other modules may import the main one by its name, if a module can have that name.
    usable = main.stem.isidentifier() and main.stem not in sys.stdlib_module_names and main.stem not in ("nephila", "wit_world")
    module = main.stem if usable else "nephila_main_"
    lazy = {module if name == project.main.module else name: names for name, names in project.lazy.items() if names}
    assemble.write_entry(work, module, main.name, entry_points, lazy)
    report = work / "app" / "report.json"
    report.unlink(missing_ok=True)
    script = f"import sys; sys.argv[0] = '{TOOL}'; from componentize_py import script; sys.exit(script())"
    command = [sys.executable, "-c", script, "-d", str(work / "wit"), "-w", assemble.WORLD]
    command += ["componentize", "-p", str(work / "app"), assemble.ENTRY, "-o", str(component)]
    environment = {**os.environ, "VIRTUAL_ENV": str(work / "empty"), "RUST_BACKTRACE": "0"}
    done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, errors="replace")
    try:
        told: Dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        told = {}
    if told.get("ok") and done.returncode != 0:
        told = {}
    if not told:
        said = (done.stderr or done.stdout).partition("Stack backtrace")[0].strip()
        if done.returncode < 0:
            said = f"{TOOL} was ended by signal {-done.returncode}, which a lack of memory does, too. {said}"
        raise Failure("componentize", said or f"{TOOL} ended with {done.returncode}", str(main))
    if not told.get("ok") and told.get("traceback"):
        print(told["traceback"], file=sys.stderr)
    return told


def refused(told: Dict[str, Any], project: Project) -> Failure:
    """What went wrong when the crawler was loaded, with the author's own path."""
    message = told["message"]
    name = (told.get("missing") or "").partition(".")[0]
    if name in FRAMEWORKS:
        message += "; a plugin's framework is the SDK: `from nephila import Context, Crawler`"
    elif name in NETWORK or name in ("_ssl", "_socket", "ssl", "socket"):
        message += "; a plugin has no network: the host fetches what `context.add_requests` asks for"
    elif "missing" in told and name in project.packages:
        message += f"; what is missing of `{name}` may be code for this machine, which no sandbox can run"
    elif message.startswith(("FileNotFoundError", "PermissionError")):
        message += "; the sandbox that loads a crawler has none of its files but Python modules: put the data into one"
    path = project.main.path.parent / told["file"]
    return Failure(told["stage"], message, str(path), told.get("line"), told.get("column"), told.get("text"))
