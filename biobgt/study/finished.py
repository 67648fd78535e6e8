"""A finished study, from which figures, the report and the page are made without computing anything again."""

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.files import write_csv
from biobgt.base.wording import listed, percent
from biobgt.data.cohort import Cohort
from biobgt.data.graph import ConnectivityKind
from biobgt.inference.design import StudyDesign
from biobgt.results.measured import Measured
from biobgt.study.data import StudyData
from biobgt.study.design import plan_study
from biobgt.study.findings import TABLES, StudyFindings, TestedContrast, TestedDesign, has_findings, read_findings
from biobgt.study.folder import StudyFolder
from biobgt.study.group import GROUP


@dataclass(frozen=True)
class _StudyCohort(Cohort):
    """The cohort of a study by its name and atlas: its people are not looked at one by one."""

    drawn: bool = False

    @property
    def simulated(self) -> bool:
        """Whether anybody in it is simulated."""
        return self.drawn


class FinishedStudy(Measured):
    """What a study measured and found, to draw figures of; nobody is measured again.

    Parameters
    ----------
    data : StudyData
    findings : StudyFindings
    name : str
        Of its cohort.
    simulated : bool
        Whether anybody in it is.
    """

    def __init__(self, data: StudyData, findings: StudyFindings, *, name: str, simulated: bool = False) -> None:
        super().__init__(_StudyCohort(name, (), data.atlas, drawn=simulated), settings=data.settings)
        self.data, self.findings, self.simulated = data, findings, simulated

    def of(self, subject: str | None, settings: Any = None) -> "FinishedStudy":
        """The study itself: it is about nobody alone, and its graphs are made."""
        if subject is not None:
            raise InputError("This is a study, and nobody in it is drawn alone: bring the subject's own data.")
        return self

    @property
    def kind(self) -> ConnectivityKind:
        """What the connectivity of its people is."""
        return self.data.kind

    @property
    def labelling(self) -> str:
        """The functional networks by which regions are ordered and summed up; empty for none."""
        return self.findings.labelling or next(iter(self.atlas.labels), "")

    @property
    def graph_words(self) -> str:
        """How graphs were made, at all levels, in words."""
        own, levels = self.settings, self.data.levels
        each = [percent(level, 1) if own.threshold == "proportional" else f"{level:g}" for level in levels]
        kept = own.kept.replace(each[0], listed(each, "or"), 1)
        return own.describe(self.kind).replace(own.kept, kept)

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of what was found, by which an export recognises the study."""
        digest = hashlib.sha256()
        for name in TABLES:
            digest.update(write_csv(getattr(self.findings, name), index=False, lineterminator="\n").encode())
        said = [asdict(design) for design in self.findings.designs], self.findings.options.as_dict()
        digest.update(json.dumps(said, sort_keys=True).encode())
        return digest.hexdigest()

    def design(self, *, adjusted: bool | None = None) -> TestedDesign:
        """The design that was asked for, or the one with overall connectivity as a covariate, or without.

        Parameters
        ----------
        adjusted : bool, optional
        """
        for one in self.findings.designs:
            if adjusted is None or one.adjusted == adjusted:
                return one
        how = "with" if adjusted else "without"
        raise InputError(f"The study was not tested {how} overall connectivity as a covariate; its notes say why.")

    def contrast(self, name: str = "") -> TestedContrast:
        """A contrast of the design by its name, the first by default."""
        contrasts = self.findings.designs[0].contrasts
        found = next((one for one in contrasts if one.name == name or not name), None)
        if found is None:
            known = ", ".join(one.name for one in contrasts)
            raise InputError(f"The study has no contrast '{name}'. It has: {known}.")
        return found

    def rows(self, table: pd.DataFrame, contrast: TestedContrast, *, adjusted: bool) -> pd.DataFrame:
        """Rows of one of the tables of findings: one contrast, with overall connectivity adjusted for or not.

        Parameters
        ----------
        table : DataFrame
        contrast : TestedContrast
        adjusted : bool
        """
        chosen = (table["contrast"] == contrast.name) & (table["adjusted"] == adjusted)
        return table[chosen].reset_index(drop=True)

    @cached_property
    def model(self) -> StudyDesign:
        """The linear model of the design that was asked for, row by row, made again of the table."""
        options = self.findings.options
        return plan_study(self.data.table, self.data.persons, options, self.data.overall).main

    @cached_property
    def mean_connectivity_matrix(self) -> FloatArray:
        """Mean over recordings, shape (n_regions, n_regions): r of mean Fisher z, or mean weights."""
        n = self.atlas.n_regions
        means = np.zeros((n, n))
        pairs = np.triu_indices(n, 1)
        own = self.data.edges.mean(axis=0, dtype=np.float64)
        means[pairs] = np.tanh(own) if self.kind.functional else own
        return np.asarray(means + means.T)


def finished_study(path: Path) -> FinishedStudy:
    """Open the folder of a study whose group level has ended.

    Parameters
    ----------
    path : Path
    """
    folder = StudyFolder(path)
    if not has_findings(path / GROUP):
        raise InputError(f"The study in '{path.name}' has no findings yet. Run biobgt study with the level group.")
    data = folder.data()
    simulated = bool("simulated" in data.table and data.table["simulated"].any())
    return FinishedStudy(data, read_findings(path / GROUP), name=str(folder.about["cohort"]), simulated=simulated)
