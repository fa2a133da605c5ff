"""Databases whose changes go into a log of their own (SQLite's WAL), so that readers and a writer do not wait for each other."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

_PAUSE = 0.01


def keep_log(database: sqlite3.Connection, wait: float) -> None:
    """Give a database such a log, waiting as many seconds for others that have it open.

    SQLite itself does not wait in the change from one mode to the other: it would for ever where two do it at once (sqlite3_busy_handler in
    its C interface). sqlite3.Error where it cannot be done.
    """
    import sqlite3

    until = time.monotonic() + wait
    while True:
        try:
            database.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(_PAUSE)
        else:
            return
