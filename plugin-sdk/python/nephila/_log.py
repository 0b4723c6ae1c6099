"""The standard `logging` goes to the host's log, which adds the plugin, the request and the page, and decides what is shown.

`print` needs nothing: standard output and standard error are log lines already.
"""

from __future__ import annotations

import logging

from nephila import _check, _json
from nephila._wit import log as wit
from nephila.errors import JsonError

log = logging.getLogger("nephila")
"""The crawler's own log; `extra={"price": 3}` becomes a field of the line."""

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class HostHandler(logging.Handler):
    """Writes records to the host's log."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            message = _check.clean(self.format(record))
        except Exception as error:
            # What `logging` says of a message that does not fit its arguments goes to standard error, with the line that logs.
            self.handleError(record)
            message = f"{record.msg!r} with {record.args!r}: {error}"
        fields = None
        if len(vars(record)) > len(_OWN) - 3:
            extra = {name: value for name, value in vars(record).items() if name not in _OWN}
            if extra:
                try:
                    fields = _json.write("the fields of a log line", extra)
                except JsonError:
                    fields = _json.write("the fields of a log line", {name: repr(value) for name, value in extra.items()})
        wit.write(_level(record.levelno), message, fields)


def _level(number: int) -> wit.Level:
    if number >= logging.ERROR:
        return wit.Level.ERROR
    if number >= logging.WARNING:
        return wit.Level.WARN
    if number >= logging.INFO:
        return wit.Level.INFO
    return wit.Level.DEBUG if number >= logging.DEBUG else wit.Level.TRACE


def install() -> None:
    """Makes it the only handler. Others' debug lines are left out, since each would be a call into the host."""
    root = logging.getLogger()
    root.handlers[:] = [HostHandler()]
    root.setLevel(logging.INFO)
    log.setLevel(1)
    logging.addLevelName(5, "TRACE")
    # Of no use in a sandbox, and each costs something for each line.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    setattr(logging, "logAsyncioTasks", False)
