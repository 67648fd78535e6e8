"""Which array of a file holds the subject's numbers, told from the sizes and types that the file declares.

Nothing is read for it: a file that declares more than fits in memory is refused before memory is taken.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from biobgt.errors import ChoiceNeeded, InputError
from biobgt.limits import Limits

_SHOWN = 20  # a hostile file may hold ten thousand variables with names of a page each
_WORDS = {"c": "complex numbers", "b": "true or false", "U": "text", "S": "text", "O": "objects"}


@dataclass(frozen=True)
class Declared:
    """What a file says about one of its arrays: its shape, and its type as NumPy's kind (``f``) and name."""

    shape: tuple[int, ...]
    kind: str
    type_name: str

    @property
    def is_numeric(self) -> bool:
        """Whether it holds real numbers."""
        return self.kind in "fiu"

    @property
    def is_table(self) -> bool:
        """Whether it may be a subject's table, or a stack of them."""
        return (
            self.is_numeric
            and len(self.shape) in (2, 3)
            and 0 not in self.shape
            and sum(n > 1 for n in self.shape) >= 2
        )


def choose_variable(declared: Mapping[str, Declared], variable: str | None, limits: Limits) -> str:
    """Return the name of the array that holds the data, and make sure that it may be read.

    Parameters
    ----------
    declared : mapping of str to Declared
        Every array of the file: its shape and type, by name.
    variable : str or None
        The user's choice.
    limits : Limits

    Raises
    ------
    ChoiceNeeded
        When the file holds several tables.
    """
    if variable is not None and variable not in declared:
        raise InputError(f"There is no variable '{variable}' in the file. It holds: {_listed(declared)}.")
    candidates = [variable] if variable is not None else [name for name, about in declared.items() if about.is_table]
    if len(candidates) > 1:
        shapes = ", ".join(f"{name[:80]} {_by(declared[name].shape)}" for name in candidates[:_SHOWN])
        raise ChoiceNeeded(
            f"The file holds more than one table of numbers ({shapes}).", option="variable", choices=candidates[:_SHOWN]
        )
    if not candidates:
        found = ", ".join(f"{name[:80]} ({_describe(about)})" for name, about in list(declared.items())[:_SHOWN])
        raise InputError(
            f"The file holds no table of real numbers, regions by time or by regions. It holds: {found or 'nothing'}."
        )
    name = candidates[0]
    check_variable(name, declared[name], limits)
    return name


def check_variable(name: str, about: Declared, limits: Limits) -> None:
    """Refuse an array that holds no subject's table, or one that is too large to be read.

    Parameters
    ----------
    name : str
    about : Declared
        Shape and type of the array.
    limits : Limits
    """
    what = f"The variable '{name[:80]}'"
    if not about.is_numeric:
        raise InputError(f"{what} holds {about.type_name} values, not real numbers.")
    if len(about.shape) not in (2, 3):
        raise InputError(f"{what} has shape {about.shape}; a subject is a table of two dimensions.")
    if 0 in about.shape:
        raise InputError(f"{what} is empty: its shape is {about.shape}.")
    limits.check_array(about.shape, what)
    wide = sorted(n for n in about.shape if n > 1)
    if len(wide) == 2:
        limits.check_table(wide, what)


def structure_error(name: str, kind: str) -> InputError:
    """Say that a MATLAB struct or cell is no table."""
    return InputError(
        f"The variable '{name[:80]}' is a MATLAB {kind}, which has no single table of numbers in it. "
        "Save the matrix itself, for example: x = s.connectivity; save('subject.mat', 'x')."
    )


def _listed(declared: Mapping[str, Declared]) -> str:
    more = ", …" if len(declared) > _SHOWN else ""
    return (", ".join(name[:80] for name in list(declared)[:_SHOWN]) or "nothing") + more


def _by(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))


def _describe(about: Declared) -> str:
    return f"{_by(about.shape) or 'one value'}, {_WORDS.get(about.kind, about.type_name)}"
