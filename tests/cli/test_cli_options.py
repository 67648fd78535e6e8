"""Options of the command line are made of the declared ones: flag, default and help."""

from typing import get_args

import pytest
import typer.main

from biobgt import ConnectomeSettings, ImageOptions, ReadOptions
from biobgt.cli.main import app
from biobgt.figures.paper_style import PaperStyle
from biobgt.readers.fetch import FetchOptions
from biobgt.training.datasets import DATASETS, CohortKind
from biobgt.training.options import BenchmarkOptions, EvaluationOptions, TrainingOptions


def command(*names):
    found = typer.main.get_command(app)
    for name in names:
        found = found.get_command(None, name)
    return found


@pytest.mark.parametrize(
    ("names", "kinds"),
    [
        (("info",), (ReadOptions, ImageOptions)),
        (("hubs",), (ReadOptions, ImageOptions, ConnectomeSettings)),
        (("figure",), (ReadOptions, ImageOptions, ConnectomeSettings, PaperStyle)),
        (("fetch", "abide"), (FetchOptions,)),
        (("train",), (TrainingOptions,)),
        (("evaluate",), (EvaluationOptions,)),
        (("benchmark",), (BenchmarkOptions,)),
    ],
)
def test_every_option_has_its_flags_its_default_and_its_help(names, kinds):
    given = {parameter.name: parameter for parameter in command(*names).params}
    for kind in kinds:
        for name, one in kind.declared().items():
            parameter = given[name]
            assert (*parameter.opts, *parameter.secondary_opts) == one.flags
            of_cohort = kind is ConnectomeSettings and one.default_of is not None  # follows its kind of connectivity
            assert parameter.default == (None if of_cohort else one.default)
            assert parameter.help.startswith(one.help or one.title)


def test_every_kind_of_cohort_has_its_story_and_its_name_on_the_command_line():
    assert get_args(CohortKind) == tuple(DATASETS)
