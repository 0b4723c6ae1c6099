"""What belongs to a crawler: its file, the modules beside it, and the packages that these import.

Decision: it is read, never run. Everything that is imported anywhere in these files, within functions too, is looked up: what is
missing is told now, with its line, and not by some page later. Only what is inside of `try` may be missing.
"""

from __future__ import annotations

import ast
import difflib
import importlib.machinery
import os
import re
import sys
import sysconfig
import tokenize
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Tuple

from driver.failure import Failure

GUEST = (3, 14)
"""The Python that `componentize-py` puts into a component."""

NEW_IN_GUEST = {"annotationlib", "compression", "tomllib"}
"""Modules of its standard library that an older Python does not have."""

OURS = {"nephila", "wit_world", "componentize_py_types", "componentize_py_runtime", "componentize_py_async_support", "poll_loop"}

NETWORK = {"aiohttp", "httpx", "playwright", "requests", "selenium", "urllib3"}
FRAMEWORKS = {"crawlee", "scrapy", "apify"}

ENTRY_POINTS = {
    "failed_request_handler": "failure",
    "on_finish": "finish",
    "on": "listener",
    "create_session": "sessions",
    "process_item": "pipeline",
}


@dataclass
class Import:
    """One name that is imported somewhere."""

    name: str
    line: int
    column: int
    lazy: bool
    optional: bool


@dataclass
class Source:
    """One of the author's files."""

    path: Path
    module: str
    package: str
    text: str
    tree: Optional[ast.AST]
    imports: List[Import] = field(default_factory=list)

    def line(self, number: int) -> str:
        lines = self.text.splitlines()
        return lines[number - 1] if 1 <= number <= len(lines) else ""


@dataclass
class Project:
    """All that goes into the component."""

    main: Source
    sources: List[Source]
    packages: Dict[str, Path]
    """Top-level names and where they are: a folder, or a file."""
    lazy: Dict[str, List[str]]
    """What modules import within functions."""
    entry_points: List[str]
    warnings: List[str]


def scan(main: Path) -> Project:
    """Reads a crawler."""
    folder = main.parent
    site = [str(place) for place in site_packages(folder)]
    first = read(main, main.stem, "", folder)
    sources = [first]
    packages: Dict[str, Path] = {}
    lazy: Dict[str, List[str]] = {}
    warnings: List[str] = []
    known = {main.resolve()}
    for source in sources:
        for imported in source.imports:
            top = imported.name.partition(".")[0]
            if top in OURS:
                continue
            if top in sys.stdlib_module_names or top in NEW_IN_GUEST:
                if (folder / f"{top}.py").exists() and (folder / f"{top}.py").resolve() != main.resolve():
                    warnings.append(f"`{top}.py` has the name of a module of the standard library, which `import {top}` means")
            elif module_file(folder, top) is not None or (folder / top).is_dir() and has_python(folder / top):
                for path, name in modules_of(folder, imported.name):
                    if path.resolve() not in known:
                        known.add(path.resolve())
                        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
                        sources.append(read(path, name, package, folder))
            elif top not in packages:
                found = in_site_packages(top, site)
                if found is not None and has_python(found):
                    packages[top] = found
                elif not imported.optional:
                    raise missing(source, imported, top, folder, found)
        lazy[source.module] = [imported.name for imported in source.imports if imported.lazy]
    add_dependencies(packages, site, lazy)
    used = {"manifest"}
    for source in sources:
        used.update(entry_points(source.tree))
    if not used & {"listener", "pipeline"} or any(handles_pages(source.tree) for source in sources):
        used.add("handler")
    order = ["handler", "manifest", "failure", "finish", "listener", "sessions", "pipeline"]
    return Project(first, sources, packages, lazy, [name for name in order if name in used], warnings)


def read(path: Path, module: str, package: str, folder: Path) -> Source:
    name = os.path.relpath(path, folder)
    try:
        with tokenize.open(path) as file:
            text = file.read()
    except FileNotFoundError:
        raise Failure("load", f"there is no file {path}", str(path)) from None
    except (SyntaxError, UnicodeDecodeError) as error:
        raise Failure("syntax", f"{name} is no text in UTF-8 (or in the encoding that it names): {error}", str(path)) from None
    except OSError as error:
        raise Failure("load", f"{name} cannot be read: {error.strerror}", str(path)) from None
    source = Source(path, module, package, text, None)
    try:
        source.tree = ast.parse(text, name)
    except SyntaxError as error:
        if is_certain(error):
            raise Failure("syntax", error.msg, str(path), error.lineno, error.offset, error.text) from None
        # The component's Python is newer, and may understand it; if not, it says so.
        source.imports = [Import(found, number, 1, False, False) for found, number in imports_by_line(text)]
    except (ValueError, RecursionError, MemoryError) as error:
        raise Failure("syntax", str(error) or "the file nests too deep", str(path)) from None
    else:
        source.imports = list(imports(source.tree, package))
    return source


def is_certain(error: SyntaxError) -> bool:
    """Whether the component's Python would say so, too."""
    if sys.version_info[:2] >= GUEST or isinstance(error, IndentationError):
        return True
    line = error.text or ""
    if re.search(r"[fF][rR]?[\"']|[rR][fF][\"']", line):
        return False
    sure = ("was never closed", "unmatched", "unterminated string", "invalid decimal", "expected an indented", "expected ':'", "invalid character")
    return any(word in error.msg for word in sure) and not re.match(r"\s*(class|def|async def|type|except)\b", line)


def imports(tree: ast.AST, package: str) -> Iterator[Import]:
    """All imports of a file, and whether they are within a function, or within `try`."""

    def walk(node: ast.AST, lazy: bool, optional: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield Import(alias.name, child.lineno, child.col_offset + 1, lazy, optional)
            elif isinstance(child, ast.ImportFrom):
                base = child.module or ""
                if child.level:
                    parts = package.split(".") if package else []
                    parts = parts[: len(parts) - child.level + 1]
                    base = ".".join([*parts, *([child.module] if child.module else [])])
                if base:
                    yield Import(base, child.lineno, child.col_offset + 1, lazy, optional)
                    for alias in child.names:
                        # It may be a module of that package; it is no matter if it is not.
                        if alias.name != "*":
                            yield Import(f"{base}.{alias.name}", child.lineno, child.col_offset + 1, lazy, True)
            elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                yield from walk(child, True, optional)
            elif isinstance(child, ast.Try):
                yield from walk(child, lazy, True)
            elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                for other in child.orelse:
                    yield from walk(ast.Module([other], []), lazy, optional)
            else:
                yield from walk(child, lazy, optional)

    return walk(tree, False, False)


def imports_by_line(text: str) -> Iterator[Tuple[str, int]]:
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r"\s*(?:from\s+([A-Za-z_][\w.]*)\s+import|import\s+([A-Za-z_][\w., ]*))", line)
        if found:
            for name in (found[1] or found[2]).split(","):
                yield name.split(" as ")[0].strip(), number


def entry_points(tree: Optional[ast.AST]) -> Iterator[str]:
    """A guess by the names of decorators. The author's file is asked when it is loaded; a wrong guess costs a second build."""
    for node in ast.walk(tree) if tree is not None else ():
        for decorator in getattr(node, "decorator_list", ()):
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if isinstance(called, ast.Attribute) and called.attr in ENTRY_POINTS:
                yield ENTRY_POINTS[called.attr]


def handles_pages(tree: Optional[ast.AST]) -> bool:
    """The same guess of handlers: a plugin that only listens, or only looks at items, has none."""
    return tree is None or any(
        isinstance(node, ast.Attribute) and node.attr == "router" or isinstance(node, ast.keyword) and node.arg == "request_handler"
        for node in ast.walk(tree)
    )


def module_file(folder: Path, name: str) -> Optional[Path]:
    for path in (folder / name / "__init__.py", folder / f"{name}.py"):
        if path.is_file():
            return path
    return None


def has_python(place: Path) -> bool:
    """Whether a module or a package is more than native code."""
    return next(place.rglob("*.py"), None) is not None if place.is_dir() else place.suffix == ".py"


def modules_of(folder: Path, name: str) -> Iterator[Tuple[Path, str]]:
    """The files that `import a.b.c` reads: those of `a`, `a.b` and `a.b.c`, as far as they are there."""
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        path = module_file(folder.joinpath(*parts[: end - 1]), parts[end - 1])
        if path is not None:
            yield path, ".".join(parts[:end])


def site_packages(folder: Path) -> List[Path]:
    """Where packages are looked for: the project's own virtual environment, the active one, and that of this Python."""
    roots = [folder / ".venv", folder / "venv", folder.parent / ".venv"]
    if os.environ.get("VIRTUAL_ENV"):
        roots.append(Path(os.environ["VIRTUAL_ENV"]))
    places = [place for root in roots for pattern in ("lib/python3*/site-packages", "Lib/site-packages") for place in root.glob(pattern)]
    places.append(Path(sysconfig.get_path("purelib")))
    return [place for place in dict.fromkeys(places) if place.is_dir()]


def in_site_packages(name: str, site: List[str]) -> Optional[Path]:
    spec = importlib.machinery.PathFinder.find_spec(name, site)
    if spec is None:
        return None
    if spec.submodule_search_locations:
        return Path(list(spec.submodule_search_locations)[0])
    return Path(spec.origin) if spec.origin else None


def add_dependencies(packages: Dict[str, Path], site: List[str], lazy: Dict[str, List[str]]) -> None:
    """What packages import in turn. Nothing of it must be there: packages have optional parts."""
    waiting = list(packages)
    for top in waiting:
        place = packages[top]
        files = [place] if place.is_file() else [path for path in place.rglob("*.py") if "tests" not in path.parts]
        for path in files:
            module = module_name(top, place, path)
            try:
                with tokenize.open(path) as file:
                    tree = ast.parse(file.read())
            except (SyntaxError, ValueError, OSError, RecursionError):
                continue
            package = module if path.name == "__init__.py" else module.rpartition(".")[0]
            for imported in imports(tree, package):
                name = imported.name.partition(".")[0]
                if imported.lazy:
                    lazy.setdefault(module, []).append(imported.name)
                if name not in sys.stdlib_module_names and name not in OURS and name not in packages:
                    found = in_site_packages(name, site)
                    if found is not None and has_python(found):
                        packages[name] = found
                        waiting.append(name)


def module_name(top: str, place: Path, path: Path) -> str:
    if place.is_file():
        return top
    parts = [top, *path.relative_to(place).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def missing(source: Source, imported: Import, top: str, folder: Path, native: Optional[Path]) -> Failure:
    if native is not None:
        way_out = f"{native.name} is code for this machine, which no sandbox can run; a package that is all Python works"
    elif top in FRAMEWORKS:
        way_out = "a plugin's framework is the SDK: `from nephila import Context, Crawler`"
    elif top in NETWORK:
        way_out = "a plugin has no network: the host fetches what `context.add_requests` asks for"
    elif difflib.get_close_matches(top, ["nephila"], cutoff=0.7):
        way_out = "did you mean `nephila`?"
    else:
        way_out = f"it is not beside {source.path.name} and not installed; `pip install {top}` in the project's virtual environment ({folder / '.venv'})"
    message = f"no module named `{imported.name}`: {way_out}"
    return Failure("load", message, str(source.path), imported.line, imported.column, source.line(imported.line))


