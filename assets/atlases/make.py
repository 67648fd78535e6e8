"""Make the bundled atlas tables, label images and surface labels from the source files and nilearn's seed coordinates.

    python assets/atlases/make.py --tables DIR

DIR holds one table per atlas (MNI centre of every region), ``images`` (Schaefer's label images) and ``surface`` (labels
of the vertices of fsaverage5). Dosenbach-160 and Power-264 come with nilearn. Every region gets two kinds of functional
labels by its position: those of the nearest Dosenbach seed in its part of the brain (cerebellum or not), and, in the
cortex, Yeo's networks of the Schaefer parcel at its centre, or of the nearest one; each only within a distance
(``biobgt/data/atlas.py``). Where a table has labels of its own, they come first.
"""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import nibabel
import numpy as np
import pandas as pd
import typer
from nilearn import datasets
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from biobgt.data.atlas import LABEL_RADIUS_MM, YEO_RADIUS_MM

HERE = Path(__file__).parent
SIZES = range(100, 1001, 100)
N_HEMISPHERE = 10242  # vertices of one hemisphere of fsaverage5
SEED_COLUMNS = ["nearest_seed", "seed_mm", "dosenbach_network", "paper_module"]
YEO7 = {
    "Vis": "Visual",
    "SomMot": "Somatomotor",
    "DorsAttn": "Dorsal attention",
    "SalVentAttn": "Ventral attention",
    "Limbic": "Limbic",
    "Cont": "Frontoparietal",
    "Default": "Default",
}
YEO17 = {
    "VisCent": "Visual central",
    "VisPeri": "Visual peripheral",
    "TempPar": "Temporoparietal",
    **{f"{short}{part}": f"{YEO7[short]} {part}" for short in list(YEO7)[1:] for part in "ABC"},
}
GORDON = {
    "CinguloOperc": "Cingulo-opercular",
    "CinguloParietal": "Cingulo-parietal",
    "DorsalAttn": "Dorsal attention",
    "FrontoParietal": "Frontoparietal",
    "None": "",
    "RetrosplenialTemporal": "Retrosplenial temporal",
    "SMhand": "Somatomotor hand",
    "SMmouth": "Somatomotor mouth",
    "VentralAttn": "Ventral attention",
}
# FreeSurfer's names of the Desikan-Killiany regions, in the order of the table, and of the subcortical ones.
APARC = [
    "bankssts",
    "caudalanteriorcingulate",
    "caudalmiddlefrontal",
    "cuneus",
    "entorhinal",
    "fusiform",
    "inferiorparietal",
    "inferiortemporal",
    "isthmuscingulate",
    "lateraloccipital",
    "lateralorbitofrontal",
    "lingual",
    "medialorbitofrontal",
    "middletemporal",
    "parahippocampal",
    "paracentral",
    "parsopercularis",
    "parsorbitalis",
    "parstriangularis",
    "pericalcarine",
    "postcentral",
    "posteriorcingulate",
    "precentral",
    "precuneus",
    "rostralanteriorcingulate",
    "rostralmiddlefrontal",
    "superiorfrontal",
    "superiorparietal",
    "superiortemporal",
    "supramarginal",
    "frontalpole",
    "temporalpole",
    "transversetemporal",
    "insula",
]
# Power's regions have numbers, no names. These lie 5 mm or more below the occipital and temporal cortex of Schaefer's
# parcels: the four of Power's cerebellar network and four that he left without one.
POWER_CEREBELLUM = [127, 183, 184, 185, 243, 244, 245, 246]
ASEG = ["Thalamus", "Putamen", "Pallidum", "Caudate", "Hippocampus", "Amygdala", "Accumbens-area"]
# The 56 regions that XCP-D's 4S atlases put behind Schaefer's, in their order (PennLINC's AtlasPack).
CIT168 = ["Pu", "Ca", "NAC", "EXA", "GPe", "GPi", "SNc_PBP_VTA", "RN", "SNr", "VeP", "HN", "HTH", "MN", "STH"]
THALAMUS = [
    "Pulvinar",
    "Anterior",
    "Medio_Dorsal",
    "Ventral_Latero_Dorsal",
    "Central_Lateral-Lateral_Posterior-Medial_Pulvinar",
    "Ventral_Anterior",
    "Ventral_Latero_Ventral",
]


def dosenbach_seeds() -> pd.DataFrame:
    """Dosenbach's 160 seeds with their network and, for the 100 of them in the paper's table, its module."""
    seeds = datasets.fetch_coords_dosenbach_2010(ordered_regions=False)
    frame = pd.DataFrame({"name": seeds["labels"], "dosenbach_network": list(seeds["networks"])}).assign(
        **{axis: seeds["rois"][axis].to_numpy(float) for axis in "xyz"}
    )
    modules = pd.read_csv(HERE / "paper_modules.csv").set_index("seed")["module"]
    # The paper's table names 'dFC 3', which does not exist: it labels nothing.
    return frame.assign(paper_module=frame["name"].map(modules).fillna(""))


def with_seed_labels(regions: pd.DataFrame, seeds: pd.DataFrame) -> pd.DataFrame:
    """Give each region the labels of the nearest seed of its part of the brain, or none when that is too far away.

    The cerebellum takes seeds of the cerebellum and nothing else does: they lie close under the fusiform gyrus.
    """
    distances = cdist(regions[["x", "y", "z"]], seeds[["x", "y", "z"]])
    cerebellar = (seeds["dosenbach_network"] == "cerebellum").to_numpy()
    distances[(lobes(regions) == "Cerebellum")[:, None] != cerebellar] = np.inf
    nearest, nearest_mm = distances.argmin(axis=1), distances.min(axis=1)
    close = nearest_mm <= LABEL_RADIUS_MM
    labels = {column: np.where(close, seeds[column].to_numpy()[nearest], "") for column in SEED_COLUMNS[2:]}
    return regions.assign(nearest_seed=seeds["name"].to_numpy()[nearest], seed_mm=nearest_mm.round(1), **labels)


def lobes(regions: pd.DataFrame) -> NDArray[np.str_]:
    """The lobes, among them ``Cerebellum`` and ``SCGM`` (nuclei, brain stem); tables without them are of the cortex."""
    return regions.get("lobe", pd.Series("", regions.index)).to_numpy(str)


def lobes_by_name(names: pd.Series) -> NDArray[np.str_]:
    """Tell cerebellum and nuclei from the cortex by names of AAL or of Dosenbach's seeds; AAL names no brain stem."""
    below = names.str.contains("Caudate|Putamen|Pallidum|Thalamus|^Hippocampus|Amygdala") | (names == "")
    return np.where(names.str.contains("Cerebelum|Vermis|cerebellum"), "Cerebellum", np.where(below, "SCGM", ""))


def yeo_networks(tables: Path) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Return what gives regions Yeo's networks by position, from Schaefer's 1000 parcels."""
    image: Any = nibabel.load(tables / "images" / "schaefer1000_7networks_MNI152_2mm.nii.gz")
    labels = np.asarray(image.dataobj).astype(int)
    voxels = np.argwhere(labels > 0)
    tree = cKDTree(voxels @ image.affine[:3, :3].T + image.affine[:3, 3])
    parcels, found = pd.read_csv(tables / "schaefer1000.csv"), labels[tuple(voxels.T)]

    def label(regions: pd.DataFrame) -> pd.DataFrame:
        mm, nearest = tree.query(regions[["x", "y", "z"]])
        # The networks are of the cerebral cortex: a nucleus or cerebellar region beside it is in none.
        close = (mm <= YEO_RADIUS_MM) & ~np.isin(lobes(regions), ["SCGM", "Cerebellum"])
        own = parcels.iloc[found[nearest] - 1]
        networks = {"yeo7": own["yeo7"].map(YEO7), "yeo17": own["yeo17"].map(YEO17)}
        by_place = {key: np.where(close, values.to_numpy(), "") for key, values in networks.items()}
        return regions.assign(**{key: values for key, values in by_place.items() if key not in regions})

    return label


def schaefer(tables: Path, size: int) -> pd.DataFrame:
    """Schaefer's parcels in the 7-network order, with their names and places in the 17-network order."""
    table = pd.read_csv(tables / f"schaefer{size}.csv")
    return table.assign(
        also="7Networks_" + table["name"],
        also_17="17Networks_" + table["name_17"],
        yeo7=table["yeo7"].map(YEO7),
        yeo17=table["yeo17"].map(YEO17),
    )


def behind_schaefer() -> pd.DataFrame:
    """The regions of XCP-D's 4S atlases behind the cortex; no table here has their places."""
    sides = ("LH", "RH")
    names = [f"{side}-{name}" for group in (CIT168, THALAMUS) for side in sides for name in group]
    names += [f"{side}_{name}" for side in sides for name in ("Hippocampus", "Amygdala")]
    names += [f"Cerebellar_Region{number}" for number in range(1, 11)]
    unlabelled = dict.fromkeys(["yeo7", "yeo17", "dosenbach_network", "paper_module"], "")
    return pd.DataFrame({"name": names, "also": "", "x": np.nan, "y": np.nan, "z": np.nan, **unlabelled})


def glasser(tables: Path) -> pd.DataFrame:
    """Glasser's areas, left hemisphere first; HCP's own files put the right one first."""
    table = pd.read_csv(tables / "glasser360.csv", keep_default_na=False)
    side, area = table["hemisphere"], table["name"].str[:-2]
    word = side.map({"L": "Left", "R": "Right"})
    spelt = [side + "_" + area + "_ROI", side + "_" + area, word + "_" + area, side.str.lower() + "h_" + area]
    groups = table["area_group"].str.replace("_", " ")
    return table.assign(also=_joined(*spelt), roi_hcp=(table["roi"] - 1 + 180) % 360 + 1, glasser_division=groups)


def desikan(tables: Path, size: int) -> pd.DataFrame:
    """The Desikan-Killiany regions, with FreeSurfer's names as further spellings."""
    table = pd.read_csv(tables / f"desikan{size}.csv")
    names = [*APARC, *(ASEG if size > 2 * len(APARC) else [])] * 2
    sides = table["hemisphere"].str.lower()
    return table.assign(also=[";".join(_freesurfer(side, name)) for side, name in zip(sides, names, strict=True)])


def _freesurfer(side: str, name: str) -> list[str]:
    """How FreeSurfer and programs that read its tables write a region of the left (l) or right (r) side."""
    if name in APARC:
        return [f"ctx-{side}h-{name}", f"{side}h_{name}", f"{side}h.{name}", f"{side.upper()}_{name}"]
    word = "Left" if side == "l" else "Right"
    return [f"{word}-{name}", *([f"{word}-Thalamus-Proper"] if name == "Thalamus" else [])]


def destrieux(tables: Path) -> pd.DataFrame:
    """The Destrieux regions, with FreeSurfer's and nilearn's names as further spellings."""
    table = pd.read_csv(tables / "destrieux148.csv")
    side, name = table["name"].str[0], table["name"].str[1:].str.replace(".", "-")
    return table.assign(also=_joined("ctx_" + side + "h_" + name, side + "h_" + name, side.str.upper() + " " + name))


def aal2(tables: Path) -> pd.DataFrame:
    """AAL2, with three slips of its source mended: a space, a letter, and sides of the vermis, which has none."""
    table = pd.read_csv(tables / "aal2_120.csv")
    mended = table["name"].str.replace(" ", "").str.replace("CBC10", "CB10")
    return table.assign(name=[re.sub(r"^(Vermis\w+)\.[LR]$", r"\1", name) for name in mended])


def brainnetome(tables: Path) -> pd.DataFrame:
    """Brainnetome; the source's names of the 17 networks are shuffled (Default is 'Auditory'), so they are not used."""
    table = pd.read_csv(tables / "brainnetome246.csv").drop(columns="yeo17")
    words = {"Dorsal Attention": "Dorsal attention", "Ventral Attention": "Ventral attention", "SCGM": ""}
    return table.assign(yeo7=table["yeo7"].replace(words))


def gordon(tables: Path) -> pd.DataFrame:
    """Gordon's parcels with their own networks."""
    table = pd.read_csv(tables / "gordon333.csv", keep_default_na=False)
    return table.assign(gordon=table["gordon_network"].replace(GORDON))


def older(tables: Path, seeds: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The atlases whose first labelling is Dosenbach's."""
    cc200, aal116 = pd.read_csv(tables / "cc200.csv"), pd.read_csv(tables / "aal116.csv")
    # CC200 regions have numbers, not names: the best-overlapping AAL region and the number name them.
    overlapped = cc200["aal"].fillna("")
    named = overlapped.replace("", "No AAL region") + " (" + cc200["roi"].astype(str) + ")"
    cc200 = cc200.assign(name=named, lobe=lobes_by_name(overlapped))
    aal116 = aal116.assign(lobe=lobes_by_name(aal116["name"]))
    seeds = seeds[["name", "x", "y", "z"]].assign(lobe=lobes_by_name(seeds["name"]))
    power = datasets.fetch_coords_power_2011()["rois"]
    power = power.assign(name="Power " + power["roi"].astype(str)).astype(dict.fromkeys("xyz", float))
    power = power.assign(lobe=np.where(power["roi"].isin(POWER_CEREBELLUM), "Cerebellum", ""))
    return {
        "cc200": cc200,
        "aal116": aal116,
        "aal90": aal116[aal116["in_aal90"]],
        "dosenbach160": seeds,
        "power264": power,
    }


def newer(tables: Path) -> dict[str, pd.DataFrame]:
    """The atlases whose first labelling is Yeo's, or their own."""
    return {
        **{f"schaefer{size}": schaefer(tables, size) for size in SIZES},
        "glasser360": glasser(tables),
        "gordon333": gordon(tables),
        "brainnetome246": brainnetome(tables),
        "desikan68": desikan(tables, 68),
        "desikan82": desikan(tables, 82),
        "destrieux148": destrieux(tables),
        "harvard_oxford112": pd.read_csv(tables / "harvard_oxford112.csv"),
        "aal2_120": aal2(tables),
    }


def surface_labels(tables: Path) -> dict[str, NDArray[np.int16]]:
    """Of every vertex of fsaverage5, left hemisphere first, the number of its region in the table; 0 is none."""
    found = {f"schaefer{size}": _vertices(tables, f"schaefer_{size}") for size in SIZES[:4]}
    glasser = _vertices(tables, "glasser_360")
    glasser[N_HEMISPHERE:][glasser[N_HEMISPHERE:] == 180] = 0  # the source adds 180 to the right medial wall too
    aparc = _vertices(tables, "aparc")
    # The source counts FreeSurfer's corpus callosum as the fourth of 35 labels of a hemisphere.
    left = [1, 2, 3, 0, *range(4, 35)]
    desikan68 = np.array([0, *left, *(number and number + 34 for number in left)], dtype=np.int16)[aparc]
    with_subcortex = np.where(desikan68 > 34, desikan68 + 7, desikan68).astype(np.int16)
    return {**found, "glasser360": glasser, "desikan68": desikan68, "desikan82": with_subcortex}


def _vertices(tables: Path, name: str) -> NDArray[np.int16]:
    return np.loadtxt(tables / "surface" / f"{name}_fsaverage5.csv").ravel().astype(np.int16)


def _joined(*spelt: pd.Series) -> list[str]:
    return [";".join(names) for names in zip(*spelt, strict=True)]


def _written(table: pd.DataFrame, labellings: list[str]) -> pd.DataFrame:
    """The columns that are kept, in the order of the labellings."""
    kept = ["name", "also", "x", "y", "z", "roi_17", "name_17", "also_17", "roi_hcp", *labellings]
    return table[[column for column in kept if column in table]]


def main(
    tables: Annotated[Path, typer.Option(help="Folder with the source tables, images and surface labels.")],
) -> None:
    """Write one CSV per atlas, the label images and the surface labels beside this script."""
    seeds, label = dosenbach_seeds(), yeo_networks(tables)
    yeo = ["yeo7", "yeo17"]
    for name, regions in older(tables, seeds).items():
        table = label(with_seed_labels(regions, seeds))
        _written(table, [*SEED_COLUMNS, *yeo]).to_csv(HERE / f"{name}.csv", index=False)
    for name, regions in newer(tables).items():
        table = label(with_seed_labels(regions, seeds))
        _written(table, ["gordon", *yeo, "glasser_division", *SEED_COLUMNS]).to_csv(HERE / f"{name}.csv", index=False)
    behind_schaefer().to_csv(HERE / "behind_schaefer56.csv", index=False)
    for folder in ("images", "surface"):
        (HERE / folder).mkdir(exist_ok=True)
    for size in SIZES:
        source = tables / "images" / f"schaefer{size}_7networks_MNI152_2mm.nii.gz"
        shutil.copyfile(source, HERE / "images" / f"schaefer{size}.nii.gz")
    for name, labels in surface_labels(tables).items():
        np.save(HERE / "surface" / f"{name}.npy", labels)


if __name__ == "__main__":
    typer.run(main)
