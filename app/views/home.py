"""Home: what this is for, in three small figures and two ways to begin; then what is loaded and where to go.

What the models are worth and how to cite come last.
"""

from typing import Any

import streamlit as st

import biobgt
from biobgt.base.references import REFERENCES
from biobgt.base.wording import NOT_A_DIAGNOSIS, capitalised, listed
from biobgt.data.cohort import GROUP_TITLES, counted_people
from biobgt.figures.attention.maps import attention_maps
from biobgt.figures.hubs import BY_NE, N_RANDOM, HubCurvesOptions, hub_curves
from biobgt.figures.modules import module_brain
from biobgt.figures.regions import ATLAS_ORDER
from biobgt.figures.register import Figure
from biobgt.figures.screen.page import plotly_figure
from biobgt.hubs import resolvents as cost
from biobgt.hubs.measures import HUB_MEASURES
from biobgt.model.pretrained import InstalledModel, installed_models
from session.view import View, current_view, measured_model
from views.page_map import PAGES
from views.shared.figures import HOW_TO_GET_PLACES, NO_PLACES, OnScreen, drawn_for_screen
from views.shared.sidebar import start_tour
from views.shared.widgets import caption, escape_markdown, input_errors_shown, show_headline, simulated_badge

# In px: with the title, the sentence, the buttons and a caption they fit a window of 800.
_HEIGHT, _MAPS_HEIGHT = 320, 236
_PAPER = "peng2025"  # whose method this implements
_BRAIN_WIDTH = 262  # px; the others share the rest, which at 800 px is another row


def _show_page() -> None:
    """Show the page."""
    view = current_view()
    _show_first_screen(view)
    _show_loaded(view)
    st.subheader("Where to go")
    for page in PAGES.values():
        if page.shows:
            st.page_link(page.script, label=f"**{page.title}**", icon=page.icon)
            st.markdown(f"{page.shows} {page.beyond}")
    _show_models_and_citation(view)


def _show_first_screen(view: View) -> None:
    """Show what this is for, three figures and two buttons; what takes longest to draw comes last."""
    st.title("BioBGT Explorer")
    st.markdown(
        "From resting-state fMRI to the hubs, modules and attention maps of the *Biologically Plausible Brain Graph "
        "Transformer*, as figures you can check, quote and publish."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Bring my subjects", key="bring", type="primary", icon=":material/upload_file:"):
            st.switch_page(PAGES["subjects"].script)
        if st.button("Look around with the demo", key="look_around", icon=":material/tour:"):
            start_tour()
        model = view.model_shown
        st.caption(escape_markdown(f"Shown: {view.subject.id}"), width="content")
        if view.subject.simulated or (model is not None and model.simulated):
            simulated_badge()
    with st.container(horizontal=True):
        brain = st.container(width=_BRAIN_WIDTH)
        curves, maps = st.container(width="stretch"), st.container(width="stretch")
    if model is not None:
        with maps, input_errors_shown():
            _show_attention(view, model)
    with curves, input_errors_shown():
        _show_hubs(view)
    with brain, input_errors_shown():
        _show_modules(view)


def _show_modules(view: View) -> None:
    if view.atlas.coordinates is None:
        _lead_to("modules", f"{NO_PLACES} {HOW_TO_GET_PLACES}")
        return
    drawn = drawn_for_screen(view, module_brain, view.options(module_brain.takes), small=_HEIGHT)
    _lead_to("modules", "The brain in the colours of its Louvain modules; drag to turn it.", module_brain, drawn)


def _show_hubs(view: View) -> None:
    if view.atlas.n_regions > cost.ASK_ABOVE:
        _lead_to("hubs", cost.cost_sentence(view.atlas.n_regions))
        return
    options = view.options(HubCurvesOptions, order=BY_NE, n_random=N_RANDOM, group=False)
    measures = [HUB_MEASURES[measure] for measure in options.measures]
    names = listed([one.title if one.title == one.short else f"{one.title} ({one.short})" for one in measures])
    drawn = drawn_for_screen(view, hub_curves, options, small=_HEIGHT)
    _lead_to("hubs", f"{capitalised(names)} of its regions.", hub_curves, drawn)


def _show_attention(view: View, model: InstalledModel) -> None:
    controls, patients = groups = model.pair_with(view.subject.group)
    order = next(iter(model.atlas.labels), ATLAS_ORDER)
    options, measured = attention_maps.takes(order=order, groups=groups), measured_model(model)
    said = f"Attention of model {model.name} in {controls} and in {patients}: each row is what one region attends to."
    drawn = drawn_for_screen(view, attention_maps, options, measured=measured, small=_MAPS_HEIGHT)
    _lead_to("attention", said, attention_maps, drawn)


def _lead_to(page: str, said: str, figure: Figure[Any] | None = None, drawn: OnScreen | None = None) -> None:
    """The link to a page above a small figure; its whole caption shows on hover, and a screen reader says it.

    Without a figure, what is said is why there is none.
    """
    entry, words = PAGES[page], drawn.caption if drawn else None
    st.page_link(entry.script, label=f"**{entry.title}**", icon=entry.icon, help=words and escape_markdown(words))
    if figure is not None and drawn is not None:
        chart = plotly_figure(drawn.contents)
        st.plotly_chart(chart, key=f"first_{figure.key}", config={"displayModeBar": False}, alt=words)
    caption(said)


def _show_loaded(view: View) -> None:
    st.subheader(escape_markdown(f"Loaded: {view.cohort.name}"))
    with st.container(horizontal=True):
        people = set(view.cohort.persons)
        st.metric("Subjects", len(people), border=True, width=100)
        for group, size in view.cohort.group_people.items():
            st.metric(escape_markdown(group), size, border=True, width=100, help=GROUP_TITLES.get(group))
        st.metric("Regions", view.atlas.n_regions, border=True, width=100)
    if len(people) < len(view.cohort):
        st.caption(f"{counted_people(len(people), len(view.cohort))}; means and tests count each person once.")
    for note in view.cohort.notes:
        caption(note)
    st.caption(
        "The settings in the sidebar apply to every page and are part of the address, so that a link shows a "
        "colleague the same view of a demo cohort."
    )


def _show_models_and_citation(view: View) -> None:
    if models := installed_models().values():
        st.subheader("How well the trained models do")
    for model in models:
        st.markdown(f"**{escape_markdown(model.name)}**")
        show_headline(model.card)
    st.subheader("How to cite")
    st.markdown(
        f"Cite the paper whose method this implements, and BioBGT Explorer {biobgt.__version__} itself "
        "(`CITATION.cff` in the project)."
    )
    st.code(REFERENCES[_PAPER].bibtex().rstrip(), language="latex", wrap_lines=True)
    if view.atlas.citation:
        caption(f"Atlas: {view.atlas.title}. {view.atlas.citation}")
    st.caption(NOT_A_DIAGNOSIS)


if __name__ == "__main__":  # Streamlit runs the file anew for every look at the page
    _show_page()
