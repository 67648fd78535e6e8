"""Several BioBGTs of one atlas that vote: what is shipped, loaded and asked.

Members were trained on different parts of a cohort. A subject's logits are the mean of the members' calibrated logits,
its attention the mean of theirs. Subjects unlike those the members were trained on are told apart before anyone
believes a probability.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from biobgt.cohort import Cohort, Subject
from biobgt.errors import InputError
from biobgt.model.batch import GraphBatch
from biobgt.model.fingerprint import recognised
from biobgt.model.inputs import FeatureStore, prepare
from biobgt.model.presets import Preset
from biobgt.model.transformer import BioBGT

CPU = torch.device("cpu")
TRAINED_ON = "the model was trained on this very scan, so that its probability is no evidence"
AT_ONCE = 32  # subjects whose attention is in memory together


@dataclass(frozen=True)
class Familiarity:
    """Where the training subjects lie; one in a hundred lies outside each range.

    Attributes
    ----------
    mean_correlation : (float, float)
        Of all pairs of regions of a subject.
    distance : (float, float)
        Root mean square of a subject's standardised connectivity, which is 1 on average.
    timepoints : (int, int) or None
        Shortest and longest series.
    """

    mean_correlation: tuple[float, float]
    distance: tuple[float, float]
    timepoints: tuple[int, int] | None = None

    def warnings(self, subject: Subject, *, mean_correlation: float, distance: float) -> list[str]:
        """Say in which ways a subject is unlike the training subjects."""
        said = []
        low, high = self.mean_correlation
        if not low <= mean_correlation <= high:
            said.append(f"mean correlation {mean_correlation:.2f} is outside {low:.2f} to {high:.2f}")
        if distance > self.distance[1]:
            said.append(
                f"connectivity is {distance:.2f} spreads from the mean, training subjects up to {self.distance[1]:.2f}"
            )
        if self.timepoints is not None and subject.n_timepoints is not None:
            shortest, longest = self.timepoints
            if not shortest <= subject.n_timepoints <= longest:
                said.append(f"{subject.n_timepoints} time points, training subjects had {shortest} to {longest}")
        return said


@dataclass(frozen=True, eq=False)
class SubjectExplanation:
    """What the ensemble saw of subjects.

    Attributes
    ----------
    subjects : tuple of str
    probabilities : ndarray, shape (n_subjects, n_groups)
    attention : ndarray, shape (n_subjects, n_layers, n_heads, n_regions, n_regions)
        Mean over members; row i says where region i looks.
    entanglement : ndarray, shape (n_subjects, n_regions)
    modules : ndarray of int, shape (n_subjects, n_regions)
    """

    subjects: tuple[str, ...]
    probabilities: NDArray[np.float64]
    attention: NDArray[np.float32]
    entanglement: NDArray[np.float32]
    modules: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Members with their temperatures, and what they may be asked about."""

    name: str
    preset: Preset
    atlas: str
    groups: tuple[str, ...]
    members: tuple[BioBGT, ...]
    temperatures: tuple[float, ...]
    familiarity: Familiarity | None = None
    trained_on: torch.Tensor | None = None  # fingerprints of the training subjects, shape (n_subjects, 32)
    device: torch.device = CPU

    @property
    def n_regions(self) -> int:
        """Number of regions of the atlas."""
        return self.members[0].project.in_features

    def check(self, cohort: Cohort) -> None:
        """Refuse a cohort on another atlas before anything runs."""
        if cohort.atlas.n_regions != self.n_regions:
            raise InputError(
                f"Model {self.name} was trained on atlas {self.atlas} with {self.n_regions} regions; cohort "
                f"'{cohort.name}' has {cohort.atlas.n_regions} ({cohort.atlas.name}). Choose a model of that atlas."
            )
        if cohort.atlas.name != self.atlas:
            raise InputError(
                f"Model {self.name} was trained on atlas {self.atlas}; cohort '{cohort.name}' is on "
                f"{cohort.atlas.name}. If its regions are those of {self.atlas} in the same order, say so by choosing "
                "that atlas."
            )

    def predict(self, cohort: Cohort, *, store: FeatureStore | None = None) -> pd.DataFrame:
        """Predict each subject's group.

        Returns
        -------
        DataFrame
            Columns ``subject``, ``p_<group>`` for every group, ``prediction``, ``warning``.
        """
        self.check(cohort)
        graphs = prepare(cohort.subjects, self.preset, store=store)
        probabilities = self.probabilities(graphs)
        table = pd.DataFrame({"subject": cohort.ids})
        for column, group in enumerate(self.groups):
            table[f"p_{group}"] = probabilities[:, column]
        table["prediction"] = [self.groups[best] for best in probabilities.argmax(axis=1)]
        table["warning"] = ["; ".join(one) for one in self.warnings(cohort.subjects, graphs)]
        return table

    @torch.no_grad()
    def probabilities(self, graphs: GraphBatch) -> NDArray[np.float64]:
        """Calibrated probabilities, shape (n_subjects, n_groups)."""
        parts = []
        for start in range(0, len(graphs), AT_ONCE):
            part = graphs[slice(start, start + AT_ONCE)].to(self.device)
            logits = [member(part) / t for member, t in zip(self.members, self.temperatures, strict=True)]
            parts.append(torch.stack(logits).mean(dim=0).double().softmax(dim=1).cpu())
        return np.asarray(torch.cat(parts).numpy())

    @torch.no_grad()
    def explain(self, subjects: Sequence[Subject], *, store: FeatureStore | None = None) -> SubjectExplanation:
        """Return probabilities and attention of subjects on the model's atlas."""
        graphs = prepare(subjects, self.preset, store=store).to(self.device)
        shape = (len(graphs), self.preset.layers, self.preset.heads, self.n_regions, self.n_regions)
        logits, attention = torch.zeros(len(graphs), len(self.groups)), torch.zeros(shape)
        for member, temperature in zip(self.members, self.temperatures, strict=True):
            seen = member.explain(graphs)
            logits += (seen.logits / temperature).cpu() / len(self.members)
            maps = torch.stack([one.weights for one in seen.attention], dim=1)
            attention += maps.view(shape).cpu() / len(self.members)
        return SubjectExplanation(
            subjects=tuple(subject.id for subject in subjects),
            probabilities=logits.double().softmax(dim=1).numpy(),
            attention=attention.numpy(),
            entanglement=graphs.entanglement.cpu().numpy(),
            modules=graphs.modules.cpu().numpy(),
        )

    def warnings(self, subjects: Sequence[Subject], graphs: GraphBatch) -> list[list[str]]:
        """Say of each subject why its probability should not be believed: trained on, or unlike those trained on.

        Returns
        -------
        list of list of str
            Empty where there is nothing to say.
        """
        said: list[list[str]] = [[] for _ in subjects]
        if self.trained_on is not None:
            for one, seen in zip(said, recognised(graphs.features, self.trained_on), strict=True):
                one.extend([TRAINED_ON] if seen else [])
        if self.familiarity is not None:
            means, distances = position(graphs, self.members[0])
            for one, subject, mean, distance in zip(said, subjects, means, distances, strict=True):
                one.extend(self.familiarity.warnings(subject, mean_correlation=float(mean), distance=float(distance)))
        return said


@torch.no_grad()
def position(graphs: GraphBatch, member: BioBGT) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean correlation, and distance of the connectivity from the training mean, of each subject."""
    n = graphs.features.shape[1]
    means = graphs.features.sum(dim=(1, 2)) / (n * (n - 1))
    spread = member.standardised_values(graphs.to(member.project.weight.device)).square().mean(dim=(1, 2)).sqrt()
    return means.double().cpu().numpy(), spread.double().cpu().numpy()


def familiarity_of(subjects: Sequence[Subject], graphs: GraphBatch, member: BioBGT) -> Familiarity:
    """Describe where training subjects lie."""
    means, distances = position(graphs, member)
    lengths = [subject.n_timepoints for subject in subjects if subject.n_timepoints is not None]
    low, high = np.quantile(means, [0.005, 0.995])
    near, far = np.quantile(distances, [0.005, 0.995])
    return Familiarity(
        mean_correlation=(round(float(low), 4), round(float(high), 4)),
        distance=(round(float(near), 4), round(float(far), 4)),
        timepoints=(min(lengths), max(lengths)) if lengths else None,
    )


def ensemble_tensors(members: Sequence[BioBGT]) -> Mapping[str, torch.Tensor]:
    """All members' weights under ``member<i>.<name>``, for one file."""
    return {
        f"member{i}.{name}": value.detach().cpu().contiguous().clone()
        for i, member in enumerate(members)
        for name, value in member.state_dict().items()
    }
