"""A reader of protocol buffers in text, as far as the cases need one: messages, numbers, words, texts and lists."""

import re

_TOKEN = re.compile(r'\s*(?:#[^\n]*\s*)*(?:(?P<text>"[^"]*")|(?P<word>[^\s{}\[\]:,#"]+)|(?P<mark>[{}\[\]:,]))')
_REST = re.compile(r"\s*(?:#[^\n]*\s*)*\Z")


def parsed(text):
    """The fields of a message: for each name the list of its values, in order; a list in brackets adds its elements."""
    tokens, at = [], 0
    while not _REST.match(text, at):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"cannot be read from character {at} on")
        tokens.append(found)
        at = found.end()
    message, rest = _message(tokens, 0)
    if rest != len(tokens):
        raise ValueError("a bracket too many")
    return message


def _message(tokens, k):
    fields = {}
    while k < len(tokens) and tokens[k]["mark"] != "}":
        name = tokens[k]["word"]
        k += 1
        if tokens[k]["mark"] == ":":
            k += 1
        values = fields.setdefault(name, [])
        if tokens[k]["mark"] == "{":
            value, k = _message(tokens, k + 1)
            values.append(value)
            k += 1
        elif tokens[k]["mark"] == "[":
            k += 1
            while tokens[k]["mark"] != "]":
                if tokens[k]["mark"] != ",":
                    values.append(_scalar(tokens[k]))
                k += 1
            k += 1
        else:
            values.append(_scalar(tokens[k]))
            k += 1
    return fields, k


def _scalar(token):
    if token["text"] is not None:
        return token["text"][1:-1]
    try:
        return float(token["word"])
    except ValueError:
        return token["word"]
