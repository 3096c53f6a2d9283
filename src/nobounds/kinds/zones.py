"""Time zones by name: those of the zone database, and fixed offsets such as +02:00."""

import re
from datetime import UTC, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

_OFFSET = re.compile(r"(?:UTC)?([+-])(\d{2}):?(\d{2})")


def zone_of(name: str) -> tzinfo:
    """The zone of a name; ValueError if there is none.

    >>> zone_of("+05:30"), zone_of("Europe/Berlin")
    (datetime.timezone(datetime.timedelta(seconds=19800)), zoneinfo.ZoneInfo(key='Europe/Berlin'))
    """
    if name in ("UTC", "Z"):
        return UTC
    if fixed := _OFFSET.fullmatch(name):
        away = timedelta(hours=int(fixed[2]), minutes=int(fixed[3]))
        if away < timedelta(days=1):
            return timezone(-away if fixed[1] == "-" else away)
    else:
        try:
            return ZoneInfo(name)
        except (OSError, ValueError, KeyError):  # ZoneInfoNotFoundError is a KeyError; a directory an OSError
            pass
    raise ValueError(f"a time zone has a name such as Europe/Berlin or +02:00, got {name[:80]!r}")


def zone_name(zone: tzinfo) -> str | None:
    """The name by which `zone_of` finds a zone, also one of pytz or dateutil; None if it has none.

    >>> zone_name(UTC), zone_name(timezone(timedelta(hours=-3))), zone_name(ZoneInfo("Asia/Tokyo"))
    ('UTC', '-03:00', 'Asia/Tokyo')
    """
    key = getattr(zone, "key", None) or getattr(zone, "zone", None)
    if isinstance(key, str):
        return key if _known(key) else None
    away = zone.utcoffset(None)
    if away is None or away % timedelta(minutes=1):
        return None
    minutes = round(away / timedelta(minutes=1))
    sign = "-" if minutes < 0 else "+"
    return "UTC" if minutes == 0 else f"{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def _known(name: str) -> bool:
    try:
        zone_of(name)
    except ValueError:
        return False
    return True
