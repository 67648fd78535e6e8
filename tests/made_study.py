"""A finished study whose findings were written by hand, so that what figures and reports say of it is known."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from biobgt.base.beyond import beyond
from biobgt.data.atlas import load_atlas
from biobgt.data.graph import ESTIMATED, KINDS, ConnectomeSettings
from biobgt.study.data import StudyData
from biobgt.study.design import DesignOptions
from biobgt.study.findings import TABLES, StudyFindings, TestedContrast, TestedDesign
from biobgt.study.finished import FinishedStudy

ATLAS = load_atlas("aal90")
LEVELS = (0.1, 0.2, 0.3)
CONTRAST = "ASD - NC"
N = 24
# Edges of the component that is found, regions counted from 1, with t; region 1 has three of them.
FOUND_EDGES = {(1, 2): 5.0, (1, 3): 4.5, (1, 9): -4.0}
# Regions whose area under the curve is found, and their effects at the three levels: the second turns round.
FOUND_REGIONS = {4: (0.8, 1.0, 1.2), 7: (-0.6, 0.5, 2.1)}
NETWORK = {"q": -1.1, "mean_connectivity": 0.2, "system segregation": -0.9}


def _tests(effects, *, statistic=None, q=None):
    """The columns of a test with these effects; q is small where the effect is large, unless it is given."""
    effects = np.asarray(effects, float)
    q = np.where(np.abs(effects) > 0.5, 0.01, 0.6) if q is None else np.asarray(q, float)
    known = np.isfinite(effects)
    columns = {"estimate": effects / 10, "effect": effects, "effect_low": effects - 0.4, "effect_high": effects + 0.4}
    columns["statistic"] = effects * 3 if statistic is None else statistic
    return pd.DataFrame({**columns, **{name: np.where(known, q, np.nan) for name in ("p", "p_family", "q")}})


def _given(table):
    """Given what is simpler, effects are half as large: of those above 0.5 only those above 1 are left."""
    area = table["level"].isna()
    effects = np.where(area, table["effect"] / 2, np.nan)
    q = np.where(np.isnan(effects), np.nan, np.where(np.abs(effects) > 0.5, 0.01, 0.6))
    words = np.where(area, beyond(table["q"], q, table["effect"], effects), "")
    return table.assign(effect_given=effects, p_given=q, q_given=q, beyond_fc=words)


def _edges():
    first, second = (at + 1 for at in np.triu_indices(ATLAS.n_regions, 1))
    t = np.array([FOUND_EDGES.get(pair, 0.5) for pair in zip(first.tolist(), second.tolist(), strict=True)])
    component = np.array([1.0 if abs(one) > 3 else 0.0 for one in t])
    table = pd.DataFrame({"region": first, "other_region": second})
    return pd.concat([table, _tests(t / 3, statistic=t)], axis=1).assign(component=component)


def _regions(measure, found):
    tables = []
    for place, level in enumerate((np.nan, *LEVELS)):
        effects = np.zeros(ATLAS.n_regions)
        for region, own in found.items():
            effects[region - 1] = np.mean(own) if place == 0 else own[place - 1]
        effects[19] = np.nan
        table = pd.DataFrame({"measure": measure, "level": level, "region": np.arange(1, ATLAS.n_regions + 1)})
        tables.append(pd.concat([table.assign(name=ATLAS.regions), _tests(effects)], axis=1).assign(levels_alike=1.0))
    return _given(pd.concat(tables, ignore_index=True))


def _network():
    tables = []
    for level in (np.nan, *LEVELS):
        table = pd.DataFrame({"measure": list(NETWORK), "level": level})
        tables.append(pd.concat([table, _tests(list(NETWORK.values()))], axis=1).assign(levels_alike=1.0))
    return _given(pd.concat(tables, ignore_index=True))


def _both(table, *, without=0.5):
    """A table with overall connectivity not adjusted for, and adjusted for: then effects are half as large."""
    other = table.copy()
    for column in ("estimate", "effect", "effect_low", "effect_high"):
        if column in other:
            other[column] *= without
    both = [table.assign(adjusted=False), other.assign(adjusted=True)]
    return pd.concat(both, ignore_index=True).assign(contrast=CONTRAST)


def made_findings() -> StudyFindings:
    """What is found: one component of edges, two regions, one number of the network."""
    contrast = TestedContrast(CONTRAST, ("NC", "ASD"), "t", "d", 1.8)
    designs = tuple(
        TestedDesign(
            adjusted=adjusted,
            formula="~ 1 + age + group",
            test="group",
            recordings="averaged",
            contrasts=(contrast,),
            sizes={"NC": 12, "ASD": 12},
            n_people=N,
            n_rows=N,
            degrees=21 - adjusted,
            explained=0.1,
            covariates=("age", *(["overall_connectivity"] if adjusted else [])),
            notes=("group and the covariates are partly confounded.",),
        )
        for adjusted in (False, True)
    )
    component = {"component": 1, "direction": "higher", "n_edges": 3, "n_regions": 4, "size": 3.0, "threshold": 3.1}
    component["p_family"] = 0.02
    maps = {
        "map": "node_entanglement",
        "other_map": "node_efficiency",
        "rho": 0.62,
        "p": 0.003,
        "q": 0.003,
        "naive_p": 1e-6,
    }
    maps |= {"null": "spins", "n_regions": 90, "adjusted": False, "contrast": ""}
    sites = [f"site {name}" for name in "ABAB"] * 6
    before = np.linspace(0.2, 0.5, N)
    return StudyFindings(
        designs=designs,
        edges=_both(_edges()),
        components=_both(pd.DataFrame([component])),
        blocks=pd.DataFrame(columns=TABLES["blocks"]),
        labelling="dosenbach",
        regions=_both(
            pd.concat([_regions("node_entanglement", FOUND_REGIONS), _regions("participation", {})], ignore_index=True)
        ),
        network=_both(_network()),
        maps=pd.DataFrame([maps]),
        harmonised=pd.DataFrame(
            [
                {
                    "measure": "edges",
                    "level": np.nan,
                    "feature": str(i),
                    "before": 0.2,
                    "after": 0.01,
                    "spread_before": 0.1,
                    "spread_after": 0.02,
                }
                for i in range(1, 21)
            ]
        ),
        overall_by_site=pd.DataFrame(
            {"subject": [f"sub-{i:02d}" for i in range(N)], "site": sites, "before": before, "after": before * 0 + 0.35}
        ),
        options=DesignOptions(permutations=999, design="~ age + group", test="group", harmonise="combat"),
        notes=("Measures were harmonised over 2 sites.",),
    )


def made_data() -> StudyData:
    """Twenty-four people, half of them with autism."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"subject": [f"sub-{i:02d}" for i in range(N)], "group": ["NC"] * 12 + ["ASD"] * 12})
    table["age"], table["site"] = rng.uniform(8, 20, N), ["A", "B"] * 12
    n, pairs = ATLAS.n_regions, ATLAS.n_regions * (ATLAS.n_regions - 1) // 2
    return StudyData(
        table=table,
        persons=tuple(table["subject"]),
        atlas=ATLAS,
        kind=KINDS[ESTIMATED],
        settings=ConnectomeSettings(threshold="proportional", level=LEVELS[0]),
        levels=LEVELS,
        edges=rng.standard_normal((N, pairs)).astype(np.float32) * 0.2 + 0.3,
        regions={key: rng.random((N, len(LEVELS), n)) for key in ("node_entanglement", "participation")},
        network={key: rng.random((N, len(LEVELS))) for key in NETWORK},
        overall=rng.random(N),
    )


def made_study(**about) -> FinishedStudy:
    """The study, of simulated people unless said otherwise."""
    return FinishedStudy(made_data(), made_findings(), name="Made study", **{"simulated": True, **about})


def write_made_study(folder: Path) -> FinishedStudy:
    """Write of the study what a report reads beside its arrays: who is in it, who failed, and the findings."""
    study = made_study()
    recordings = study.data.table.assign(status="measured", reason="", files="")
    failed = {"subject": "sub-99", "group": "ASD", "status": "failed", "reason": "Its <b>file</b> is empty."}
    recordings = pd.concat([recordings, pd.DataFrame([failed])], ignore_index=True)
    recordings.to_csv(folder / "recordings.tsv", sep="\t", index=False)
    pd.DataFrame(columns=["file", "reason"]).to_csv(folder / "refused.tsv", sep="\t", index=False)
    (folder / "study.json").write_text(json.dumps({"version": "1.0", "cohort": study.cohort.name}), encoding="utf-8")
    study.findings.write(folder / "group")
    (folder / "centiles").mkdir(exist_ok=True)
    centiles = pd.DataFrame(
        {"subject": study.data.table["subject"], "measure": "q", "centile": [2.0, *[50.0] * (N - 1)]}
    )
    centiles.to_csv(folder / "centiles" / "centiles.csv", index=False)
    return study
