"""Recognise a scan that a model was trained on, or a subject's id: a probability would be no evidence of anything.

A fingerprint is 32 random sums over all correlations of a subject. The same scan, read from another file or rounded
otherwise, lies within 0.001; two different ABIDE scans are 0.5 apart or more. From a fingerprint no
correlation can be found again.

The same person in another session, or preprocessed anew, has another fingerprint and often the same id. Of ids a card
keeps 24 bits of a slow hash (scrypt), salted with the hash of the model's weights: nobody can read them off a card, or
see which models share subjects. Whoever already has a list of possible ids can try each, in milliseconds, as anybody
can who asks the model. Of foreign ids one in some 5,000 is recognised by chance (899 subjects), so that one match alone
is no proof.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import scrypt

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from biobgt.base.errors import InputError
from biobgt.base.kept import Store
from biobgt.base.wording import KNOWN_ID, TRAINED_ON
from biobgt.data.atlas import BUNDLED, Atlas, atlas_question, load_atlas
from biobgt.data.cohort import ATLAS_BY_COUNT, Cohort, Subject, person_of
from biobgt.data.quality import quality_flags
from biobgt.model.attention import check_layer_and_head
from biobgt.model.inputs import prepare
from biobgt.model.network import AttentionMap, BioBGT, GraphBatch, join_batches
from biobgt.model.out_of_distribution import TrainingRanges, other_connectivity, training_ranges
from biobgt.model.presets import Preset

SIZE = 32
SAME_SCAN = 0.1
_DIGITS = 6  # hexadecimal: 24 bits
_TELLING = re.compile(r"[1-9]\d{4,}")  # a number long enough to be one person's: 50642 in CMU_a_0050642


def fingerprints(correlations: Tensor) -> Tensor:
    """Sum correlations with random signs.

    Parameters
    ----------
    correlations : Tensor, shape (n_subjects, n_regions, n_regions)

    Returns
    -------
    Tensor, shape (n_subjects, 32)
    """
    rows, columns = torch.triu_indices(correlations.shape[1], correlations.shape[1], 1)
    values = correlations[:, rows, columns].double().cpu()
    signs = torch.randint(2, (SIZE, len(rows)), generator=torch.Generator().manual_seed(0)).double() * 2 - 1
    return (values @ signs.T / len(rows) ** 0.5).float()


def recognised(correlations: Tensor, known: Tensor) -> list[bool]:
    """Tell of each subject whether its scan is among the known fingerprints, shape (n_known, 32)."""
    distances = torch.cdist(fingerprints(correlations), known.float())
    return [bool(nearest < SAME_SCAN) for nearest in distances.amin(dim=1)]


def id_hashes(ids: Iterable[str], salt: str) -> frozenset[str]:
    """Hashes of subjects' ids, whatever their case, session and run; and of the long numbers in them.

    Parameters
    ----------
    ids : iterable of str
    salt : str
        The SHA-256 of the model's weights.
    """
    persons = {person_of(one).casefold() for one in ids}
    forms = persons.union(*(_TELLING.findall(person) for person in persons))
    return frozenset(
        scrypt(form.encode("utf-8", "surrogatepass"), salt=salt.encode(), n=2**11, r=8, p=1, dklen=_DIGITS // 2).hex()
        for form in forms
    )


def written_hashes(hashes: Iterable[str]) -> str:
    """Hashes of ids one after the other, as a card holds them."""
    return "".join(sorted(hashes))


def read_hashes(text: str) -> frozenset[str]:
    """The hashes of ids on a card."""
    return frozenset(text[start : start + _DIGITS] for start in range(0, len(text), _DIGITS))


# Several BioBGTs of one atlas that vote: what is shipped, loaded and asked.
#
# Members were trained on different parts of a cohort. A subject's logits are the mean of the members' calibrated
# logits, its attention the mean of theirs. Subjects unlike those the members were trained on are told apart before
# anyone believes a probability, and one that cannot be predicted does not keep the others from it.


CPU = torch.device("cpu")
OF_SIMULATED = "model trained on simulated patients"
AT_ONCE = 16  # subjects whose graphs and attention are in memory together


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
        n_layers, n_heads = self.attention.shape[1:3]
        return tuple(self.attention_map(layer=i, head=j) for i in range(n_layers) for j in range(n_heads))

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
    device: torch.device = CPU
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

    def predict(
        self,
        cohort: Cohort,
        *,
        store: Store | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> pd.DataFrame:
        """Predict each subject's group; refused only where the model can be asked about none of them.

        Parameters
        ----------
        cohort : Cohort
            On the model's atlas.
        store : Store, optional
            Where NE and modules are kept between calls.
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
        tables = []
        for start in range(0, len(cohort), AT_ONCE):
            part = cohort.subjects[start : start + AT_ONCE]
            tables.append(self._predict_part(part, cohort.atlas, store))
            if progress is not None:
                progress(start + len(part), len(cohort))
        table = pd.concat(tables, ignore_index=True)
        if (table["prediction"] == "").all():
            raise InputError(table["warning"].iloc[0])
        return table

    def _predict_part(self, subjects: Sequence[Subject], atlas: Atlas, store: Store | None) -> pd.DataFrame:
        graphs, reasons = prepare_each(subjects, self.preset, store)
        table = pd.DataFrame({"subject": [subject.id for subject in subjects]})
        table[[f"p_{group}" for group in self.groups]] = np.nan
        table["prediction"], table["warning"] = "", reasons
        if graphs is None:
            return table
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
        for start in range(0, len(graphs), AT_ONCE):
            part = graphs[slice(start, start + AT_ONCE)].to(self.device)
            logits = [member(part) / t for member, t in zip(self.members, self.temperatures, strict=True)]
            parts.append(self._softmax(torch.stack(logits).mean(dim=0).double()).cpu())
        return np.asarray(torch.cat(parts).numpy())

    @torch.no_grad()
    def explain(self, subjects: Sequence[Subject], *, store: Store | None = None) -> SubjectExplanation:
        """Return probabilities, attention and embeddings of subjects on the model's atlas."""
        graphs = prepare(subjects, self.preset, store=store).to(self.device)
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

    def knows_id(self, subject: Subject) -> bool:
        """Whether a subject of this id was among the training subjects; a simulated one is nobody."""
        if not self.trained_ids or subject.simulated:
            return False
        return not self.trained_ids.isdisjoint(id_hashes([subject.id], self.id_salt))

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
        said: list[list[str]] = [[OF_SIMULATED] if self.simulated else [] for _ in subjects]
        if self.trained_on is not None:
            for one, seen in zip(said, recognised(graphs.features, self.trained_on), strict=True):
                one.extend([TRAINED_ON] if seen else [])
        for one, subject in zip(said, subjects, strict=True):
            if TRAINED_ON not in one and self.knows_id(subject):
                one.append(KNOWN_ID)
        for one, subject in zip(said, subjects, strict=True):
            flags = quality_flags(subject, atlas)
            one.extend(flag.sentence.removesuffix(".") for flag in flags if flag.level == "warning")
        if self.ranges is not None:
            means, distances = position(graphs, self.members[0])
            for one, subject, mean, distance in zip(said, subjects, means, distances, strict=True):
                one.extend(self.ranges.warnings(subject, mean_correlation=float(mean), distance=float(distance)))
        return said


def prepare_each(
    subjects: Sequence[Subject], preset: Preset, store: Store | None
) -> tuple[GraphBatch | None, list[str]]:
    """The graphs of the subjects that can be used, if any, and for each subject why not, or nothing.

    Parameters
    ----------
    subjects : sequence of Subject
    preset : Preset
    store : Store or None
        Where NE and modules are kept between calls.

    Returns
    -------
    graphs : GraphBatch or None
        Of the subjects that can be used, in their order.
    reasons : list of str, length n_subjects
        Empty for subjects that can be used.
    """
    batches, reasons = [], []
    for subject in subjects:
        try:
            batches.append(prepare([subject], preset, store=store))
            reasons.append("")
        except InputError as error:
            reasons.append(str(error))
    return join_batches(batches) if batches else None, reasons


@torch.no_grad()
def position(graphs: GraphBatch, member: BioBGT) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean correlation, and distance of the connectivity from the training mean, of each subject."""
    n = graphs.features.shape[1]
    means = graphs.features.sum(dim=(1, 2)) / (n * (n - 1))
    spread = member.standardised_values(graphs.to(member.project.weight.device)).square().mean(dim=(1, 2)).sqrt()
    return means.double().cpu().numpy(), spread.double().cpu().numpy()


def member_ranges(member: BioBGT, graphs: GraphBatch, scans: Iterable[Mapping[str, float]]) -> TrainingRanges:
    """Where subjects lie whom a member was trained with.

    Parameters
    ----------
    member : BioBGT
    graphs : GraphBatch
    scans : iterable of mapping of str to float
        Of the same subjects, from :func:`biobgt.model.out_of_distribution.scan_measures`.
    """
    means, distances = position(graphs, member)
    return training_ranges(list(scans), mean_correlations=means, distances=distances)


def ensemble_tensors(members: Sequence[BioBGT]) -> Mapping[str, torch.Tensor]:
    """All members' weights under ``member<i>.<name>``, for one file."""
    return {
        f"member{i}.{name}": value.detach().cpu().contiguous().clone()
        for i, member in enumerate(members)
        for name, value in member.state_dict().items()
    }
