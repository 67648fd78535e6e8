"""What a test of the documentation types commands with: a line goes in, and what is printed comes back."""

from collections.abc import Callable

Typed = Callable[[str], str]
