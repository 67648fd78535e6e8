"""The page that compares two groups: what it says before it computes, the numbers it shows, its table and its link."""

from dataclasses import replace

import numpy as np
import pytest
from page_contents import array, badges, buttons, captions, figure, metrics, table_with, words
from page_hands import visit

from biobgt.base.colours import MODULE_COLOURS
from biobgt.data.cohort import Cohort
from biobgt.data.connectivity import brain_graph, subject_connectivity
from biobgt.data.simulate import demo_cohort
from biobgt.export.bundle import _make_figure
from biobgt.groups.compare import ComparisonOptions, compare_groups
from biobgt.groups.features import subject_features
from biobgt.hubs import hub_table
from biobgt.modules import find_modules
from biobgt.modules import structure as finding
from biobgt.modules.compare import group_module_difference, shuffled_changes
from biobgt.modules.measures import ModuleOptions
from biobgt.results.measured import Measured
from session.view import EXPORT_LIST


@pytest.fixture(scope="module")
def cohort():
    return demo_cohort("ad")


@pytest.fixture
def open_compare(open_page):
    def open_compare(**parameters):
        return open_page("compare", cohort="ad", **parameters)

    return open_compare


def with_phenotypes(cohort: Cohort, per_group: int, of) -> Cohort:
    """Some subjects of NC and AD, with phenotypes by their place in the group."""
    chosen = [subject for group in ("NC", "AD") for subject in cohort.group(group).subjects[:per_group]]
    known = [replace(one, phenotypes=of(i % per_group, one.group)) for i, one in enumerate(chosen)]
    return replace(cohort, subjects=tuple(known), name="mine")


def drawn(page) -> dict[str, float]:
    """Effect sizes by feature, as drawn."""
    traces = figure(page, "group_differences")["data"]
    return {name: d for trace in traces for name, d in zip(trace["y"], array(trace["x"]), strict=True)}


def test_demo_is_compared_at_once_and_badged(open_compare, cohort):
    page = open_compare(second_group="AD")
    chosen = cohort.select(lambda subject: subject.group in ("NC", "AD"))
    options = ComparisonOptions(first="NC", second="AD")
    features = [subject_features(Measured(cohort).of(name), options) for name in chosen.ids]
    expected = compare_groups(
        np.vstack([one.values for one in features]),
        [subject.group for subject in chosen],
        subjects=chosen.persons,
        between=("NC", "AD"),
        features=features[0].names,
    ).table.set_index("feature")
    found = drawn(page)
    assert len(found) == len(expected) == 15  # AAL-90 has five networks
    np.testing.assert_allclose([found[name] for name in expected.index], expected["d"])
    assert badges(page) == 1
    assert metrics(page) == {"People of NC": "20", "People of AD": "20", "Residual degrees of freedom": "38"}
    assert "not ruled out: motion, age, sex and site" in captions(page)
    table = page.dataframe[0].value
    assert table["p"].is_monotonic_increasing
    np.testing.assert_allclose(table.set_index("Feature").loc[expected.index, "Mean AD"], expected["mean_AD"])


def test_hubs_are_measured_on_request_and_drawn_in_the_brain(open_compare, cohort):
    page = open_compare(second_group="AD", compared="hubs", compared_measure="node_efficiency")
    assert not page.get("plotly_chart")
    page.button(key="compare_start").click().run()
    chosen = [*cohort.group("NC"), *cohort.group("AD")]
    hubs = [hub_table(brain_graph(one, cohort.atlas), connectivity=subject_connectivity(one)) for one in chosen]
    expected = compare_groups(
        np.stack([table["node_efficiency"] for table in hubs]),
        [one.group for one in chosen],
        subjects=[one.id for one in chosen],
        between=("NC", "AD"),
    ).table
    nodes = next(trace for trace in figure(page, "difference_brain_shown")["data"] if trace.get("mode") == "markers")
    np.testing.assert_allclose(array(nodes["marker"]["color"]), expected["d"])
    assert len(drawn(page)) == 25, "the clearest of 90"
    for key in ("group_differences", "difference_brain_shown"):
        page.button(key=f"{key}_export").click()
    page.run()
    flow, brain = page.session_state[EXPORT_LIST]
    assert (flow.figure, flow.subject) == ("group_differences", None)
    made = _make_figure(cohort, brain)
    np.testing.assert_allclose(made.numbers["d"], expected["d"])


def test_costs_of_covariates_are_said_before_anything_is_computed(open_own, cohort):
    own = with_phenotypes(cohort, 10, lambda i, group: {"age": 60 + 3 * i % 7, "site": f"site{i % 3}", "scores": i})
    page = open_own("compare", own)
    costs = page.dataframe[0].value.set_index("Covariate")
    assert costs["Degrees of freedom used"].to_dict() == {"Age": 1, "Site": 2}
    assert costs["Group variance explained"].to_dict() == {"Age": "0 %", "Site": "0 %"}
    assert metrics(page)["Residual degrees of freedom"] == "15"
    page.multiselect(key="adjusted_for").set_value(["age", "scores"]).run()
    assert page.dataframe[0].value["Covariate"].tolist() == ["Age", "Scores"]
    assert "not ruled out: motion and sex" in captions(page)
    visit(page, "home", "compare")
    assert page.multiselect(key="adjusted_for").value == ["age", "scores"], "the choice survives other pages"


@pytest.mark.parametrize(
    ("of", "sentence"),
    [
        (lambda i, group: {"site": f"site{i}"}, "leave 5 residual degrees of freedom"),
        (lambda i, group: {"site": group.lower()}, "The groups cannot be told apart from site"),
        (lambda i, group: {"age": None if i == 1 else 60 + i}, "is missing for 2 of 12 subjects"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_sentence(open_own, cohort, of, sentence, may_fail):
    page = open_own("compare", with_phenotypes(cohort, 6, of))
    assert [error.value for error in page.exception] == []
    assert sentence in words(page.error)
    assert not page.get("plotly_chart")
    assert "compare_start" not in buttons(page)


def test_who_lacks_a_covariate_can_be_left_out(open_own, cohort, may_fail):
    missing = (1, "AD")
    page = open_own(
        "compare",
        with_phenotypes(cohort, 10, lambda i, group: {"age": None if (i, group) == missing else 60 + 3 * i % 7}),
    )
    page.toggle(key="leave_out_incomplete").set_value(True).run()
    assert "a covariate is missing: 1 person." in captions(page)
    assert metrics(page)["People of AD"] == "9"


def test_people_are_the_unit(open_own, cohort):
    subjects = [replace(one, id=f"sub-{i // 2}_ses-{i % 2}") for i, one in enumerate(cohort.group("NC"))]
    subjects += list(cohort.group("AD"))
    page = open_own("compare", replace(cohort, subjects=tuple(subjects), name="mine"))
    assert metrics(page)["People of NC"] == "10"
    assert "10 further rows of the same subjects averaged" in captions(page)


def test_table_runs_no_formula(open_own, cohort):
    atlas = replace(cohort.atlas, labels={"evil": ["=1+1" if i % 2 else "b" for i in range(90)]})
    own = with_phenotypes(cohort, 4, lambda i, group: {})
    page = open_own("compare", replace(own, atlas=atlas))
    assert "'=1+1 – =1+1" in page.dataframe[0].value["Feature"].tolist()
    button = next(one for one in page.get("download_button") if one.proto.id.endswith("differences_download"))
    assert button.proto.label == "Download the table of 3 features"


def test_a_cohort_without_groups_is_sent_to_the_subjects(open_own, cohort):
    page = open_own("compare", replace(cohort.with_groups(dict.fromkeys(cohort.ids)), name="mine"))
    assert "Two groups of at least 2 people each are needed" in words(page.info)


def test_modules_are_compared_on_request(open_compare, cohort, count, monkeypatch):
    counted = count(finding, "find_modules")
    for module in ("results.measured", "modules.measures"):
        monkeypatch.setattr(f"biobgt.{module}.SHUFFLES", 3)  # of 39
    page = open_compare(compared="modules", runs="5", seed="21")
    assert not counted
    page.button(key="groups_start").click().run()
    assert len(counted) == 40
    options = ModuleOptions(runs=5, seed=21)
    own = {
        subject.id: find_modules(brain_graph(subject, cohort.atlas), options)
        for group in ("NC", "MCI")
        for subject in cohort.group(group)
    }
    expected = group_module_difference(cohort, ("NC", "MCI"), own, seed=21)
    link = figure(page, "group_flow")["data"][0]["link"]
    assert array(link["value"]).sum() == expected.agreement.n_compared
    numbers = metrics(page)
    assert numbers["AMI"] == f"{expected.agreement.ami:.2f}"
    assert numbers["Regions that change"] == f"{len(expected.changed)} of {expected.agreement.n_compared}"
    assert numbers["Permutation p"] == f"{expected.p:.3g}"
    shuffled = [shuffled_changes(cohort, ("NC", "MCI"), own, number=number, seed=21) for number in range(3)]
    assert numbers["By chance"] == f"{min(shuffled)} to {max(shuffled)}"
    assert f"and {min(shuffled)} to {max(shuffled)} in 3 permutations of the groups, seed 21" in captions(page)
    assert "The test is not adjusted for motion, age, sex or site" in captions(page)
    changed = table_with(page, "Module in MCI")
    assert changed["Region"].tolist() == [cohort.atlas.regions[region] for region in expected.changed]
    assert changed["Module in MCI"].tolist() == expected.second[list(expected.changed)].tolist()
    for key, labels in (("brain_first", expected.first), ("brain_second", expected.second)):
        drawn = [trace for trace in figure(page, key)["data"] if trace.get("mode") == "markers"]
        colours = {trace["marker"]["color"]: len(trace["text"]) for trace in drawn}
        assert colours == {MODULE_COLOURS[n - 1]: int((labels == n).sum()) for n in set(labels.tolist()) - {0}}
    # The third group brings only its own subjects; what was found is kept.
    page.selectbox(key="second_group").select("AD").run()
    page.button(key="groups_start").click().run()
    assert len(counted) == 60
    page.selectbox(key="second_group").select("MCI").run()
    assert len(counted) == 60
    assert metrics(page) == numbers


def test_same_group_twice_is_refused(open_compare):
    page = open_compare(compared="modules")
    page.selectbox(key="second_group").select("NC").run()
    assert "two different groups" in words(page.info)
