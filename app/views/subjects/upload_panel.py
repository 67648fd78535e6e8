"""Where the user brings files: the subjects' own, phenotypes, the atlas, and how images are read."""

from collections.abc import Sequence

import streamlit as st

from biobgt import ImageOptions
from biobgt.base.wording import counted
from biobgt.data.atlas import BUNDLED, UNKNOWN_ATLAS
from biobgt.readers import readable_suffixes
from biobgt.readers.phenotypes import TABLE_SUFFIXES
from session.keys import ADDING, BATCH, UPLOADERS
from session.loaded_cohorts import brought_files, own_cohort
from session.uploads import Upload, UploadedFiles, earlier_subjects
from views.shared.option_widgets import ask_here
from views.subjects.autosave_panel import show_keeping
from views.subjects.own_atlas import OWN_TABLE, OWN_TABLE_TITLE, UNKNOWN_IN_LIST, ask_for_atlas_table
from views.subjects.reading_panel import answers_about

RECOGNISE = "recognise"
_WIDTH = 440  # px, of what is asked about images: titles are sentences


def ask_for_files() -> UploadedFiles | None:
    """Ask for files, phenotypes and the atlas; None while there are no files.

    Files fold away once they are there. The phenotype table stays in sight: groups come with it.
    """
    uploads = st.session_state.setdefault(UPLOADERS, 0)  # another number empties the uploaders
    n_files, nothing_loaded = brought_files(), own_cohort() is None
    added = f"Add or remove files: {counted(n_files, 'file')} added" if n_files else "Add your own subjects"
    with st.expander(added, icon=":material/upload_file:", expanded=not n_files and nothing_loaded):
        adding = st.container()
        loose: Sequence[Upload] = st.file_uploader(
            "Region time series, connectivity matrices or images: one or more files, or a .zip archive",
            accept_multiple_files=True,
            key=f"files{uploads}",
            help=f"{', '.join(readable_suffixes())}, .zip",
        )
        folder: Sequence[Upload] = st.file_uploader(
            "Or a whole folder with its sub-folders, such as fMRIPrep's output",
            accept_multiple_files="directory",
            key=f"folder{uploads}",
            help="Use the button: browsers do not pass on the names of sub-folders when a folder is dropped here. "
            "Hidden files and files that are not data are skipped.",
        )
        files = [*loose, *folder]
        with adding:
            _ask_whether_to_add(files)
        atlas, table = _ask_for_atlas(uploads)
        labels, image = _ask_about_images(uploads)
        show_keeping()
    phenotypes: Upload | None = st.file_uploader(
        "Phenotype table: subject ids, groups and further columns (optional)",
        type=TABLE_SUFFIXES,
        key=f"phenotypes{uploads}",
    )
    if not files:
        if phenotypes is not None:
            st.info("Add the subjects' files as well: a phenotype table alone holds no data to show.")
        return None
    return UploadedFiles(
        files=files,
        phenotypes=phenotypes,
        atlas=atlas,
        atlas_table=table,
        label_image=labels,
        image=image,
        answers=answers_about(files),
    )


def _ask_for_atlas(uploads: int) -> tuple[str | None, Upload | None]:
    """Ask for a bundled atlas, none of them, or a table of the user's own; both are None where the files say it."""
    choices = [RECOGNISE, *BUNDLED, OWN_TABLE, UNKNOWN_ATLAS]
    atlas = st.selectbox("Atlas", choices, format_func=_atlas_title, key=f"atlas{uploads}")
    if atlas != OWN_TABLE:
        return None if atlas == RECOGNISE else atlas, None
    return None, ask_for_atlas_table(f"table{uploads}")


def _atlas_title(name: str) -> str:
    if name in BUNDLED:
        return f"{BUNDLED[name].title}, {BUNDLED[name].n_regions} regions"
    others = {RECOGNISE: "Recognise it from region names or file names", OWN_TABLE: OWN_TABLE_TITLE}
    return others.get(name, UNKNOWN_IN_LIST)


def _ask_about_images(uploads: int) -> tuple[Upload | None, ImageOptions]:
    """Ask how series are taken from images; the defaults smooth, filter and regress nothing."""
    with_labels = tuple(key for key, about in BUNDLED.items() if about.label_image is not None or about.surface)
    asked = dict(ImageOptions.declared())
    with st.popover("How images are read", icon=":material/tune:"):
        bundled = ask_here(
            asked.pop("labels"), key=f"bundled_labels{uploads}", offered=(None, *with_labels), width=_WIDTH
        )
        labels: Upload | None = st.file_uploader(
            "Or a label image of your own (or a .dlabel.nii file for dense CIFTI series); without either, series are "
            "taken from spheres around the atlas's coordinates. Add .label.gii files with the GIfTI series instead.",
            type=["nii", "gz"],
            key=f"labels{uploads}",
        )
        others = {name: ask_here(one, key=f"{name}{uploads}", width=_WIDTH) for name, one in asked.items()}
    return labels, ImageOptions(labels=bundled, **others)


def _ask_whether_to_add(files: Sequence[Upload]) -> None:
    """Ask what becomes of the subjects that were loaded before these files, if there are any."""
    own, batch = own_cohort(), st.session_state.get(BATCH)
    loaded = None if own is None else own.cohort
    earlier = earlier_subjects(loaded, batch, frozenset(upload.file_id for upload in files))
    if earlier is None:
        return
    st.session_state.setdefault(ADDING, True)
    titles = {True: f"added to the {counted(len(earlier), 'subject')} loaded", False: "read instead of them"}
    st.radio(
        "New files are",
        list(titles),
        format_func=titles.__getitem__,
        key=ADDING,
        horizontal=True,
        help="Subjects that stay loaded keep the groups that you set; subjects that you removed stay removed.",
    )
