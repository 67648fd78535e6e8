"""The cohorts of a session, the demo cohorts and the one that its user uploaded; and the list of figures to export.

Demo cohorts are nobody's data and are shared between sessions. A user's own subjects live in that user's session
and nowhere else: nothing here is cached across sessions that was read from a file.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import streamlit as st
from threadpoolctl import threadpool_limits

from biobgt import Atlas, Cohort, ImageOptions, InputError, ReadOptions, read_cohort
from biobgt.base.errors import Refusal
from biobgt.data.edits import HandEdits, add_subjects
from biobgt.data.simulate import DEMO_COHORTS
from biobgt.export import FigureRequest
from biobgt.readers import read_atlas, readable_suffixes
from biobgt.readers.discover import printable
from biobgt.readers.fetch import DEMO_PREFIX, find_cohort
from biobgt.readers.formats import LABEL_SUFFIX
from session.view import (
    ANSWERS,
    ATTEMPT,
    BATCH,
    EDITION,
    EXPORT_GRAPHS,
    EXPORT_LIST,
    EXPORT_MADE,
    EXPORT_MEASURED,
    NEXT_COHORT,
    OWN_COHORT,
    UPLOADERS,
    LoadedCohort,
)

# A few hundred regions are small matrices: several BLAS threads a session only wait for one another.
threadpool_limits(1, user_api="blas")

OWN = "own"
DEFAULT_COHORT = next(iter(DEMO_COHORTS))


@st.cache_resource(show_spinner="Drawing the demo cohort…")
def _demo(name: str) -> LoadedCohort:
    return LoadedCohort(name, find_cohort(f"{DEMO_PREFIX}{name}"))


def load(key: str) -> LoadedCohort:
    """Return a cohort by its key."""
    own = own_cohort()
    return own if key == OWN and own is not None else _demo(key)


def own_cohort() -> LoadedCohort | None:
    """The subjects this session's user uploaded."""
    own: LoadedCohort | None = st.session_state.get(OWN_COHORT)
    return own


def keep_own_cohort(cohort: Cohort, *, from_uploaders: bool = False) -> None:
    """Keep the subjects that the user added, and show them from the next run on.

    Parameters
    ----------
    cohort : Cohort
    from_uploaders : bool
        They are of the files that lie in the uploaders of the page of subjects, which else are emptied.
    """
    if not from_uploaders:
        _empty_uploaders()
    _keep(LoadedCohort(OWN, cohort))
    st.session_state[NEXT_COHORT] = OWN


def change_own_cohort(cohort: Cohort) -> None:
    """Keep what the user made of the own cohort, and show it; results stay where the change did not touch them."""
    own = own_cohort()
    _keep(LoadedCohort(OWN, cohort) if own is None else own.changed_to(cohort))
    st.rerun()


def _keep(own: LoadedCohort) -> None:
    st.session_state[OWN_COHORT] = own
    _forget_exported()  # the same recordings may come with other groups and phenotypes
    st.session_state[EDITION] = st.session_state.get(EDITION, 0) + 1


def brought_files() -> int:
    """How many files of subjects lie in the uploaders of the page of subjects, before these are drawn."""
    uploads = st.session_state.get(UPLOADERS, 0)
    return sum(len(st.session_state.get(f"{name}{uploads}") or ()) for name in ("files", "folder"))


def forget_own_cohort() -> None:
    """Drop what the user uploaded."""
    _empty_uploaders()
    st.session_state.pop(OWN_COHORT, None)
    st.session_state[NEXT_COHORT] = DEFAULT_COHORT
    # Nor does the export keep anything of them.
    keep_list([request for request in listed_figures() if not request.cohort.own])
    _forget_exported()


def _empty_uploaders() -> None:
    """Let the page of subjects start with nothing dropped and nothing answered."""
    st.session_state[UPLOADERS] = st.session_state.get(UPLOADERS, 0) + 1
    for key in (ATTEMPT, BATCH, ANSWERS):
        st.session_state.pop(key, None)


def _forget_exported() -> None:
    for key in (EXPORT_MADE, EXPORT_MEASURED, EXPORT_GRAPHS):
        st.session_state.pop(key, None)


def listed_figures() -> list[FigureRequest]:
    """What is to be exported, in the order of the paper."""
    return list(st.session_state.get(EXPORT_LIST, []))


def keep_list(requests: list[FigureRequest]) -> None:
    """Keep another list in the place of the present one."""
    st.session_state[EXPORT_LIST] = requests


# Uploaded files on their way to the library's readers: written to a folder of their own, read, removed.
#
# The files of a folder keep their places in it, for names alone do not always say whose they are. A project is opened
# where it lies in memory, and never written to the disk.


# Sidecars of images, tables that the reader may take for phenotypes, and labels of vertices.
_BESIDE_THE_DATA = (".json", ".xlsx", LABEL_SUFFIX)
_MAX_NAME, _MAX_NAME_BYTES = 150, 200  # systems allow 255 bytes, of which a number may take some
_DEEPEST = 12  # folders above a file that are kept; with names of that length a path stays within what systems allow


class Upload(Protocol):
    """What is used of Streamlit's uploaded file; of a folder's files, browsers send ``study/sub-01/func/x.tsv``."""

    file_id: str
    name: str

    def getbuffer(self) -> memoryview:
        """The file's bytes."""


@dataclass(frozen=True)
class UploadedFiles:
    """What a user uploaded to be read, and their answers to the reader's questions.

    ``atlas`` is a bundled name, ``unknown``, or None where the files say it; a table of the user's own comes before it.
    ``answers`` maps ``atlas``, ``phenotypes`` or a field of ReadOptions, as the reader's question named it, to the
    choice.
    """

    files: Sequence[Upload]
    phenotypes: Upload | None = None
    atlas: str | None = None
    atlas_table: Upload | None = None
    label_image: Upload | None = None
    image: ImageOptions = field(default_factory=ImageOptions)
    answers: Mapping[str, str] = field(default_factory=dict)

    @property
    def file_ids(self) -> frozenset[str]:
        """The uploaded files, by the ids that Streamlit gave them."""
        return frozenset(upload.file_id for upload in self.files)

    def signature(self) -> tuple[object, ...]:
        """Equal for the same files, options and answers, so that nothing is read twice."""
        others = (self.phenotypes, self.atlas_table, self.label_image)
        ids = tuple(upload.file_id if upload else None for upload in (*self.files, *others))
        return (ids, self.atlas, self.image, tuple(sorted(self.answers.items())))


@dataclass(frozen=True, eq=False)
class _Batch:
    """The files that lie in the uploaders, once read.

    Attributes
    ----------
    file_ids : frozenset of str
    as_read : Cohort
        What was made of them, with those they were added to, before anything was changed by hand.
    earlier : Cohort or None
        The subjects that were loaded, and perhaps changed, before the first of these files came.
    edits : HandEdits
        What was changed by hand since these files came, also in subjects that ``as_read`` does not have.
    """

    file_ids: frozenset[str]
    as_read: Cohort
    earlier: Cohort | None = None
    edits: HandEdits = field(default_factory=HandEdits)


def earlier_subjects(own: Cohort | None, batch: _Batch | None, file_ids: frozenset[str]) -> Cohort | None:
    """Who was loaded before these files: with some of the last batch among them, it is still that batch.

    Parameters
    ----------
    own : Cohort or None
        What is loaded.
    batch : Batch or None
        The last reading.
    file_ids : frozenset of str
        The files that lie in the uploaders.
    """
    return batch.earlier if batch is not None and batch.file_ids & file_ids else own


def take_in(
    read: Cohort, own: Cohort | None, batch: _Batch | None, *, file_ids: frozenset[str], adding: bool
) -> tuple[Cohort, _Batch]:
    """Put what was read beside, or in the place of, what is loaded; what was changed by hand is changed again.

    Parameters
    ----------
    read : Cohort
        Everything that lies in the uploaders.
    own : Cohort or None
        What is loaded, as it is by now.
    batch : Batch or None
        The last reading.
    file_ids : frozenset of str
        The files that were read.
    adding : bool
        Keep the subjects that were loaded before.
    """
    earlier = earlier_subjects(own, batch, file_ids)
    as_read = read if earlier is None or not adding else add_subjects(earlier, read)
    if own is None or batch is None or not batch.file_ids & file_ids:
        return as_read, _Batch(file_ids, as_read, earlier)
    # In the subjects there are, what was changed by hand is as they show it; in the others as it was when they went.
    now, before, here = HandEdits.between(batch.as_read, own), batch.edits, batch.as_read.ids
    elsewhere = before.atlas_as_read is not None and not batch.as_read.atlas.same_regions(before.atlas_as_read)
    of_atlas = before if now.atlas is None and elsewhere else now
    edits = HandEdits(
        groups={name: group for name, group in before.groups.items() if name not in here} | dict(now.groups),
        removed={name: file for name, file in before.removed.items() if name not in here} | dict(now.removed),
        atlas_as_read=of_atlas.atlas_as_read,
        atlas=of_atlas.atlas,
        given=now.given or before.given,
    )
    return edits.make_again(as_read), _Batch(file_ids, as_read, earlier, edits)


def read_uploaded(uploaded: UploadedFiles, *, name: str, progress: Callable[[int, int], None] | None = None) -> Cohort:
    """Read what was uploaded into a cohort; nothing of it stays on the disk.

    Parameters
    ----------
    uploaded : UploadedFiles
    name : str
        Of the cohort.
    progress : callable, optional
        Told how many files are read, and of how many.
    """
    with TemporaryDirectory(prefix="biobgt-") as temporary:
        folder = Path(temporary)
        given: dict[str, Any] = dict(uploaded.answers)
        atlas, table = given.pop("atlas", uploaded.atlas), given.pop("phenotypes", None)
        beside = {"atlas": uploaded.atlas_table, "phenotypes": uploaded.phenotypes, "labels": uploaded.label_image}
        own = {name: _write(upload, folder / "tables" / name) for name, upload in beside.items() if upload is not None}
        image = replace(uploaded.image, labels=own.get("labels") or uploaded.image.labels)
        paths, not_stored = _write_all(uploaded.files, folder / "your files")
        cohort = read_cohort(
            paths,
            atlas=own.get("atlas") or atlas,
            phenotypes=own.get("phenotypes") or table,
            options=ReadOptions(**given, image=image),
            name=name,
            progress=progress,
        )
        return replace(cohort, refused=(*cohort.refused, *not_stored)) if not_stored else cohort


def read_uploaded_atlas(table: Upload) -> Atlas:
    """Read a user's own atlas; nothing of it stays on the disk."""
    with TemporaryDirectory(prefix="biobgt-") as temporary:
        return read_atlas(_write(table, Path(temporary)))


def _safe_path(name: str) -> Path | None:
    """A file's place within the folder that was uploaded; None where it, or a folder above it, is hidden.

    >>> _safe_path("study/sub-01/x.tsv").as_posix(), _safe_path("study/.git/config"), _safe_path("../x.tsv")
    ('study/sub-01/x.tsv', None, None)
    """
    parts = [part for part in name.replace("\\", "/").split("/") if part.strip()]
    if len(parts) < 2:
        return Path(_safe_name(name))
    if any(part.strip().startswith(".") for part in parts):
        return None
    return Path(*(_safe_name(part) for part in parts[-_DEEPEST:]))


def _safe_name(name: str) -> str:
    """Keep the last part of a file's name, without what could lead elsewhere or hide the file."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    bare = re.sub(r"[\x00-\x1f\x7f:*?\"<>|]", "_", last).strip()[-_MAX_NAME:]
    content = bare.encode("utf-8", "surrogatepass")
    if len(content) > _MAX_NAME_BYTES:  # as Chinese names may have; cut at the beginning, for the extension stays
        bare = content[-_MAX_NAME_BYTES:].decode("utf-8", "ignore")
    return bare.lstrip(". ") or "file"


def _write_all(uploads: Sequence[Upload], folder: Path) -> tuple[list[Path], list[Refusal]]:
    """Write files to a folder, which is read as one; loose archives and what cannot be read are named one by one.

    Not every file of a folder that was uploaded as one can be read: the reader counts the others. What cannot be
    stored is refused, unless it is everything there is.
    """
    folder.mkdir()
    written, refused, taken = [], [], Counter[Path]()
    for upload in uploads:
        place = _safe_path(upload.name)
        if place is None:
            continue
        try:
            written.append(_write_at(upload, folder / place, taken))
        except InputError as error:
            refused.append(Refusal(printable(place.as_posix()), str(error)))
    if refused and not written:
        raise InputError(refused[0].reason)
    in_folder = (*readable_suffixes(), *_BESIDE_THE_DATA)
    alone = [path for path in written if path.parent == folder and not path.name.lower().endswith(in_folder)]
    for i, path in enumerate(alone):
        # Out of the folder, or it would be met twice.
        aside = folder.parent / f"alone{i}" / path.name
        aside.parent.mkdir()
        alone[i] = path.rename(aside)
    return [folder, *alone] if len(alone) < len(written) or not written else alone, refused


def _write(upload: Upload, folder: Path) -> Path:
    return _write_at(upload, folder / _safe_name(upload.name), Counter())


def _write_at(upload: Upload, place: Path, taken: Counter[Path]) -> Path:
    """Write one file; a second of the same name gets a number, so that neither is lost.

    ``taken`` is the last number of each name, from which the next one is looked for.
    """
    stem, dot, extensions = place.name.partition(".")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        while True:
            taken[place] += 1
            path = place if taken[place] == 1 else place.with_name(f"{stem} ({taken[place]}){dot}{extensions}")
            if not path.exists():
                break
        try:
            path.write_bytes(upload.getbuffer())
        except OSError:
            path.unlink(missing_ok=True)  # half a recording would be read as one
            raise
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "its name is not a valid file name"
        raise InputError(f"'{printable(place.name)}' could not be stored for reading ({reason}).") from None
    return path
