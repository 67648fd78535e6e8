"""Export: the figures that were added on the other pages, in order, as the journal wants them, in one zip.

Below them: connectomes, modules and hub measures as files for other programs, of one subject or of all.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from biobgt import Cohort, InputError
from biobgt.base.files import file_names, zipped
from biobgt.base.kept import Key
from biobgt.base.wording import counted, listed
from biobgt.data.simulate import DEMO_COHORTS
from biobgt.export import CohortRef, FigureRequest, bundle
from biobgt.export.bundle import is_simulated, write_bundle
from biobgt.export.graph_files import GRAPH_FORMATS, node_table
from biobgt.export.request import FEWEST_PANELS, PanelOptions, PanelsRequest
from biobgt.figures.paper.frame import installed_fonts
from biobgt.figures.paper_style import FILE_FORMATS, FileFormat, PaperStyle
from biobgt.figures.register import all_figures
from biobgt.hubs.measures import COMPARED, HUB_MEASURES, HubOptions
from biobgt.modules.measures import NamedModuleOptions
from biobgt.results.measured import Measured
from session.cohorts import keep_list, listed_figures, load, own_cohort
from session.studies import listed_study
from session.view import EXPORT_GRAPHS, EXPORT_MADE, EXPORT_MEASURED, LoadedCohort, View, current_view
from views.page_map import PAGES
from views.shared import widgets
from views.shared.widgets import caption, escape_markdown, heading, input_errors_shown

# Under which the session keeps what is asked here; those of the look are a prefix and the name of the option.
_LOOK, _FORMATS, _DATA = "export_", "export_formats", "export_data"
_PANELS, _PANEL_COLUMNS, _PANEL_LETTERS = "panel_figures", "panel_columns", "panel_letters"
_FEW = 4  # figures, which are all panels of one at first
_PREVIEW_DPI = 150
_WIDTH = 180  # px, of what is asked about the look
_PX_PER_MM = 4.4  # about what a figure takes on a page that is read from usual distance
_PAGES_WITH_FIGURES = ("subjects", "hubs", "modules", "compare", "study", "attention", "predict", "models")
_GONE_SUBJECTS = (
    "The subjects of this figure are no longer loaded, or were changed, so it is left out. Load them again, or remove "
    "the figure."
)
_GONE_STUDY = (
    "The study of this figure is no longer shown on the page Study, or its findings are others by now, so the figure "
    "is left out. Show the study again, or remove the figure."
)
_GONE_MODEL = (
    "The model of this figure was changed or removed, so the figure is left out. Remove the figure, and add it again "
    "on its page."
)


def _show_page() -> None:
    """Show the page."""
    about = (
        "Figures for the paper, with the numbers behind each, captions, a methods section with its references for Word "
        "or LaTeX, provenance, and a script that makes the same figures again. Every figure of the other pages that "
        "can be drawn for paper has the button *Add to export*."
    )
    requests, view = listed_figures(), current_view()
    found = {request.cohort: _listed_cohort(request.cohort) for request in requests}
    listed = any(cohort is not None and cohort.simulated for cohort in found.values())
    widgets.open_page("export", about, simulated=view.cohort.simulated or listed)
    if not requests:
        st.info("No figure has been added yet. Add some on these pages:", icon=":material/info:")
        for name in _PAGES_WITH_FIGURES:
            st.page_link(PAGES[name].script, label=PAGES[name].title, icon=":material/arrow_forward:")
        _show_graph_files(view)
        return
    bundle = st.container()
    style, formats = _ask_how()
    usable = [request for request in requests if found[request.cohort] is not None]
    titles = {
        request: f"{number}. {all_figures()[request.figure].name} · {_whose(request)}"
        for number, request in enumerate(requests, start=1)
    }
    panels = _ask_for_panels(usable, titles)
    _forget_others([*usable, panels] if panels else usable, style)
    panels_place = st.container()
    st.subheader(counted(len(requests), "figure"))
    drawing = st.container()
    places = {
        request: _show_figure(position, len(requests), request, cohort=found[request.cohort])
        for position, request in enumerate(requests)
    }
    # What may take long comes last, for the list can be read and ordered meanwhile; what was asked for comes first.
    with bundle, input_errors_shown():
        _show_bundle(usable, style, formats, panels)
    with panels_place, input_errors_shown():
        if panels is not None:
            _show_panels(panels, style)
    with drawing:
        _show_previews({request: places[request] for request in usable}, style)
    _show_graph_files(view)


def _ask_how() -> tuple[PaperStyle, tuple[FileFormat, ...]]:
    """Ask how figures look, and in which formats they are written."""
    offered = {"font": installed_fonts()}
    with widgets.in_a_row():
        answers = {
            name: widgets.ask_here(one, key=f"{_LOOK}{name}", offered=offered.get(name), width=_WIDTH)
            for name, one in PaperStyle.declared().items()
            if name != "height_mm"  # every figure has the height that suits it
        }
        st.session_state.setdefault(_FORMATS, list(FILE_FORMATS))
        chosen = st.segmented_control(
            "Formats",
            FILE_FORMATS,
            format_func=str.upper,
            selection_mode="multi",
            key=_FORMATS,
            persist_state="session",
        )
    return PaperStyle(**answers), tuple(format for format in FILE_FORMATS if format in chosen)


def _whose(request: FigureRequest) -> str:
    ref = request.cohort
    cohort = DEMO_COHORTS[ref.name] if ref.demo else "" if ref.model else ref.name
    model = f"model {request.model}" if request.model else ""
    return ", ".join(part for part in (request.subject, cohort, model) if part)


def _ask_for_panels(usable: Sequence[FigureRequest], titles: Mapping[FigureRequest, str]) -> PanelsRequest | None:
    """Ask which figures are panels of one, and how they are arranged; None where that is not wanted."""
    if len(usable) < FEWEST_PANELS:
        return None
    st.subheader("Several panels in one figure")
    options = PanelOptions.declared()
    few = usable if len(usable) <= _FEW else []
    st.session_state[_PANELS] = [one for one in st.session_state.get(_PANELS, few) if one in usable]
    chosen = st.multiselect(
        "Panels",
        list(usable),
        format_func=titles.__getitem__,
        key=_PANELS,
        persist_state="session",
        placeholder=f"Choose {FEWEST_PANELS} or more of the figures below",
        help="In the order in which they are chosen; of a few figures, all at first. The figure of panels is written "
        "beside the single figures.",
    )
    with widgets.in_a_row():
        columns = widgets.ask_here(options["columns"], key=_PANEL_COLUMNS)
        letters = widgets.ask_here(options["letters"], key=_PANEL_LETTERS)
    if len(chosen) < FEWEST_PANELS:
        return None
    return PanelsRequest(tuple(chosen), PanelOptions(columns=columns, letters=letters))


def _show_panels(request: PanelsRequest, style: PaperStyle) -> None:
    """Show what the panels look like together, and how large that is."""
    previews = _ExportFiles.previews(style)
    widgets.work_through(
        [request],
        previews.make,
        previews.are_made,
        key="export_panels_drawn",
        start="Draw the panels",
        doing="Figure",
        automatic=True,
    )
    if made := previews.of(request):
        st.image(made.pictures["png"], width=round(_PX_PER_MM * style.width_mm), alt=made.caption)
        caption(f"{made.size}. {made.caption}")


def _show_bundle(
    usable: list[FigureRequest], style: PaperStyle, formats: tuple[FileFormat, ...], panels: PanelsRequest | None
) -> None:
    """Make what is left to make, then offer the zip."""
    if not usable:
        st.info("None of these figures can be made from what is loaded now.", icon=":material/info:")
        return
    if not formats:
        st.info("Choose at least one format.", icon=":material/info:")
        return
    include = False
    if any(request.cohort.own for request in usable):
        st.session_state.setdefault(_DATA, False)
        include = st.toggle(
            "Include my subjects' data in the zip",
            key=_DATA,
            persist_state="session",
            help="With the data, the script needs no other file. Without them, it asks for the project file that you "
            "saved on the page Subjects, and refuses other subjects. Share the zip only as you would share the data.",
        )
    everything: list[FigureRequest | PanelsRequest] = [*usable, *([] if panels is None else [panels])]
    files = _ExportFiles(style, formats)
    whole = widgets.work_through(
        everything,
        files.make,
        files.are_made,
        key="export_bundle",
        start=f"Make the zip of {counted(len(usable), 'figure')}",
        doing="Figure",
    )
    if not whole:
        return
    together = None if panels is None else files.of(panels)
    made = [files.of(request) for request in usable]
    cohorts = {request.cohort: cohort for request in usable if (cohort := _listed_cohort(request.cohort)) is not None}

    def write() -> bytes:
        stream = io.BytesIO()
        write_bundle(made, cohorts, stream, style=style, include_data=include, panels=together)
        return stream.getvalue()

    label = f"Download the zip of {counted(len(made), 'figure')}"
    widgets.offer_file(label, write, "biobgt_figures.zip", key="export_download", type="primary")
    st.caption("To make figures and numbers again, run `sh make_figures.sh` in the unpacked folder.")


def _show_figure(position: int, n_figures: int, request: FigureRequest, *, cohort: Cohort | None) -> DeltaGenerator:
    """One listed figure: where it stands, and the place for what it looks like."""
    with st.container(border=True, key=f"export_{position}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f"**{position + 1}. {all_figures()[request.figure].name}** · {escape_markdown(_whose(request))}"
            )
            with input_errors_shown():
                if cohort is not None and is_simulated(request, cohort):
                    st.markdown("simulated")
        with st.container(horizontal=True, gap="medium"):  # a row of their own, for names may be long
            for text, icon, disabled, act in (
                ("Up", "arrow_upward", position == 0, partial(_move, position, -1)),
                ("Down", "arrow_downward", position == n_figures - 1, partial(_move, position, 1)),
                ("Remove", "delete", False, partial(_move, position)),
            ):
                key = f"export_{text.lower()}_{position}"
                st.button(text, key=key, icon=f":material/{icon}:", type="tertiary", disabled=disabled, on_click=act)
        if cohort is None:
            gone = _GONE_MODEL if request.cohort.model else _GONE_STUDY if request.cohort.study else _GONE_SUBJECTS
            st.warning(gone, icon=":material/warning:")
        return st.container()


def _move(position: int, by: int | None = None) -> None:
    """Move a figure up (−1) or down (1), or take it off the list."""
    requests = listed_figures()
    if position >= len(requests):  # clicked twice
        return
    moved = requests.pop(position)
    if by is not None:
        requests.insert(position + by, moved)
    keep_list(requests)


def _show_previews(places: Mapping[FigureRequest, DeltaGenerator], style: PaperStyle) -> None:
    """Show what figures look like, drawing those that were not drawn yet until the user stops it."""
    previews = _ExportFiles.previews(style)

    def show_one(request: FigureRequest) -> None:
        files = previews.of(request)
        places[request].image(files.pictures["png"], width=round(_PX_PER_MM * style.width_mm), alt=files.caption)
        places[request].caption(escape_markdown(files.caption))

    def draw(request: FigureRequest) -> None:
        with places[request], input_errors_shown():
            previews.make(request)
            show_one(request)

    for request in filter(previews.are_made, places):
        show_one(request)
    widgets.work_through(
        list(places),
        draw,
        previews.are_made,
        key="export_previews",
        start="Draw the previews",
        doing="Drawing figure",
        automatic=True,
    )


def _show_graph_files(view: View) -> None:
    """Offer the brain graphs with the modules and hub measures of their regions, as the sidebar and the pages say."""
    heading("For other programs")
    with widgets.in_a_row():
        key = st.selectbox(
            "Format of connectomes",
            [key for key, about in GRAPH_FORMATS.items() if about.fits(view.atlas)],
            format_func=lambda key: GRAPH_FORMATS[key].title,
            key="graph_format",
            width=420,
        )
        everybody = st.toggle(f"All {counted(len(view.cohort), 'subject')}", key="graphs_of_all")
    ids = view.cohort.ids if everybody else (view.subject.id,)
    known = view.measured.kind.named(listed(["module", *(HUB_MEASURES[key].title for key in COMPARED)]))
    hubs, modules = view.options(HubOptions), view.options(NamedModuleOptions)
    whose, kind = "every subject" if everybody else view.subject.id, view.measured.kind
    caption(
        f"The brain graph of {whose} ({view.settings.describe(kind)}), "
        f"with each region's {known}, where the format has room for them."
    )
    how = (view.loaded.sha256, view.settings, hubs, modules, key)
    kept: dict[tuple[object, ...], dict[str, bytes]] = st.session_state.get(EXPORT_GRAPHS, {})
    made = st.session_state[EXPORT_GRAPHS] = {name: files for name, files in kept.items() if name[:-1] == how}

    def write(subject: str) -> None:
        one = view.loaded.measured.of(subject, view.settings)
        made[(*how, subject)] = dict(GRAPH_FORMATS[key].write(one.graph(), node_table(one, hubs, modules)))

    def is_written(subject: str) -> bool:
        return (*how, subject) in made

    with input_errors_shown():
        start = f"Make the files of {counted(len(ids), 'subject')}"
        if not widgets.work_through(ids, write, is_written, key="graphs", start=start, doing="Subject"):
            return
        stems = file_names(ids)
        files = {f"{stems[subject]}{end}": data for subject in ids for end, data in made[(*how, subject)].items()}
        label = f"Download {counted(len(files), 'file')} of {counted(len(ids), 'subject')}"
        pack = partial(zipped, files, dict.fromkeys(files, 0o644))
        widgets.offer_file(label, pack, "biobgt_connectomes.zip", key="graphs_download")


# What was made of the list so far.
#
# A figure of a group measures subject after subject. Each is kept as soon as it is done, and between two of them the
# page can be stopped: it then goes on where it was. What the other pages have measured of the cohort is not measured
# again.


@dataclass(frozen=True)
class _ExportFiles:
    """The files of listed figures in one look and some formats, as far as they were made."""

    style: PaperStyle
    formats: tuple[FileFormat, ...]

    @classmethod
    def previews(cls, style: PaperStyle) -> "_ExportFiles":
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
        made: bundle.FigureFiles | bundle.PanelFiles
        if isinstance(request, PanelsRequest):
            measured = {panel.cohort: _measured(panel.cohort) for panel in request.panels}
            made = bundle.make_panels(measured, request, style=self.style, formats=self.formats)
        else:
            one = _measured(request.cohort)
            place = st.empty()
            if isinstance(one, _StoppableCohort):
                one.place = place
            try:
                made = bundle.make_files(one, request, style=self.style, formats=self.formats)
            finally:
                if isinstance(one, _StoppableCohort):
                    one.place = None
                place.empty()
        st.session_state.setdefault(EXPORT_MADE, {})[request, self.style, self.formats] = made


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


def _listed_cohort(ref: CohortRef) -> Cohort | None:
    """The cohort that a figure is of; None where the user's own subjects, or the model, are not what they were."""
    loaded = _loaded(ref)
    if loaded is not None:
        return loaded.cohort
    if ref.study:
        study = listed_study(ref)
        return None if study is None else study.cohort
    try:
        return None if ref.own else ref.draw()
    except InputError:
        return None


def _measured(ref: CohortRef) -> Measured:
    study = listed_study(ref)
    if study is not None:
        return study
    kept: dict[CohortRef, _StoppableCohort] = st.session_state.setdefault(EXPORT_MEASURED, {})
    if ref not in kept:
        cohort = _listed_cohort(ref)
        assert cohort is not None  # the page asks for no figure of subjects that are gone
        kept[ref] = _StoppableCohort(cohort, _loaded(ref))
    return kept[ref]


def _loaded(ref: CohortRef) -> LoadedCohort | None:
    """The cohort as the other pages have it, if they do."""
    if ref.demo:
        return load(ref.name) if ref == CohortRef(ref.name, demo=True) else None
    own = own_cohort() if ref.own else None
    return None if own is None or own.sha256 != ref.sha256 else own


def _forget_others(requests: Sequence[FigureRequest | PanelsRequest], style: PaperStyle) -> None:
    """Drop what was made of figures that are no longer listed, or look otherwise by now."""
    looks, made = (style, _ExportFiles.previews(style).style), st.session_state.get(EXPORT_MADE, {})
    listed = {key: files for key, files in made.items() if key[0] in requests and key[1] in looks}
    st.session_state[EXPORT_MADE] = listed
    cohorts = {request.cohort for request in requests if isinstance(request, FigureRequest)}
    measured = st.session_state.get(EXPORT_MEASURED, {})
    st.session_state[EXPORT_MEASURED] = {ref: kept for ref, kept in measured.items() if ref in cohorts}


if __name__ == "__main__":  # Streamlit runs the file anew for every look at the page
    _show_page()
