"""What went wrong, as the one JSON object that the driver prints."""

from __future__ import annotations

from typing import Any, Dict, Optional


class Failure(Exception):
    """A build that ends without a component."""

    def __init__(
        self,
        stage: str,
        message: str,
        file: Optional[str] = None,
        line: Optional[int] = None,
        column: Optional[int] = None,
        text: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.stage, self.message = stage, message
        self.file, self.line, self.column, self.text = file, line, column, text

    def told(self) -> Dict[str, Any]:
        told: Dict[str, Any] = {"ok": False, "stage": self.stage, "message": self.message}
        for name, value in (("file", self.file), ("line", self.line), ("column", self.column), ("snippet", self.snippet())):
            if value is not None:
                told[name] = value
        return told

    def snippet(self) -> Optional[str]:
        """The author's line, with a mark below the column."""
        if not self.text or not self.text.strip():
            return None
        text = self.text.rstrip("\r\n")
        if self.column is None or not 1 <= self.column <= len(text) + 1:
            return text
        # Tabs stay, so that the mark stands where it should.
        below = "".join("\t" if character == "\t" else " " for character in text[: self.column - 1])
        return f"{text}\n{below}^"
