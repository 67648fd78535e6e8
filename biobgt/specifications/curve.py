"""What all ways together say: in how many a finding holds, where it turns, and which choice moves it most."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from biobgt.base.arrays import FloatArray
from biobgt.base.wording import counted, listed, percent, signed
from biobgt.specifications.options import SurvivalOptions
from biobgt.specifications.people import ALPHA, JointTest

HOLDS = "holds"
_MOST_NAMED = 2


@dataclass(frozen=True, eq=False)
class SpecificationCurve:
    """A finding in all the ways in which it was measured.

    Attributes
    ----------
    options : SurvivalOptions
    words : str
        The finding as a sentence without its end.
    quantity : str
        What estimates are.
    table : DataFrame
        A row per specification, the reference first: a column per choice that was varied; ``estimate`` with its 95 %
        interval ``low`` to ``high`` and ``p``, as far as there are any; ``verdict`` of a yes or a no; ``same_sign`` as
        the reference; ``clear``: p below .05, or, where nothing is tested, an interval without 0; ``holds``: both, or
        the verdict of the reference; ``why`` it gave no estimate.
    titles : mapping of str to str
        Of the choices.
    where : mapping of (str, str) to str
        A value of a choice as it stands after "where".
    joint : JointTest or None
    n_possible : int
        Specifications of which these were drawn; as many as rows where none was left out.
    whom : str
        Of whom it is: "subject s1", "40 NC and 41 ASD".
    simulated : bool
    notes : tuple of str
    graph : str
        How graphs are made at the settings given, in words.
    covariates : tuple of str
        What every way is adjusted for.
    """

    options: SurvivalOptions
    words: str
    quantity: str
    table: pd.DataFrame
    titles: Mapping[str, str]
    where: Mapping[tuple[str, str], str]
    joint: JointTest | None
    n_possible: int
    whom: str
    simulated: bool = False
    notes: tuple[str, ...] = ()
    graph: str = ""
    covariates: tuple[str, ...] = ()

    @property
    def known(self) -> pd.DataFrame:
        """The specifications that gave an estimate."""
        return self.table[self.table["estimate"].notna()]

    @property
    def is_verdict(self) -> bool:
        """Whether each specification says yes or no."""
        return bool(self.table["verdict"].notna().any())

    @property
    def n_holding(self) -> int:
        """In how many ways it holds."""
        return int(self.known[HOLDS].sum())

    @property
    def same_sign(self) -> float:
        """Share of ways with the sign of the reference."""
        return _share(self.known["same_sign"])

    @property
    def clear(self) -> float:
        """Share of ways that are clear, whatever their sign."""
        return _share(self.known["clear"])

    def explained(self) -> dict[str, float]:
        """Share of the estimates' variance that each choice explains beyond all others, as main effects (η²)."""
        known = self.known
        values = known["estimate"].to_numpy(float)
        total = float(((values - values.mean()) ** 2).sum()) if len(values) else 0.0
        if total <= 0:
            return dict.fromkeys(self.titles, 0.0)
        whole, keys = _left(known, list(self.titles), values), list(self.titles)
        without = {key: _left(known, [one for one in keys if one != key], values) for key in keys}
        return {key: float(np.clip((left - whole) / total, 0, 1)) for key, left in without.items()}

    def by_value(self) -> pd.DataFrame:
        """A row per choice and value: in how many ways it was taken, and the shares that hold and that clearly turn."""
        rows = []
        for key, title in self.titles.items():
            for value, own in self.known.groupby(key, sort=False):
                other = ~own["same_sign"] & (own["clear"] | self.is_verdict)
                shares = {"holding": own[HOLDS].mean(), "turned": other.mean()}
                median = own["estimate"].median()
                rows.append({"choice": title, "key": key, "value": value, "n": len(own), "median": median, **shares})
        columns = ["choice", "key", "value", "n", "median", "holding", "turned"]
        return pd.DataFrame(rows, columns=columns)

    @property
    def sentence(self) -> str:
        """The verdict."""
        n, n_all = self.n_holding, len(self.known)
        if not n_all:
            return f"{self.words}: no way gives an estimate."
        first = self.known.iloc[0]
        said = f"{self.words}: holds in {n:,} of {counted(n_all, 'way')}"
        if not self.table["estimate"].notna().iloc[0]:
            said = f"{self.words}: not defined at the settings given; holds in {n:,} of {counted(n_all, 'way')}"
        elif not first[HOLDS]:
            said = f"{self.words}: not clear at the settings given, and clear in {n:,} of {counted(n_all, 'way')}"
        turned = "; ".join(filter(None, [self._turning(n / n_all), self._lost]))
        return f"{said}{f'; {turned}' if turned else ''}."

    def _turning(self, share: float) -> str:
        """Where it turns or does not hold, or where alone it does."""
        values = self.by_value()
        if values.empty or share in (0.0, 1.0):
            return ""
        if share < 0.5:
            only = values[values["holding"] >= 0.5].sort_values("holding", ascending=False, kind="stable")
            return f"in most ways only where {self._named(only)}" if len(only) else ""
        lost = values[values["holding"] < 0.5].sort_values("holding", kind="stable")
        turns, fails = lost[lost["turned"] > 0.5], lost[lost["turned"] <= 0.5]
        said = [f"turns where {self._named(turns)}"] if len(turns) else []
        said += [f"mostly not clear where {self._named(fails)}"] if len(fails) else []
        if self.is_verdict:
            return f"turns where {self._named(lost)}" if len(lost) else ""
        return "; ".join(said)

    def _named(self, rows: pd.DataFrame) -> str:
        said = [self.where[key, value] for key, value in zip(rows["key"], rows["value"], strict=True)]
        return listed(said[:_MOST_NAMED], "or")

    @property
    def _lost(self) -> str:
        lacking = len(self.table) - len(self.known)
        return f"{counted(lacking, 'further way')} gave no estimate" if lacking else ""

    @property
    def joint_words(self) -> str:
        """The joint test in a sentence; empty where there is none."""
        if self.joint is None:
            return ""
        one = self.joint
        return (
            f"The whole curve against {one.permutations:,} rearrangements of people: median {self.quantity} "
            f"{signed(one.median)} (by chance {signed(one.median_low)} to {signed(one.median_high)}), p = "
            f"{one.median_p:.2g}; {percent(one.share)} significant in one direction (by chance "
            f"{percent(one.share_expected)} on average), p = {one.share_p:.2g}."
        )

    @property
    def definition(self) -> str:
        """What "holds" means here."""
        if self.is_verdict:
            return "A way holds where its verdict is that of the settings given."
        tested = bool(self.known["p"].notna().any())
        clear = f"p below {ALPHA:g}" if tested else "a 95 % interval without 0"
        return f"A way holds where the estimate has the sign of the settings given and {clear}."


def _share(said: "pd.Series[bool]") -> float:
    return float(said.mean()) if len(said) else 0.0


def _left(known: pd.DataFrame, keys: list[str], values: FloatArray) -> float:
    """What main effects of choices leave of the sum of squares."""
    columns = [np.ones((len(known), 1))]
    columns += [pd.get_dummies(known[key], drop_first=True).to_numpy(float) for key in keys]
    design = np.hstack(columns)
    fitted = design @ np.linalg.lstsq(design, values, rcond=None)[0]
    return float(((values - fitted) ** 2).sum())


def judged(table: pd.DataFrame) -> pd.DataFrame:
    """Add to a table of specifications, the reference first, which have its sign, are clear, and hold.

    Parameters
    ----------
    table : DataFrame
        With ``estimate``, ``low``, ``high``, ``p`` and ``verdict``.

    Examples
    --------
    >>> rows = pd.DataFrame({"estimate": [0.5, 0.4, -0.3], "low": [0.1, -0.1, -0.5], "high": [0.9, 0.9, -0.1]})
    >>> judged(rows.assign(p=np.nan, verdict=None))["holds"].tolist()
    [True, False, False]
    """
    estimate = table["estimate"].to_numpy(float)
    known = np.isfinite(estimate)
    first = estimate[0] if known[0] else np.nanmedian(estimate) if known.any() else 0.0
    same = known & (np.sign(estimate) == np.sign(first))
    tested = table["p"].notna().to_numpy()
    apart = (table["low"].to_numpy(float) > 0) | (table["high"].to_numpy(float) < 0)
    clear = np.where(tested, table["p"].to_numpy(float) < ALPHA, apart)
    holds = same & clear
    verdicts = table["verdict"]
    if verdicts.notna().any():
        same = clear = holds = (verdicts == verdicts.iloc[0]).to_numpy()
    return table.assign(same_sign=same, clear=clear, holds=holds)
