"""Results in a folder are the same when they are read again, and only for what they depend on."""

import errno
import hashlib
import io
import json
import os
import pickle
import shutil
import stat
import tracemalloc
from contextlib import nullcontext, suppress
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pandas as pd
import pytest
from tiny_models import write_tiny_model

from biobgt.base.errors import InputError
from biobgt.base.kept import Key
from biobgt.data.graph import ConnectomeSettings
from biobgt.data.simulate import demo_cohort
from biobgt.figures.attention.maps import AttentionOptions
from biobgt.groups.compare import ComparisonOptions
from biobgt.groups.features import compare_measured, subject_features
from biobgt.hubs.measures import HUB_MEASURES, HubMeasure, HubOptions
from biobgt.hubs.table import MeasuresWithoutGamma
from biobgt.model import folder as model_files
from biobgt.model.inputs import prepare
from biobgt.model.presets import preset_named
from biobgt.model.pretrained import installed_model
from biobgt.modules.measures import ModuleOptions
from biobgt.results.measured import Measured
from biobgt.results.store import FolderStore, _decoded, _encoded, _from_bytes, _to_bytes

SETTINGS, HUBS, MODULES = ConnectomeSettings(level=0.35), HubOptions(2.0), ModuleOptions(runs=5)
COMPARED = ComparisonOptions(first="NC", second="AD", of="segregation", permutations=50, runs=5)
MODEL, PRESET = "tiny-aal90", preset_named("paper-abide")
QUESTIONS = {
    "tangent_space": lambda one: one.of(one.subject.id, ConnectomeSettings(estimator="tangent")).connectivity(),
    "connectivity_by": lambda one: one.connectivity(),
    "graph": lambda one: one.graph(),
    "mean_connectivity": lambda one: one.mean_connectivity(),
    "hubs": lambda one: one.hubs("control"),
    "hub_table": lambda one: one.hub_table(HUBS),
    "hub_correlation": lambda one: one.hub_correlation(HUBS, "degree"),
    "hub_sweep": lambda one: one.hub_sweep("control", ("degree",), (0.5, 2.0)),
    "hub_curves": lambda one: one.hub_curves(HUBS, ("node_entanglement", "degree")),
    "explain_region": lambda one: one.explain_region(HUBS, 3),
    "own_agreement": lambda one: one.own_agreement("control"),
    "null_agreement": lambda one: one.null_agreement("control", 1),
    "half_hubs": lambda one: one.half_hubs("control", 0),
    "prediction": lambda one: one.prediction(installed_model(MODEL)),
    "predictions": lambda one: one.predictions(installed_model(MODEL)),
    "passport": lambda one: one.passport(installed_model(MODEL)),
    "explanation": lambda one: one.explanation(installed_model(MODEL)),
    "attention_map": lambda one: one.attention_map(installed_model(MODEL)),
    "network_features": lambda one: prepare([one.subject], PRESET, store=one.store).entanglement.numpy(),
    "_modules_of_controls": lambda one: AttentionOptions(order="louvain").regions(one, installed_model(MODEL)),
    "modules": lambda one: one.modules(MODULES),
    "module_labels": lambda one: one.module_labels(MODULES),
    "module_agreement": lambda one: one.module_agreement(MODULES, "dosenbach"),
    "resolution_step": lambda one: one.resolution_step(MODULES, 1.0),
    "null_modularity": lambda one: one.null_modularity(MODULES, 1),
    "null_small_world": lambda one: one.null_small_world(MODULES, 1),
    "module_difference": lambda one: one.module_difference(MODULES, ("NC", "AD")),
    "shuffled_changes": lambda one: one.shuffled_changes(MODULES, ("NC", "AD"), 1),
    "segregation_features": lambda one: subject_features(one, COMPARED),
    "_comparison": lambda one: compare_measured(one, COMPARED),
}


@pytest.fixture(scope="module")
def cohort():
    return demo_cohort("ad", n_per_group=6)  # as many as a comparison of two groups needs


@pytest.fixture(scope="module", autouse=True)
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pretrained")
    write_tiny_model(folder / MODEL, "ad", "adsim", simulated=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_files, "pretrained_folder", lambda: folder)
        yield


@pytest.fixture(scope="module")
def kept(cohort, tmp_path_factory):
    """A folder with a result of every kind, and the results."""
    folder = tmp_path_factory.mktemp("kept")
    one = measured(cohort, FolderStore(folder, "one"))
    return folder, {name: ask(one) for name, ask in QUESTIONS.items()}


def measured(cohort, store, counted=None):
    def watch(key):
        (counted if counted is not None else []).append(key.name)
        return nullcontext()

    return Measured(cohort, store, watch).of(cohort.ids[0], SETTINGS)


def assert_same(found, expected):
    """Equal in every part, and in type; measures that are computed when asked for are kept computed."""
    found, expected = (dict(one) if isinstance(one, MeasuresWithoutGamma) else one for one in (found, expected))
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


def test_every_result_is_asked_for_here():
    assert {name for name, method in vars(Measured).items() if hasattr(method, "key")} - {"key"} <= set(QUESTIONS)


def test_nothing_is_measured_twice(cohort, kept):
    folder, expected = kept
    again = measured(cohort, FolderStore(folder, "one"), counted := [])
    for name, ask in QUESTIONS.items():
        assert_same(ask(again), expected[name])
    assert counted == []
    assert {path.name.partition("-")[0] for path in folder.iterdir()} == set(QUESTIONS)


def test_another_cohort_graph_option_or_measure_is_measured(cohort, tmp_path):
    measured(cohort, FolderStore(tmp_path, "one")).hubs("control")
    one, another = (measured(cohort, FolderStore(tmp_path, name)) for name in ("one", "another"))
    assert one.is_kept(Measured.hubs, "control")
    assert not one.is_kept(Measured.hubs, "remove")
    assert not another.is_kept(Measured.hubs, "control")
    assert not one.of(cohort.ids[0], ConnectomeSettings(level=0.5)).is_kept(Measured.hubs, "control")
    assert not one.of(cohort.ids[1]).is_kept(Measured.hubs, "control")
    new = HubMeasure("new", "New", "New", "", "#000000", "graph", lambda graph: graph.weights.sum(0), "New.")
    with HUB_MEASURES.temporarily(new):
        assert not one.is_kept(Measured.hubs, "control")


def test_a_model_whose_card_was_measured_again_is_asked_again(cohort, tmp_path):
    one, model = measured(cohort, FolderStore(tmp_path, "one")), installed_model(MODEL)
    one.prediction(model)
    assert one.is_kept(Measured.prediction, replace(model, device="cpu"))
    changes = {"familiarity": {"distance": [0.0, 1.0]}, "groups": ["NC", "early", "late"], "simulated": False}
    for name, changed in changes.items():
        assert not one.is_kept(Measured.prediction, replace(model, card={**model.card, name: changed}))


def test_a_damaged_file_is_measured_again(cohort, tmp_path):
    store = FolderStore(tmp_path, "one")
    expected = measured(cohort, store).module_labels(MODULES)
    (path,) = tmp_path.glob("module_labels-*.result")
    measured(cohort, FolderStore(tmp_path / "other", "one")).of(cohort.ids[1]).module_labels(MODULES)
    (another,) = (tmp_path / "other").glob("module_labels-*.result")  # the same of another subject
    whole = path.read_bytes()
    bit = bytes([*whole[:-20], whole[-20] ^ 1, *whole[-19:]])
    cut = (b"", whole[:10], whole[:-1], whole + b"0", whole[32:], bytes(len(whole)), b"\n")
    for damage in (*cut, bit, another.read_bytes()):
        path.write_bytes(damage)
        assert measured(cohort, store, counted := []).module_labels(MODULES) == expected
        assert counted == ["module_labels"], damage[:20]
        assert path.read_bytes() == whole


def test_forged_files_of_every_kind_are_measured_again(cohort, kept, tmp_path):
    """Bytes of other results, zeros and what earlier versions would have read, in the place of every file."""
    folder, expected = kept
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    paths = sorted(tmp_path.iterdir())
    whole = [path.read_bytes() for path in paths]
    random = np.random.default_rng(0)
    for path, other in zip(paths, [*whole[1:], whole[0]], strict=True):
        forged = (other, bytes(len(other)), random.bytes(1700), old_forged_file())
        path.write_bytes(forged[random.integers(len(forged))])
    again = measured(cohort, FolderStore(tmp_path, "one"), counted := [])
    for name, ask in QUESTIONS.items():
        assert_same(ask(again), expected[name])
    assert set(QUESTIONS) - set(counted) <= {"network_features"}  # which are measured unwatched
    assert [path.read_bytes() for path in paths] == whole


def old_forged_file():
    """A right hash, and a table of 10⁹ rows in 1.7 kB, as version 0 of the format had it."""
    rows = {"name": None, "dtype": "int64", "range": [0, 10**9, 1]}
    buffer = io.BytesIO()
    np.savez(buffer, words=np.asarray(json.dumps({"table": [rows], "labels": [rows, rows]})))
    opening = {"depends": "", "sha256": hashlib.sha256(buffer.getvalue()).hexdigest()}
    return json.dumps(opening).encode() + b"\n" + buffer.getvalue()


HUGE = {"name": None, "dtype": "int64", "range": [0, 10**9, 1]}
HOSTILE = [
    *(None, True, -1, 0, 10**9, 10**30, 1e308, float("nan"), "", "x", "<U1000000000", "O", "V9", "S99999999", "<f8"),
    *([], {}, [0, 10**9, 1], [10**9], [0, 10**12], [-1, -8], HUGE, {"range": ["a", 1, 0]}, {"array": 99}),
    *({"array": 0}, {"scalar": 0}, {"list": [0]}, {"table": [HUGE], "labels": [HUGE, HUGE]}, {"mapping": [[{}, {}]]}),
    {"table": [], "labels": [HUGE, HUGE]},
    {"result": ["os", "stat_result"], "parts": {}},
    {"result": ["biobgt.hubs.nothing", "Nothing"], "parts": {}},
    {"name": [], "dtype": "S99999999", "list": ["x"] * 9},
]


def test_even_with_the_right_key_a_forged_file_takes_no_memory_and_ends_nothing(cohort, kept):
    """What is read is changed in one place after another; it is refused in one way, or it is a result of its size."""
    found = {}

    class Looking(FolderStore):
        def get(self, key):
            found[key.name] = super().get(key)
            return found[key.name]

    again = measured(cohort, Looking(kept[0], "one"))
    for ask in QUESTIONS.values():
        ask(again)
    again.recall(Measured.tangent_space)  # which nobody asks for whose connectivity is kept
    assert set(found) == set(QUESTIONS)
    for number, (kind, result) in enumerate(found.items()):
        random = np.random.default_rng(number)
        line, _, rest = _to_bytes(result).partition(b"\n")
        tracemalloc.start()
        for _ in range(40):
            words = json.loads(line)
            places = list(places_in(words))
            where, name = places[random.integers(len(places))]
            where[name] = HOSTILE[random.integers(len(HOSTILE))]
            with suppress(ValueError):
                _from_bytes(json.dumps(words).encode() + b"\n" + rest[: len(rest) - int(random.integers(2))])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 20e6 + 60 * len(line) + 4 * len(rest), kind


@pytest.mark.parametrize("line", [b"[" * 10**6, b'{"words":' * 10**5, b"0" * 10**7, b"{}" * 5 * 10**6, b"\xff", b""])
def test_words_that_nobody_wrote_are_refused(line):
    with pytest.raises(ValueError):
        _from_bytes(line + b"\n")


def places_in(words):
    """Every part of words that can be replaced."""
    for name in words if isinstance(words, dict) else range(len(words)):
        yield words, name
        if isinstance(words[name], dict | list):
            yield from places_in(words[name])


@pytest.mark.parametrize(
    "words",
    [
        {"result": ["os", "stat_result"], "parts": {}},
        {"result": ["biobgt.results.store", "FolderStore"], "parts": {"folder": "x", "cohort": "y"}},
        {"result": ["biobgt.hubs.table", "measure_hubs"], "parts": {}},
        {"result": ["biobgt.modules.structure", "SmallWorld"], "parts": {"clustering": 1.0}},
        {"array": 9},
        {"thing": 1},
        {},
    ],
)
def test_words_make_nothing_but_results(words):
    with pytest.raises((ValueError, LookupError, TypeError)):
        _decoded(json.loads(json.dumps(words)), [])


def test_what_cannot_be_written_is_not_kept(tmp_path):
    store, key = FolderStore(tmp_path, "one"), Key("thing")
    for thing in (object(), np.array([object()]), pd.DataFrame({"a": pd.Categorical(["x"])}), InputError("x")):
        with pytest.raises(TypeError):
            _encoded(thing, [])
        store.put(key, thing)
        assert store.get(key) is None
    assert not list(tmp_path.iterdir())


def test_files_are_the_users_alone_and_name_nobody(cohort, kept, tmp_path):
    folder, _ = kept
    ids = [name.encode() for name in cohort.ids]
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert not any(name in path.name.encode() + path.read_bytes() for name in ids), path.name
    FolderStore(tmp_path / "new", "one").put(Key("hub_table", "sub-01"), 1.0)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_what_another_user_wrote_is_measured_again(tmp_path, monkeypatch):
    key = Key("hub_table", "sub-01")
    store = FolderStore(tmp_path, "one")
    store.put(key, 1.0)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "another"))
    assert FolderStore(tmp_path, "one").get(key) is None
    assert pickle.loads(pickle.dumps(store)).get(key) == 1.0  # on another machine of a cluster


def test_a_key_that_others_could_read_is_made_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    key = Key("hub_table", "sub-01")
    FolderStore(tmp_path / "kept", "one").put(key, 1.0)
    assert FolderStore(tmp_path / "kept", "one").get(key) == 1.0
    (of_user,) = (tmp_path / "data").rglob("*.key")
    assert stat.S_IMODE(of_user.stat().st_mode) == 0o600
    of_user.chmod(0o644)
    assert FolderStore(tmp_path / "kept", "one").get(key) is None
    assert stat.S_IMODE(of_user.stat().st_mode) == 0o600


def test_folders_of_others_are_refused(tmp_path, monkeypatch):
    tmp_path.chmod(0o770)
    with pytest.raises(InputError, match="others"):
        FolderStore(tmp_path, "one")
    tmp_path.chmod(0o755)
    FolderStore(tmp_path, "one")
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    with pytest.raises(InputError, match="somebody else"):
        FolderStore(tmp_path, "one")


def test_links_and_pipes_in_the_place_of_a_result_are_neither_followed_nor_waited_for(tmp_path):
    store, key = FolderStore(tmp_path / "kept", "one"), Key("hub_table", "sub-01")
    store.put(key, 1.0)
    (path,) = (tmp_path / "kept").iterdir()
    path.rename(tmp_path / "moved")
    path.symlink_to(tmp_path / "moved")
    assert store.get(key) is None
    path.unlink()
    os.mkfifo(path, 0o600)
    assert store.get(key) is None
    store.put(key, 2.0)
    assert store.get(key) == 2.0
    assert stat.S_ISREG(path.stat().st_mode)


def test_a_full_disk_ends_nothing_and_is_said_once(cohort, tmp_path, monkeypatch, caplog):
    def full(path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("biobgt.results.store.private_file", full)
    one = measured(cohort, FolderStore(tmp_path, "one"))
    one.hub_table(HUBS)
    one.module_labels(MODULES)
    assert [record.getMessage() for record in caplog.records] == [caplog.records[0].getMessage()]
    assert "No space left" in caplog.text
    assert not list(tmp_path.iterdir())


def test_a_user_without_a_data_folder_gets_results_that_are_not_kept(cohort, tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    measured(cohort, FolderStore(tmp_path / "kept", "one")).module_labels(MODULES)
    assert "no longer kept" in caplog.text
    assert not (tmp_path / "kept").exists()


def test_a_folder_takes_no_more_than_its_room(tmp_path):
    keys, values = [Key("thing", i) for i in range(4)], np.arange(1000.0)
    store = FolderStore(tmp_path / "kept", "one", room=20_000)
    for key in keys[:2]:
        store.put(key, values)
    again = FolderStore(tmp_path / "kept", "one", room=20_000)  # counts what is there
    for key in keys[2:]:
        again.put(key, values)
    assert [again.get(key) is not None for key in keys] == [True, True, False, False]
    assert sum(path.stat().st_size for path in (tmp_path / "kept").iterdir()) <= 20_000
