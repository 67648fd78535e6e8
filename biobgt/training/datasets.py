"""What cards and methods say of the cohorts that models are trained on, from ``assets/datasets.toml``."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from biobgt.base.files import asset
from biobgt.base.references import Citation, work

CohortKind = Literal["abide", "cni-adhd", "adsim", "adni", "folder"]
ABIDE, CNI_ADHD, ADSIM, ADNI, FOLDER = get_args(CohortKind)


@dataclass(frozen=True)
class Dataset:
    """What a card says of a cohort.

    Attributes
    ----------
    title : str
    short : str
        Stands in brackets behind a group where several cohorts are trained together.
    terms : str
    limits : tuple of str
    works : tuple of Citation
        What to cite for its data.
    paper : mapping of str to str, or None
        The paper's results on its cohort of that kind, in percent, as printed.
    people : str
        The kind of cohort whose people these are, where they are another's.
    remark : str
        Stands behind what to cite.
    """

    title: str
    short: str
    terms: str
    limits: tuple[str, ...]
    works: tuple[Citation, ...] = ()
    paper: Mapping[str, str] | None = None
    people: str = ""
    remark: str = ""

    @property
    def citation(self) -> str:
        """What to cite, on one line."""
        return "; ".join(filter(None, [*(work(cited).in_full for cited in self.works), self.remark])) or "None given."


DATASETS: Mapping[str, Dataset] = {
    kind: Dataset(**{**said, "works": tuple(said.get("works", ())), "limits": tuple(said["limits"])})
    for kind, said in tomllib.loads(asset("datasets.toml").read_text(encoding="utf-8")).items()
}
