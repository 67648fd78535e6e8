"""How often a study finds something where there is nothing: null data sets made of real subjects.

    python -m benchmarks.null_studies abide_cc200.npz abide_phenotypes.csv --sets 1000

Every data set draws real people, with replacement of nothing but their labels: groups and scores are random, so that
whatever is found is false. Age, sex and site stay each person's own. Groups have unequal sizes, and the smaller one's
deviations from the mean of all people are doubled. Counted are data sets in which anything has p (or q) of at most
0.05; of 5 % the share lies within the 99 % binomial interval. The archive holds ``series``, ``n_timepoints`` and
``subject``, row i of the table is subject i.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from scipy import stats

from biobgt.base.arrays import FloatArray
from biobgt.inference import EdgeOptions, StudyDesign, edge_effects, effects_of, study_design, variables_of

PEOPLE, REGIONS, PERMUTATIONS, ALPHA = 60, 40, 199, 0.05
METHODS = ("edges", "extent", "intensity", "threshold-free", "blocks")


def main() -> None:
    """Count what is found in null data sets, and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path)
    parser.add_argument("phenotypes", type=Path)
    parser.add_argument("--sets", type=int, default=1000)
    given = parser.parse_args()
    edges, variables = _connectivity(given.archive), variables_of(pd.read_csv(given.phenotypes))
    found: dict[tuple[str, str], int] = {}
    for number in range(given.sets):
        for design, name, values in _null_designs(edges, variables, np.random.default_rng(number)):
            for test, hit in _tests(design, values, number):
                found[name, test] = found.get((name, test), 0) + hit
    low, high = stats.binom.interval(0.99, given.sets, ALPHA)
    table = Table("design", "test", "false", "of 5 %", title=f"{given.sets:,} null data sets, {PEOPLE} people each")
    for (name, test), n in found.items():
        verdict = "kept" if low <= n <= high else "MISSED" if n > high else "below"
        table.add_row(name, test, f"{n / given.sets:.1%}", verdict)
    Console().print(table, f"Of 5 %, {low / given.sets:.1%} to {high / given.sets:.1%} are expected (99 %).")


def _connectivity(archive: Path) -> FloatArray:
    """Fisher z of the first regions of everybody, shape (n_people, n_pairs); gaps of silent regions are zero."""
    with np.load(archive) as stored:
        series, ends = stored["series"][:, :REGIONS], np.cumsum(stored["n_timepoints"])
    pairs, edges = np.triu_indices(REGIONS, 1), []
    for own in np.split(series.astype(np.float64), ends[:-1]):
        scaled = own - own.mean(axis=0)
        scaled /= np.maximum(np.linalg.norm(scaled, axis=0), 1e-12)
        edges.append(np.arctanh(np.clip((scaled.T @ scaled)[pairs], -0.999, 0.999)))
    return np.array(edges)


def _null_designs(
    edges: FloatArray, variables: pd.DataFrame, rng: np.random.Generator
) -> Iterator[tuple[StudyDesign, str, FloatArray]]:
    """Designs in which nothing goes with what is tested, and the connectivity of their people."""
    known = np.flatnonzero(variables[["age", "sex", "site", "motion"]].notna().all(axis=1))
    people = rng.choice(known, PEOPLE, replace=False)
    values, table = edges[people], variables.iloc[people].reset_index(drop=True)
    names, few = [str(one) for one in people], rng.permutation(PEOPLE) < PEOPLE // 3
    table["random"], table["score"] = np.where(few, "b", "a"), rng.standard_normal(PEOPLE)
    table["three"] = rng.permutation(np.resize(list("xyz"), PEOPLE))
    centre = edges[known].mean(axis=0)
    uneven = centre + (values - centre) * np.where(few, 2.0, 1.0)[:, None]
    rising = centre + (values - centre) * (0.3 + table["score"].abs()).to_numpy()[:, None]
    for formula, test, within, name, own in (
        ("~ random + age + motion", "random", "", "20 and 40, SD twice", uneven),
        ("~ score + age + sex", "score", "", "score, SD rises with it", rising),
        ("~ three + age", "three", "", "three groups, F", values),
        ("~ random * score", "random:score", "", "interaction, SD twice", uneven),
        ("~ random", "random", "sex", "within a category", values),
    ):
        yield study_design(table, formula, test=test, persons=names, within=within), name, own
    other = edges[rng.choice(np.setdiff1d(known, people), PEOPLE, replace=False)]
    pairs = pd.concat([table, table], ignore_index=True).assign(side=np.repeat(["first", "second"], PEOPLE))
    paired = study_design(pairs, "~ side", test="side", persons=names * 2, recordings="compared")
    turned = (rng.random(PEOPLE) < 0.5)[:, None]
    yield paired, "pairs", np.vstack([np.where(turned, values, other), np.where(turned, other, values)])


def _tests(design: StudyDesign, values: FloatArray, seed: int) -> Iterator[tuple[str, bool]]:
    labels = [f"network {i % 5}" for i in range(REGIONS)]
    threshold = stats.t.isf(0.005, design.degrees)
    threshold = threshold**2 / 2 if len(design.contrasts[0].weights) > 1 else threshold
    for method in METHODS:
        options = EdgeOptions(method=method, edge_threshold=threshold, permutations=PERMUTATIONS, seed=seed)  # type: ignore[arg-type]
        one = edge_effects(design, values, options, labels=labels if method == "blocks" else None)
        if method == "edges":
            yield "max-T", bool((one.table["p_family"] <= ALPHA).any())
            yield "FDR", bool((one.table["q"] <= ALPHA).any())
        elif method == "threshold-free":
            yield "TFNBS", bool((one.table["p_score"] <= ALPHA).any())
        else:
            title = {"extent": "NBS, extent", "intensity": "NBS, intensity", "blocks": "blocks"}[method]
            yield title, bool((one.networks["p_family"] <= ALPHA).any())
    yield (
        "one edge",
        bool(effects_of(design, values[:, [0]], permutations=PERMUTATIONS, seed=seed).table["p"][0] <= ALPHA),
    )


if __name__ == "__main__":
    main()
