#!/usr/bin/env python3
"""Makes a component of a Python crawler: `python build.py --source crawler.py --wit WIT --out crawler.wasm [--work DIR]`.

Run it with the Python that has `componentize-py`. It prints one JSON object on standard output: `{"ok": true, "entryPoints": […],
"size": N, …}`, or `{"ok": false, "stage": "syntax|load|toolchain|componentize", "message": "…", "file": "…", "line": N,
"column": N, "snippet": "…"}`; anything else goes to standard error.
"""

import sys

if sys.version_info < (3, 10):  # noqa: UP036
    print('{"ok": false, "stage": "toolchain", "message": "this is Python %d.%d; the driver needs Python 3.10 or newer"}' % sys.version_info[:2])
    sys.exit(1)

from driver.main import main

if __name__ == "__main__":
    sys.exit(main())
