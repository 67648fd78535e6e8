"""A cohort with a known answer: two groups that differ in how tightly one module of regions holds together."""

import numpy as np

from biobgt.data.atlas import Atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.model.presets import Preset, preset_named

MODULE_SIZE, N_MODULES = 4, 4
N_REGIONS = MODULE_SIZE * N_MODULES
ATLAS = Atlas(
    name="planted16",
    title="Four planted modules of four regions",
    regions=tuple(f"R{i + 1}" for i in range(N_REGIONS)),
    labels={"modules": tuple(f"M{i // MODULE_SIZE + 1}" for i in range(N_REGIONS))},
)


def planted_series(rng: np.random.Generator, *, coupling: float, n_timepoints: int = 80) -> np.ndarray:
    """Series of four modules, the first of which holds together as tightly as ``coupling`` says."""
    signals = rng.standard_normal((n_timepoints, N_MODULES)).repeat(MODULE_SIZE, axis=1)
    shares = np.full(N_REGIONS, 0.75)
    shares[:MODULE_SIZE] = coupling
    return shares * signals + np.sqrt(1 - shares**2) * rng.standard_normal((n_timepoints, N_REGIONS))


def planted_cohort(n_per_group: int = 20, *, difference: float = 0.35, groups: int = 2, seed: int = 0) -> Cohort:
    """Controls and patients (NC, ASD and, of three, MCI); patients lose ``difference`` of a module's coupling."""
    rng = np.random.default_rng(seed)
    subjects = [
        Subject(
            f"{group}-{i}",
            series=planted_series(rng, coupling=0.9 - number * difference),
            group=group,
            phenotypes={"site": "AB"[i % 2]},
        )
        for number, group in enumerate(("NC", "ASD", "MCI")[:groups])
        for i in range(n_per_group)
    ]
    return Cohort("folder", tuple(subjects), ATLAS)


def small(name: str, **changes: object) -> Preset:
    """A preset of the same kind that trains in seconds."""
    settings: dict[str, object] = {"width": 16, "heads": 2, "ffn": 16, "batch_size": 8, "contrast_anchors": 0}
    if name == "best":
        settings["pretrain_steps"] = 6
    return preset_named(name, **{**settings, **changes})
