"""CSV by a loop over single characters: what RFC 4180 says, with the rules of `nobounds.engines.csv.records`."""

from collections.abc import Iterator


def reference_rows(
    text: bytes,
    width: int,
    *,
    delimiter: bytes = b",",
    quote: bytes | None = b'"',
    comment: bytes | None = None,
    newlines_in_fields: bool = True,
    longest: int = 1 << 26,
) -> list[list[bytes | None]]:
    """The records of a text without a header; empty fields, and all those of a missing record, are None."""
    return [
        [field or None for field in row] if row is not None and len(row) == width else [None] * width
        for row in _records(text, delimiter, quote, comment, newlines_in_fields, longest)
    ]


def _records(
    text: bytes, delimiter: bytes, quote: bytes | None, comment: bytes | None, newlines: bool, longest: int
) -> Iterator[list[bytes] | None]:
    """Each record, None if it is not well-formed."""
    at = 0
    while at < len(text):
        start, fields, state, bad, field, raw = at, [], "start", False, b"", b""
        if comment is not None and text[at : at + 1] == comment:
            at = text.find(b"\n", at) + 1 or len(text)
            continue
        while True:
            c = text[at : at + 1]
            ended = c == b"" or (c == b"\n" and (state != "quoted" or not newlines))
            if ended or (c == delimiter and state != "quoted"):
                if state == "quoted":
                    bad = True
                fields.append(field if state == "closed" else field.replace(b"\r", b" ") if state != "quoted" else b"")
                field, state = b"", "start"
                at += 1
                if ended:
                    break
                continue
            if state == "start" and quote is not None and c == quote:
                state = "quoted"
            elif state == "quoted" and c == quote:
                if text[at + 1 : at + 2] == quote:
                    field += c
                    at += 1
                else:
                    state = "closed"
            elif state == "closed":
                # Only carriage returns may stand between a closing quote and the end of the line.
                left = text[at:].lstrip(b"\r")[:1]
                if c != b"\r" or left not in (b"\n", b""):
                    bad = True
            else:
                field += c
                state = state if state == "quoted" else "plain"
            at += 1
        raw = text[start:at]
        raw = raw if raw.endswith(b"\n") else raw + b"\n"
        fields = [field if field.decode("utf-8", "replace").encode() == field else b"" for field in fields]
        if len(raw) > longest:
            bad = True
        yield None if bad else fields
