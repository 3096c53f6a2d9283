"""A notebook as a page: its text, its code, and what a run has shown."""

import json
from typing import Any


def page(text: str) -> str:
    """The Markdown of a notebook."""
    return "\n\n".join(_cell(cell) for cell in json.loads(text)["cells"]) + "\n"


def _cell(cell: dict[str, Any]) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    return "\n\n".join([f"````python\n{source}\n````", *map(_output, cell.get("outputs", []))])


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "image/png" in data:
        picture = "".join(data["image/png"]).replace("\n", "")
        return f'<img alt="What the code above draws" src="data:image/png;base64,{picture}">'
    shown = "".join(data.get("text/plain", output.get("text", ""))).rstrip()
    return f"````text\n{shown}\n````"
