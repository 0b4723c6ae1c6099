"""The driver: what `build.py` does."""
