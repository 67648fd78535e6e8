"""Equations as MathML, which browsers draw themselves: no script, no font and nothing from the network.

Pages write LaTeX between dollar signs, as GitHub reads it too. The Markdown extension ``arithmatex`` marks it, and
:func:`with_mathml` puts MathML in its place when the site is built.
"""

import re
from html import unescape

from latex2mathml.converter import convert

_MARKED = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\(?P<open>[(\[])(?P<latex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)


def with_mathml(html: str) -> str:
    """Replace all equations of a page, as ``arithmatex`` marks them, by MathML."""
    return _MARKED.sub(_mathml, html)


def _mathml(found: re.Match[str]) -> str:
    latex = unescape(found["latex"]).strip()
    return convert(latex, display="block" if found["open"] == "[" else "inline")
