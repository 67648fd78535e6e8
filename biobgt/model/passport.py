"""How far a recording may be worse before a model calls its subject otherwise, and whether a warning would say so.

A subject's own series are made worse step by step, in several kinds (:data:`biobgt.data.corruptions.WORSENINGS`), and
the model is asked about each. The smallest step at which the call flips stands beside the smallest that carries a
warning which the recording itself does not: a call that flips before anybody is warned hangs by a thread.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from biobgt.base.errors import InputError
from biobgt.base.wording import counted
from biobgt.data.atlas import Atlas
from biobgt.data.cohort import Subject
from biobgt.data.corruptions import WORSENINGS

if TYPE_CHECKING:
    from biobgt.model.ensemble import Ensemble

SEED = 0
AS_RECORDED = "as recorded"
_NUMBER = re.compile(r"[-−]?\d[\d.,]*")


def measure_passport(
    ensemble: "Ensemble", subject: Subject, atlas: Atlas, *, progress: Callable[[int, int], None] | None = None
) -> pd.DataFrame:
    """Ask a model about a subject's recording and about worse ones made of it.

    Parameters
    ----------
    ensemble : Ensemble
    subject : Subject
        With region series.
    atlas : Atlas
        For the names of regions in warnings.
    progress : callable, optional
        Told (done, total) after every few recordings.

    Returns
    -------
    DataFrame
        The first row is of the recording as it is. ``kind`` (a key of the register), ``strength``, ``p_<group>`` for
        every group, ``prediction`` (empty where the model cannot be asked), and ``warning``, what is said beyond the
        warnings of the recording as it is.

    Raises
    ------
    InputError
        Where there are no series, or the model cannot be asked about the recording as it is.
    """
    if subject.series is None:
        raise InputError(NEEDS_SERIES.format(subject.id))
    steps = [(kind.key, strength) for kind in WORSENINGS.values() for strength in kind.strengths]
    worse = [WORSENINGS[kind].applied(subject, strength, seed=SEED) for kind, strength in steps]
    table = ensemble.predict_each([subject, *worse], atlas, progress=progress)
    if not table["prediction"].iloc[0]:
        raise InputError(str(table["warning"].iloc[0]))
    known = set(_without_numbers(table["warning"].iloc[0]))
    told = [
        "; ".join(one for one, bare in zip(said.split("; "), _without_numbers(said), strict=True) if bare not in known)
        for said in table["warning"]
    ]
    where = pd.DataFrame([(AS_RECORDED, 0.0), *steps], columns=["kind", "strength"])
    asked = table.drop(columns=["subject", "warning"])
    return pd.concat([where, asked, pd.Series(told, name="warning")], axis=1)


NEEDS_SERIES = (
    "Subject '{}' has a connectivity matrix only: how far its recording may be worse before the call flips can be "
    "asked of region series alone."
)


def _without_numbers(warning: str) -> list[str]:
    """The sentences of a warning without their numbers, which differ between recordings that are warned of alike."""
    return [_NUMBER.sub("#", one) for one in warning.split("; ")]


# What it says.


@dataclass(frozen=True)
class Limit:
    """Where a kind of corruption flips the call, and where a warning would say so.

    Attributes
    ----------
    kind : str
    flips_at : float or None
        The smallest strength tried with another call; None where none has.
    to : str
        That call; empty where the model can no longer be asked.
    warned_at : float or None
        The smallest strength tried that carries a warning.
    """

    kind: str
    flips_at: float | None
    to: str
    warned_at: float | None

    @property
    def unseen(self) -> bool:
        """Whether the call flips before a warning says so."""
        return self.flips_at is not None and (self.warned_at is None or self.warned_at > self.flips_at)

    @property
    def words(self) -> str:
        """What flips it, in words."""
        return "" if self.flips_at is None else WORSENINGS[self.kind].said(self.flips_at)


def limits_of(table: pd.DataFrame) -> list[Limit]:
    """Where each kind of corruption flips the call.

    Parameters
    ----------
    table : DataFrame
        Of :func:`measure_passport`.
    """
    call, found = table["prediction"].iloc[0], []
    for kind, rows in table.iloc[1:].groupby("kind", sort=False):
        flipped = rows[(rows["prediction"] != call) & (rows["prediction"] != "")]
        warned = rows[(rows["warning"] != "") | (rows["prediction"] == "")]
        first = None if flipped.empty else flipped.iloc[0]
        found.append(
            Limit(
                str(kind),
                None if first is None else float(first["strength"]),
                "" if first is None else str(first["prediction"]),
                None if warned.empty else float(warned["strength"].iloc[0]),
            )
        )
    return found


def verdict(table: pd.DataFrame) -> str:
    """What flips the call, in one sentence: flips of which no warning would tell, or else those of which one would.

    Parameters
    ----------
    table : DataFrame
        Of :func:`measure_passport`.
    """
    limits = limits_of(table)
    for unseen, said in ((True, "no warning would say so"), (False, "a warning would say so")):
        words = [one.words for one in limits if one.flips_at is not None and one.unseen is unseen]
        if words:
            more = f", and in {counted(len(words) - 1, 'other way')}" if len(words) > 1 else ""
            return f"The call flips when {words[0]}{more}; {said}."
    return "No corruption that was tried flips the call."
