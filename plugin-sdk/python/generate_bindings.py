#!/usr/bin/env python3
"""Makes `nephila/_bindings`, the types of the WIT for type checkers and tests: `python generate_bindings.py --wit ../../wit`.

With `--check` nothing is written; it ends with 1 if they are not current. Needs `componentize-py`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict

HERE = Path(__file__).resolve().parent
TARGET = HERE / "nephila" / "_bindings"

_HEAD = """# Made by generate_bindings.py from the WIT; not to be edited.
from __future__ import annotations
"""

_IMPORTS = """from dataclasses import dataclass
from enum import Enum
from types import TracebackType
from typing import TYPE_CHECKING, Any, List, Optional, Protocol, Tuple, Union

if TYPE_CHECKING:
    from typing_extensions import Self
"""


def generate(wit: Path) -> Dict[str, str]:
    """The files by their names within `_bindings`."""
    with tempfile.TemporaryDirectory() as folder:
        script = "import sys; sys.argv[0] = 'componentize-py'; from componentize_py import script; sys.exit(script())"
        command = [sys.executable, "-c", script, "-d", str(wit), "-w", "every-entry-point", "bindings", folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        files = {"componentize_py_types.py": _HEAD + (Path(folder) / "componentize_py_types.py").read_text(encoding="utf-8")}
        files["__init__.py"] = _HEAD
        for part in ("imports", "exports"):
            for path in sorted((Path(folder) / "wit_world" / part).glob("*.py")):
                files[f"{part}/{path.name}"] = adapted(path.read_text(encoding="utf-8"))
    return files


def adapted(text: str) -> str:
    """For Python 3.10, and for a package of another name."""
    text = re.sub(r"^# This file is automatically.*\n# It is not.*\n", "", text, flags=re.MULTILINE)
    found = re.match(r'\s*(""".*?"""\n)?', text, flags=re.DOTALL)
    documentation = found[1] or "" if found else ""
    text = text[found.end() :] if found else text
    text = re.sub(r"^(from (typing|types|enum|dataclasses|abc) import .*|import weakref)\n", "", text, flags=re.MULTILINE)
    text = text.replace("from componentize_py_types import Result, Ok, Err, Some", "from nephila._bindings.componentize_py_types import Err, Ok, Result, Some")
    text = re.sub(r"^ *@abstractmethod\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
    return documentation + _HEAD + (_IMPORTS + text if text.strip() else "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wit", type=Path, default=HERE.parent.parent / "wit")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    files = generate(options.wit)
    current = {str(path.relative_to(TARGET)).replace("\\", "/"): path.read_text(encoding="utf-8") for path in TARGET.rglob("*.py")}
    if options.check:
        stale = sorted(name for name in {*files, *current} if files.get(name) != current.get(name))
        for name in stale:
            print(f"not current: nephila/_bindings/{name}")
        return 1 if stale else 0
    for name in current:
        if name not in files:
            (TARGET / name).unlink()
    for name, text in files.items():
        path = TARGET / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
