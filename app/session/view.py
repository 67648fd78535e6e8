"""A cohort with what was measured of it, and the view of it that pages show.

What is kept here lives as long as the cohort does: a demo's for all sessions, a user's own in that user's session.
"""

from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar, cast

import pandas as pd
import streamlit as st

from biobgt import Atlas, Cohort, ConnectomeSettings, Subject
from biobgt.base.options import Option, Options, Plain
from biobgt.data.edits import set_groups
from biobgt.data.quality import quality_table
from biobgt.data.result_keys import Key, MemoryStore
from biobgt.export import cohort_sha256
from biobgt.model.installed import InstalledModel
from biobgt.results.measured import Measured, MeasuredCohort
from session.choices import options_of
from session.keys import VIEW
from session.shown_model import FITTING, chosen_model, cohort_behind, model_shown

AnyOptions = TypeVar("AnyOptions", bound=Options)


@dataclass(eq=False)
class LoadedCohort:
    """A cohort with what is worked out once for all of its subjects, when it is first asked for."""

    key: str
    cohort: Cohort
    store: MemoryStore = field(default_factory=MemoryStore)

    @cached_property
    def quality(self) -> pd.DataFrame:
        """The quality table, one row per subject."""
        return quality_table(self.cohort)

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the cohort's numbers, by which an export recognises it."""
        return cohort_sha256(self.cohort)

    @cached_property
    def measurements_sha256(self) -> str:
        """The same whatever the groups are, on which no result depends but through the ids of a group's members."""
        return cohort_sha256(set_groups(self.cohort, dict.fromkeys(self.cohort.ids)))

    @cached_property
    def people(self) -> Hashable:
        """Who is in which group and what is known of them, on which drawings of a cohort depend."""
        return tuple((one.id, one.group, repr(one.phenotypes)) for one in self.cohort)

    @property
    def measured(self) -> MeasuredCohort:
        """The cohort, to be asked for results; who waits for one sees what goes on."""
        return MeasuredCohort(self.cohort, self.store, watch_with_spinner)

    def changed_to(self, cohort: Cohort) -> "LoadedCohort":
        """The cohort after a change: what was measured is kept only where no number, no region and no kind changed.

        Groups may have. Nothing that is kept depends on them but through the ids of a group's members.
        """
        if not _same_measurements(self.cohort, cohort):
            return LoadedCohort(self.key, cohort)
        return replace(self, cohort=cohort)


@dataclass(frozen=True, eq=False)
class View:
    """What is looked at: one subject of one cohort, how its graph is made, and what the user chose on the pages.

    Attributes
    ----------
    loaded : LoadedCohort
    subject : Subject
    settings : ConnectomeSettings
    choices : mapping of str to plain values
        By the names that links give to options; what is not in it is the default.
    model : str
    """

    loaded: LoadedCohort
    subject: Subject
    settings: ConnectomeSettings
    choices: Mapping[str, Plain] = field(default_factory=dict)
    model: str = FITTING

    @property
    def cohort(self) -> Cohort:
        """The subject's cohort."""
        return self.loaded.cohort

    @property
    def atlas(self) -> Atlas:
        """The cohort's atlas."""
        return self.cohort.atlas

    @cached_property
    def measured(self) -> Measured:
        """What is measured of the subject, with the view's graph."""
        return self.loaded.measured.of(self.subject.id, self.settings)

    @cached_property
    def chosen_model(self) -> InstalledModel | None:
        """The model that the sidebar says, or the one that fits the cohort; None where none does."""
        return chosen_model(self.model, self.cohort)

    @cached_property
    def model_shown(self) -> InstalledModel | None:
        """The same, or the first of all; None where there is no model."""
        return model_shown(self.model, self.cohort)

    def options(self, kind: type[AnyOptions], /, **fixed: Plain) -> AnyOptions:
        """A group of options, as the user chose them; ``fixed`` are not the user's choice here."""
        asked = (kind, tuple(fixed.items()))
        if asked not in self._chosen:
            self._chosen[asked] = options_of(self.choices, kind, self.cohort_behind, **fixed)
        return cast("AnyOptions", self._chosen[asked])

    def cohort_behind(self, one: Option) -> Cohort | None:
        """The cohort on which an option's choices depend; None where that is a model's, and there is no model."""
        if one.of_model not in self._behind:
            self._behind[one.of_model] = cohort_behind(one, self.model, self.cohort)
        return self._behind[one.of_model]

    @cached_property
    def _behind(self) -> dict[bool, Cohort | None]:
        """Cohorts that were found before: which models there are is looked up on the disk."""
        return {}

    @cached_property
    def _chosen(self) -> dict[Hashable, Options]:
        """Options that were put together before: panels of a page ask for the same again and again."""
        return {}


def current_view() -> View:
    """The view that the sidebar chose in this run."""
    view: View = st.session_state[VIEW]
    return view


@contextmanager
def watch_with_spinner(key: Key) -> Iterator[None]:
    """Show what goes on while a result that takes long is measured."""
    if not key.kind.doing:
        yield
        return
    with st.spinner(key.kind.doing):
        yield


def measured_model(model: InstalledModel) -> Measured:
    """What is measured of the groups that a model was trained on; the same for all sessions."""
    return MeasuredCohort(model.cohort, _model_store(model.name, model.sha256), watch_with_spinner).of(None)


@st.cache_resource(show_spinner=False, max_entries=8)
def _model_store(name: str, sha256: str) -> MemoryStore:
    return MemoryStore()


def _same_measurements(one: Cohort, other: Cohort) -> bool:
    return (
        one.atlas is other.atlas
        and one.given == other.given
        and [(subject.id, id(subject.series), id(subject.connectivity)) for subject in one]
        == [(subject.id, id(subject.series), id(subject.connectivity)) for subject in other]
    )
