"""Home: what this is, what is loaded, one subject's connectivity at once, where to go, how to cite."""

import streamlit as st
from attention_panels import attention_view, show_maps
from loaded import View
from model_results import atlas_of, card_of, chosen_model, model_names, show_headline
from panels import show_connectivity
from state import current_view
from widgets import heading, plain, sentences

import biobgt
from biobgt.atlas import LABELLINGS
from biobgt.cohort import GROUP_TITLES
from biobgt.figures.attention_captions import adjusted_for
from biobgt.people import counted_people
from biobgt.wording import COVARIATES

PAPER = """@inproceedings{peng2025biobgt,
  title     = {Biologically Plausible Brain Graph Transformer},
  author    = {Peng, Ciyuan and Huang, Yuelong and Dong, Qichao and Yu, Shuo and
               Xia, Feng and Zhang, Chengqi and Jin, Yaochu},
  booktitle = {International Conference on Learning Representations},
  year      = {2025}
}"""
# Pages with their icon, and what one finds there.
DESTINATIONS = (
    (
        "Subjects",
        "group",
        "Drop your own files and a phenotype table; see what was read, what was refused and why, the quality of "
        "every subject, and its series and connectivity. The same from a terminal: `biobgt info PATH`.",
    ),
    (
        "Hubs",
        "hub",
        "Node entanglement against node efficiency and FC strength: the curves over all regions, the diffusion "
        "times at which they agree and at which not, beside 899 real subjects, and the hub table. The same for a "
        "whole cohort from a terminal: `biobgt hubs PATH --out DIR`.",
    ),
    (
        "Modules",
        "grid_view",
        "Louvain modules at any resolution, their agreement with functional networks beside that of real groups, "
        "and every region's role. The same for a whole cohort from a terminal: `biobgt modules PATH --out DIR`.",
    ),
    (
        "Attention",
        "visibility",
        "Where the trained models look in controls, ADHD, autism and a simulated Alzheimer's progression, side by "
        f"side; which module blocks differ, {adjusted_for(', '.join(COVARIATES))}, as far as these are known; your "
        "subject beside its group.",
    ),
    (
        "Predict",
        "online_prediction",
        "A model's probabilities for your subjects, how often such a probability held, and a warning where a "
        "subject is unlike the training data.",
    ),
    (
        "Models",
        "model_training",
        "The card of each model: data, protocol, results beside linear models and the paper's, limits.",
    ),
    (
        "Export",
        "ios_share",
        "The figures you added, at a journal's width, with the numbers behind them, a methods paragraph and a script "
        "that makes them again.",
    ),
)


def show_page() -> None:
    """Show the page."""
    view = current_view()
    st.title("BioBGT Explorer")
    st.markdown(
        "BioBGT Explorer turns resting-state fMRI, as region time series or connectivity matrices, into the brain "
        "graphs that the *Biologically Plausible Brain Graph Transformer* works on. Bring subjects of your own, or "
        "start with the demo cohorts, which are simulated. The choices in the sidebar hold on every page, and the "
        "address bar carries them, so that a link shows a colleague the same view of a demo cohort."
    )
    _show_loaded(view)
    _show_subject(view)
    _show_models(view)
    _show_ways_on()
    _show_citation(view)


def _show_loaded(view: View) -> None:
    heading(plain(f"Loaded: {view.cohort.name}"), simulated=view.cohort.simulated)
    with st.container(horizontal=True):
        people = set(view.cohort.persons)
        st.metric("Subjects", len(people), border=True, width=100)
        for group, size in view.cohort.group_people.items():
            st.metric(plain(group), size, border=True, width=100, help=GROUP_TITLES.get(group))
        st.metric("Regions", view.atlas.n_regions, border=True, width=100)
    if len(people) < len(view.cohort):
        st.caption(f"{counted_people(len(people), len(view.cohort))}; means and tests are over people.")
    for note in view.cohort.notes:
        st.caption(plain(note))


def _show_subject(view: View) -> None:
    with sentences():
        heading(plain(view.subject.id), simulated=view.subject.simulated)
        show_connectivity(view)


def _show_models(view: View) -> None:
    """The trained models' worth in a line each, and where the groups of one of them look."""
    names = model_names()
    if not names:
        return
    name = chosen_model(view) or names[0]
    st.subheader("What the trained models learned")
    for model in names:
        heading(plain(model), simulated=card_of(model)["simulated"])
        show_headline(card_of(model))
    with sentences():
        heading(plain(f"Attention of {name}"), simulated=card_of(name)["simulated"])
        labelling = next(iter(atlas_of(name).labels), "")
        words = f"functional module ({LABELLINGS.get(labelling, labelling)})" if labelling else "number"
        show_maps(attention_view(name, labelling, words))


def _show_ways_on() -> None:
    st.subheader("Where to go")
    for page, icon, words in DESTINATIONS:
        with st.container(border=True):
            st.page_link(f"views/{page.lower()}.py", label=f"**{page}**", icon=f":material/{icon}:")
            st.markdown(words)


def _show_citation(view: View) -> None:
    st.subheader("How to cite")
    st.markdown(
        f"Cite the paper whose method this implements, and BioBGT Explorer {biobgt.__version__} itself "
        "(`CITATION.cff` in the project)."
    )
    st.code(PAPER, language="latex", wrap_lines=True)
    if view.atlas.citation:
        st.caption(plain(f"Atlas: {view.atlas.title}. {view.atlas.citation}"))
    st.caption("Research use only, not a diagnostic device.")


show_page()
