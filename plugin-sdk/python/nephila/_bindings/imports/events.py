"""
Events, for those who listen to them: this plugin's listener, and the program around the host.

The host's own names are `persistState`, `systemInfo`, `crawlerStatus`, `migrating`, `aborting`, `exit`, `sessionRetired`,
`browserLaunched`, `browserRetired`, `browserClosed`, `pageCreated`, `pageClosed`, `crawlStarted`, `crawlFinished` and
`requestFailed`. Not all of them reach a listener yet: `exit` comes when the crawls have ended; those of browsers and pages have
nothing that they could tell of. `sessionRetired` comes once for each session that is over, whatever ended it, like an event of a
plugin's: it is written with what ended the session and waits for the listener, through a crash too. Only a session that reaches its
age after the crawl is finished ends untold. A plugin's are a letter, then at most 127 letters, digits, `.`, `_`, `-`, `:` or `/`; one of the host's in
another case is not among them. The code of any other is `bad-event`.
"""
# Made by generate_bindings.py from the WIT; not to be edited.
from __future__ import annotations
from dataclasses import dataclass
from enum import Enum
from types import TracebackType
from typing import TYPE_CHECKING, Any, List, Optional, Protocol, Tuple, Union

if TYPE_CHECKING:
    from typing_extensions import Self

from nephila._bindings.componentize_py_types import Err, Ok, Result, Some



def on(event: str) -> None:
    """
    Hears an event from now on (Crawlee: `event_manager.on`). Only within `listener.on-event`, elsewhere the code
    `not-a-listener`. It is no effect: it belongs to the instance, holds at once, also if the call fails, and ends with the
    instance.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def off(event: str) -> None:
    """
    Hears an event no more (Crawlee: `event_manager.off`); what was not heard is no error. Otherwise like `on`.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
def emit(event: str, payload: str) -> None:
    """
    Emits an event with a payload (JSON). An effect of the call: it is delivered after the call's commit. The name must not
    be one of the host's own. A call may emit 1,000.

    Raises: `componentize_py_types.Err(wit_world.imports.types.Error)`
    """
    raise NotImplementedError
