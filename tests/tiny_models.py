"""Small model folders, written by the project's own code: untrained members, random attention, nothing to wait for."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import biobgt.training.cards
from biobgt.data.simulate import demo_cohort
from biobgt.model.network import BioBGT
from biobgt.model.presets import preset_named
from biobgt.training.cards import write_model, write_shared_model
from biobgt.training.cohorts import join_training_cohorts, protocol_splits
from biobgt.training.folds import TrainedEnsemble, label_graphs

LAYERS, HEADS = 2, 2
PRESET = preset_named("best", layers=LAYERS, heads=HEADS, width=8, ffn=8)


@contextmanager
def few_draws() -> Iterator[None]:
    """Intervals from 10 resamples: no test looks at their width."""
    original = biobgt.training.cards.bootstrap_intervals
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            biobgt.training.cards,
            "bootstrap_intervals",
            lambda *given, draws, **options: original(*given, draws=10, **options),
        )
        yield


def write_tiny_model(
    folder: Path,
    demo: str,
    kind: str,
    *,
    simulated: bool,
    n_per_group: int = 3,
    baseline: str = "ridge on Fisher-z correlations",
) -> None:
    """Write a model of a demo cohort's subjects; its attention is random, but some of it differs between groups."""
    cohort = replace(demo_cohort(demo, n_per_group=n_per_group), name=kind)
    data = label_graphs(cohort, PRESET)
    n, n_regions, n_groups = len(cohort), cohort.atlas.n_regions, len(data.groups)
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    members = tuple(BioBGT(PRESET, n_regions=n_regions, n_groups=n_groups).eval() for _ in range(2))
    for member in members:
        torch.nn.init.uniform_(member.region_weight, 0.5, 1.5)
    raw = rng.random((n_groups, LAYERS, HEADS, n_regions, n_regions)) + np.eye(n_regions)
    attention = (raw / raw.sum(axis=-1, keepdims=True)).astype(np.float32)
    each = rng.random((n, n_regions, n_regions)).astype(np.float32)
    logits = rng.normal(size=(n, n_groups))
    trained = TrainedEnsemble(
        members=members,
        temperature=1.25,
        logits=logits,
        attention=dict(enumerate(attention)),
        mean_attention=each,
        contrast=1 + rng.random((n, LAYERS, HEADS)),
        embedding_contrast=rng.random(n),
        seconds_an_epoch=1.0,
        peak_memory_mb=100.0,
    )
    with few_draws():
        card = write_model(
            folder,
            name=folder.name,
            cohort=cohort,
            data=data,
            trained=trained,
            linear={baseline: trained.probabilities[::-1]},
            command=f"biobgt train {kind}",
            seed=0,
        )
    if not simulated:  # the demo's subjects are, but these pages are to be tested with both
        card |= {"simulated": False, "headline": "At or near chance: this model does not tell the groups apart."}
        (folder / "card.json").write_text(json.dumps(card), encoding="utf-8")


def write_tiny_network(folder: Path) -> None:
    """Write a network that two cohorts share, of a demo's subjects: untrained members, one readout each."""
    joined = join_training_cohorts(
        [
            replace(demo_cohort("ad", n_per_group=6, seed=seed), name=kind)
            for seed, kind in ((0, "abide"), (1, "cni-adhd"))
        ]
    )
    data = label_graphs(joined.whole, PRESET, readouts=joined.readouts)
    torch.manual_seed(0)
    members = [BioBGT(PRESET, n_regions=90, n_groups=len(data.groups)).eval() for _ in range(2)]
    splits = protocol_splits(joined.whole, "folds", n=2, seed=0)
    runs = folder.parent / "runs"
    for split in splits:
        (runs / split.name).mkdir(parents=True, exist_ok=True)
        (runs / split.name / "epochs.csv").write_text("seconds\n1\n")
    with few_draws():
        write_shared_model(
            folder,
            name=folder.name,
            joined=joined,
            data=data,
            members=members,
            splits=splits,
            runs=runs,
            command="biobgt train",
            seed=0,
        )
