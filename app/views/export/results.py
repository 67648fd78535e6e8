"""What the page of exports made: previews and files, kept in the user's session for as long as they are listed.

A figure of a group measures subject after subject. Each is kept as soon as it is done, and between two of them the page
can be stopped: it then goes on where it was. What the other pages have measured of the cohort is not measured again.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from biobgt import Cohort, InputError
from biobgt.base.kept import Key
from biobgt.export import CohortRef, FigureRequest
from biobgt.export.bundle import write_bundle
from biobgt.export.making import FigureFiles, PanelFiles, make_files, make_panels
from biobgt.export.request import PanelsRequest
from biobgt.figures.paper_style import FileFormat, PaperStyle
from biobgt.results.measured import Measured
from session.cohorts import load, own_cohort
from session.view import EXPORT_MADE, EXPORT_MEASURED, LoadedCohort

PREVIEW_DPI = 150
_DEFAULT_DEMO = CohortRef("asd", demo=True)


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


def find_cohort(ref: CohortRef) -> Cohort | None:
    """The cohort that a figure is of; None where the user's own subjects, or the model, are not what they were."""
    loaded = _loaded(ref)
    if loaded is not None:
        return loaded.cohort
    try:
        return None if ref.own else ref.draw()
    except InputError:
        return None


def kept(request: FigureRequest | PanelsRequest, style: PaperStyle, formats: Sequence[FileFormat]) -> Any:
    """The files of a figure (FigureFiles), or of a figure of panels (PanelFiles), if they were made; else None.

    Parameters
    ----------
    request : FigureRequest or PanelsRequest
    style : PaperStyle
    formats : sequence of {"svg", "pdf", "png", "tiff"}
    """
    return st.session_state.get(EXPORT_MADE, {}).get((request, style, tuple(formats)))


def make(request: FigureRequest | PanelsRequest, style: PaperStyle, formats: Sequence[FileFormat]) -> None:
    """Make the files of a figure, or of a figure of panels, and keep them.

    Parameters
    ----------
    request : FigureRequest or PanelsRequest
    style : PaperStyle
    formats : sequence of {"svg", "pdf", "png", "tiff"}
    """
    made: FigureFiles | PanelFiles
    if isinstance(request, PanelsRequest):
        measured = {panel.cohort: _measured(panel.cohort) for panel in request.panels}
        made = make_panels(measured, request, style=style, formats=formats)
    else:
        one = _measured(request.cohort)
        place = one.place = st.empty()
        try:
            made = make_files(one, request, style=style, formats=formats)
        finally:
            one.place = None
            place.empty()
    st.session_state.setdefault(EXPORT_MADE, {})[request, style, tuple(formats)] = made


def preview_style(style: PaperStyle) -> PaperStyle:
    """The same at a screen's density."""
    return replace(style, dpi=PREVIEW_DPI)


def forget_others(requests: Sequence[FigureRequest | PanelsRequest], style: PaperStyle) -> None:
    """Drop what was made of figures that are no longer listed, or look otherwise by now."""
    looks, made = (style, preview_style(style)), st.session_state.get(EXPORT_MADE, {})
    listed = {key: files for key, files in made.items() if key[0] in requests and key[1] in looks}
    st.session_state[EXPORT_MADE] = listed
    cohorts = {request.cohort for request in requests if isinstance(request, FigureRequest)}
    measured = st.session_state.get(EXPORT_MEASURED, {})
    st.session_state[EXPORT_MEASURED] = {ref: kept for ref, kept in measured.items() if ref in cohorts}


def bundle_file(
    figures: Sequence[FigureFiles],
    cohorts: Mapping[CohortRef, Cohort],
    style: PaperStyle,
    include_data: bool,
    panels: PanelFiles | None,
) -> bytes:
    """The bundle, as the bytes of its zip.

    Parameters
    ----------
    figures, cohorts, style, include_data, panels
        See :func:`biobgt.export.bundle.write_bundle`.
    """
    stream = io.BytesIO()
    write_bundle(figures, cohorts, stream, style=style, include_data=include_data, panels=panels)
    return stream.getvalue()


def _measured(ref: CohortRef) -> _StoppableCohort:
    kept: dict[CohortRef, _StoppableCohort] = st.session_state.setdefault(EXPORT_MEASURED, {})
    if ref not in kept:
        cohort = find_cohort(ref)
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
