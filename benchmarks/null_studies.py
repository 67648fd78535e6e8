"""How often a study finds something where there is nothing: null data sets made of real subjects.

    python -m benchmarks.null_studies abide_cc200.npz abide_phenotypes.csv --sets 1000 --kept null_studies.jsonl

Every data set draws real people, with replacement of nothing but their labels: groups and scores are random, so that
whatever is found is false. Age, sex and site stay each person's own. Groups have unequal sizes, and the smaller one's
deviations from the mean of all people are doubled. Counted are data sets in which anything has p (or q) of at most
0.05; of 5 % the share lies within the 99 % binomial interval. Regions are tested in their number of
connections, and networks in some numbers, as areas over densities. The archive holds ``series``, ``n_timepoints`` and
``subject``, row i of the table is subject i. With ``--kept`` every set is a line of a file, and a second run goes on.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from scipy import stats

from biobgt.base.arrays import FloatArray
from biobgt.inference import EdgeOptions, StudyDesign, edge_effects, effects_of, study_design, variables_of

PEOPLE, REGIONS, PERMUTATIONS, ALPHA = 60, 40, 199, 0.05
DENSITIES = (0.1, 0.2, 0.3)
METHODS = ("edges", "extent", "intensity", "threshold-free", "blocks")


def main() -> None:
    """Count what is found in null data sets, and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path)
    parser.add_argument("phenotypes", type=Path)
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--kept", type=Path, help="a line per set is added to this file, and none is made again")
    given = parser.parse_args()
    sets = _kept_sets(given.kept)
    edges, variables = _connectivity(given.archive), variables_of(pd.read_csv(given.phenotypes))
    measured = (edges, *_areas(edges))
    for number in sorted(set(range(given.sets)) - set(sets)):
        sets[number] = {
            f"{name}: {test}": bool(hit)
            for design, name, values in _null_designs(measured, variables, np.random.default_rng(number))
            for test, hit in _tests(design, *values, seed=number)
        }
        if given.kept is not None:
            with given.kept.open("a") as lines:
                lines.write(json.dumps({"set": number, **sets[number]}) + "\n")
    low, high = stats.binom.interval(0.99, len(sets), ALPHA)
    table = Table("design: test", "false", "of 5 %", title=f"{len(sets):,} null data sets, {PEOPLE} people each")
    for name, n in pd.DataFrame(sets.values()).sum().items():
        verdict = "kept" if low <= n <= high else "MISSED" if n > high else "below"
        table.add_row(str(name), f"{n / len(sets):.1%}", verdict)
    Console().print(table, f"Of 5 %, {low / len(sets):.1%} to {high / len(sets):.1%} are expected (99 %).")


def _kept_sets(file: Path | None) -> dict[int, dict[str, bool]]:
    """What was found in the sets of an earlier run, by number; a line that was cut off is made again."""
    sets = {}
    for line in file.read_text().splitlines() if file is not None and file.exists() else ():
        with suppress(json.JSONDecodeError):
            found = json.loads(line)
            sets[found.pop("set")] = found
    return sets


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
    measured: Sequence[FloatArray], variables: pd.DataFrame, rng: np.random.Generator
) -> Iterator[tuple[StudyDesign, str, list[FloatArray]]]:
    """Designs in which nothing goes with what is tested, and what was measured of their people."""
    known = np.flatnonzero(variables[["age", "sex", "site", "motion"]].notna().all(axis=1))
    people = rng.choice(known, PEOPLE, replace=False)
    table = variables.iloc[people].reset_index(drop=True)
    names, few = [str(one) for one in people], rng.permutation(PEOPLE) < PEOPLE // 3
    table["random"], table["score"] = np.where(few, "b", "a"), rng.standard_normal(PEOPLE)
    table["three"] = rng.permutation(np.resize(list("xyz"), PEOPLE))
    twice, rising = np.where(few, 2.0, 1.0), 0.3 + table["score"].abs().to_numpy()
    for formula, test, within, name, spread in (
        ("~ random + age + motion", "random", "", "20 and 40, SD twice", twice),
        ("~ score + age + sex", "score", "", "score, SD rises with it", rising),
        ("~ three + age", "three", "", "three groups, F", np.ones(PEOPLE)),
        ("~ random * score", "random:score", "", "interaction, SD twice", twice),
        ("~ random", "random", "sex", "within a category", np.ones(PEOPLE)),
    ):
        design = study_design(table, formula, test=test, persons=names, within=within)
        centres = (values[known].mean(axis=0) for values in measured)
        spread_out = [
            centre + (values[people] - centre) * spread[:, None]
            for values, centre in zip(measured, centres, strict=True)
        ]
        yield design, name, spread_out
    others = rng.choice(np.setdiff1d(known, people), PEOPLE, replace=False)
    pairs = pd.concat([table, table], ignore_index=True).assign(side=np.repeat(["first", "second"], PEOPLE))
    paired = study_design(pairs, "~ side", test="side", persons=names * 2, recordings="compared")
    turned = rng.random(PEOPLE) < 0.5
    rows = np.concatenate([np.where(turned, people, others), np.where(turned, others, people)])
    yield paired, "pairs", [values[rows] for values in measured]


def _tests(
    design: StudyDesign, edges: FloatArray, regions: FloatArray, network: FloatArray, *, seed: int
) -> Iterator[tuple[str, bool]]:
    """Each test, and whether anything is found in it."""
    labels = [f"network {i % 5}" for i in range(REGIONS)]
    threshold = stats.t.isf(0.005, design.degrees)
    threshold = threshold**2 / 2 if len(design.contrasts[0].weights) > 1 else threshold
    for method in METHODS:
        options = EdgeOptions(method=method, edge_threshold=threshold, permutations=PERMUTATIONS, seed=seed)  # type: ignore[arg-type]
        one = edge_effects(design, edges, options, labels=labels if method == "blocks" else None)
        if method == "edges":
            yield "max-T", bool((one.table["p_family"] <= ALPHA).any())
            yield "FDR", bool((one.table["q"] <= ALPHA).any())
        elif method == "threshold-free":
            yield "TFNBS", bool((one.table["p_score"] <= ALPHA).any())
        else:
            title = {"extent": "NBS, extent", "intensity": "NBS, intensity", "blocks": "blocks"}[method]
            yield title, bool((one.networks["p_family"] <= ALPHA).any())
    for values, tests in (
        (edges[:, :1], {"one edge": "p"}),
        (regions, {"regions, max-T": "p_family", "regions, FDR": "q"}),
        (network, {"network, FDR": "q"}),
    ):
        found = effects_of(design, values, permutations=PERMUTATIONS, seed=seed).rows(design.contrasts[0].name)
        yield from ((test, bool((found[column] <= ALPHA).any())) for test, column in tests.items())


def _areas(edges: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Areas over densities of each region's degree, and numbers of each network; a column each, a row per person."""
    first, second = np.triu_indices(REGIONS, 1)
    strong = np.argsort(np.argsort(-edges, axis=1), axis=1)
    degrees, clustering = [], []
    for density in DENSITIES:
        graphs = np.zeros((len(edges), REGIONS, REGIONS))
        graphs[:, first, second] = graphs[:, second, first] = strong < density * edges.shape[1]
        degrees.append(graphs.sum(axis=2))
        paths = (degrees[-1] * (degrees[-1] - 1)).sum(axis=1)
        clustering.append(np.trace(graphs @ graphs @ graphs, axis1=1, axis2=2) / paths)
    within = first % 5 == second % 5
    segregation = edges[:, within].mean(axis=1) - edges[:, ~within].mean(axis=1)
    areas = [np.asarray(np.trapezoid(values, DENSITIES, axis=0), np.float64) for values in (degrees, clustering)]
    return areas[0], np.column_stack([edges.mean(axis=1), segregation, areas[1], areas[0].std(axis=1)])


if __name__ == "__main__":
    main()
