"""Options of studies: what cannot be measured one recording at a time is refused in a sentence."""

import pytest

from biobgt.base.errors import InputError
from biobgt.data.graph import KINDS
from biobgt.study.options import DENSITIES, RecordingOptions, StudyOptions, study_settings


def test_graphs_keep_shares_of_pairs_unless_another_threshold_is_chosen():
    at_levels = RecordingOptions().settings_at_levels(study_settings(KINDS["estimated"], {"sign": "absolute"}))
    assert [(one.threshold, one.level, one.sign) for one in at_levels] == [
        ("proportional", density, "absolute") for density in DENSITIES
    ]
    assert study_settings(KINDS["structural"], {"threshold": "absolute"}).threshold == "absolute"


@pytest.mark.parametrize(
    ("chosen", "word"),
    [
        ({"level": 0.1}, "--at"),
        ({"threshold": "none"}, "--at 1"),
        ({"estimator": "tangent"}, "tangent"),
        ({"sign": "signed"}, "negative"),
    ],
)
def test_what_has_no_levels_or_needs_everybody_at_once_is_refused(chosen, word):
    with pytest.raises(InputError, match=word):
        study_settings(KINDS["estimated"], chosen)


def test_results_of_a_recording_depend_on_no_option_of_the_tests():
    plain, other = StudyOptions(), StudyOptions(design="~ age", permutations=7, edge_threshold=2)
    assert plain.part(RecordingOptions) == other.part(RecordingOptions)


def test_levels_are_ascending_and_each_is_measured_once():
    assert RecordingOptions(levels=(0.2, 0.1, 0.2)).levels == (0.1, 0.2)
