"""What files of requirements ask for, with the files that they name; nothing is changed or fetched."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from anywarp.deploy.env.problems import UNREAD, problem
from anywarp.migrate.formats import requirements

LARGEST = 4 << 20
MOST_FILES = 100


def read(file: Path, say: Callable[[str], None]) -> list[str]:
    """Return the requirements of a file and of those that it includes (-r), each file once; says which could not be followed.

    AnywarpError (Y065) when `file` itself cannot be read.
    """
    texts: list[str] = []
    waiting, seen = [file], {file.resolve()}
    while waiting:
        one = waiting.pop(0)
        try:
            with one.open("rb") as opened:
                data = opened.read(LARGEST)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            if one == file:
                raise problem(UNREAD, f"{file} cannot be read: {reason}", "name a file of requirements") from error
            say(f"{one} is not followed: {reason}")
            continue
        for line in requirements.lines(data.decode("utf-8", "replace")):
            if line.request:
                texts.append(line.request)
            for option in line.options:
                if option.name != "--requirement":
                    continue
                if "://" in option.value or len(seen) >= MOST_FILES:
                    say(
                        f"{option.value} is not followed: {'it is elsewhere' if '://' in option.value else 'too many files'}"
                    )
                elif (other := one.parent / option.value).resolve() not in seen:
                    seen.add(other.resolve())
                    waiting.append(other)
    return texts
