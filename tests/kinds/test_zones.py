"""Zones by name, and the names of zones of other libraries."""

from datetime import UTC, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from nobounds.kinds.zones import zone_name, zone_of


@pytest.mark.parametrize("name", ["Europe/Berlin", "+02:00", "-11:30", "UTC"])
def test_a_zone_has_its_name(name: str):
    """There and back."""
    assert zone_name(zone_of(name)) == name


@pytest.mark.parametrize("name", ["", "Mars/Base", "../etc/passwd", "+25:00", "a\0b", "Europe", "x" * 300])
def test_no_other_name_is_a_zone(name: str):
    """Not a directory, not a path."""
    with pytest.raises(ValueError, match="a time zone has a name"):
        zone_of(name)


def test_zones_of_other_libraries():
    """By their names, or by a fixed offset."""
    pytz = pytest.importorskip("pytz")
    assert zone_name(pytz.timezone("Asia/Tokyo")) == "Asia/Tokyo"
    assert zone_name(pytz.FixedOffset(90)) == "+01:30"
    assert zone_name(pytz.utc) == zone_name(UTC) == zone_name(ZoneInfo("UTC")) == "UTC"
    assert zone_name(timezone(timedelta(seconds=30))) is None
