"""Results in a folder are the same when they are read again, and only for what they depend on."""

import json
from contextlib import nullcontext
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pandas as pd
import pytest
from tiny_models import write_tiny_model

from biobgt import kept_results
from biobgt.errors import InputError
from biobgt.figures.attention_options import AttentionOptions
from biobgt.graph import ConnectomeSettings
from biobgt.groups.comparison_options import ComparisonOptions
from biobgt.groups.measured_comparison import compare_measured, subject_features
from biobgt.hubs.hub_options import HubOptions
from biobgt.hubs.measures import HUB_MEASURES, HubMeasure, MeasuresWithoutGamma
from biobgt.kept_results import Key, Kind, MemoryStore
from biobgt.measured import MeasuredCohort
from biobgt.model import pretrained
from biobgt.model.inputs import prepare
from biobgt.model.installed import installed_model
from biobgt.model.presets import preset_named
from biobgt.modules.module_options import ModuleOptions
from biobgt.result_encoding import decoded, encoded
from biobgt.result_store import FolderStore
from biobgt.simulate import demo_cohort

SETTINGS, HUBS, MODULES = ConnectomeSettings(level=0.35), HubOptions(2.0), ModuleOptions(runs=5)
KINDS = {kind.name: kind for kind in vars(kept_results).values() if isinstance(kind, Kind)}
COMPARED = ComparisonOptions(first="NC", second="AD", of="segregation", permutations=50, runs=5)
MODEL = "tiny-aal90"
QUESTIONS = {
    "tangent space": lambda one: replace(one, settings=ConnectomeSettings(estimator="tangent")).connectivity(),
    "connectivity": lambda one: one.connectivity(),
    "graph": lambda one: one.graph(),
    "mean connectivity": lambda one: one.mean_connectivity(),
    "hubs": lambda one: one.hubs("control"),
    "hub table": lambda one: one.hub_table(HUBS),
    "hub correlation": lambda one: one.hub_correlation(HUBS, "degree"),
    "hub sweep": lambda one: one.hub_sweep("control", ("degree",), (0.5, 2.0)),
    "hub curves": lambda one: one.hub_curves(HUBS, ("node_entanglement", "degree")),
    "region story": lambda one: one.region_story(HUBS, 3),
    "agreement": lambda one: one.own_agreement("control"),
    "agreement in a null graph": lambda one: one.null_agreement("control", 1),
    "hubs of half a recording": lambda one: one.half_hubs("control", 0),
    "prediction": lambda one: one.prediction(installed_model(MODEL)),
    "what a model sees": lambda one: one.explanation(installed_model(MODEL)),
    "NE and modules that a model is given": lambda one: prepare(
        [one.subject], preset_named("paper-abide"), store=one.whole.store
    ).entanglement.numpy(),
    "modules of a model's controls": lambda one: AttentionOptions(order="louvain").regions(one, installed_model(MODEL)),
    "modules": lambda one: one.modules(MODULES),
    "module of each region": lambda one: one.module_labels(MODULES),
    "agreement of modules and labels": lambda one: one.module_agreement(MODULES, "dosenbach"),
    "modules at a resolution": lambda one: one.resolution_step(MODULES, 1.0),
    "modularity of a null graph": lambda one: one.null_modularity(MODULES, 1),
    "small world against a null graph": lambda one: one.null_small_world(MODULES, 1),
    "modules of two groups": lambda one: one.module_difference(MODULES, ("NC", "AD")),
    "what groups are compared in": lambda one: subject_features(one, COMPARED),
    "two groups compared": lambda one: compare_measured(one, COMPARED),
}


@pytest.fixture(scope="module")
def cohort():
    return demo_cohort("ad", n_per_group=6)  # as many as a comparison of two groups needs


@pytest.fixture(scope="module", autouse=True)
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pretrained")
    write_tiny_model(folder / MODEL, "ad", "adsim", simulated=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pretrained, "pretrained_folder", lambda: folder)
        yield


@pytest.fixture(scope="module")
def kept(cohort, tmp_path_factory):
    """A folder with a result of every kind, and the results."""
    folder = tmp_path_factory.mktemp("kept")
    one = measured(cohort, FolderStore(folder, "one"))
    return folder, {name: ask(one) for name, ask in QUESTIONS.items()}


def measured(cohort, store, counted=None):
    def watch(key):
        if counted is not None:
            counted.append(key.kind.name)
        return nullcontext()

    return MeasuredCohort(cohort, store, watch).of(cohort.ids[0], SETTINGS)


def assert_same(found, expected):
    """Equal in every part, and in type; measures that are computed when asked for are kept computed."""
    if isinstance(expected, MeasuresWithoutGamma):
        expected = dict(expected)
    assert type(found) is type(expected)
    if is_dataclass(expected):
        for part in fields(expected):
            assert_same(getattr(found, part.name), getattr(expected, part.name))
    elif isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(found, expected, check_exact=True, check_index_type="equiv")
    elif isinstance(expected, np.ndarray | np.generic):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        for name in expected:
            assert_same(found[name], expected[name])
    elif isinstance(expected, tuple | list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    else:
        assert found == expected or (found != found and expected != expected)


def test_every_kind_of_result_is_asked_for_here():
    assert set(QUESTIONS) == set(KINDS)


def test_nothing_is_measured_twice(cohort, kept):
    folder, expected = kept
    again = measured(cohort, FolderStore(folder, "one"), counted := [])
    for name, ask in QUESTIONS.items():
        assert_same(ask(again), expected[name])
    assert counted == []
    assert {path.name.partition("-")[0].replace("_", " ") for path in folder.iterdir()} == set(KINDS)


def test_what_is_read_again_is_what_is_measured_without_a_folder(cohort, kept):
    anew = measured(cohort, MemoryStore())
    for name in ("hub table", "modules", "modules of two groups", "small world against a null graph"):
        assert_same(QUESTIONS[name](anew), kept[1][name])


def test_another_cohort_graph_option_or_measure_is_measured(cohort, tmp_path):
    measured(cohort, FolderStore(tmp_path, "one")).hubs("control")
    one, another = (measured(cohort, FolderStore(tmp_path, name)) for name in ("one", "another"))
    assert one.has(kept_results.HUBS, "control")
    assert not one.has(kept_results.HUBS, "remove")
    assert not another.has(kept_results.HUBS, "control")
    assert not replace(one, settings=ConnectomeSettings(level=0.5)).has(kept_results.HUBS, "control")
    assert not one.of(cohort.ids[1]).has(kept_results.HUBS, "control")
    new = HubMeasure("new", "New", "New", "", "#000000", "graph", lambda graph: graph.weights.sum(0), "New.")
    with HUB_MEASURES.temporarily(new):
        assert not one.has(kept_results.HUBS, "control")


def test_a_model_whose_card_was_measured_again_is_asked_again(cohort, tmp_path):
    one, model = measured(cohort, FolderStore(tmp_path, "one")), installed_model(MODEL)
    one.prediction(model)
    assert one.predicted(replace(model, device="cpu")) is not None
    for changed in (
        {"familiarity": {"distance": [0.0, 1.0]}},
        {"groups": ["NC", "early", "late"]},
        {"simulated": False},
    ):
        assert one.predicted(replace(model, card={**model.card, **changed})) is None


def test_a_damaged_file_is_measured_again(cohort, tmp_path):
    store = FolderStore(tmp_path, "one")
    expected = measured(cohort, store).module_labels(MODULES)
    (path,) = tmp_path.glob("module_of_each_region-*.result")
    whole = path.read_bytes()
    opening, _, content = whole.partition(b"\n")
    one_bit = bytearray(whole)
    one_bit[-200] ^= 1
    for damage in (b"", whole[:100], whole[:-1], content, opening, bytes(one_bit), b"[]\n" + content, b"\xff\n"):
        path.write_bytes(damage)
        assert measured(cohort, store, counted := []).module_labels(MODULES) == expected
        assert counted == ["module of each region"], damage[:20]
        assert path.read_bytes() == whole


def test_a_file_of_another_result_is_not_trusted_under_this_name(cohort, tmp_path):
    store = FolderStore(tmp_path, "one")
    one = measured(cohort, store)
    one.module_labels(MODULES)
    (path,) = tmp_path.glob("module_of_each_region-*.result")
    other = measured(cohort, FolderStore(tmp_path / "other", "one")).of(cohort.ids[1])
    other.module_labels(MODULES)
    (foreign,) = (tmp_path / "other").glob("module_of_each_region-*.result")
    path.write_bytes(foreign.read_bytes())
    assert store.get(one.key(kept_results.MODULE_LABELS, MODULES)) is None


@pytest.mark.parametrize(
    "words",
    [
        {"result": ["os", "stat_result"], "parts": {}},
        {"result": ["biobgt.result_store", "FolderStore"], "parts": {"folder": "x", "cohort": "y"}},
        {"result": ["biobgt.hubs.table", "measure_hubs"], "parts": {}},
        {"result": ["biobgt.modules.small_world", "SmallWorld"], "parts": {"clustering": 1.0}},
        {"array": "a9"},
        {"thing": 1},
        {},
    ],
)
def test_words_make_nothing_but_results(words):
    with pytest.raises((ValueError, KeyError, TypeError)):
        decoded(json.loads(json.dumps(words)), {})


def test_what_cannot_be_written_is_not_kept(tmp_path):
    store, key = FolderStore(tmp_path, "one"), Key(Kind("thing", "", 1))
    for thing in (object(), np.array([object()]), pd.DataFrame({"a": pd.Categorical(["x"])}), InputError("x")):
        with pytest.raises(TypeError):
            encoded(thing, {})
        store.put(key, thing)
        assert store.get(key) is None
    assert not list(tmp_path.iterdir())
