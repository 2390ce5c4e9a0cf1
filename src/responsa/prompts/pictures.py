"""Pictures inside a text that a template makes: marked while it is made, then taken apart."""

from __future__ import annotations

import mimetypes
import re
import secrets
from pathlib import Path

from responsa.schema.errors import TemplateError
from responsa.schema.messages import ContentBlock, ImageBlock, TextBlock


class Pictures:
    """The pictures of one text. Their marks are random, so that no value of a variable can forge one."""

    def __init__(self) -> None:
        self._key = secrets.token_hex(8)
        self._blocks: list[ImageBlock] = []

    def put(self, source: str) -> str:
        """Take a picture, by address or by the path of a file, and return the mark that stands for it."""
        self._blocks.append(_picture(source))
        return f"\x02{self._key}:{len(self._blocks) - 1}\x03"

    def blocks(self, text: str) -> list[ContentBlock]:
        """Return `text` in pieces, each picture in the place of its mark."""
        if not self._blocks:
            return [TextBlock(text)]
        parts = re.split(f"\x02{self._key}:(\\d+)\x03", text)
        blocks: list[ContentBlock] = []
        for position, part in enumerate(parts):
            if position % 2:
                blocks.append(self._blocks[int(part)])
            elif part.strip():
                blocks.append(TextBlock(part.strip("\n")))
        return blocks


def _picture(source: str) -> ImageBlock:
    if source.startswith(("https:", "http:", "data:")):
        return ImageBlock(url=source)
    kind = mimetypes.guess_type(source)[0] or ""
    if not kind.startswith("image/"):
        raise TemplateError(f"{source} is no picture: expected an address, or a file named like one")
    try:
        return ImageBlock(image=Path(source).read_bytes(), image_mimetype=kind)
    except OSError as error:
        raise TemplateError(f"the picture {source} cannot be read ({error.strerror})") from error
