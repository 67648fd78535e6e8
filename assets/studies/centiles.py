"""The published references of centiles, and how well they are calibrated in people left out.

    python assets/studies/centiles.py --data DIR --work FOLDER

DIR holds ``hbn_schaefer200.npz``, ``abide_cc200.npz`` and their tables of phenotypes. Every person is measured as the
app measures a user's subject with the default settings; what is done stays in FOLDER, and run again, the rest follows.
Curves are written to ``assets/centiles``, and beside this script ``centile_calibration.csv``: of people left out (a
tenth of them, drawn with seed 0, or a whole site) the share below each centile, with the form that is kept and with a
normal distribution of one spread in its place. No person's data are written.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray
from scipy.special import ndtr

from biobgt.base.files import asset, write_atomically
from biobgt.cli.main import print_line, progress_bar
from biobgt.data.atlas import load_atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.graph import ConnectomeSettings
from biobgt.groups.centiles import Person, all_values, person
from biobgt.groups.standing import CENTILES, MOST_SILENT, make_reference
from biobgt.hubs.measures import EntanglementOptions
from biobgt.inference import centiles as model
from biobgt.modules.measures import ModuleOptions
from biobgt.readers import read_cohort
from biobgt.results.store import FolderStore
from biobgt.results.tables import measure_each

TABLE = Path(__file__).with_name("centile_calibration.csv")
SEED, FOLDS = 0, 10
FEWEST_AT_SITE = 10  # a smaller site is left out together with the others that are as small
KEPT, PLAIN = "kept", "normal, one spread"
PLAINEST = model.Form(curved=True, varying=False, shaped=False)


@dataclass(frozen=True)
class Source:
    """People to make a reference of, and what its file says of them."""

    key: str
    read: Callable[[Path], Cohort]
    atlases: tuple[str, ...]
    title: str
    about: str
    licence: str
    cites: tuple[str, ...]


def _hbn(data: Path) -> Cohort:
    """Matrices, of which the file holds the upper triangles."""
    table = pd.read_csv(data / "hbn_phenotypes.csv")
    with np.load(data / "hbn_schaefer200.npz", allow_pickle=False) as file:
        triangles, names = file["fc"], file["subject"]
    if names.tolist() != table["subject"].tolist():
        raise SystemExit("The rows of hbn_phenotypes.csv are not the subjects of hbn_schaefer200.npz.")
    atlas = load_atlas("schaefer200_17")
    subjects = []
    for name, row, values in zip(names, table.to_dict("records"), triangles, strict=True):
        half = np.zeros((atlas.n_regions, atlas.n_regions))
        half[np.triu_indices(atlas.n_regions, 1)] = values
        known = {key: row[key] for key in ("age", "sex", "site")}
        subjects.append(Subject(str(name), connectivity=half + half.T + np.eye(len(half)), phenotypes=known))
    return Cohort("HBN", tuple(subjects), atlas, given="functional")


def _abide(data: Path) -> Cohort:
    """The controls, but for those in whom too many regions have no signal."""
    cohort = read_cohort(data / "abide_cc200.npz", phenotypes=data / "abide_phenotypes.csv").group("NC")
    return cohort.select(lambda one: len(one.silent_regions) <= MOST_SILENT * one.n_regions)


SOURCES = (
    Source(
        "abide",
        _abide,
        ("cc200",),
        "the controls of ABIDE",
        "They are controls of the Autism Brain Imaging Data Exchange, preprocessed by the Preprocessed Connectomes "
        "Project: band-passed, with the global signal removed.",
        "Non-commercial research use (ABIDE).",
        ("dimartino2014", "craddock2013"),
    ),
    Source(
        "hbn",
        _hbn,
        ("schaefer200_17", "schaefer200"),
        "the young people of HBN",
        "They are children and young adults of the Healthy Brain Network, recruited around New York, mostly of "
        "families concerned about a child's mental health: they are no healthy controls. Matrices are those of "
        "Reproducible Brain Charts, with 36 nuisance parameters removed, the global signal among them.",
        "CC BY-NC-SA (Healthy Brain Network), also of these curves.",
        ("alexander2017", "shafiei2025"),
    ),
)


def main(
    data: Annotated[Path, typer.Option(help="Folder of the real cohorts.")],
    work: Annotated[Path, typer.Option(help="Folder for what is done, outside the project.")],
    workers: Annotated[int, typer.Option(help="Processes.")] = 1,
) -> None:
    """Measure everybody, fit the references, and calibrate them."""
    work.mkdir(parents=True, exist_ok=True)
    tables = []
    for source in SOURCES:
        cohort = source.read(data)
        people = [person(one) for one in cohort]
        values = _values(cohort, source.key, work, workers)
        reference = make_reference(
            source.key,
            source.title,
            people,
            {str(name): values[name].to_numpy() for name in values},
            atlases=source.atlases,
            made={
                "graph": ConnectomeSettings().as_dict(),
                "entanglement": EntanglementOptions().as_dict(),
                "modules": ModuleOptions().as_dict(),
            },
            about=source.about,
            licence=source.licence,
            cites=source.cites,
        )
        asset("centiles").mkdir(exist_ok=True)
        write_atomically(asset("centiles", f"{source.key}.json"), reference.as_json())
        print_line(f"{source.key}: {reference.people_words}")
        tables.append(_calibrated(source.key, people, values, work).assign(reference=source.key))
    pd.concat(tables).to_csv(TABLE, index=False, float_format="%.4f")


def _values(cohort: Cohort, key: str, work: Path, workers: int) -> pd.DataFrame:
    """Every person's values, a column per curve; taken from the folder where they are done."""
    file = work / f"{key}.csv"
    if not file.exists():
        store = FolderStore(work / key, key)
        ask = partial(all_values, hubs=EntanglementOptions(), modules=ModuleOptions())
        with progress_bar(f"Measuring {key}") as progress:
            found = measure_each(ask, cohort, store=store, workers=workers, progress=progress)
        pd.DataFrame(found).to_csv(file, index=False)
    return pd.read_csv(file)


def _calibrated(key: str, people: Sequence[Person], values: pd.DataFrame, work: Path) -> pd.DataFrame:
    """The calibration of a reference; taken from the folder where it is done."""
    file = work / f"{key}_calibration.csv"
    if not file.exists():
        pd.DataFrame(_calibration(people, values)).to_csv(file, index=False)
    return pd.read_csv(file)


def _calibration(people: Sequence[Person], values: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """One row per curve, way of leaving people out, and form."""
    ages, sexes = np.array([who.age for who in people]), [who.sex for who in people]
    sites = np.array([who.site for who in people])
    terms = model.AgeAndSex.of(ages, sexes)
    names, counts = np.unique(sites, return_counts=True)
    large = np.where(np.isin(sites, names[counts >= FEWEST_AT_SITE]), sites, "small sites")
    tenths = np.random.default_rng(SEED).permutation(len(people)) % FOLDS
    for left_out, parts in (("tenth", tenths.astype(str)), ("site", large)):
        with progress_bar(f"Leaving out a {left_out}") as progress:
            for number, name in enumerate(values):
                y = values[name].to_numpy()
                for form in (KEPT, PLAIN):
                    z, error = _scores_left_out(y, ages, sexes, sites, parts, terms, form)
                    yield {"left_out": left_out, "form": form, "curve": name, **_shares(z, error, parts)}
                progress(number + 1, values.shape[1])


def _scores_left_out(
    y: NDArray[np.float64],
    ages: NDArray[np.float64],
    sexes: Sequence[str],
    sites: NDArray[np.str_],
    parts: NDArray[np.str_],
    terms: model.AgeAndSex,
    form: str,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Z of everybody, with its standard error, by curves that were fitted to the people of all other parts."""
    z, error, of_sex = np.full(len(y), np.nan), np.full(len(y), np.nan), np.array(sexes)
    for part in np.unique(parts):
        inside = parts != part
        fit = model.fit_centiles if form == KEPT else partial(model.fit_centiles, forms=(PLAINEST,))
        curve = fit(y[inside], ages[inside], of_sex[inside].tolist(), sites[inside].tolist(), terms)
        z[~inside], error[~inside] = curve.scores(y[~inside], ages[~inside], of_sex[~inside].tolist())
    return z, error


def _shares(z: NDArray[np.float64], error: NDArray[np.float64], parts: NDArray[np.str_]) -> dict[str, Any]:
    """The share of people below each centile; and the share of parts whose mean the error of a site does not cover."""
    known = np.isfinite(z)
    shares = {f"below_{centile}": float((100 * ndtr(z[known]) < centile).mean()) for centile in CENTILES}
    means = [
        abs(z[own].mean()) > 1.96 * np.hypot(error[own].mean(), 1 / np.sqrt(own.sum()))
        for part in np.unique(parts)
        if (own := known & (parts == part)).any()
    ]
    return {"n_people": int(known.sum()), **shares, "n_parts": len(means), "parts_beyond": float(np.mean(means))}


if __name__ == "__main__":
    typer.run(main)
