"""Several BioBGTs of one atlas that vote: what is shipped, loaded and asked.

Members were trained on different parts of a cohort. A subject's logits are the mean of the members' calibrated logits,
its attention the mean of theirs. Subjects unlike those the members were trained on are told apart before anyone
believes a probability, and one that cannot be predicted does not keep the others from it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.base.kept import Store
from biobgt.base.wording import KNOWN_ID, TRAINED_ON
from biobgt.data.atlas import BUNDLED, Atlas, atlas_question, load_atlas
from biobgt.data.cohort import ATLAS_BY_COUNT, Cohort, Subject
from biobgt.data.quality import quality_flags
from biobgt.model.attention import check_layer_and_head
from biobgt.model.inputs import prepare
from biobgt.model.network import AttentionMap, BioBGT, GraphBatch
from biobgt.model.out_of_distribution import TrainingRanges, id_hashes, position, recognised
from biobgt.model.presets import Preset
from biobgt.model.pretrained import other_connectivity

_CPU = torch.device("cpu")
OF_SIMULATED = "model trained on simulated patients"
_AT_ONCE = 16  # subjects whose graphs and attention are in memory together


@dataclass(frozen=True, eq=False)
class SubjectExplanation:
    """What the ensemble saw of subjects.

    Attributes
    ----------
    subjects : tuple of str
    probabilities : ndarray, shape (n_subjects, n_groups)
        They sum to 1 over the groups of each readout.
    attention : ndarray, shape (n_subjects, n_layers, n_heads, n_regions, n_regions)
        Mean over members; row i says where region i looks.
    embeddings : ndarray, shape (n_members, n_subjects, n_regions, width)
        Module-aware embeddings h of the first layer, from ψ. Every member learned a space of its own, so that a mean
        over members would mean nothing; a model of one member has its own at ``embeddings[0]``.
    entanglement : ndarray, shape (n_subjects, n_regions)
    modules : ndarray of int, shape (n_subjects, n_regions)
    """

    subjects: tuple[str, ...]
    probabilities: NDArray[np.float64]
    attention: NDArray[np.float32]
    embeddings: NDArray[np.float32]
    entanglement: NDArray[np.float32]
    modules: NDArray[np.int64]

    @property
    def attention_maps(self) -> tuple[AttentionMap, ...]:
        """The map of every layer and head, as :attr:`biobgt.model.network.Explanation.attention` has them."""
        return tuple(self.attention_map(layer=i, head=j) for i, j in np.ndindex(self.attention.shape[1:3]))

    def attention_map(self, *, layer: int | None = None, head: int | None = None) -> AttentionMap:
        """One layer and head, counted from 0, or the mean over those not named; weights (n_subjects, n, n)."""
        n_layers, n_heads = self.attention.shape[1:3]
        check_layer_and_head(layer, head, n_layers=n_layers, n_heads=n_heads)
        chosen = self.attention.mean(axis=1) if layer is None else self.attention[:, layer]
        chosen = chosen.mean(axis=1) if head is None else chosen[:, head]
        return AttentionMap(layer, head, torch.from_numpy(chosen))


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Members with their temperatures, and what they may be asked about."""

    name: str
    preset: Preset
    atlas: str
    groups: tuple[str, ...]
    members: tuple[BioBGT, ...]
    temperatures: tuple[float, ...]
    ranges: TrainingRanges | None = None
    trained_on: torch.Tensor | None = None  # fingerprints of the training subjects, shape (n_subjects, 32)
    trained_ids: frozenset[str] = frozenset()  # hashes of the training subjects' ids
    id_salt: str = ""
    simulated: bool = False  # trained on simulated patients
    device: torch.device = _CPU
    atlas_fingerprint: str = ""  # of the training subjects' atlas; "" where they were matrices alone
    readouts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # groups by cohort, where several share it

    @property
    def n_regions(self) -> int:
        """Number of regions of the atlas."""
        return self.members[0].project.in_features

    def check(self, cohort: Cohort) -> None:
        """Refuse a cohort whose connectivity is not functional, or on another atlas, before anything runs.

        Another atlas has other regions, another order or other coordinates.

        Raises
        ------
        InputError
            When it is another atlas, or another kind of connectivity.
        ChoiceNeeded
            When only the number of regions says that it is this one.
        """
        if said := other_connectivity(self.name, cohort):
            raise InputError(said)
        if cohort.atlas.n_regions != self.n_regions:
            raise InputError(
                f"Model {self.name} was trained on atlas {self.atlas} with {self.n_regions} regions; cohort "
                f"'{cohort.name}' has {cohort.atlas.n_regions} ({cohort.atlas.name}). Choose a model of that atlas."
            )
        if cohort.atlas.fingerprint == self.atlas_fingerprint:
            if cohort.atlas_is_sure:
                return
            raise atlas_question(
                f"Model {self.name} applies to {cohort.atlas.title} only. That the regions of cohort '{cohort.name}' "
                f"are those, in that order, was decided by {ATLAS_BY_COUNT}, which is not enough for a prediction.",
                [cohort.atlas],
            )
        if cohort.atlas.name == self.atlas:
            what = "the names, order or coordinates of its regions differ"
            if self.atlas in BUNDLED and load_atlas(self.atlas).fingerprint == self.atlas_fingerprint:
                what = cohort.atlas.differs_from(load_atlas(self.atlas))
            raise InputError(
                f"Model {self.name} was trained on atlas {self.atlas}. The atlas of cohort '{cohort.name}' has the "
                f"same name, but {what}. Put the regions in the model's order and choose its atlas, or choose another "
                "model."
            )
        raise InputError(
            f"Model {self.name} was trained on atlas {self.atlas}; cohort '{cohort.name}' is on {cohort.atlas.name}. "
            f"If its regions are those of {self.atlas} in the same order, say so by choosing that atlas."
        )

    def predict(self, cohort: Cohort, *, progress: Callable[[int, int], None] | None = None) -> pd.DataFrame:
        """Predict each subject's group; refused only where the model can be asked about none of them.

        Parameters
        ----------
        cohort : Cohort
            On the model's atlas.
        progress : callable, optional
            Told (done, total) after every few subjects.

        Returns
        -------
        DataFrame
            Columns ``subject``, ``p_<group>`` for every group, ``prediction``, ``warning``. A subject that the model
            cannot be asked about has no probabilities, an empty prediction, and in its warning the reason.
        """
        self.check(cohort)
        if self.readouts:
            offered = "; ".join(f"{self.name}/{own} ({', '.join(groups)})" for own, groups in self.readouts.items())
            raise InputError(
                f"Model {self.name} was trained on several cohorts and has a readout for each. Name the one whose "
                f"controls your subjects are to be compared with: {offered}."
            )
        table = self.predict_each(cohort.subjects, cohort.atlas, progress=progress)
        if (table["prediction"] == "").all():
            raise InputError(table["warning"].iloc[0])
        return table

    def predict_each(
        self,
        subjects: Sequence[Subject],
        atlas: Atlas,
        *,
        store: Store | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> pd.DataFrame:
        """The table of :meth:`predict` of subjects that are known to be on the model's atlas, even if of nobody.

        Parameters
        ----------
        subjects : sequence of Subject
        atlas : Atlas
            For the names of regions.
        store : Store, optional
            Where NE and modules are kept between calls.
        progress : callable, optional
            Told (done, total) after every few subjects.
        """
        tables = []
        for start in range(0, len(subjects), _AT_ONCE):
            part = subjects[start : start + _AT_ONCE]
            tables.append(self._predict_part(part, atlas, store))
            if progress is not None:
                progress(start + len(part), len(subjects))
        return pd.concat(tables, ignore_index=True)

    def _predict_part(self, subjects: Sequence[Subject], atlas: Atlas, store: Store | None) -> pd.DataFrame:
        batches, reasons = [], []
        for subject in subjects:
            try:
                batches.append(prepare([subject], self.preset, store=store))
                reasons.append("")
            except InputError as error:
                reasons.append(str(error))
        table = pd.DataFrame({"subject": [subject.id for subject in subjects]})
        table[[f"p_{group}" for group in self.groups]] = np.nan
        table["prediction"], table["warning"] = "", reasons
        if not batches:
            return table
        graphs = GraphBatch.joined(batches)
        fit = [row for row, reason in enumerate(reasons) if not reason]
        probabilities = self.probabilities(graphs)
        table.loc[fit, [f"p_{group}" for group in self.groups]] = probabilities
        table.loc[fit, "prediction"] = [self.groups[best] for best in probabilities.argmax(axis=1)]
        told = self.warnings([subjects[row] for row in fit], graphs, atlas)
        table.loc[fit, "warning"] = ["; ".join(one) for one in told]
        return table

    @torch.no_grad()
    def probabilities(self, graphs: GraphBatch) -> NDArray[np.float64]:
        """Calibrated probabilities, shape (n_subjects, n_groups)."""
        parts = []
        for start in range(0, len(graphs), _AT_ONCE):
            part = graphs[slice(start, start + _AT_ONCE)].to(self.device)
            logits = [member(part) / t for member, t in zip(self.members, self.temperatures, strict=True)]
            parts.append(self._softmax(torch.stack(logits).mean(dim=0).double()).cpu())
        return np.asarray(torch.cat(parts).numpy())

    @torch.no_grad()
    def explain(self, subjects: Sequence[Subject]) -> SubjectExplanation:
        """Return probabilities, attention and embeddings of subjects on the model's atlas."""
        graphs = prepare(subjects, self.preset).to(self.device)
        shape = (len(graphs), self.preset.layers, self.preset.heads, self.n_regions, self.n_regions)
        logits, attention, embeddings = torch.zeros(len(graphs), len(self.groups)), torch.zeros(shape), []
        for member, temperature in zip(self.members, self.temperatures, strict=True):
            seen = member.explain(graphs)
            logits += (seen.logits / temperature).cpu() / len(self.members)
            for one in seen.attention:
                attention[:, one.layer, one.head].add_(one.weights.cpu(), alpha=1 / len(self.members))
            embeddings.append(seen.embeddings.cpu())
        return SubjectExplanation(
            subjects=tuple(subject.id for subject in subjects),
            probabilities=self._softmax(logits.double()).numpy(),
            attention=attention.numpy(),
            embeddings=torch.stack(embeddings).numpy(),
            entanglement=graphs.entanglement.cpu().numpy(),
            modules=graphs.modules.cpu().numpy(),
        )

    def _softmax(self, logits: torch.Tensor) -> torch.Tensor:
        """Probabilities that sum to 1 over the groups of each readout."""
        found = torch.zeros_like(logits)
        for groups in self.readouts.values() or (self.groups,):
            columns = [self.groups.index(group) for group in groups]
            found[:, columns] = logits[:, columns].softmax(dim=1)
        return found

    def warnings(self, subjects: Sequence[Subject], graphs: GraphBatch, atlas: Atlas) -> list[list[str]]:
        """Say of each subject why its probability should not be believed.

        The model never met a patient, or was trained on this very scan, on a subject of this id, or on subjects unlike
        this one; or the scan has a quality flag, whoever the model was trained on.

        Parameters
        ----------
        subjects : sequence of Subject
        graphs : GraphBatch
            Of the same subjects, in the same order.
        atlas : Atlas
            Of the subjects, for the names of regions.

        Returns
        -------
        list of list of str
            Empty where there is nothing to say.
        """
        seen = [False] * len(subjects) if self.trained_on is None else recognised(graphs.features, self.trained_on)
        means, distances = position(graphs, self.members[0])
        said = []
        for subject, known, mean, distance in zip(subjects, seen, means, distances, strict=True):
            own = [OF_SIMULATED] if self.simulated else []
            if known:
                own.append(TRAINED_ON)
            elif self.trained_ids and not subject.simulated:  # a simulated subject is nobody
                own += [KNOWN_ID] if self.trained_ids & id_hashes([subject.id], self.id_salt) else []
            flags = quality_flags(subject, atlas)
            own += [flag.sentence.removesuffix(".") for flag in flags if flag.level == "warning"]
            if self.ranges is not None:
                own += self.ranges.warnings(subject, mean_correlation=float(mean), distance=float(distance))
            said.append(own)
        return said
