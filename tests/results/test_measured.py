"""A result is measured once, watched while it is, kept by the store, and the same as the direct functions give."""

from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

from biobgt import ConnectomeSettings, InputError
from biobgt.base.kept import Key, MemoryStore, kept
from biobgt.data.connectivity import TangentSpace, brain_graph, subject_connectivity
from biobgt.data.quality import mean_connectivity
from biobgt.data.simulate import demo_cohort
from biobgt.hubs import hub_table, measure_hubs
from biobgt.hubs.agreement import graph_agreement, hub_correlation, set_against_nulls, subject_sweep
from biobgt.hubs.measures import GAMMAS, HUB_MEASURES, EntanglementOptions, HubAnalysisOptions, HubOptions
from biobgt.hubs.region import explain_region
from biobgt.hubs.reliability import HALVES, compare_halves, measure_half
from biobgt.hubs.table import measure_curves
from biobgt.results.measured import Measured

OPTIONS = HubOptions(2.0, "remove", "sd", 0.2)
MEASURES = ("node_entanglement", "degree")


@pytest.fixture(scope="module")
def cohort():
    return demo_cohort("ad", n_per_group=1)


@pytest.fixture(scope="module")
def measured(cohort):
    return Measured(cohort).of(cohort.ids[0])


@pytest.fixture(scope="module")
def graph(cohort):
    return brain_graph(cohort.subjects[0], cohort.atlas)


@pytest.fixture(scope="module")
def hubs(cohort, graph):
    return measure_hubs(graph, subject_connectivity(cohort.subjects[0]), perturbation="remove")


class Watched:
    """Writes down each result that is about to be measured, and may stop one."""

    def __init__(self, stop=None):
        self.entered, self.left, self.stop = [], [], stop

    @contextmanager
    def __call__(self, key):
        self.entered.append(key.name)
        if key.name == self.stop:
            raise KeyboardInterrupt
        yield
        self.left.append(key.name)


def test_what_a_result_does_not_depend_on_does_not_measure_it_again(cohort):
    watch = Watched()
    whole = Measured(cohort, watch=watch)
    one = whole.of(cohort.ids[0])
    table = one.hub_table(OPTIONS)
    assert one.hub_table(HubAnalysisOptions(2.0, "remove", "sd", 0.2, seed=9, nulls=3)) is table
    one.hub_table(HubOptions(0.5, "remove"))
    assert watch.entered.count("hubs") == 1, "the spectra are those of any γ"
    assert watch.entered.count("hub_table") == 2
    one.hub_table(HubOptions(0.5, "control"))
    assert watch.entered.count("hubs") == 2
    curves = one.hub_curves(EntanglementOptions(0.5), MEASURES)
    assert one.hub_curves(EntanglementOptions(3.0), MEASURES) is curves, "any γ of the grid"
    whole.of(cohort.ids[0], ConnectomeSettings(level=0.2)).graph()
    assert watch.entered.count("connectivity_by") == 1, "the estimator is the same"
    assert watch.entered.count("graph") == 2
    whole.of(cohort.ids[1]).graph()
    assert watch.entered.count("connectivity_by") == 2


def test_the_watch_may_stop_a_measurement_and_nothing_half_done_is_kept(cohort):
    watch = Watched(stop="hubs")
    one = Measured(cohort, watch=watch).of(cohort.ids[0])
    with pytest.raises(KeyboardInterrupt):
        one.hub_table(OPTIONS)
    assert not one.is_kept(Measured.hubs, "remove")
    assert not one.is_kept(Measured.hub_table, OPTIONS)
    watch.stop = None
    assert len(one.hub_table(OPTIONS)) == 90
    assert one.is_kept(Measured.hubs, "remove")
    assert one.is_kept(Measured.hub_table, OPTIONS)


def test_memory_keeps_a_number_of_each_name_and_drops_the_oldest():
    store, keys = MemoryStore(), [Key("few", i, most=2) for i in range(3)]
    store.put(Key("others", most=2), "other")
    for i, key in enumerate(keys):
        store.put(key, i)
    assert [store.get(key) for key in keys] == [None, 1, 2]
    assert store.get(Key("others")) == "other"


def test_what_somebody_waited_for_is_kept_beneath_and_read_once():
    slow, another, quick = Key("slow", 1, "Measuring…", 1), Key("slow", 2, "Measuring…", 1), Key("quick", 1, "", 1)

    class Beneath(MemoryStore):
        asked = 0

        def get(self, key):
            self.asked += 1
            return super().get(key)

    first, again, beneath = MemoryStore(), MemoryStore(), Beneath()
    first.beneath = again.beneath = beneath
    for key in (slow, quick):
        first.put(key, key.name)
    for _ in range(2):
        assert again.get(slow) == "slow"
        assert again.get(quick) is None
        assert again.get(another) is None
    assert beneath.asked == 2  # for the slow one, and for the other that is not there
    again.put(another, "another")
    assert again.get(another) == "another"
    first.put(slow, "slow")
    assert again.get(slow) == "slow"  # dropped from memory, and there beneath


@kept("Counting…", most=1)
def answer(measured, options: HubOptions, number: int = 2, *, loud: bool = False) -> list[object]:
    return [options, number, loud]


def test_name_and_arguments_with_defaults_and_the_named_part_of_options_are_the_key(cohort):
    watch = Watched()
    one = Measured(cohort, watch=watch, subject=cohort.ids[0])
    first = answer(one, HubAnalysisOptions(2.0, seed=9))
    assert first == [HubOptions(2.0), 2, False]
    assert type(first[0]) is HubOptions
    assert answer(one, options=HubOptions(2.0), number=2, loud=False) is first
    assert answer(Measured(cohort, one.store).of(cohort.ids[0]), HubOptions(2.0)) is first, "the caller's store"
    assert one.recall(answer, HubOptions(2.0)) is first
    assert not one.is_kept(answer, HubOptions(2.0), loud=True)
    assert not one.of(cohort.ids[1]).is_kept(answer, HubOptions(2.0))
    assert not one.of(cohort.ids[0], ConnectomeSettings(level=0.2)).is_kept(answer, HubOptions(2.0))
    key = one.key(answer, HubOptions(2.0), 3)
    assert (key.name, key.doing, key.most) == ("answer", "Counting…", 1)
    answer(one, HubOptions(2.0), 3)
    assert answer(one, HubOptions(2.0)) is not first, "dropped, and measured again"
    assert watch.entered == watch.left == ["answer"] * 3
    for wrong in ((), (HubOptions(), 1, True)):
        with pytest.raises(TypeError):
            answer(one, *wrong)


def test_a_result_may_not_depend_on_the_graph_or_the_subject_or_depend_on_something_else(cohort):
    @kept(graph=False)
    def of_subject(measured):
        return [1]

    @kept(subject=False, by=lambda measured, text: len(text))
    def of_cohort(measured, text):
        return [text]

    one = Measured(cohort).of(cohort.ids[0])
    two = one.of(cohort.ids[1])
    assert of_subject(one) is of_subject(one.of(cohort.ids[0], ConnectomeSettings(level=0.2))) is not of_subject(two)
    assert of_cohort(one, "a") is of_cohort(two, "b") is of_cohort(one.of(None), "c")
    assert of_cohort(one, "ab") == ["ab"]


def test_connectivity_and_graphs_are_the_direct_ones(cohort, measured, graph):
    subject = cohort.subjects[0]
    np.testing.assert_array_equal(measured.pearson(), subject_connectivity(subject))
    np.testing.assert_array_equal(measured.graph().weights, graph.weights)
    assert (measured.graph().subject, measured.graph().simulated) == (subject.id, True)
    assert measured.mean_connectivity() == mean_connectivity(subject)
    tangent = Measured(cohort).of(subject.id, ConnectomeSettings("tangent"))
    np.testing.assert_allclose(tangent.connectivity(), TangentSpace.fit(cohort).transform([subject])[0], atol=1e-10)
    np.testing.assert_array_equal(tangent.pearson(), measured.pearson())


def test_hubs_are_the_direct_ones(cohort, measured, graph, hubs):
    whole = subject_connectivity(cohort.subjects[0])
    expected = hub_table(graph, connectivity=whole, gamma=2.0, perturbation="remove", rule="sd", share=0.2)
    expected.attrs = {}
    pd.testing.assert_frame_equal(measured.hub_table(OPTIONS), expected)
    assert measured.strongest_hub(OPTIONS) == hubs.entanglement(2.0).argmax()
    assert measured.hub_correlation(OPTIONS, "degree") == hub_correlation(hubs, 2.0, "degree")
    sweep = subject_sweep(hubs, (0.5, 2.0), measures=("degree",))
    pd.testing.assert_frame_equal(measured.hub_sweep("remove", ("degree",), (0.5, 2.0)), sweep)
    curves = measured.hub_curves(OPTIONS, MEASURES)
    direct = measure_curves(graph, whole, GAMMAS, measures=MEASURES, perturbation="remove")
    for key, values in direct.at(2.0).items():
        np.testing.assert_array_equal(curves.at(2.0)[key], values)
    assert measured.hub_curves(HubOptions(0.77), MEASURES).gammas == (0.77,), "a γ beside the grid"
    story, told = explain_region(graph, hubs, 3, options=OPTIONS), measured.explain_region(OPTIONS, 3)
    assert told.standings == story.standings
    np.testing.assert_array_equal(told.change, story.change)


def test_agreement_and_halves_are_the_direct_ones(cohort, measured, graph, hubs):
    how = {"has_signal": hubs.has_signal, "perturbation": "remove"}
    own, null = graph_agreement(graph, GAMMAS, **how), graph_agreement(graph, GAMMAS, null=4, **how)
    assert measured.own_agreement("remove").at(2.0) == pytest.approx(own.at(2.0))
    assert measured.null_agreement("remove", 4).at(2.0) == pytest.approx(null.at(2.0))
    assert measured.null_agreement("remove", 5).at(2.0) != pytest.approx(null.at(2.0))
    nulls = [measured.null_agreement("remove", seed) for seed in (1, 4)]
    found = measured.agreement_against_nulls(OPTIONS, (1, 4))
    assert found["partial"].n_nulls == 2
    assert vars(found["partial"]) == pytest.approx(vars(set_against_nulls(own, nulls, 2.0)["partial"]))
    where = (cohort.subjects[0], cohort.atlas, ConnectomeSettings())
    halves = [measure_half(*where, number, perturbation="remove") for number in HALVES]
    for number, half in zip(HALVES, halves, strict=True):
        found = measured.half_hubs("remove", number)
        np.testing.assert_array_equal(found.entanglement(2.0), half.entanglement(2.0))
    expected = compare_halves(*halves, 2.0, measures=list(HUB_MEASURES), top=0.2)
    pd.testing.assert_frame_equal(measured.halves_compared(OPTIONS), expected)


def test_the_cohort_is_nobody(cohort):
    whole = Measured(cohort).of(None)
    assert whole.one is None
    with pytest.raises(InputError, match="name the subject"):
        whole.graph()
    with pytest.raises(InputError, match="no subject 'nobody'"):
        Measured(cohort).of("nobody")
