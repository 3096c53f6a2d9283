"""The shelf: a folder that keeps each release of the studio as a JSON file, so that no paid answer is lost.

Releases are safe to keep. A file is written whole or not at all.
"""

import json
import os
import re
import secrets
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import nobounds as nb
from nobounds.studio.asks import Ask

_NAME = re.compile(r"[0-9]{8}T[0-9]{6}-[0-9a-f]{8}")


@dataclass(frozen=True, slots=True)
class Kept:
    """A release on the shelf: its name, when it was made, what was asked, and what was answered."""

    name: str
    made: datetime
    ask: Ask
    release: nb.Release | nb.Description


class Shelf:
    """Releases by name, newest first; in a folder that is made for the first of them, and in memory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._unwritten: dict[str, Kept] = {}  # what the folder could not take is shown while the studio runs

    def put(self, ask: Ask, release: nb.Release | nb.Description) -> Kept:
        """Keep a release. If the folder cannot be written to, it is kept in memory."""
        now = datetime.now(UTC).replace(microsecond=0)
        kept = Kept(f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(4)}", now, ask, release)
        try:
            self._write(kept)
        except OSError:
            self._unwritten[kept.name] = kept
        return kept

    def written(self, kept: Kept) -> bool:
        """Whether a release is in the folder."""
        return kept.name not in self._unwritten

    def get(self, name: str) -> Kept | None:
        """The release of a name, or None."""
        if not _NAME.fullmatch(name):
            return None
        return self._unwritten.get(name) or _read(self.folder / f"{name}.json")

    def all(self) -> list[Kept]:
        """Every release, newest first; files that are no releases are passed over."""
        names = {path.stem for path in self.folder.glob("*.json")} | self._unwritten.keys()
        found = (self.get(name) for name in sorted(names, reverse=True))
        return [kept for kept in found if kept is not None]

    def _write(self, kept: Kept) -> None:
        self.folder.mkdir(exist_ok=True)
        draft = self.folder / f".{kept.name}.draft"
        plain = {"made": kept.made.isoformat(), "ask": asdict(kept.ask), "release": kept.release.to_dict()}
        try:
            with draft.open("x", encoding="utf-8") as file:
                json.dump(plain, file, allow_nan=False)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self.folder / f"{kept.name}.json")
        finally:
            draft.unlink(missing_ok=True)


def _read(path: Path) -> Kept | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        ask = found["ask"] | {name: tuple(found["ask"][name]) for name in ("columns", "q")}
        kind = nb.Description if found["release"]["statistic"] == "describe" else nb.Release
        release = kind.from_json(json.dumps(found["release"]))
        return Kept(path.stem, datetime.fromisoformat(found["made"]), Ask(**ask), release)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
