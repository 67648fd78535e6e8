"""What the page of exports made: previews and files, kept in the user's session for as long as they are listed."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st
from state import EXPORT_FILES, EXPORT_MEASURED, EXPORT_PREVIEWS, load, own_cohort

from biobgt import Cohort
from biobgt.export import CohortRef, FigureRequest
from biobgt.export.bundle import FigureFiles, make_files, write_bundle
from biobgt.export.measured import MeasuredCohort
from biobgt.figures.paper.style import FileFormat, PaperStyle

PREVIEW_DPI = 150
DEFAULT_DEMO = CohortRef("asd", demo=True)

Preview = tuple[bytes, str]


def find_cohort(ref: CohortRef) -> Cohort | None:
    """The cohort that a figure is of; None where the user's own subjects are no longer what they were."""
    if ref.demo:
        usual = (ref.n_per_group, ref.seed) == (DEFAULT_DEMO.n_per_group, DEFAULT_DEMO.seed)
        return load(ref.name).cohort if usual else ref.draw()
    if ref.model:
        return ref.draw()
    own = own_cohort()
    return None if own is None or own.sha256 != ref.sha256 else own.cohort


def preview(request: FigureRequest, style: PaperStyle) -> Preview:
    """The figure as PNG, at a screen's density, and its caption; drawn once."""
    kept: dict[tuple[FigureRequest, PaperStyle], Preview] = st.session_state.setdefault(EXPORT_PREVIEWS, {})
    shown = replace(style, dpi=PREVIEW_DPI)
    if (request, shown) not in kept:
        with st.spinner("Drawing the figure…"):
            files = make_files(_measured(request.cohort), request, style=shown, formats=["png"])
        kept[request, shown] = files.pictures["png"], files.caption
    return kept[request, shown]


def kept_files(request: FigureRequest, style: PaperStyle, formats: Sequence[FileFormat]) -> FigureFiles | None:
    """The figure's files, if they were made."""
    found: FigureFiles | None = st.session_state.get(EXPORT_FILES, {}).get((request, style, tuple(formats)))
    return found


def keep_files(request: FigureRequest, style: PaperStyle, formats: Sequence[FileFormat]) -> None:
    """Make the figure's files, and keep them."""
    made = make_files(_measured(request.cohort), request, style=style, formats=formats)
    st.session_state.setdefault(EXPORT_FILES, {})[request, style, tuple(formats)] = made


def forget_others(requests: Sequence[FigureRequest], style: PaperStyle) -> None:
    """Drop what was made of figures that are no longer listed, or look otherwise by now."""
    for name, look in ((EXPORT_PREVIEWS, replace(style, dpi=PREVIEW_DPI)), (EXPORT_FILES, style)):
        kept = st.session_state.get(name, {})
        st.session_state[name] = {key: made for key, made in kept.items() if key[0] in requests and key[1] == look}
    cohorts = {request.cohort for request in requests}
    measured = st.session_state.get(EXPORT_MEASURED, {})
    st.session_state[EXPORT_MEASURED] = {ref: kept for ref, kept in measured.items() if ref in cohorts}


def bundle_file(
    figures: Sequence[FigureFiles], cohorts: Mapping[CohortRef, Cohort], style: PaperStyle, include_data: bool
) -> bytes:
    """The bundle, as the bytes of its zip."""
    stream = io.BytesIO()
    write_bundle(figures, cohorts, stream, style=style, include_data=include_data)
    return stream.getvalue()


def _measured(ref: CohortRef) -> MeasuredCohort:
    kept: dict[CohortRef, MeasuredCohort] = st.session_state.setdefault(EXPORT_MEASURED, {})
    if ref not in kept:
        cohort = find_cohort(ref)
        assert cohort is not None  # the page asks for no figure of subjects that are gone
        kept[ref] = MeasuredCohort(cohort)
    return kept[ref]
