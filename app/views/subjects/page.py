"""Subjects: bring your own, see what was read and what was refused, the quality of each, and one subject's data.

Of the user's own subjects groups, atlas and recordings can be changed. Nothing changes before a button is pressed: the
page would else be drawn anew after every cell.
"""

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from biobgt import Cohort, InputError, ReadOptions, load_atlas
from biobgt.base.files import meant, safe_table, safe_text
from biobgt.base.wording import counted, listed
from biobgt.data import edits
from biobgt.data.atlas import BUNDLED, FEWEST_REGIONS, numbered_atlas
from biobgt.data.cohort import GROUP_TITLES, counted_people
from biobgt.data.quality import DOUBT
from biobgt.figures.connectivity import connectivity_distribution, connectivity_heatmap, series_carpet
from biobgt.figures.regions import RegionOrderOptions
from biobgt.figures.register import NoOptions
from biobgt.readers.fetch import ABIDE_TERMS, PIPELINES, FetchOptions, abide_cohort, data_folder
from session import cohorts
from session.cohorts import listed_figures
from session.view import ANSWERS, EDITION, View, current_view
from views.page_map import PAGES
from views.shared import widgets
from views.shared.figures import Asked, show, show_beside
from views.shared.widgets import caption, escape_markdown, heading, input_errors_shown
from views.subjects import upload
from views.subjects.autosave import is_copied

_TICK, _ID, _GROUP = "ticked", "subject", "group"
_NO_GROUP = "no group"
_NUMBERED = "numbered"
# Under which the session keeps what is being fetched, and why the last cohort was not.
_FETCHING, _FETCH_PROBLEM = "fetching", "fetch_problem"
_FEW = 20  # subjects that are fetched, before another number is chosen


def _show_page() -> None:
    """Show the page."""
    view = current_view()
    widgets.open_page("subjects", "", "region-series", "atlas", simulated=view.cohort.simulated)
    own = cohorts.own_cohort() if view.loaded.key == cohorts.OWN else None
    with widgets.columns("subjects"):
        bringing, picture = st.container(), st.container()
    with bringing:
        waiting = upload.show_uploads()
        if own is not None:
            _show_reading(own.cohort)
        _show_fetching()
        upload.show_project(view)
    if own is not None:
        for show_part in (_show_recordings, _show_missing, _show_groups, _show_atlas, _show_kind):
            show_part(own.cohort)
    if own is not None or not waiting:  # a demo's subjects are no answer to who brought files
        with input_errors_shown():
            with picture:
                _show_connectivity(view)
            _show_more(view)
        _show_quality(view)


def _show_reading(cohort: Cohort) -> None:
    """What was read, what was refused and why, what did not match."""
    st.subheader("What was read")
    sizes = [f"{size} {group}" for group, size in cohort.group_sizes.items()]
    alone = sum(subject.group is None for subject in cohort)
    groups = ", ".join([*sizes, f"{alone} without a group"] if alone else sizes) if sizes else "no groups"
    read = f"Read {counted(len(cohort), 'subject')} on {cohort.atlas.title}: {groups}."
    st.success(escape_markdown(read), icon=":material/check_circle:")
    for note in cohort.notes:
        if note.endswith(edits.DRAWN_AS_GAPS):
            continue  # the panel of missing regions says how it is now
        if note.startswith(DOUBT):
            st.warning(escape_markdown(note), icon=":material/warning:")
        else:
            caption(note)
    if cohort.refused:
        st.warning(f"Refused: {len(cohort.refused)}. All other files were read.", icon=":material/block:")
        rows = [{"File": refusal.file, "Why it was refused": refusal.reason} for refusal in cohort.refused]
        widgets.show_sentences(rows, alt="Files that were refused, and why")
    for what, ids in {
        "Subjects without a row in the phenotype table": cohort.unmatched_subjects,
        "Rows of the phenotype table without a subject": cohort.unmatched_rows,
    }.items():
        if ids:
            with st.expander(f"{what}: {len(ids)}"):
                st.text(", ".join(ids))
    with st.container(horizontal=True, vertical_alignment="center"):
        for name in ("hubs", "modules", "attention"):
            page = PAGES[name]
            st.page_link(page.script, label=f"See their {name}", icon=page.icon, width="content")
        with st.popover("Forget …", icon=":material/delete:"):
            figures = sum(request.cohort.own for request in listed_figures())
            lost = [counted(len(cohort), "subject"), "the groups and answers that you gave"]
            lost += ["the copy kept on this machine"] if is_copied() else []
            lost += [f"{counted(figures, 'figure')} of theirs on the page Export"] if figures else []
            said = f"This removes {listed(lost)}. It cannot be undone; save a project first to keep them."
            st.markdown(escape_markdown(said))
            st.button("Forget these subjects", icon=":material/delete:", on_click=cohorts.forget_own_cohort)


def _show_groups(cohort: Cohort) -> None:
    """Let the user set groups, cell by cell or for all ticked subjects, and remove the ticked ones."""
    st.subheader("Groups")
    edition = st.session_state.get(EDITION, 0)
    groups = [*GROUP_TITLES, *(group for group in cohort.group_sizes if group not in GROUP_TITLES)]
    known = [
        {_TICK: False, _ID: subject.id, _GROUP: subject.group}
        # Numbers stay numbers, to be sorted; what else a phenotype may be is text.
        | {
            name: value if value is None or isinstance(value, int | float) else str(value)
            for name, value in subject.phenotypes.items()
            if name not in (_TICK, _ID, _GROUP)
        }
        for subject in cohort
    ]
    table = safe_table(pd.DataFrame(known).astype({_GROUP: object}))  # the table's toolbar saves it as CSV
    with st.form(f"subject_form{edition}", enter_to_submit=False):
        edited = st.data_editor(
            table,
            hide_index=True,
            height=widgets.TABLE_HEIGHT if len(cohort) > widgets.MOST_ROWS else "auto",
            disabled=[str(column) for column in table if column not in (_TICK, _GROUP)],
            column_config={
                _TICK: st.column_config.CheckboxColumn("Tick", width=70, pinned=True),
                _ID: st.column_config.TextColumn("Subject", pinned=True),
                _GROUP: st.column_config.SelectboxColumn("Group", options=list(map(safe_text, groups)), width=140),
            },
            placeholder="–",
            key=f"subject_table{edition}",
            alt="Subjects with their groups and phenotypes; groups can be set",
        )
        with widgets.in_a_row():
            chosen: str | None = st.selectbox(
                "Group of all ticked subjects",
                [*groups, _NO_GROUP],
                index=None,
                format_func=lambda group: f"{group}, {GROUP_TITLES[group]}" if group in GROUP_TITLES else group,
                placeholder="Choose one, or type a name of your own",
                accept_new_options=True,
                key=f"ticked_group{edition}",
                width=360,
            )
            setting = st.form_submit_button("Set the groups", icon=":material/label:", type="primary")
            removing = st.form_submit_button("Remove the ticked subjects", icon=":material/person_remove:")
    st.caption(
        "Choose a group in its cell, or tick subjects and set one group for all of them; then press a button. "
        "What you set here is kept when you add files; save a project to keep it after you close the page."
    )
    if setting or removing:
        with input_errors_shown():
            _apply(cohort, edited, chosen, removing=removing)


def _apply(cohort: Cohort, edited: pd.DataFrame, chosen: str | None, *, removing: bool) -> None:
    """Change the cohort as the form says; the groups of cells first, so that no button loses them."""
    edited = meant(edited)
    ticked = edited.loc[edited[_TICK], _ID].tolist()
    groups = {str(name): group if isinstance(group, str) else None for name, group in edited[[_ID, _GROUP]].to_numpy()}
    if (removing or chosen) and not ticked:
        st.info("No subject is ticked. Tick some in the first column of the table.")
        return
    if chosen and not removing:
        groups |= dict.fromkeys(ticked, None if chosen == _NO_GROUP else chosen)
    changed = edits.set_groups(cohort, groups)
    if removing:
        changed = edits.remove_subjects(changed, ticked)
    if changed is not cohort:
        cohorts.change_own_cohort(changed)


def _show_atlas(cohort: Cohort) -> None:
    """Let the user say which atlas the subjects' regions are of."""
    st.subheader("Atlas")
    edition = st.session_state.get(EDITION, 0)
    others = {
        name: about.title
        for name, about in BUNDLED.items()
        if about.n_regions == cohort.atlas.n_regions and load_atlas(name) is not cohort.atlas
    }
    titles = {
        "": cohort.atlas.title,
        **others,
        upload.OWN_TABLE: upload.OWN_TABLE_TITLE,
        _NUMBERED: upload.UNKNOWN_IN_LIST,
    }
    with widgets.in_a_row():
        chosen = st.selectbox(
            f"The {cohort.atlas.n_regions} regions are those of",
            list(titles),
            format_func=titles.__getitem__,
            key=f"own_atlas{edition}",
            width=360,
        )
        changing = st.button("Change the atlas", icon=":material/swap_horiz:", disabled=not chosen, key="change_atlas")
    if cohort.atlas_decided_by:
        caption(f"{cohort.atlas.title}: decided by {cohort.atlas_decided_by}.")
    if not cohort.atlas_is_sure:
        widgets.ask_to_confirm_atlas(cohort, key="confirm_atlas")
    table = upload.ask_for_atlas_table(f"own_atlas_table{edition}") if chosen == upload.OWN_TABLE else None
    if changing:
        with input_errors_shown():
            if chosen == upload.OWN_TABLE and table is None:
                st.info("Add the atlas table first.")
                return
            if table is not None:
                atlas = cohorts.read_uploaded_atlas(table)
            else:
                atlas = numbered_atlas(cohort.atlas.n_regions) if chosen == _NUMBERED else load_atlas(chosen)
            cohorts.change_own_cohort(edits.change_atlas(cohort, atlas))


def _show_kind(cohort: Cohort) -> None:
    """Let the user say what the connectivity matrices are, where there are any."""
    if cohort.given is None:
        return
    st.subheader("Kind of connectivity")
    one = ReadOptions.declared()["connectivity"]
    chosen = widgets.ask_here(
        one, key=f"own_kind{st.session_state.get(EDITION, 0)}", offered=tuple(one.choices or ()), start=cohort.given
    )
    if chosen != cohort.given:
        with input_errors_shown():
            cohorts.change_own_cohort(edits.set_given_kind(cohort, chosen))
    st.caption("Words, colours, the usual threshold and whether a model can be asked follow it.")


def _show_recordings(cohort: Cohort) -> None:
    """Say who has several recordings, and let the user choose what becomes of them."""
    people = edits.recordings_by_person(cohort)
    if len(people) == len(cohort):
        return
    st.subheader("Several recordings per person")
    rules = edits.RECORDING_RULES
    st.markdown(
        escape_markdown(f"There are {counted_people(len(people), len(cohort))}. Until you choose, {rules['apart']}.")
    )
    with widgets.in_a_row():
        averaging = st.button("Average each person's recordings", key="average_recordings", icon=":material/merge:")
        first = st.button("Keep each person's first", key="first_recordings", icon=":material/looks_one:")
        # The sessions, the runs, and both together, as ids name them.
        labels = sorted({edits.recording_of(name) for name in cohort.ids} - {""})
        parts = sorted({part for label in labels for part in label.split("_") if part.startswith(("ses-", "run-"))})
        runs = list(dict.fromkeys([*parts, *labels]))
        run = st.selectbox("Session or run", runs, index=None, placeholder="choose one", key="kept_run", width=220)
        keeping = st.button("Keep only this one", key="keep_run", icon=":material/filter_1:", disabled=run is None)
    caption(f"Averaged: {rules['averaged']}. First: {rules['earliest']}.")
    if not (averaging or first or keeping):
        return
    rule = "averaged" if averaging else "earliest"
    with input_errors_shown():
        if cohorts.brought_files():  # an answer about the files, which are read again
            answer = {"run": run} if keeping else {"recordings": rule}
            st.session_state[ANSWERS] = st.session_state.get(ANSWERS, {}) | answer
            st.rerun()
        how: dict[str, Any] = {"run": run} if keeping else {"rule": rule}
        cohorts.change_own_cohort(edits.apply_recording_rule(cohort, **how))


def _show_missing(cohort: Cohort) -> None:
    """Name the missing regions, and let the user work on the shared ones or without the subjects who lack some."""
    lacking = edits.missing_regions(cohort)
    if not lacking:
        return
    st.subheader("Missing regions")
    st.warning(escape_markdown(edits.missing_words(cohort)), icon=":material/grid_off:")
    n_shared = cohort.atlas.n_regions - len(set().union(*lacking.values()))
    with st.container(horizontal=True):
        sharing = st.button(
            f"Keep only the {n_shared} regions that all subjects have",
            key="keep_shared",
            icon=":material/join_inner:",
            disabled=n_shared < FEWEST_REGIONS,
        )
        removing = st.button(
            f"Remove the {counted(len(lacking), 'subject')} with missing regions",
            key="remove_lacking",
            icon=":material/person_remove:",
            disabled=len(lacking) == len(cohort),
        )
    st.caption(
        f"Until you choose, missing regions stay in the atlas. {edits.DRAWN_AS_GAPS} Models need every region of their "
        "atlas, so none can be applied to the shared regions alone."
    )
    if sharing or removing:
        with input_errors_shown():
            changed = edits.keep_shared_regions(cohort) if sharing else edits.remove_subjects(cohort, lacking)
            cohorts.change_own_cohort(changed)


def _show_quality(view: View) -> None:
    heading("Quality")
    table = view.loaded.quality
    flagged = int((table["warnings"] != "").sum())
    caption(
        f"{view.cohort.name}: {counted(len(table), 'subject')}, {flagged} with a warning. Subjects with warnings are "
        "not excluded."
    )
    flags = [
        "warning" if warning else "note" if note else ""
        for warning, note in zip(table["warnings"], table["notes"], strict=True)
    ]
    shown = table.drop(columns=["warnings", "notes"]).assign(flag=flags)
    kind = view.cohort.kind
    means = [kind.named(name) for name in ("mean FC", "mean |FC|")]
    if kind.functional:
        shown[means] = shown[means].round(3) + 0.0  # a small negative mean is no minus zero
    widgets.show_table(
        shown,
        key="quality",
        height=260 if len(table) > 6 else "auto",
        placeholder="–",
        formats=dict.fromkeys(means, "%.3f" if kind.functional else "%.3g"),
        alt="Quality of each subject: length, silent and copied regions, mean connectivity, and any flag",
    )
    widgets.show_remarks(table, {"warnings": "Warning", "notes": "Note"})


def _show_connectivity(view: View) -> None:
    """Show the connectivity of one subject, or its graph."""
    widgets.ask_in_row(connectivity_heatmap.takes, "matrix", "order", cohort=view.cohort)
    show(view, connectivity_heatmap, view.options(connectivity_heatmap.takes), key="connectivity")


def _show_more(view: View) -> None:
    """Show the distribution of one subject's connections, and its series."""
    figures: list[Asked] = [(connectivity_distribution, NoOptions(), "distribution")]
    if view.subject.series is not None:
        figures.append((series_carpet, view.options(RegionOrderOptions), "series"))
    show_beside(view, *figures)
    if view.subject.series is None:
        st.info("This subject was read from a connectivity matrix, so there are no series to show.")


# A public cohort fetched from the internet; it then is the user's own, as files are.
#
# Nothing is asked of the internet before the button is pressed, and nothing of the user's is sent. Files stay in the
# folder of nilearn, so that work that was stopped goes on where it was.


def _show_fetching() -> None:
    """Offer to fetch ABIDE, and fetch it when asked to."""
    with st.expander("Fetch a public cohort: ABIDE", icon=":material/cloud_download:"):
        asked = {name: one for name, one in FetchOptions.declared().items() if name != "mirror"}
        with widgets.in_a_row():
            n_subjects = widgets.ask_here(asked.pop("n_subjects"), key="fetch_n_subjects", start=_FEW, width=150)
            pipeline = widgets.ask_here(asked.pop("pipeline"), key="fetch_pipeline", width=170)
        others = {name: widgets.ask_here(one, key=f"fetch_{name}") for name, one in asked.items()}
        options = FetchOptions(n_subjects=n_subjects, pipeline=pipeline, **others)
        caption(
            f"The button asks a public server on the internet (Amazon S3) for region time series of the CC200 atlas "
            f"and for phenotypes, about 0.5 MB per subject; none of your data are sent. Files are kept in "
            f"{data_folder()} on the machine that runs this app, and are not fetched twice. {ABIDE_TERMS}"
        )
        st.button(
            f"Fetch {options.n_subjects} subjects",
            key="fetch_start",
            icon=":material/download:",
            on_click=partial(st.session_state.update, {_FETCHING: options, _FETCH_PROBLEM: ""}),
            disabled=_FETCHING in st.session_state,
        )
        if _FETCHING in st.session_state:
            _fetch(st.session_state[_FETCHING])
        if problem := st.session_state.get(_FETCH_PROBLEM):
            st.error(escape_markdown(problem), icon=":material/error:")


def _fetch(options: FetchOptions) -> None:
    """Fetch and read; the sidebar shows the cohort from the next run on."""
    place = st.empty()
    with place.container():
        bar = widgets.bar_with_stop("fetch", partial(st.session_state.pop, _FETCHING, None))
        bar.progress(0.0, text="Asking for the list of subjects…")
    try:
        cohort = abide_cohort(
            data_folder(),
            options,
            name=f"ABIDE, {PIPELINES[options.pipeline]}",
            progress=partial(widgets.move_on, bar, "Fetched"),
            reading=partial(widgets.move_on, bar, "Read"),
        )
    except InputError as error:
        st.session_state[_FETCH_PROBLEM] = str(error)
    else:
        cohorts.keep_own_cohort(cohort)
    st.session_state.pop(_FETCHING, None)
    st.rerun()


if __name__ == "__main__":  # Streamlit runs the file anew for every look at the page
    _show_page()
