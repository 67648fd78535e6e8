"""A curve as the drawings for screen and paper both take it: what it is called, its points and its line."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import NDArray

Dash = Literal["solid", "dash", "dot", "dashdot"]
DASHES: tuple[Dash, ...] = ("solid", "dash", "dot")  # of curves that stand for groups, in turn
_ON_PAPER: Mapping[Dash, str] = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve of a figure.

    Attributes
    ----------
    name : str
        For the legend.
    x, y : ndarray, shape (n_points,)
    colour : str
    panel : int
        Counted from the top.
    dash : {"solid", "dash", "dot", "dashdot"}
    thin : bool
        Whether it stands back behind the others.
    """

    name: str
    x: NDArray[Any]
    y: NDArray[Any]
    colour: str
    panel: int = 0
    dash: Dash = "solid"
    thin: bool = False

    @property
    def line(self) -> dict[str, object]:
        """Its line as plotly takes it."""
        return {"color": self.colour, "width": 1.4 if self.thin else 2.2, "dash": self.dash}

    @property
    def paper_line(self) -> dict[str, Any]:
        """Its line as matplotlib takes it; the colour is for the style of the paper to choose."""
        return {"linestyle": _ON_PAPER[self.dash], "linewidth": 0.8 if self.thin else 1.2}
