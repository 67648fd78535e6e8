"""What was measured outlives a change of groups, and not a change of subjects or atlas."""

from subjects_page import N_REGIONS, edit, press

from biobgt import Cohort, ConnectomeSettings, Subject
from biobgt.data.atlas import numbered_atlas
from biobgt.data.edits import change_atlas, remove_subjects, set_groups
from biobgt.modules import structure as finding
from biobgt.results.measured import Measured
from session.view import LoadedCohort


def count_modules(monkeypatch) -> list[str]:
    measured: list[str] = []

    def measure(graph, *arguments):
        measured.append(graph.subject)
        return original(graph, *arguments)

    original = finding.measure_modules
    monkeypatch.setattr(finding, "measure_modules", measure)
    return measured


def has_hubs(loaded: LoadedCohort, subject: str) -> bool:
    return loaded.measured.of(subject, ConnectomeSettings()).is_kept(Measured.hubs, "control")


def test_results_outlive_other_groups_and_not_other_subjects(own, monkeypatch) -> None:
    measured = count_modules(monkeypatch)
    own.switch_page("views/modules.py").run()
    own.switch_page("views/hubs.py").run()
    assert measured == ["sub-00"]
    assert has_hubs(own.session_state["own_cohort"], "sub-00")
    assert not has_hubs(own.session_state["own_cohort"], "sub-01")
    own.switch_page("views/subjects/page.py").run()
    press(edit(own, {0: {"group": "AD"}}), "Set the groups")
    assert has_hubs(own.session_state["own_cohort"], "sub-00")
    own.switch_page("views/modules.py").run()
    assert measured == ["sub-00"]
    own.switch_page("views/subjects/page.py").run()
    press(edit(own, {3: {"ticked": True}}), "Remove the ticked subjects")
    assert not has_hubs(own.session_state["own_cohort"], "sub-00")
    own.switch_page("views/modules.py").run()
    assert measured == ["sub-00", "sub-00"]


def test_what_is_kept_of_a_changed_cohort(series) -> None:
    cohort = Cohort("x", tuple(Subject(f"s{i}", series=series[i]) for i in range(3)), numbered_atlas(N_REGIONS))
    loaded = LoadedCohort("own", cohort)
    loaded.measured.of("s0", ConnectomeSettings()).hubs("control")
    loaded.measured.of("s0", ConnectomeSettings(estimator="tangent")).connectivity()
    space = loaded.measured.recall(Measured.tangent_space)
    assert space is not None
    assert loaded.quality["group"].isna().all()
    regrouped = loaded.changed_to(set_groups(cohort, {"s1": "AD"}))
    assert has_hubs(regrouped, "s0")
    assert regrouped.measured.recall(Measured.tangent_space) is space
    assert regrouped.quality["group"].tolist()[1] == "AD"
    for changed in (
        remove_subjects(cohort, ["s1"]),
        change_atlas(cohort, numbered_atlas(N_REGIONS)),
        Cohort("x", tuple(Subject(f"s{i}", series=series[i] + 1) for i in range(3)), cohort.atlas),
    ):
        after = loaded.changed_to(changed)
        assert not has_hubs(after, "s0")
        assert not after.measured.is_kept(Measured.tangent_space)
