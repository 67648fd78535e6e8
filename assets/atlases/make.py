"""Make the bundled atlas tables from the source region tables and nilearn's seed coordinates.

    python assets/atlases/make.py --tables DIR

DIR holds ``cc200.csv`` (MNI centre of mass and best-overlapping AAL name of each Craddock region) and
``aal116.csv`` (AAL regions with MNI centres). Dosenbach-160 and Power-264 come with nilearn. Functional
labels are those of the nearest Dosenbach seed, if it lies within the label radius.
"""

from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from nilearn import datasets
from scipy.spatial.distance import cdist

from biobgt.atlas import LABEL_RADIUS_MM

HERE = Path(__file__).parent
COLUMNS = ["name", "x", "y", "z", "nearest_seed", "seed_mm", "dosenbach_network", "paper_module"]


def dosenbach_seeds() -> pd.DataFrame:
    """Dosenbach's 160 seeds with their network and, for the 100 of them in the paper's table, its module."""
    seeds = datasets.fetch_coords_dosenbach_2010(ordered_regions=False)
    frame = pd.DataFrame({"name": seeds["labels"], "dosenbach_network": list(seeds["networks"])}).assign(
        **{axis: seeds["rois"][axis].to_numpy(float) for axis in "xyz"}
    )
    modules = pd.read_csv(HERE / "paper_modules.csv").set_index("seed")["module"]
    # The paper's table names 'dFC 3', which does not exist: it labels nothing.
    return frame.assign(paper_module=frame["name"].map(modules).fillna(""))


def with_labels(regions: pd.DataFrame, seeds: pd.DataFrame) -> pd.DataFrame:
    """Give each region the labels of its nearest seed, or none when that seed is too far away."""
    distances = cdist(regions[["x", "y", "z"]], seeds[["x", "y", "z"]])
    nearest, nearest_mm = distances.argmin(axis=1), distances.min(axis=1)
    close = nearest_mm <= LABEL_RADIUS_MM
    labels = {
        column: np.where(close, seeds[column].to_numpy()[nearest], "")
        for column in ("dosenbach_network", "paper_module")
    }
    return regions.assign(nearest_seed=seeds["name"].to_numpy()[nearest], seed_mm=nearest_mm.round(1), **labels)[
        COLUMNS
    ]


def main(tables: Annotated[Path, typer.Option(help="Folder with cc200.csv and aal116.csv.")]) -> None:
    """Write one CSV an atlas beside this script."""
    seeds = dosenbach_seeds()
    cc200 = pd.read_csv(tables / "cc200.csv")
    # CC200 regions have numbers, not names: the best-overlapping AAL region and the number name them.
    anatomy = cc200["aal"].fillna("No AAL region")
    cc200 = cc200.assign(name=anatomy + " (" + cc200["roi"].astype(str) + ")")
    aal116 = pd.read_csv(tables / "aal116.csv")
    power = datasets.fetch_coords_power_2011()["rois"]
    power = power.assign(name="Power " + power["roi"].astype(str)).astype(dict.fromkeys("xyz", float))
    for name, regions in {
        "cc200": cc200,
        "aal116": aal116,
        "aal90": aal116[aal116["in_aal90"]],
        "dosenbach160": seeds[["name", "x", "y", "z"]],
        "power264": power,
    }.items():
        with_labels(regions, seeds).to_csv(HERE / f"{name}.csv", index=False)


if __name__ == "__main__":
    typer.run(main)
