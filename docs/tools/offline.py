"""The built site asks the network for nothing: no font, script, style or picture of another address.

``python -m docs.tools.offline site`` ends with the pages that would. Links that a reader may follow are no matter.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

# What a browser fetches by itself: sources of any element, and style sheets, icons and the like of the head.
_SOURCE = re.compile(r'<[a-z-]+\b[^>]*?\ssrc="((?:https?:)?//[^"]+)"', re.IGNORECASE)
_LINKED = re.compile(
    r'<link\b(?![^>]*rel="(?:canonical|next|prev)")[^>]*?\shref="((?:https?:)?//[^"]+)"', re.IGNORECASE
)
_IN_STYLE = re.compile(r'(?:url\(|@import\s+)["\']?((?:https?:)?//[^"\')\s]+)', re.IGNORECASE)


def fetched_addresses(text: str) -> list[str]:
    """Addresses in a page or a style sheet that a browser would fetch by itself."""
    return [found for pattern in (_SOURCE, _LINKED, _IN_STYLE) for found in pattern.findall(text)]


def pages_that_fetch(site: Path) -> Iterator[tuple[Path, str]]:
    """Every page and style sheet of a built site that asks another address for something, with the address."""
    for path in sorted([*site.rglob("*.html"), *site.rglob("*.css")]):
        for address in fetched_addresses(path.read_text(encoding="utf-8")):
            yield path, address


if __name__ == "__main__":
    found = list(pages_that_fetch(Path(sys.argv[1])))
    sys.exit("\n".join(f"{path}: {address}" for path, address in found) or 0)
