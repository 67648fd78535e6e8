"""The participant level: what is written, and that it is the same however often and by whatever a run was ended."""

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cluster_workers import workers_of
from distributed import LocalCluster
from full_disk import files_end_at
from study_cohorts import N_REGIONS, OPTIONS, SETTINGS, contents, small_cohort

from biobgt.base.errors import InputError
from biobgt.data.atlas import numbered_atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.graph import ConnectomeSettings
from biobgt.data.simulate import demo_cohort
from biobgt.model.attention import attention_received
from biobgt.model.pretrained import installed_model
from biobgt.modules.measures import ModuleOptions
from biobgt.results.measured import Measured
from biobgt.study import DesignOptions, participants, study_findings
from biobgt.study.folder import StudyFolder
from biobgt.study.options import RecordingOptions, study_settings
from biobgt.study.participants import measure_participants

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("undisturbed") / "study"
    run = measure_participants(small_cohort(), out, SETTINGS, OPTIONS)
    assert (run.measured, run.there, run.failed, run.waiting) == (5, 0, {}, 0)
    return out


def _written(out: Path) -> dict[str, int]:
    """When the matrices of recordings were written."""
    return {path.name: path.stat().st_mtime_ns for path in out.rglob("*_relmat.json")}


def test_what_is_read_back_is_what_is_measured(undisturbed):
    data, cohort = StudyFolder(undisturbed).data(), small_cohort()
    assert data.persons == cohort.ids
    assert data.levels == (0.3, 0.6)
    assert data.table["age"].tolist() == [20, 21, 22, 23, 24]
    pairs = np.triu_indices(N_REGIONS, 1)
    for number, subject in enumerate(cohort):
        correlation = np.corrcoef(subject.series.T)
        assert data.edges[number] == pytest.approx(np.arctanh(correlation[pairs]), rel=1e-6)
        assert data.overall[number] == pytest.approx(np.abs(correlation[pairs]).mean())
        for place, level in enumerate(data.levels):
            own = Measured(
                cohort, subject=subject.id, settings=ConnectomeSettings(threshold="proportional", level=level)
            )
            modules = own.modules(OPTIONS.part(ModuleOptions))
            assert data.network["q"][number, place] == modules.partition.q
            participation = modules.roles["participation"]
            assert np.array_equal(data.regions["participation"][number, place], participation, equal_nan=True)
            degrees = (own.graph().weights > 0).sum(axis=0)
            assert np.array_equal(data.regions["degree"][number, place], degrees)


def test_tables_say_the_same_as_tsv_and_parquet_and_explain_every_column(undisturbed):
    for parquet in undisturbed.rglob("*.parquet"):
        table = pd.read_csv(parquet.with_suffix(".tsv"), sep="\t", na_values="n/a", keep_default_na=False)
        pd.testing.assert_frame_equal(table, pd.read_parquet(parquet), check_dtype=False, check_exact=True)
        name = next(
            one for one in ("desc-regions_measures", "desc-network_measures", "recordings") if one in parquet.stem
        )
        assert set(json.loads((undisturbed / f"{name}.json").read_text())) == set(table.columns)
    assert json.loads((undisturbed / "dataset_description.json").read_text())["DatasetType"] == "derivative"
    about = json.loads(next(undisturbed.rglob("*_relmat.json")).read_text())
    assert "draft" in about["Note"]


def test_processes_write_the_same_bytes(undisturbed, tmp_path):
    measure_participants(small_cohort(), tmp_path / "out", SETTINGS, OPTIONS, workers=2)
    assert contents(tmp_path / "out") == contents(undisturbed)


@pytest.mark.parametrize("at", [3, 20, 43])
def test_a_run_that_was_killed_at_any_file_goes_on_and_ends_the_same(undisturbed, tmp_path, at):
    out = tmp_path / "out"
    command = [sys.executable, str(TESTS / "study_cohorts.py"), str(out), str(at)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    before = _written(out)
    assert (len(before) == 5) == (at == 43)
    run = measure_participants(small_cohort(), out, SETTINGS, OPTIONS)
    assert (run.measured, run.there) == (5 - len(before), len(before))
    assert contents(out) == contents(undisturbed)
    assert {name: _written(out)[name] for name in before} == before


def test_a_full_disk_ends_the_run_and_the_next_one_measures_only_what_is_missing(undisturbed, tmp_path):
    out = tmp_path / "out"
    sizes = [path.stat().st_size for path in undisturbed.rglob("*_relmat.json")]
    measure_participants(small_cohort(), out, SETTINGS, OPTIONS, labels=["00"])
    before = _written(out)
    with files_end_at(min(sizes) - 1), pytest.raises(OSError, match="large"):
        measure_participants(small_cohort(), out, SETTINGS, OPTIONS)
    run = measure_participants(small_cohort(), out, SETTINGS, OPTIONS)
    assert (run.measured, run.there) == (4, 1)
    assert contents(out) == contents(undisturbed)
    assert _written(out).items() >= before.items()


def test_only_what_changed_is_measured_again(undisturbed, tmp_path):
    out = tmp_path / "out"
    measure_participants(small_cohort(changed=2), out, SETTINGS, OPTIONS)
    run = measure_participants(small_cohort(), out, SETTINGS, OPTIONS)
    assert (run.measured, run.there) == (1, 4)
    assert contents(out) == contents(undisturbed)
    again = measure_participants(small_cohort(), out, SETTINGS, replace(OPTIONS, runs=3))
    assert (again.measured, again.there) == (5, 0)


def test_who_is_no_longer_there_is_in_no_test_and_keeps_the_files(tmp_path):
    out = tmp_path / "out"
    measure_participants(small_cohort(5), out, SETTINGS, OPTIONS)
    run = measure_participants(small_cohort(4), out, SETTINGS, OPTIONS)
    assert (run.measured, run.there) == (0, 4)
    assert StudyFolder(out).data().persons == small_cohort(4).ids
    assert len(_written(out)) == 5


def test_whoever_fails_is_a_row_with_the_reason(tmp_path, monkeypatch):
    cohort = small_cohort(3)
    weak = np.eye(N_REGIONS)
    weak[0, 1] = weak[1, 0] = 0.1
    people = (*cohort.subjects[:2], Subject("sub-weak", connectivity=weak), cohort.subjects[2])
    mixed = Cohort("mixed", people, cohort.atlas, given="functional")
    settings = ConnectomeSettings(threshold="absolute")

    def broken(measured, options):
        if measured.subject.id == "sub-02":
            raise ZeroDivisionError("something of ours")
        return measure(measured, options)

    measure = participants.measure_recording
    monkeypatch.setattr(participants, "measure_recording", broken)
    run = measure_participants(mixed, tmp_path / "out", settings, replace(OPTIONS, levels=(0.15,)))
    assert set(run.failed) == {"sub-weak", "sub-02"}
    table = pd.read_csv(tmp_path / "out" / "recordings.tsv", sep="\t", index_col="subject")
    assert table["status"].tolist() == ["measured", "measured", "failed", "failed"]
    assert "connection" in table.loc["sub-weak", "reason"]
    assert "something of ours" in table.loc["sub-02", "reason"]
    assert StudyFolder(tmp_path / "out").recordings()["subject"].tolist() == ["sub-00", "sub-01"]


def test_a_region_without_signal_has_no_numbers(tmp_path):
    silent = small_cohort(1).subjects[0].series.copy()
    silent[:, 3] = 0
    cohort = Cohort("gap", (Subject("a", series=silent), *small_cohort(1).subjects), small_cohort().atlas)
    measure_participants(cohort, tmp_path / "out", SETTINGS, OPTIONS)
    data = StudyFolder(tmp_path / "out").data()
    assert np.flatnonzero(data.silent[0]).tolist() == [3]
    assert np.isnan(data.regions["degree"][0, :, 3]).all()
    assert np.isfinite(data.regions["degree"][1]).all()


def test_a_second_run_into_one_folder_says_so(tmp_path):
    out = tmp_path / "out"
    with StudyFolder(out).alone():
        assert StudyFolder(out).is_running()
        with pytest.raises(InputError, match="Another run"):
            measure_participants(small_cohort(), out, SETTINGS, OPTIONS)
    assert not StudyFolder(out).is_running()


def test_a_folder_of_other_things_is_refused(tmp_path):
    (tmp_path / "thesis.txt").write_text("")
    with pytest.raises(InputError, match=r"thesis\.txt"):
        measure_participants(small_cohort(), tmp_path, SETTINGS, OPTIONS)
    with pytest.raises(InputError, match="participant level"):
        StudyFolder(tmp_path).recordings()


def test_people_are_measured_by_their_labels(undisturbed, tmp_path):
    out = tmp_path / "out"
    run = measure_participants(small_cohort(), out, SETTINGS, OPTIONS, labels=["sub-03", "01"])
    assert (run.measured, run.waiting) == (2, 3)
    assert StudyFolder(out).recordings()["subject"].tolist() == ["sub-01", "sub-03"]
    with pytest.raises(InputError, match="participant 9"):
        measure_participants(small_cohort(), out, SETTINGS, OPTIONS, labels=["9"])
    measure_participants(small_cohort(), out, SETTINGS, OPTIONS)
    assert contents(out) == contents(undisturbed)


def test_progress_is_told_while_it_runs_and_says_when_it_was_stopped(tmp_path):
    out, seen = tmp_path / "out", []

    def stop(done: int, total: int) -> None:
        seen.append(json.loads((out / "progress.json").read_text()))
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure_participants(small_cohort(), out, SETTINGS, OPTIONS, progress=stop)
    assert seen[0]["state"] == "running"
    assert seen[0]["total"] == 5
    end = json.loads((out / "progress.json").read_text())
    assert (end["state"], end["done"]) == ("stopped", 2)
    assert StudyFolder(out).recordings()["subject"].tolist() == ["sub-00", "sub-01"]


def test_a_cluster_that_loses_a_worker_writes_the_same_bytes_and_everybody_once(undisturbed, tmp_path):
    said, counts = [], []
    with LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=None) as served:
        address = served.scheduler_address
        with workers_of(address, 2) as processes:

            def kill_one(done: int, total: int) -> None:
                counts.append((done, total))
                if done == 2:
                    processes[0].kill()

            how = {"scheduler": address, "progress": kill_one, "tell": said.append}
            measure_participants(small_cohort(), tmp_path / "out", SETTINGS, OPTIONS, **how)
    assert counts == [(done, 5) for done in range(1, 6)]
    assert contents(tmp_path / "out") == contents(undisturbed)


def test_log_weights_and_lengths_of_tracts_come_through_a_whole_study(tmp_path, rng):
    subjects, pairs = [], np.triu_indices(9, 1)
    for number in range(14):
        weights, lengths = np.zeros((2, 9, 9))
        weights[pairs] = rng.integers(1, 500, 36) * (rng.random(36) < 0.8)
        lengths[pairs] = (np.arange(36) + 10 + number) * (weights[pairs] > 0)
        group, given = (
            "NC" if number < 7 else "PD",
            {"connectivity": weights + weights.T, "lengths": lengths + lengths.T},
        )
        subjects.append(Subject(f"sub-{number:02d}", group=group, **given))
    cohort = Cohort("tracts", tuple(subjects), numbered_atlas(9), given="structural")
    settings = study_settings(cohort.kind, {"estimator": "log-weights"})
    options = RecordingOptions(levels=(0.3, 0.6), measures=("degree",), runs=2)
    measure_participants(cohort, tmp_path, settings, options)
    data = StudyFolder(tmp_path).data()
    first = subjects[0].connectivity[pairs]
    np.testing.assert_allclose(data.edges[0], np.log1p(first / first[first > 0].min()), rtol=1e-6)
    has = np.array([one.connectivity[pairs] > 0 for one in subjects])
    given = np.array([one.lengths[pairs] for one in subjects])
    np.testing.assert_allclose(data.lengths, given.sum(axis=0) / has.sum(axis=0), rtol=1e-6)
    about = json.loads(next(tmp_path.rglob("sub-00*_relmat.json")).read_text())
    assert "log(1 + weight" in about["Description"]
    found = study_findings(data, DesignOptions(edge_consensus="distance", permutations=9))
    assert any("of every length of tracts" in note for note in found.notes)
    changed = replace(subjects[0], lengths=subjects[0].lengths * 2)
    again = replace(cohort, subjects=(changed, *subjects[1:]))
    assert measure_participants(again, tmp_path, settings, options).measured == 1


def test_attention_of_a_model_is_measured_with_the_rest_and_another_atlas_is_refused_first(tmp_path):
    cohort = demo_cohort("ad", n_per_group=2)
    options = RecordingOptions(levels=(0.2, 0.3), measures=("degree",), runs=1, model="adsim-aal90")
    for workers in (1, 2):
        measure_participants(cohort, tmp_path / str(workers), SETTINGS, options, workers=workers)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
    data = StudyFolder(tmp_path / "1").data()
    assert data.model == "adsim-aal90"
    model = installed_model("adsim-aal90")
    expected = [attention_received(Measured(cohort).of(name).attention_map(model)) for name in cohort.ids]
    for level in range(2):
        assert data.regions["attention_received"][:, level] == pytest.approx(np.array(expected), rel=1e-2)
    with pytest.raises(InputError, match="regions"):
        measure_participants(small_cohort(), tmp_path / "other", SETTINGS, options)
    assert not (tmp_path / "other").exists()
