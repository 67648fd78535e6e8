"""What the page of exports made: previews and files, kept in the user's session for as long as they are listed.

A figure of a group measures subject after subject. Each is kept as soon as it is done, and between two of them the page
can be stopped: it then goes on where it was. What the other pages have measured of the cohort is not measured again.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

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
from session.view import EXPORT_FILES, EXPORT_MEASURED, EXPORT_PANELS, EXPORT_PREVIEWS, LoadedCohort

PREVIEW_DPI = 150
DEFAULT_DEMO = CohortRef("asd", demo=True)

Preview = tuple[bytes, str]


class StoppableCohort(Measured):
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


def kept_preview(request: FigureRequest, style: PaperStyle) -> Preview | None:
    """The figure as PNG, at a screen's density, and its caption, if it was drawn."""
    found: Preview | None = st.session_state.get(EXPORT_PREVIEWS, {}).get((request, replace(style, dpi=PREVIEW_DPI)))
    return found


def keep_preview(request: FigureRequest, style: PaperStyle) -> None:
    """Draw the figure as it will look, and keep it."""
    shown = replace(style, dpi=PREVIEW_DPI)
    files = _make(request, shown, ["png"])
    st.session_state.setdefault(EXPORT_PREVIEWS, {})[request, shown] = files.pictures["png"], files.caption


def kept_files(request: FigureRequest, style: PaperStyle, formats: Sequence[FileFormat]) -> FigureFiles | None:
    """The figure's files, if they were made.

    Parameters
    ----------
    request : FigureRequest
    style : PaperStyle
    formats : sequence of {"svg", "pdf", "png", "tiff"}
    """
    found: FigureFiles | None = st.session_state.get(EXPORT_FILES, {}).get((request, style, tuple(formats)))
    return found


def keep_files(request: FigureRequest, style: PaperStyle, formats: Sequence[FileFormat]) -> None:
    """Make the figure's files, and keep them.

    Parameters
    ----------
    request : FigureRequest
    style : PaperStyle
    formats : sequence of {"svg", "pdf", "png", "tiff"}
    """
    made = _make(request, style, formats)
    st.session_state.setdefault(EXPORT_FILES, {})[request, style, tuple(formats)] = made


def forget_others(requests: Sequence[FigureRequest], style: PaperStyle) -> None:
    """Drop what was made of figures that are no longer listed, or look otherwise by now."""
    for name, look in ((EXPORT_PREVIEWS, replace(style, dpi=PREVIEW_DPI)), (EXPORT_FILES, style)):
        kept = st.session_state.get(name, {})
        st.session_state[name] = {key: made for key, made in kept.items() if key[0] in requests and key[1] == look}
    cohorts = {request.cohort for request in requests}
    measured = st.session_state.get(EXPORT_MEASURED, {})
    st.session_state[EXPORT_MEASURED] = {ref: kept for ref, kept in measured.items() if ref in cohorts}


def kept_panels(request: PanelsRequest, style: PaperStyle, formats: Sequence[FileFormat]) -> PanelFiles | None:
    """A figure of several panels, if it was made.

    Parameters
    ----------
    request : PanelsRequest
    style : PaperStyle
    formats : sequence of {"svg", "pdf", "png", "tiff"}
    """
    found: PanelFiles | None = st.session_state.get(EXPORT_PANELS, {}).get((request, style, tuple(formats)))
    return found


def keep_panels(request: PanelsRequest, style: PaperStyle, formats: Sequence[FileFormat]) -> None:
    """Make a figure of several panels, and keep it in the place of others.

    Parameters
    ----------
    request : PanelsRequest
    style : PaperStyle
    formats : sequence of {"svg", "pdf", "png", "tiff"}
    """
    measured = {panel.cohort: _measured(panel.cohort) for panel in request.panels}
    made = make_panels(measured, request, style=style, formats=formats)
    kept = {key: old for key, old in st.session_state.get(EXPORT_PANELS, {}).items() if key[0] == request}
    st.session_state[EXPORT_PANELS] = kept | {(request, style, tuple(formats)): made}


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


def _make(request: FigureRequest, style: PaperStyle, formats: Sequence[FileFormat]) -> FigureFiles:
    measured = _measured(request.cohort)
    place = measured.place = st.empty()
    try:
        return make_files(measured, request, style=style, formats=formats)
    finally:
        measured.place = None
        place.empty()


def _measured(ref: CohortRef) -> StoppableCohort:
    kept: dict[CohortRef, StoppableCohort] = st.session_state.setdefault(EXPORT_MEASURED, {})
    if ref not in kept:
        cohort = find_cohort(ref)
        assert cohort is not None  # the page asks for no figure of subjects that are gone
        kept[ref] = StoppableCohort(cohort, _loaded(ref))
    return kept[ref]


def _loaded(ref: CohortRef) -> LoadedCohort | None:
    """The cohort as the other pages have it, if they do."""
    if ref.demo:
        usual = (ref.n_per_group, ref.seed) == (DEFAULT_DEMO.n_per_group, DEFAULT_DEMO.seed)
        return load(ref.name) if usual else None
    own = None if ref.model else own_cohort()
    return None if own is None or own.sha256 != ref.sha256 else own
