"""What a card says beyond results: training ranges, worse recordings, motion, ablations, and what new subjects get.

All but the last follow from the weights and the cohort, so that a reader with the data can measure them again. Subjects
are asked out of fold, of the member that never met them.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.base.files import read_csv, write_atomically, write_csv
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.corruptions import CORRUPTIONS, NOISE_LEVELS, PURE, add_noise, corrupt
from biobgt.model.attention import BesideConnectivity, beside_connectivity
from biobgt.model.ensemble import Ensemble
from biobgt.model.folder import load_card, load_pretrained
from biobgt.model.network import BioBGT, FunctionalModuleAttention, GraphBatch
from biobgt.model.out_of_distribution import TrainingRanges, recognised, scan_measures
from biobgt.model.presets import FOLDS, Preset
from biobgt.training.card_text import NE_SHUFFLED, NO_ATTENTION, say
from biobgt.training.cards import measured, name_subjects, write_card
from biobgt.training.cohorts import CROSS_VALIDATION, Split, protocol_splits
from biobgt.training.folds import LabelledGraphs, describe_members, feature_store, run_identity, train_members
from biobgt.training.metrics import calibrated, fold_temperatures
from biobgt.training.trainer import predict_logits

NESTED_FILE = "nested.csv"
_FEWEST_KNOWN = 0.9  # of the subjects: below it motion is not known for the cohort
_A_FOLD = 40  # test subjects of each fold, drawn by lot: NE and modules of each take a tenth of a second and level
_A_FOLD_CORRUPTED = 20  # the first of these, for every other kind of corruption
_AT_ONCE = 16
_SHUFFLE_SEED = 0
_SIMULATED = (
    "The patients are simulated from controls drawn at random, so that motion can tell nothing about the groups."
)
_UNKNOWN = "Mean framewise displacement is not known for this cohort, so that what motion alone gives is not known."


def check_model(
    folder: Path,
    cohort: Cohort,
    data: LabelledGraphs,
    *,
    seed: int,
    splits: Sequence[Split],
    kept: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Put training ranges, answers to worse recordings and motion baseline on the card in a folder, and return it.

    Parameters
    ----------
    folder : Path
        Of the model.
    cohort : Cohort
        The one that the model was trained on; another is refused.
    data : LabelledGraphs
        Of that cohort, for the model's preset.
    seed : int
        That of the training.
    splits : sequence of Split
        The folds, one per member.
    kept : Path, optional
        Where NE and modules of noisy subjects are kept.
    progress : callable, optional
        Told (done, total) as subjects are asked about.
    """
    ensemble, card = load_pretrained(folder, "cpu"), load_card(folder)
    known, n = ensemble.trained_on, len(data.labels)
    # A network that several cohorts share knows more subjects than those of one.
    numbers_fit = known is not None and (len(known) == n or ("readout" in card and len(known) > n))
    if known is None or not numbers_fit or not all(recognised(data.graphs.features, known)):
        raise InputError(
            f"Model {ensemble.name} was not trained on these subjects, or not on all of them, so that nothing can be "
            "said of subjects left out. Name the data that it was trained on."
        )
    scans = [scan_measures(subject) for subject in cohort]
    card["familiarity"] = TrainingRanges.of(ensemble.members[0], data.graphs, scans).as_dict()
    if "readout" not in card and "trained_ids" not in card:  # the ids of these weights' subjects do not change
        name_subjects(card, cohort.ids)
    card |= {"noise": None, "corruption": None}
    if all(subject.series is not None for subject in cohort):
        members = [_alone(ensemble, number, data.graphs, split, scans) for number, split in enumerate(splits)]
        card |= _worse_recordings(members, cohort, splits, seed=seed, kept=kept, progress=progress)
    card["motion"] = _motion(cohort, data, splits)
    write_card(folder, card)
    return card


# Motion alone as a classifier: what mean framewise displacement says of the group, on the folds of a model.
#
# Groups often differ in how much they move, and motion changes connectivity (Power et al., NeuroImage 59:2142, 2012).
# What a model adds is what it has above this.


def _motion(cohort: Cohort, data: LabelledGraphs, splits: Sequence[Split]) -> Mapping[str, Any]:
    """Metrics of motion alone, or why there are none."""
    if cohort.simulated:
        return {"results": None, "n": 0, "words": _SIMULATED}
    values = pd.Series([subject.phenotypes.get("mean_fd") for subject in cohort], dtype=object)  # in mm
    displacement = np.asarray(pd.to_numeric(values, errors="coerce"), dtype=np.float64)
    probabilities = _motion_out_of_fold(displacement, data.labels, splits)
    known = np.isfinite(probabilities).all(axis=1)
    n = int(known.sum())
    if known.mean() < _FEWEST_KNOWN:
        return {"results": None, "n": n, "words": _UNKNOWN}
    persons = [cohort.persons[row] for row in np.flatnonzero(known)]
    results = measured(data.labels[known], probabilities[known], data.groups, persons)
    return {"results": results, "n": n, "words": say("motion", "measured", n=n, **results)}


def _motion_out_of_fold(
    displacement: NDArray[np.float64], labels: NDArray[np.int64], splits: Sequence[Split]
) -> NDArray[np.float64]:
    """Out-of-fold probabilities of a logistic regression on log displacement; NaN where it is not known.

    Fitted on training and validation subjects, as nothing is chosen on the latter.
    """
    from sklearn.linear_model import LogisticRegression

    known = np.isfinite(displacement) & (displacement > 0)
    logs = np.log(np.where(known, displacement, 1.0))[:, None]
    found = np.full((len(labels), int(labels.max()) + 1), np.nan)
    for split in splits:
        train = np.concatenate([split.train, split.validation])
        train, test = train[known[train]], split.test[known[split.test]]
        if len(np.unique(labels[train])) < found.shape[1] or not len(test):
            continue
        found[test] = LogisticRegression(C=1e4).fit(logs[train], labels[train]).predict_proba(logs[test])
    return found


# What a model says of worse recordings.
#
# A model that is worth believing becomes less sure with noise. One whose mean probability moves towards a group takes
# noise for that group, and a reader of its card must see it. So must how many of the changed predictions carry a
# warning, and how many warnings unchanged scans get; the ranges that warn are those of the fold's own training
# subjects.


def drawn_tests(splits: Sequence[Split], *, seed: int) -> list[NDArray[np.int64]]:
    """Some test subjects of each fold, by lot: at most forty, so that a large cohort costs no more than a middling one.

    Parameters
    ----------
    splits : sequence of Split
    seed : int
    """
    random = np.random.default_rng(seed)
    return [random.permutation(split.test)[:_A_FOLD] for split in splits]


def _alone(
    ensemble: Ensemble, number: int, graphs: GraphBatch, split: Split, scans: Sequence[Mapping[str, float]]
) -> Ensemble:
    """One member alone, which warns of scans unlike those of its own fold's training and validation subjects."""
    rows, member = np.concatenate([split.train, split.validation]), ensemble.members[number]
    return replace(
        ensemble,
        members=(member,),
        temperatures=(ensemble.temperatures[number],),
        ranges=TrainingRanges.of(member, graphs[torch.tensor(rows)], (scans[row] for row in rows)),
        trained_on=None,
        trained_ids=frozenset(),  # everyone here was in some member's training, though not in that of this one
        simulated=False,
    )


def _worse_recordings(
    members: Sequence[Ensemble],
    cohort: Cohort,
    splits: Sequence[Split],
    *,
    seed: int,
    kept: Path | None,
    progress: Callable[[int, int], None] | None,
) -> dict[str, list[dict[str, Any]]]:
    """Ask each member about test subjects of its own fold, at every level of noise and of other corruptions.

    Returns
    -------
    dict
        ``noise`` with the SD of each level (None is noise alone), and ``corruption`` with the kind of each, as a card
        holds them: see :func:`_described`.
    """
    subjects, drawn, groups = cohort.subjects, drawn_tests(splits, seed=seed), members[0].groups
    kinds: list[tuple[dict[str, Any], int, Callable[[Subject], Subject | None]]] = [
        *(({"sd": None if sd == PURE else sd}, _A_FOLD, partial(add_noise, sd=sd, seed=seed)) for sd in NOISE_LEVELS),
        *(({"kind": kind}, _A_FOLD_CORRUPTED, partial(corrupt, kind=kind, seed=seed)) for kind in CORRUPTIONS),
    ]
    found: dict[str, list[dict[str, Any]]] = {"noise": [], "corruption": []}
    calls: NDArray[np.int64] | None = None  # of unchanged subjects, by row of the cohort
    for done, (which, n, change) in enumerate(kinds, start=1):
        probabilities = np.full((len(subjects), len(groups)), np.nan)
        warned, asked = np.zeros((2, len(subjects)), dtype=np.bool_)
        for member, rows in zip(members, drawn, strict=True):
            changed = {row: worse for row in rows[:n].tolist() if (worse := change(subjects[row])) is not None}
            if own := list(changed):
                said = member.predict_each(list(changed.values()), cohort.atlas, store=feature_store(kept))
                asked[own], probabilities[own] = True, said[[f"p_{group}" for group in groups]]
                warned[own] = said["warning"] != ""  # or refused
        if calls is None:
            calls = np.where(np.isnan(probabilities[:, 0]), -1, probabilities.argmax(axis=1))
        if asked.any():
            described = _described(probabilities[asked], warned[asked], calls[asked], groups)
            found["noise" if "sd" in which else "corruption"].append(which | described)
        if progress is not None:
            progress(done, len(kinds))
    return found


def _described(
    probabilities: NDArray[np.float64], warned: NDArray[np.bool_], before: NDArray[np.int64], groups: Sequence[str]
) -> dict[str, Any]:
    """What was said of the same subjects in one kind of recording.

    ``n`` subjects were asked about and ``refused``, as their graph has no edge; of the others the mean ``probability``
    of each group, and the share ``called`` so; of all, the share ``warned`` of or refused; the shares whose call went
    ``to_patient``, from the first group to another since nothing was changed, and back ``to_control``; and ``flips`` of
    any kind, with those of them that carried a warning.
    """
    known = np.isfinite(probabilities).all(axis=1) & (before >= 0)
    calls, before, n_known = probabilities[known].argmax(axis=1), before[known], int(known.sum())
    flips = calls != before

    def share(chosen: NDArray[np.bool_]) -> float:
        return round(float(chosen.sum() / max(1, n_known)), 4)

    columns = list(enumerate(groups)) if n_known else []
    nobody = dict.fromkeys(groups)
    return {
        "n": len(probabilities),
        "refused": len(probabilities) - n_known,
        "probability": nobody | {group: round(float(probabilities[known, k].mean()), 4) for k, group in columns},
        "called": nobody | {group: round(float((calls == k).mean()), 4) for k, group in columns},
        "warned": round(float(warned.mean()), 4),
        "to_patient": share((calls > 0) & (before == 0)),
        "to_control": share((calls == 0) & (before > 0)),
        "flips": int(flips.sum()),
        "flips_warned": int((flips & warned[known]).sum()),
    }


# What parts of a trained model do to its predictions: NE shuffled over regions, attention set to zero.
#
# A part whose loss changes no prediction has no share in the model's accuracy, whatever it shows.


def _shuffle_entanglement(graphs: GraphBatch, *, seed: int) -> GraphBatch:
    """Give every subject's NE values to other regions of its own, by lot; all else stays."""
    generator = torch.Generator().manual_seed(seed)
    order = torch.rand(graphs.entanglement.shape, generator=generator).argsort(dim=1)
    return replace(graphs, entanglement=graphs.entanglement.gather(1, order.to(graphs.entanglement.device)))


def _without_attention(member: BioBGT) -> BioBGT:
    """A copy of a member in which what regions attend to is multiplied by zero in every layer."""
    copied = deepcopy(member)
    with torch.no_grad():
        for part in copied.modules():
            if isinstance(part, FunctionalModuleAttention):
                part.output.weight.zero_()
                part.output.bias.zero_()
    return copied.eval()


@torch.no_grad()
def _measure_ablation(
    members: Sequence[BioBGT], data: LabelledGraphs, tests: Sequence[NDArray[np.int64]]
) -> dict[str, Any]:
    """What a card says of a model's parts, measured out of fold.

    Parameters
    ----------
    members : sequence of BioBGT
        One per fold.
    data : LabelledGraphs
    tests : sequence of ndarray of int, shape (n_tested,) each
        Each fold's test subjects, whom its member never met; together all subjects.

    Returns
    -------
    dict
        ``members_at_start``: how many members took no step from labels. ``without``: see :func:`_ablation_effect`, one
        entry per part. ``connectivity``: see :func:`biobgt.model.attention.beside_connectivity`, the mean over
        each group's subjects, with their own connectivity and Louvain modules.
    """
    whole = np.full((len(data.labels), len(data.groups)), np.nan)
    without = {part: whole.copy() for part in (NE_SHUFFLED, NO_ATTENTION)}
    beside: list[BesideConnectivity | None] = [None] * len(data.labels)
    for member, rows in zip(members, tests, strict=True):
        blind = _without_attention(member)
        for part in np.array_split(rows, math.ceil(len(rows) / _AT_ONCE)):
            graphs, _ = data.part(part)
            seen = member.eval().explain(graphs)
            whole[part] = seen.logits.double().numpy()
            without[NE_SHUFFLED][part] = member(_shuffle_entanglement(graphs, seed=_SHUFFLE_SEED)).double().numpy()
            without[NO_ATTENTION][part] = blind(graphs).double().numpy()
            for row, attention in zip(part.tolist(), seen.mean_attention().weights.double().numpy(), strict=True):
                modules = data.graphs.modules[row].tolist()
                beside[row] = beside_connectivity(attention, data.matrices[row].astype(np.float64), modules)
    temperatures, _ = fold_temperatures(whole, tests, data.labels)
    probabilities = calibrated(whole / temperatures, 1.0)
    return {
        "members_at_start": sum(map(_took_no_step, members)),
        "without": {
            part: _ablation_effect(probabilities, calibrated(logits / temperatures, 1.0))
            for part, logits in without.items()
        },
        "connectivity": {
            group: _mean_beside([one for one, own in zip(beside, data.labels == label, strict=True) if own and one])
            for label, group in enumerate(data.groups)
        },
    }


def complete_ablation(folder: Path, data: LabelledGraphs, splits: Sequence[Split]) -> dict[str, Any]:
    """Measure the parts of the model in a folder, put them on its card, and return the card.

    Parameters
    ----------
    folder : Path
        Of the model.
    data : LabelledGraphs
        Of the cohort that the model was trained on.
    splits : sequence of Split
        The folds that it was trained on, in the order of its members.
    """
    members = load_pretrained(folder, "cpu").members
    parts = _measure_ablation(members, data, [split.test for split in splits])
    card = load_card(folder) | {"parts": parts}
    write_card(folder, card)
    return card


def _mean_beside(found: Sequence[BesideConnectivity]) -> dict[str, float | None]:
    """Mean over subjects of what is defined, rounded as a card holds it."""
    means = {}
    for field in fields(BesideConnectivity):
        values = np.array([getattr(one, field.name) for one in found], dtype=np.float64)
        known = values[np.isfinite(values)]
        means[field.name] = round(float(known.mean()), 4) if len(known) else None
    return means


def _ablation_effect(whole: NDArray[np.float64], changed: NDArray[np.float64]) -> dict[str, float | None]:
    """How far predictions move when a part does nothing.

    Parameters
    ----------
    whole, changed : ndarray, shape (n_subjects, n_groups)
        Probabilities of the whole model, and without the part.

    Returns
    -------
    dict
        ``largest_change`` of any probability, ``mean_change``, the Pearson ``correlation`` of the probabilities over
        subjects (the lowest of any group; None where they do not vary), and ``changed_calls``, how many subjects are
        put into another group.
    """
    moved, pairs = np.abs(changed - whole), list(zip(whole.T, changed.T, strict=True))
    varies = all(one.std() > 0 and other.std() > 0 for one, other in pairs)
    return {
        "largest_change": round(float(moved.max()), 6),
        "mean_change": round(float(moved.mean()), 6),
        "correlation": round(min(float(np.corrcoef(*pair)[0, 1]) for pair in pairs), 6) if varies else None,
        "changed_calls": int((whole.argmax(axis=1) != changed.argmax(axis=1)).sum()),
    }


def _took_no_step(member: BioBGT) -> bool:
    """Whether validation kept the start, before any gradient step from labels.

    With log-Euclidean values the feed-forward network starts at exactly zero and any step moves it.
    """
    return member.preset.values == "log" and not any(
        bool(layer.feed_forward[-1].weight.any())  # type: ignore[index,union-attr]
        for layer in member.layers
    )


# What new subjects get, measured: nested folds, a whole ensemble for each.
#
# Results out of fold are of one member, whereas a new subject is given the mean of all. Here a tenth of the subjects
# is kept apart, an ensemble is trained on the rest as :func:`biobgt.training.folds.train_members` trains the shipped
# one, temperature and all, and its mean answers for those kept apart. Beside it stands the first of its members, at
# the same temperature. Every outer fold costs as much as a whole ensemble; a run that was stopped goes on.


def evaluate_nested(
    cohort: Cohort,
    data: LabelledGraphs,
    preset: Preset,
    *,
    folder: Path,
    n_outer: int = FOLDS,
    seed: int = 0,
    device: torch.device | str = "cpu",
    progress: Callable[[str], None] | None = None,
) -> pd.DataFrame:
    """Train an ensemble without each of the first outer folds; what the folder holds already is not done again.

    Parameters
    ----------
    cohort : Cohort
    data : LabelledGraphs
        Of the same subjects in the same order.
    preset : Preset
    folder : Path
        Where every outer fold's members and answers are kept.
    n_outer : int
        Outer folds to do, of ten.
    seed : int
        Of the outer folds, the inner folds and the members, as in ``biobgt train``.
    device : torch.device or str
    progress : callable, optional
        Told in words how far it is.

    Returns
    -------
    DataFrame
        One row per subject kept apart, without its name and in no particular order within a fold: ``fold``, ``run``,
        ``person`` (a number within the fold), ``group``, and for each group the probability by the mean of members,
        ``p_<group>``, and by the first of them, ``single_p_<group>``.
    """
    file = folder / NESTED_FILE
    outer = protocol_splits(cohort, CROSS_VALIDATION, n=FOLDS, seed=seed)
    for number, split in enumerate(outer[:n_outer], start=1):
        run = run_identity(data, split, {"preset": preset.as_dict(), "seed": seed, "members": FOLDS})
        if _holds(file, number, run):
            continue

        def tell(said: str, number: int = number) -> None:
            if progress is not None:
                progress(f"outer fold {number}, {said}")

        rest = np.sort(np.concatenate([split.train, split.validation]))
        inner = replace(cohort, subjects=tuple(cohort.subjects[row] for row in rest))
        given, folds = data.select(rest), protocol_splits(inner, CROSS_VALIDATION, n=FOLDS, seed=seed)
        place = folder / f"outer {number}"
        members = train_members(
            given, folds, preset, folder=place, seed=seed, device=device, resume=True, progress=tell
        )
        trained = describe_members(members, given, folds, folder=place, device=device)
        graphs, _ = data.part(split.test)
        each = [predict_logits(one.to(device), graphs, device=device).double().numpy() for one in trained.members]
        logits = np.stack(each) / trained.temperature
        persons, _ = pd.factorize(np.array(cohort.persons)[split.test])
        of_groups = [data.groups[label] for label in data.labels[split.test]]
        table = pd.DataFrame({"fold": number, "run": run, "person": persons, "group": of_groups})
        for prefix, values in (("p", logits.mean(axis=0)), ("single_p", logits[0])):
            table[[f"{prefix}_{group}" for group in data.groups]] = calibrated(values, 1.0)
        table = table.sample(frac=1, random_state=seed)  # nobody is found again by position
        before = file.read_text(encoding="utf-8") if file.exists() else ""
        write_atomically(file, before + write_csv(table, header=not before, index=False, float_format="%.5f"))
    return read_csv(file)


def _holds(file: Path, fold: int, run: str) -> bool:
    if not file.exists():
        return False
    found = pd.read_csv(file, dtype={"run": str}).query("fold == @fold")["run"].unique()
    if len(found) and found.tolist() != [run]:
        raise InputError(
            f"'{file}' holds fold {fold} of other subjects, settings or another seed. Name another folder with --out."
        )
    return bool(len(found))


def nested_summary(results: pd.DataFrame, groups: Sequence[str]) -> dict[str, Any]:
    """Metrics over all subjects kept apart so far, as a card holds them: the mean of members, and a single one."""
    labels = np.array([groups.index(group) for group in results["group"]])
    persons = (results["fold"].astype(str) + " " + results["person"].astype(str)).tolist()
    found: dict[str, Any] = {
        "outer_folds": int(results["fold"].nunique()),
        "folds": FOLDS,
        "members": FOLDS,
        "n": len(results),
    }
    for name, prefix in (("mean", "p"), ("single", "single_p")):
        values = results[[f"{prefix}_{group}" for group in groups]].to_numpy(dtype=np.float64)
        shares = values / values.sum(axis=1, keepdims=True)  # in spite of the file's rounding
        found[name] = measured(labels, shares, groups, persons)
    return found


def add_nested(folder: Path, results: pd.DataFrame) -> dict[str, Any]:
    """Put the summary on the card in a folder, and the lines beside it."""
    card = load_card(folder)
    card["nested"] = nested_summary(results, card["groups"])
    write_atomically(folder / NESTED_FILE, write_csv(results, index=False, float_format="%.5f"))
    write_card(folder, card)
    return card
