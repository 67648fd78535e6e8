"""The user's own subjects: what was read, a table where groups are set and subjects removed, the choice of atlas.

Nothing changes before a button is pressed: the page would else be drawn anew after every cell.
"""

import pandas as pd
import streamlit as st

from biobgt import Cohort, ReadOptions, load_atlas
from biobgt.base.files import meant, safe_table, safe_text
from biobgt.base.wording import counted, listed
from biobgt.data.atlas import BUNDLED, numbered_atlas
from biobgt.data.cohort import GROUP_TITLES
from biobgt.data.edits import DRAWN_AS_GAPS, change_atlas, remove_subjects, set_given_kind, set_groups
from biobgt.data.quality import DOUBT
from session.cohorts import change_own_cohort, empty_uploaders, forget_own_cohort, read_uploaded_atlas
from session.export_list import listed_figures
from session.view import EDITION
from views.page_map import PAGES
from views.shared.models import ask_to_confirm_atlas
from views.shared.options import ask_here, in_a_row
from views.shared.widgets import MOST_ROWS, TABLE_HEIGHT, caption, input_errors_shown, plain, show_sentences
from views.subjects.autosave import is_copied
from views.subjects.upload import OWN_TABLE, OWN_TABLE_TITLE, UNKNOWN_IN_LIST, ask_for_atlas_table

TICK, ID, GROUP = "ticked", "subject", "group"
_NO_GROUP = "no group"
_NUMBERED = "numbered"


def show_reading(cohort: Cohort) -> None:
    """What was read, what was refused and why, what did not match."""
    st.subheader("What was read")
    subjects = counted(len(cohort), "subject")
    st.success(plain(f"Read {subjects} on {cohort.atlas.title}: {_groups(cohort)}."), icon=":material/check_circle:")
    for note in cohort.notes:
        if note.endswith(DRAWN_AS_GAPS):
            continue  # the panel of missing regions says how it is now
        if note.startswith(DOUBT):
            st.warning(plain(note), icon=":material/warning:")
        else:
            caption(note)
    if cohort.refused:
        st.warning(f"Refused: {len(cohort.refused)}. All other files were read.", icon=":material/block:")
        rows = [{"File": refusal.file, "Why it was refused": refusal.reason} for refusal in cohort.refused]
        show_sentences(rows, alt="Files that were refused, and why")
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
            st.markdown(plain(_forgetting(len(cohort))))
            st.button("Forget these subjects", icon=":material/delete:", on_click=_forget)


def show_subject_table(cohort: Cohort) -> None:
    """Let the user set groups, cell by cell or for all ticked subjects, and remove the ticked ones."""
    st.subheader("Groups")
    edition = st.session_state.get(EDITION, 0)
    groups = [*GROUP_TITLES, *(group for group in cohort.group_sizes if group not in GROUP_TITLES)]
    known = [
        {TICK: False, ID: subject.id, GROUP: subject.group}
        | {name: _cell(value) for name, value in subject.phenotypes.items() if name not in (TICK, ID, GROUP)}
        for subject in cohort
    ]
    table = safe_table(pd.DataFrame(known).astype({GROUP: object}))  # the table's toolbar saves it as CSV
    with st.form(f"subject_form{edition}", enter_to_submit=False):
        edited = st.data_editor(
            table,
            hide_index=True,
            height=TABLE_HEIGHT if len(cohort) > MOST_ROWS else "auto",
            disabled=[str(column) for column in table if column not in (TICK, GROUP)],
            column_config={
                TICK: st.column_config.CheckboxColumn("Tick", width=70, pinned=True),
                ID: st.column_config.TextColumn("Subject", pinned=True),
                GROUP: st.column_config.SelectboxColumn(
                    "Group", options=[safe_text(group) for group in groups], width=140
                ),
            },
            placeholder="–",
            key=f"subject_table{edition}",
            alt="Subjects with their groups and phenotypes; groups can be set",
        )
        with in_a_row():
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


def show_atlas(cohort: Cohort) -> None:
    """Let the user say which atlas the subjects' regions are of."""
    st.subheader("Atlas")
    edition = st.session_state.get(EDITION, 0)
    others = {
        name: about.title
        for name, about in BUNDLED.items()
        if about.n_regions == cohort.atlas.n_regions and load_atlas(name) is not cohort.atlas
    }
    titles = {"": cohort.atlas.title, **others, OWN_TABLE: OWN_TABLE_TITLE, _NUMBERED: UNKNOWN_IN_LIST}
    with in_a_row():
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
        ask_to_confirm_atlas(cohort, key="confirm_atlas")
    table = ask_for_atlas_table(f"own_atlas_table{edition}") if chosen == OWN_TABLE else None
    if changing:
        with input_errors_shown():
            if chosen == OWN_TABLE and table is None:
                st.info("Add the atlas table first.")
                return
            if table is not None:
                atlas = read_uploaded_atlas(table)
            else:
                atlas = numbered_atlas(cohort.atlas.n_regions) if chosen == _NUMBERED else load_atlas(chosen)
            change_own_cohort(change_atlas(cohort, atlas))
            st.rerun()


def show_kind(cohort: Cohort) -> None:
    """Let the user say what the connectivity matrices are, where there are any."""
    if cohort.given is None:
        return
    st.subheader("Kind of connectivity")
    one = ReadOptions.declared()["connectivity"]
    chosen = ask_here(
        one, key=f"own_kind{st.session_state.get(EDITION, 0)}", offered=tuple(one.choices or ()), start=cohort.given
    )
    if chosen != cohort.given:
        with input_errors_shown():
            change_own_cohort(set_given_kind(cohort, chosen))
            st.rerun()
    st.caption("Words, colours, the usual threshold and whether a model can be asked follow it.")


def _groups(cohort: Cohort) -> str:
    """The size of each group, and how many subjects are in none."""
    alone = sum(subject.group is None for subject in cohort)
    sizes = [f"{size} {group}" for group, size in cohort.group_sizes.items()]
    return ", ".join([*sizes, f"{alone} without a group"] if alone else sizes) if sizes else "no groups"


def _forgetting(n_subjects: int) -> str:
    """Say what is lost."""
    figures = sum(request.cohort.own for request in listed_figures())
    lost = [counted(n_subjects, "subject"), "the groups and answers that you gave"]
    lost += ["the copy kept on this machine"] if is_copied() else []
    lost += [f"{counted(figures, 'figure')} of theirs on the page Export"] if figures else []
    return f"This removes {listed(lost)}. It cannot be undone; save a project first to keep them."


def _forget() -> None:
    forget_own_cohort()
    empty_uploaders()


def _cell(value: object) -> object:
    """Numbers stay numbers, to be sorted; what else a phenotype may be is text."""
    return value if value is None or isinstance(value, int | float) else str(value)


def _apply(cohort: Cohort, edited: pd.DataFrame, chosen: str | None, *, removing: bool) -> None:
    """Change the cohort as the form says; the groups of cells first, so that no button loses them."""
    edited = meant(edited)
    ticked = edited.loc[edited[TICK], ID].tolist()
    groups = {str(name): group if isinstance(group, str) else None for name, group in edited[[ID, GROUP]].to_numpy()}
    if (removing or chosen) and not ticked:
        st.info("No subject is ticked. Tick some in the first column of the table.")
        return
    if chosen and not removing:
        groups |= dict.fromkeys(ticked, None if chosen == _NO_GROUP else chosen)
    changed = set_groups(cohort, groups)
    if removing:
        changed = remove_subjects(changed, ticked)
    if changed is not cohort:
        change_own_cohort(changed)
        st.rerun()
