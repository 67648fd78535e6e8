"""The commands of a page: found in its text, and read by the real command line without running them."""

import re
import shlex
from dataclasses import dataclass
from typing import Any

from docs.tools.command_line import all_commands

_BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(biobgt [a-z][^`]*)`")


@dataclass(frozen=True)
class Block:
    """A block of code: its language, empty where it names none, and its lines."""

    language: str
    body: str


def code_blocks(text: str) -> list[Block]:
    """Every fenced block of a page of Markdown, in order."""
    return [Block(found["language"], found["body"]) for found in _BLOCK.finditer(text)]


def shell_lines(text: str) -> list[str]:
    """Every line of the blocks that a reader types into a shell, without comments; continued lines are joined."""
    lines = []
    for block in code_blocks(text):
        if block.language in ("", "sh"):
            body = block.body.replace("\\\n", " ")
            lines += [" ".join(shlex.split(line, comments=True, posix=False)) for line in body.splitlines()]
    return [line for line in lines if line]


def whole_commands(text: str) -> list[str]:
    """Every ``biobgt`` command that a page's blocks hold, to be typed as it is."""
    return [line for line in shell_lines(text) if line.startswith("biobgt ")]


def named_commands(text: str) -> list[str]:
    """Every ``biobgt`` command that a page names within a sentence; it may leave arguments out."""
    return [" ".join(found.split()) for found in _INLINE.findall(_BLOCK.sub("", text))]


def read_command(line: str, *, whole: bool = True) -> None:
    """Let the command line read a command without running it; an error where it has no such command or option.

    Parameters
    ----------
    line : str
        As typed.
    whole : bool
        Whether all arguments are there, so that they can be read; else only the names of options are looked up.
    """
    typed = tuple(shlex.split(line)[1:])
    found = [(words, command) for words, command in all_commands() if typed[: len(words)] == words]
    if not found and (whole or not any(words[: len(typed)] == typed for words, _ in all_commands())):
        raise LookupError(f"There is no command '{line}'.")
    for words, command in found:
        arguments = list(typed[len(words) :])
        if whole:
            command.make_context(" ".join(words), arguments).close()
        else:
            _look_up(command, arguments)


def _look_up(command: Any, arguments: list[str]) -> None:
    known = {"--help", *(flag for one in command.params for flag in (*one.opts, *one.secondary_opts))}
    for word in arguments:
        if word.startswith("--") and word.partition("=")[0] not in known:
            raise LookupError(f"There is no option '{word}'.")
