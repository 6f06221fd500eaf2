"""Removing state files that no kept version needs."""

from __future__ import annotations

from rowkind.state.files import Folder
from rowkind.state.listing import Listing, listing_name, read_listing
from rowkind.state.run import Place


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


def sweep(root: str, committed: int, oldest: int, cache: str | None = None) -> int:
    """Remove what no version from `oldest` to `committed` needs, in all folders under `root`: also leftovers.

    For the driver, before a job's first batch: no task may run meanwhile. Returns how many files went.
    """
    removed = 0
    for operator in Folder(root).folders():
        for partition in Folder(f"{root}/{operator}").folders():
            folder = Folder(f"{root}/{operator}/{partition}", cache)
            names = folder.names()
            needed: set[str] = set()
            for version in _kept_versions(names, committed, oldest):
                needed |= {listing_name(version)}
                needed |= read_listing(folder, version, Place(operator, int(partition), version)).names
            for name in set(names) - needed:
                folder.remove(name)
                removed += 1
    return removed


def _kept_versions(names: list[str], committed: int, oldest: int) -> list[int]:
    """An operator may have skipped versions: the last one at or before `oldest` holds there."""
    versions = sorted(int(name[:-5]) for name in names if name.endswith(".json") and int(name[:-5]) <= committed)
    floor = max((version for version in versions if version <= oldest), default=0)
    return [version for version in versions if version >= floor]
