"""The file that commands are run on."""

from support.shell import people

__all__ = ["people"]
