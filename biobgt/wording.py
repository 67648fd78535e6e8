"""Words for numbers in sentences, and words of unknown origin in Markdown."""

import re

# What begins emphasis, code, a tag, an entity or a link; a plain "<", "_" or "[" within a sentence is none of them.
_MARKUP = re.compile(r"[\\`*~]|<(?=[a-zA-Z/!?])|&(?=[#\w]+;)|(?<!\w)_|_(?!\w)|(?<=\])[(\[:]|(?<=!)\[")


def counted(number: int, noun: str) -> str:
    """Say ``1 subject``, ``2 subjects``; the noun takes a plain s."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def plain_markdown(text: str) -> str:
    r"""Escape what Markdown would take for markup, and nothing else, on one line.

    >>> print(plain_markdown("sub_01 <b>, p < 0.05, [0.1, 0.3], *a*"))
    sub_01 \<b>, p < 0.05, [0.1, 0.3], \*a\*
    """
    return _MARKUP.sub(lambda found: f"\\{found[0]}", " ".join(text.split()))
