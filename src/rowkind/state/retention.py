"""Removing state files that no kept version needs."""

from __future__ import annotations

from collections.abc import Mapping

from rowkind.state.files import Folder
from rowkind.state.listing import Listing, listing_name, read_listing
from rowkind.state.sorted_run import Place


def remove_before(folder: Folder, newest: int, oldest: int, place: Place) -> None:
    """Remove the listings that no version from `oldest` to `newest` is, and the runs that only they name.

    A run that a version dropped never comes back in a later one, so a listing needs comparing only with the next kept
    one. Runs in tasks: an attempt at the same version beside it removes the same files, which does no harm.
    """
    version, kept = newest, read_listing(folder, newest, place)
    while version > oldest and kept.base is not None:
        version, kept = kept.base, read_listing(folder, kept.base, place)
    old: list[tuple[int, Listing]] = []
    before = kept.base
    while before is not None and folder.exists(listing_name(before)):
        old.append((before, read_listing(folder, before, place)))
        before = old[-1][1].base
    for version, listing in reversed(old):
        for name in sorted(listing.names - kept.names):
            folder.remove(name)
        folder.remove(listing_name(version))


def sweep(root: str, bases: Mapping[str, int], keep: int, checkpoint: str = "", cache: str | None = None) -> int:
    """Remove what is neither an operator's version in `bases` nor one of the `keep` before it: also leftovers.

    For the driver, before a job's first batch: no task may run meanwhile. Returns how many files went.
    """
    removed = 0
    for operator in Folder(root).folders():
        for partition in Folder(f"{root}/{operator}").folders():
            folder = Folder(f"{root}/{operator}/{partition}", cache)
            names = set(folder.names())
            needed: set[str] = set()
            if operator in bases:
                base = bases[operator]
                needed = _needed(folder, names, base, base - keep, Place(operator, int(partition), base, checkpoint))
            for name in names - needed:
                folder.remove(name)
                removed += 1
    return removed


def _needed(folder: Folder, names: set[str], committed: int, oldest: int, place: Place) -> set[str]:
    """The files of a committed version, and of those before it back to `oldest`, each the base of the next."""
    needed: set[str] = set()
    version: int | None = committed
    while version is not None and (version == committed or listing_name(version) in names):
        listing = read_listing(folder, version, place)
        if gone := sorted(listing.names - names):
            raise place.missing(folder.path(gone[0]))
        needed |= {listing_name(version), *listing.names}
        version = listing.base if version > oldest else None
    return needed
