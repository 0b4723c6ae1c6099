# Made by generate_bindings.py from the WIT; not to be edited.
from __future__ import annotations
