"""The shelf: a folder that stores each release of the studio as a JSON file; no paid answer is lost.

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
from nobounds.explaining.explain import paragraphs
from nobounds.studio.asks import Ask

_LARGEST = 1 << 24  # bytes of a file
_NAME = re.compile(r"[0-9]{8}T[0-9]{6}-[0-9a-f]{8}")


@dataclass(frozen=True, slots=True)
class KeptRelease:
    """A release on the shelf: its name, the time it was made, the request and the answer."""

    name: str
    made: datetime
    ask: Ask
    release: nb.Release | nb.Description


class Shelf:
    """Releases by name, newest first; in a folder that the first release creates, else in memory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._unwritten: dict[str, KeptRelease] = {}  # shown while the studio runs

    def put(self, ask: Ask, release: nb.Release | nb.Description) -> KeptRelease:
        """Keep a release; in memory if it cannot be read back from the folder."""
        now = datetime.now(UTC).replace(microsecond=0)
        kept = KeptRelease(f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(4)}", now, ask, release)
        try:
            self._write(kept)
            lost = self.get(kept.name) is None
        except OSError:
            lost = True
        if lost:
            self._unwritten[kept.name] = kept
        return kept

    def written(self, kept: KeptRelease) -> bool:
        """Whether a release is in the folder."""
        return kept.name not in self._unwritten

    def get(self, name: str) -> KeptRelease | None:
        """The release with this name, or None."""
        if not _NAME.fullmatch(name):
            return None
        return self._unwritten.get(name) or (_read(self.folder / f"{name}.json") if self._is_ours() else None)

    def all(self) -> list[KeptRelease]:
        """Every release, newest first; other files are ignored."""
        names = {path.stem for path in self.folder.glob("*.json")} | self._unwritten.keys()
        releases = (self.get(name) for name in sorted(names, reverse=True))
        return [kept for kept in releases if kept is not None]

    def _is_ours(self) -> bool:
        """Whether the folder belongs to this user; files in the folder of another user are not shown."""
        try:
            return not hasattr(os, "geteuid") or self.folder.stat().st_uid == os.geteuid()
        except OSError:
            return False

    def _write(self, kept: KeptRelease) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        if not self._is_ours():
            raise PermissionError("the folder is that of another user")
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


def _read(path: Path) -> KeptRelease | None:
    """The release in a file, or None if the studio cannot have written it."""
    try:
        if path.stat().st_size > _LARGEST:
            return None
        loaded = json.loads(path.read_text(encoding="utf-8"))
        fields, text = loaded["ask"], json.dumps(loaded["release"])
        columns, ranks = (tuple(map(_text, fields[name])) for name in ("columns", "q"))
        given = {name: _text(value) for name, value in fields.items() if name not in ("columns", "q")}
        ask = Ask.of(given | {"q": " ".join(ranks)}, columns)
        kind = nb.Description if ask.statistic == "describe" else nb.Release
        release = kind.from_json(text)
        paragraphs(json.loads(text), sizes=())  # raises if this is no release
        same_ask = asdict(ask) == fields | {"columns": columns, "q": ranks}
        if not same_ask or release.to_dict() != loaded["release"] | {"statistic": ask.statistic}:
            return None
        return KeptRelease(path.stem, datetime.fromisoformat(loaded["made"]), ask, release)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError):
        return None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a field of an ask is a text")
    return value
