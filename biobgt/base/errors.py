"""The one way bad input is reported.

An :class:`InputError` carries a sentence for the person who brought the file: what is wrong, where, and
what to do. Everything else that is raised is a bug. The command line and the app show the sentence and
nothing more.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

_LONGEST_QUOTE, _LONGEST = 200, 2_000  # characters
_QUOTED = re.compile(rf"'([^'\n]{{{_LONGEST_QUOTE},}})'")


class InputError(ValueError):
    """What was brought in cannot be used; the message is a sentence for the user, whatever it quotes of a file."""

    def __init__(self, sentence: object = "") -> None:
        super().__init__(_bounded(str(sentence)))


def _bounded(sentence: str) -> str:
    """A sentence whose quotations, and which itself, are no longer than one reads.

    >>> _bounded(f"There is no atlas '{'a' * 100_000}'.") == f"There is no atlas '{'a' * 100}…'."
    True
    """
    if len(sentence) <= _LONGEST_QUOTE:
        return sentence
    short = _QUOTED.sub(lambda found: f"'{found[1][: _LONGEST_QUOTE // 2]}…'", sentence)
    return short if len(short) <= _LONGEST else f"{short[: _LONGEST // 2]} … {short[-_LONGEST // 4 :]}"


def first_line(error: Exception, most: int = 120) -> str:
    """What an error of a library says, as part of a sentence: its first line, or else its name."""
    return (str(error).strip().splitlines() or [""])[0][:most] or type(error).__name__


def no_such(kind: str, name: object, known: Iterable[str]) -> InputError:
    """That there is no such thing, and which there are.

    Parameters
    ----------
    kind : str
        What it is, in the singular.
    name : object
        What was asked for.
    known : iterable of str

    >>> print(no_such("atlas", "aal9", ["aal90", "cc200"]))
    There is no atlas 'aal9'. Choose one of: aal90, cc200.
    """
    return InputError(f"There is no {kind} '{name}'. Choose one of: {', '.join(known)}.")


class ChoiceNeeded(InputError):  # noqa: N818 - a question, not an error, to whoever shows it
    """Two readings of the input are possible and only its owner knows which is right.

    Parameters
    ----------
    question : str
        What is to be decided, in a sentence.
    option : str
        The option of :func:`biobgt.read_cohort` that answers it.
    choices : sequence of str, or mapping of str to str
        The values that option may take here; a mapping says in words what follows from each.
    """

    def __init__(self, question: str, *, option: str, choices: Sequence[str] | Mapping[str, str]) -> None:
        self.question = _bounded(question)
        self.option = option
        self.choices = tuple(choices)
        self.consequences = dict(choices) if isinstance(choices, Mapping) else {}
        said = (f"{choice} ({self.consequences[choice]})" if self.consequences else choice for choice in self.choices)
        super().__init__(f"{question} Choose {option}: {' or '.join(said)}.")

    def __reduce__(self) -> tuple[object, ...]:
        return partial(ChoiceNeeded, option=self.option, choices=self.consequences or self.choices), (self.question,)


class ReaderFault(InputError):  # noqa: N818 - to the user it is a refused file like any other
    """A reader failed as it never should; the file is refused, the others load, and the reader is to be mended.

    ``FAULT`` stands in every such sentence, so that tests can tell it from a refusal that was meant.
    """

    FAULT = "which is a fault of this program and not of the file"

    def __init__(self, kind: str) -> None:
        self.kind = kind
        super().__init__(
            f"The reader failed unexpectedly ({kind}), {self.FAULT}. Save the data in another format, such as CSV, "
            "and please report it."
        )

    def __reduce__(self) -> tuple[object, ...]:
        return ReaderFault, (self.kind,)


@dataclass(frozen=True)
class Refusal:
    """A file, or a subject in it, that was not loaded, and why."""

    file: str
    reason: str
