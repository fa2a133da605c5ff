"""`scripts/derive`: rebuild the tables from the inputs that data/derive/inputs.tsv names, or say whether they are what it gives."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from anywarp.catalogue.deriving import inputs as lists
from anywarp.catalogue.deriving.derivations import DERIVATIONS
from anywarp.catalogue.deriving.fetching import NotFetched, Store, checksum
from anywarp.catalogue.deriving.running import Outcome, Work, difference

REPOSITORY = Path(__file__).resolve().parents[4]


@click.command()
@click.argument("names", nargs=-1)
@click.option("--check", is_flag=True, help="Write nothing; show what differs, and exit with 1 if something does.")
@click.option(
    "--list", "listed", is_flag=True, help="Name the derivations, their inputs and the files that they write."
)
@click.option(
    "--cache",
    type=click.Path(path_type=Path),
    help="The folder that inputs are kept in (default: derive in the cache folder).",
)
@click.option("--mirror", default="", help="The mirror of Debian to ask (default: the one of this machine's apt).")
@click.option(
    "--version",
    "versions",
    multiple=True,
    metavar="INPUT=VERSION",
    help="Name another version of an input: its row is written anew.",
)
@click.option(
    "--keep",
    "kept",
    multiple=True,
    metavar="FILE",
    type=click.Path(exists=True, path_type=Path),
    help="Keep a file fetched by hand.",
)
def main(
    names: Sequence[str],
    check: bool,
    listed: bool,
    cache: Path | None,
    mirror: str,
    versions: Sequence[str],
    kept: Sequence[Path],
) -> None:
    """Rebuild every generated table, or those named."""
    known = lists.load()
    if listed:
        return _list(known)
    unknown = set(names) - {each.name for each in DERIVATIONS}
    if unknown:
        raise click.ClickException(f"no derivation is called {', '.join(sorted(unknown))}: see --list")
    folder = cache if cache is not None else lists.folder()
    folder.mkdir(parents=True, exist_ok=True)
    store = Store(folder.resolve(), mirror)
    for file in kept:
        _keep(file, known, store)
    if versions:
        known = _renew(known, versions, store)
    if (kept or versions) and not names:
        return None
    work = Work(known, store, REPOSITORY, lambda text: click.echo(text, err=True))
    wanted = [each for each in DERIVATIONS if not names or each.name in names]
    outcomes = work.run(wanted, lambda copy, outcome: _finish(copy, outcome, check))
    failed = [one for one in outcomes if one.problem]
    sys.exit(2 if failed else 1 if check and any(one.changed for one in outcomes) else 0)


def _finish(copy: Path, outcome: Outcome, check: bool) -> None:
    took = f"{outcome.seconds:.0f} s"
    if outcome.problem:
        click.echo(f"{outcome.name}: not made ({took}): {outcome.problem}")
        return
    if not outcome.changed:
        click.echo(f"{outcome.name}: {outcome.written} files, byte for byte as committed ({took})")
        return
    for name in outcome.changed:
        if check:
            click.echo("\n".join(difference(copy, REPOSITORY, name)))
        else:
            shutil.copyfile(copy / name, REPOSITORY / name)
    click.echo(
        f"{outcome.name}: {len(outcome.changed)} of {outcome.written} files {'differ' if check else 'written'} ({took})"
    )


def _list(known: Sequence[lists.Input]) -> None:
    for each in DERIVATIONS:
        click.echo(f"{each.name}: {each.about}")
        for one in lists.chosen(known, each.inputs):
            click.echo(
                f"    from {one.name}: {one.kind} {one.package} {one.version}{f' ({one.place})' if one.place else ''}"
            )
        for pattern in each.writes:
            click.echo(f"    writes {pattern}")


def _keep(file: Path, known: Sequence[lists.Input], store: Store) -> None:
    digest = checksum(file)
    fitting = [each for each in known if each.sha256 == digest]
    if not fitting:
        raise click.ClickException(f"{file} is no input that is named: none has the SHA-256 {digest}")
    place = store.place(fitting[0])
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, place)
    click.echo(f"{fitting[0].name}: kept")


def _renew(known: Sequence[lists.Input], versions: Sequence[str], store: Store) -> tuple[lists.Input, ...]:
    """Fetch other versions of inputs, and write their rows with file and checksum; every row of the same package and version changes."""
    rows = list(known)
    for text in versions:
        name, _, version = text.partition("=")
        old = next((each for each in rows if each.name == name), None)
        if old is None or not version:
            raise click.ClickException(f"{text} names no input and version: see --list")
        with tempfile.TemporaryDirectory(dir=store.folder) as folder:
            try:
                file = store.fetch_anew(replace(old, version=version), Path(folder))
            except NotFetched as error:
                raise click.ClickException(str(error)) from None
            digest = checksum(file)
            for at, each in enumerate(rows):
                if (each.kind, each.package, each.version, each.place) == (
                    old.kind,
                    old.package,
                    old.version,
                    old.place,
                ):
                    rows[at] = replace(each, version=version, file=file.name, sha256=digest)
            place = store.place(next(each for each in rows if each.name == name))
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(file, place)
        click.echo(f"{name}: {old.package} {old.version} becomes {version}")
    first, heading = lists.PATH.read_text(encoding="utf-8").split("\n")[:2]
    lists.PATH.write_text("\n".join([first, heading, *(each.as_line() for each in rows)]) + "\n", encoding="utf-8")
    return tuple(rows)


if __name__ == "__main__":
    main()
