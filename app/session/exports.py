"""The figures a user wants to export: a list in that user's session, and what was made of it so far.

A figure of a group measures subject after subject. Each is kept as soon as it is done, and between two of them the page
can be stopped: it then goes on where it was. What the other pages have measured of the cohort is not measured again.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from biobgt import Cohort, InputError
from biobgt.base.kept import Key
from biobgt.base.options import Options
from biobgt.base.wording import counted
from biobgt.data.graph import ConnectomeSettings
from biobgt.data.simulate import DEMO_COHORTS
from biobgt.export import CohortRef, FigureRequest
from biobgt.export.request import PanelsRequest
from biobgt.figures.paper_style import FileFormat, PaperStyle
from biobgt.figures.register import Figure
from biobgt.model.pretrained import installed_model
from biobgt.results.measured import Measured
from session.cohorts import load, own_cohort
from session.view import EXPORT_LIST, EXPORT_MADE, EXPORT_MEASURED, LoadedCohort, View, current_view

_PREVIEW_DPI = 150
_DEFAULT_DEMO = CohortRef("asd", demo=True)


def figure_request(view: View, figure: Figure, options: Options, measured: Measured | None = None) -> FigureRequest:
    """Ask for a figure that a page shows, with all its options.

    Parameters
    ----------
    view : View
    figure : Figure
        Of the register.
    options : Options
    measured : Measured, optional
        Of a model's cohort, of which a figure of its groups is made.
    """
    if figure.of_model:
        name = measured.cohort.name if measured else ""
        cohort = CohortRef(name, model=True, sha256=installed_model(name).sha256)
        return FigureRequest(figure.key, cohort, options=options.as_dict())
    key = view.loaded.key
    cohort = CohortRef(key, demo=True) if key in DEMO_COHORTS else CohortRef(view.cohort.name)
    subject = view.subject.id if figure.of_subject else None
    settings = view.settings if figure.of_graph else ConnectomeSettings()
    return FigureRequest(figure.key, cohort, subject, settings, options.as_dict())


def listed_figures() -> list[FigureRequest]:
    """What is to be exported, in the order of the paper."""
    return list(st.session_state.get(EXPORT_LIST, []))


def keep_list(requests: list[FigureRequest]) -> None:
    """Keep another list in the place of the present one."""
    st.session_state[EXPORT_LIST] = requests


def is_in_export(request: FigureRequest) -> bool:
    """Whether a figure is on the list."""
    requests = listed_figures()
    # The SHA-256 of a large cohort takes a while, and no other request can be one of own subjects.
    return any(one.cohort.own == request.cohort.own for one in requests) and _pinned(request) in requests


def add_to_export(request: FigureRequest) -> None:
    """Put a figure on the list, and say so."""
    pinned, requests = _pinned(request), listed_figures()
    if pinned in requests:
        return
    keep_list([*requests, pinned])
    number = counted(len(requests) + 1, "figure")
    st.toast(f"Added to the export: {number} on the page Export.", icon=":material/check:")


def _pinned(request: FigureRequest) -> FigureRequest:
    """A request as the list keeps it: own subjects are remembered by the SHA-256 of their numbers."""
    if not request.cohort.own:
        return request
    return replace(request, cohort=replace(request.cohort, sha256=current_view().loaded.sha256))


class _StoppableCohort(Measured):
    """A measured cohort that says how far it is before every measurement; there a click can stop it.

    Parameters
    ----------
    cohort : Cohort
    loaded : LoadedCohort or None
        The same cohort as the other pages have it, with what they measured.
    """

    def __init__(self, cohort: Cohort, loaded: LoadedCohort | None = None) -> None:
        super().__init__(cohort, None if loaded is None else loaded.store, self._watch)
        self.place: DeltaGenerator | None = None
        self.n_measured = 0

    @contextmanager
    def _watch(self, key: Key) -> Iterator[None]:
        if self.place is not None:
            self.place.caption(f"Measuring: {self.n_measured} done so far")
        yield
        self.n_measured += 1


def listed_cohort(ref: CohortRef) -> Cohort | None:
    """The cohort that a figure is of; None where the user's own subjects, or the model, are not what they were."""
    loaded = _loaded(ref)
    if loaded is not None:
        return loaded.cohort
    try:
        return None if ref.own else ref.draw()
    except InputError:
        return None


@dataclass(frozen=True)
class ExportFiles:
    """The files of listed figures in one look and some formats, as far as they were made."""

    style: PaperStyle
    formats: tuple[FileFormat, ...]

    @classmethod
    def previews(cls, style: PaperStyle) -> "ExportFiles":
        """What a page shows of figures of this look: pictures at a screen's density."""
        return cls(replace(style, dpi=_PREVIEW_DPI), ("png",))

    def of(self, request: FigureRequest | PanelsRequest) -> Any:
        """The files of a figure (FigureFiles), or of a figure of panels (PanelFiles), if they were made; else None."""
        return st.session_state.get(EXPORT_MADE, {}).get((request, self.style, self.formats))

    def are_made(self, request: FigureRequest | PanelsRequest) -> bool:
        """Whether a figure, or a figure of panels, was made."""
        return self.of(request) is not None

    def make(self, request: FigureRequest | PanelsRequest) -> None:
        """Make the files of a figure, or of a figure of panels, and keep them."""
        from biobgt.export import making  # brings matplotlib, which other pages do without

        made: making.FigureFiles | making.PanelFiles
        if isinstance(request, PanelsRequest):
            measured = {panel.cohort: _measured(panel.cohort) for panel in request.panels}
            made = making.make_panels(measured, request, style=self.style, formats=self.formats)
        else:
            one = _measured(request.cohort)
            place = one.place = st.empty()
            try:
                made = making.make_files(one, request, style=self.style, formats=self.formats)
            finally:
                one.place = None
                place.empty()
        st.session_state.setdefault(EXPORT_MADE, {})[request, self.style, self.formats] = made


def forget_others(requests: Sequence[FigureRequest | PanelsRequest], style: PaperStyle) -> None:
    """Drop what was made of figures that are no longer listed, or look otherwise by now."""
    looks, made = (style, ExportFiles.previews(style).style), st.session_state.get(EXPORT_MADE, {})
    listed = {key: files for key, files in made.items() if key[0] in requests and key[1] in looks}
    st.session_state[EXPORT_MADE] = listed
    cohorts = {request.cohort for request in requests if isinstance(request, FigureRequest)}
    measured = st.session_state.get(EXPORT_MEASURED, {})
    st.session_state[EXPORT_MEASURED] = {ref: kept for ref, kept in measured.items() if ref in cohorts}


def _measured(ref: CohortRef) -> _StoppableCohort:
    kept: dict[CohortRef, _StoppableCohort] = st.session_state.setdefault(EXPORT_MEASURED, {})
    if ref not in kept:
        cohort = listed_cohort(ref)
        assert cohort is not None  # the page asks for no figure of subjects that are gone
        kept[ref] = _StoppableCohort(cohort, _loaded(ref))
    return kept[ref]


def _loaded(ref: CohortRef) -> LoadedCohort | None:
    """The cohort as the other pages have it, if they do."""
    if ref.demo:
        usual = (ref.n_per_group, ref.seed) == (_DEFAULT_DEMO.n_per_group, _DEFAULT_DEMO.seed)
        return load(ref.name) if usual else None
    own = None if ref.model else own_cohort()
    return None if own is None or own.sha256 != ref.sha256 else own
