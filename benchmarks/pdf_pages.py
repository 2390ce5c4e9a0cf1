"""A PDF of as many pages of English prose as are asked for, the same every time."""

from __future__ import annotations

import textwrap
from itertools import cycle, islice

from corpus import load

LINES, COLUMNS = 52, 88


def pdf_of(pages: int) -> bytes:
    """Return a PDF of that many pages, each full of text."""
    passages, _ = load(1200, 0)
    english = [one.text for one in passages if one.language == "en"]
    lines = (line for text in cycle(english) for line in (*textwrap.wrap(text, COLUMNS), ""))
    contents = [_content(list(islice(lines, LINES))) for _ in range(pages)]
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(pages))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, content in enumerate(contents):
        shows = f"/Resources << /Font << /F 3 0 R >> >> /Contents {5 + 2 * number} 0 R"
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] {shows} >>".encode())
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    return _file(objects)


def _content(lines: list[str]) -> bytes:
    shown = [line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for line in lines]
    text = "\n".join(f"({line}) Tj T*" for line in shown)
    return f"BT /F 10 Tf 14 TL 60 790 Td\n{text}\nET".encode("cp1252", "replace")


def _file(objects: list[bytes]) -> bytes:
    written = bytearray(b"%PDF-1.7\n")
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = len(written)
    written += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    written += b"".join(b"%010d 00000 n \n" % place for place in places)
    written += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, table)
    return bytes(written)
