"""What a specification curve costs beside the bare measures, and what one costs of which everything was measured.

``BIOBGT_PEOPLE=0.1 python -m benchmarks specifications`` takes a tenth of the people, for a machine that others use.
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from threadpoolctl import threadpool_limits

from benchmarks.timing import Ratio, print_ratios, timed
from biobgt.data.connectivity import graph_from_connectivity, subject_connectivity
from biobgt.data.graph import BrainGraph, ConnectomeSettings
from biobgt.data.simulate import demo_cohort
from biobgt.hubs import node_efficiency, node_entanglement
from biobgt.results.measured import Measured
from biobgt.specifications.folder import survive
from biobgt.specifications.options import SurvivalOptions
from biobgt.specifications.plan import SurvivalPlan, plan_survival
from biobgt.specifications.run import specification_curve
from biobgt.specifications.ways import Way, recording_of

SHARE = float(os.environ.get("BIOBGT_PEOPLE", "1"))
WAYS, PEOPLE = 500, 100


def run() -> None:
    """Print the ratios."""
    with threadpool_limits(1):
        ratios = [_one_subject(), *_many_people()]
    print_ratios("Specifications, 200 regions, processor time of one core", ratios)


def _one_subject() -> Ratio:
    """NE of one subject in 500 ways, beside NE and NEff of the same 500 graphs without anything else."""
    cohort = demo_cohort("asd", n_per_group=1)
    options = SurvivalOptions(most=round(WAYS * SHARE))
    plan = plan_survival(cohort, ConnectomeSettings(), options)
    graphs = [(way, _graph(plan, way)) for way in plan.ways.every]
    ours, curve = timed(
        lambda: specification_curve(Measured(cohort, subject=cohort.ids[0]), options), repeats=1, clock=process_time
    )
    bare, _ = timed(lambda: _bare(graphs), repeats=1, clock=process_time)
    assert len(curve.known) == len(graphs)
    return Ratio(f"{len(graphs)} specifications of one subject", "their bare measures", ours / bare, "≤ 3")


def _graph(plan: SurvivalPlan, way: Way) -> BrainGraph:
    one = recording_of(plan.situation.cohort.subjects[0], way.global_signal, way.part)
    connectivity = subject_connectivity(one, estimator=way.settings.estimator)
    return graph_from_connectivity(connectivity, way.settings, atlas=plan.situation.cohort.atlas)


def _bare(graphs: list[tuple[Way, BrainGraph]]) -> None:
    for way, graph in graphs:
        node_entanglement(graph, gamma=way.hubs.gamma, perturbation=way.hubs.perturbation)
        node_efficiency(graph)


def _many_people() -> list[Ratio]:
    """A difference of groups in 200 ways over 100 people: measured, and once more with everything there."""
    cohort = demo_cohort("asd", n_per_group=max(10, round(PEOPLE * SHARE / 2)))
    options = SurvivalOptions(finding="modularity", first="NC", second="ASD", runs=5)
    plan = plan_survival(cohort, ConnectomeSettings(), options)
    with TemporaryDirectory() as name:
        first, curve = timed(lambda: survive(plan, Path(name)), repeats=1, clock=process_time)
        again, _ = timed(lambda: survive(plan, Path(name)), repeats=1, clock=process_time)
    what = f"{len(curve.table)} specifications of {len(cohort)} people, all measured before"
    return [Ratio(what, "measuring them", again / first, "≤ 0.1")]
