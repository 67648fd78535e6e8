"""What ``docs/outputs.md`` says: the files that each command writes, and their columns."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from docs.tools.tables import expanded

ROOT = Path(__file__).resolve().parents[2]
Typed = Callable[[str], str]  # a typed command goes in, and what it prints comes back
_PLACEHOLDER = re.compile(r"[A-Z]{4,}")


@dataclass
class DescribedFile:
    """A file of the page: its name, with words in capitals for the reader's own names, and its columns."""

    name: str
    columns: list[str] = field(default_factory=list)
    only_with: set[str] = field(default_factory=set)  # columns that an option or an atlas adds

    def fits(self, name: str) -> bool:
        return fits(self.name, name)


def fits(described: str, real: str) -> bool:
    """Whether a name is what the page describes, a word in capitals standing for any."""
    return re.fullmatch(_PLACEHOLDER.sub("\0", re.escape(described)).replace("\0", ".+"), real) is not None


def described_files() -> dict[str, list[DescribedFile]]:
    """By the headings of the page, such as ``biobgt hubs``."""
    text = expanded((ROOT / "docs" / "outputs.md").read_text(encoding="utf-8"))
    found: dict[str, list[DescribedFile]] = {}
    files: list[DescribedFile] = []
    for line in text.splitlines():
        if line.startswith("## "):
            files = found.setdefault(line[3:], [])
        elif heading := re.fullmatch(r"### `(.+)`", line):
            files.append(DescribedFile(heading[1]))
        elif files and (row := re.match(r"\| `(.+?)` \|", line)):
            files[-1].columns.append(row[1].replace("\\|", "|"))
            if "| With `--" in line or "| Where the atlas" in line:
                files[-1].only_with.add(row[1])
    return found


def undescribed(columns: list[str], described: DescribedFile) -> tuple[list[str], list[str]]:
    """Columns that the page does not have, and those that only the page has."""
    unknown = [one for one in columns if not any(fits(name, one) for name in described.columns)]
    missing = [
        name
        for name in described.columns
        if name not in described.only_with and not any(fits(name, one) for one in columns)
    ]
    return unknown, missing
