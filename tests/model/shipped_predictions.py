"""What the shipped models say of demo subjects: ``python tests/model/shipped_predictions.py`` remakes it."""

import json
from pathlib import Path

from biobgt.data.cohort import Cohort
from biobgt.data.simulate import DEMO_COHORTS, demo_cohort
from biobgt.model import load_card, load_pretrained
from biobgt.model.folder import pretrained_names, readout_names

STORED = Path(__file__).with_suffix(".json")


def asked_names() -> tuple[str, ...]:
    """Names of the shipped models that can be asked for a group: those of one cohort, and readouts of networks."""
    readouts = readout_names()
    networks = {name.split("/")[0] for name in readouts}
    return (*(name for name in pretrained_names() if name not in networks), *readouts)


def demo_subjects(atlas: str) -> Cohort:
    """One subject a group of the demo cohort on an atlas."""
    cohorts = (demo_cohort(name, n_per_group=1) for name in DEMO_COHORTS)
    return next(cohort for cohort in cohorts if cohort.atlas.name == atlas)


def predictions(name: str) -> dict[str, dict[str, float]]:
    """Each demo subject's probabilities, four digits."""
    table = load_pretrained(name, "cpu").predict(demo_subjects(load_card(name)["atlas"])).set_index("subject")
    return {
        str(subject): {column: round(float(row[column]), 4) for column in table.columns if column.startswith("p_")}
        for subject, row in table.iterrows()
    }


if __name__ == "__main__":
    STORED.write_text(json.dumps({name: predictions(name) for name in asked_names()}, indent=1) + "\n")
