"""Which atlas files are on: told by a layout, a BIDS entity, region names or a table of the user."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import ChoiceNeeded, InputError
from biobgt.base.limits import current_limits
from biobgt.base.wording import counted, listed
from biobgt.data.atlas import (
    BUNDLED,
    FEWEST_REGIONS,
    Atlas,
    atlas_of_names,
    atlas_question,
    load_atlas,
    numbered_atlas,
    others_of_size,
    recognise_atlas,
)
from biobgt.data.cohort import ATLAS_BY_COUNT, ATLAS_BY_NAMES
from biobgt.readers.foreign.isolate import one_refused_file
from biobgt.readers.measurement import BIDS_ATLAS, NUMBERING_NAME, Reading, orientation_question
from biobgt.readers.tables import is_known, read_table_of_words, read_words

# BIDS label tables (``*_dseg.tsv``): the names of an atlas's regions, beside the data that were extracted with it.
#
# A table of numbers without a header is in the order of such a table, if it has as many regions. XCP-D puts the tables
# in a folder ``atlases`` of the whole data set, other programs put them beside each file.


_TABLE = re.compile(r"(?:.*[_-])?dseg\.tsv", re.IGNORECASE)
_NAME_COLUMNS = ("label", "name", "region")


def is_label_table(path: Path) -> bool:
    """Whether a file is a label table, by its name."""
    return bool(_TABLE.fullmatch(path.name))


def label_table_beside(path: Path, root: Path | None) -> tuple[str, tuple[str, ...]] | None:
    """Find the label table that belongs to a file: its name, and the regions' names in the order of their numbers.

    None where there is none, or more than one may be meant. It lies in the file's folder, in one above it up to the
    folder that the user named, or in the folder ``atlases`` of that one; where file and table both name an atlas
    (``atlas-``, ``seg-``), the names must be the same.
    """
    own = _entity_of(path)
    for folder in folders_above(path, root):
        there = (table for table in folder.glob("*dseg.tsv") if is_label_table(table))
        named = {table: _entity_of(table) for table in sorted(there) if table.is_file() and not table.is_symlink()}
        tables = [table for table, entity in named.items() if None in (own, entity) or own == entity]
        if own is not None and (same := [table for table in tables if named[table] is not None]):
            tables = same
        if len(tables) == 1:
            return _read_labels(tables[0], tables[0].stat().st_mtime_ns)
        if tables:
            return None
    return None


def _entity_of(path: Path) -> str | None:
    found = BIDS_ATLAS.search(path.name.lower())
    return None if found is None else found[2]


def folders_above(path: Path, root: Path | None) -> list[Path]:
    """The folders in which a file's labels may lie, the nearest first; ``root`` is the one that the user named.

    A link among them that leads out of ``root`` is not followed.
    """
    if root is None:
        return [path.parent]
    above = [folder for folder in path.parents if folder == root or root in folder.parents]
    shared, named = root / "atlases", root.resolve()

    def is_within(folder: Path) -> bool:
        return folder.is_dir() and folder.resolve().is_relative_to(named)

    return [*above, shared, *sorted(filter(is_within, shared.iterdir()))] if is_within(shared) else above


@lru_cache(maxsize=64)
def _read_labels(path: Path, _changed: int) -> tuple[str, tuple[str, ...]] | None:
    """Read a table's names; one that cannot be read, or that names a region twice, says nothing."""
    limits = current_limits()
    try:
        table = read_table_of_words(read_words(path, f"'{path.name}'"), f"'{path.name}'")
        limits.check("regions", len(table), f"'{path.name}'")
    except InputError:
        return None
    table.columns = pd.Index([str(column).strip().lower() for column in table.columns])
    column = next((name for name in _NAME_COLUMNS if name in table.columns), None)
    if column is None:
        return None
    if "index" in table.columns:
        numbers = pd.to_numeric(table["index"], errors="coerce")
        table = table[numbers > 0].assign(index=numbers).sort_values("index")
    names = tuple(str(name).strip() for name in table[column])
    return (path.name, names) if len(set(names)) == len(names) > 1 else None


# A user's own atlas: a table of regions with MNI coordinates, or a BrainNet Viewer ``.node`` file.


_NODES = ".node"
ATLAS_SUFFIXES = (".csv", ".tsv", _NODES)


def read_atlas(path: str | Path) -> Atlas:
    """Read a user's own atlas: a CSV/TSV table with x, y, z and label, or a BrainNet Viewer ``.node`` file.

    A table may also carry any number of further columns; each becomes a functional labelling.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"There is no atlas file '{path}'.")
    what, limits = f"Atlas '{path.name}'", current_limits()
    with one_refused_file(what):
        text = read_words(path, what)
        table = _parse_node_file(text, path) if path.suffix.lower() == _NODES else _parse_table(text, path)
        limits.check("regions", len(table), what)
        coordinates = _numeric_coordinates(table, path)
        labels = {
            str(column): tuple(str(label) if is_known(label) else None for label in table[column])
            for column in table.columns
            if column not in {"x", "y", "z"}
        }
        names = [(name or "").strip() or "Region" for name in labels.pop("label")]
        repeated = {name for name, count in Counter(names).items() if count > 1}
        return Atlas(
            name=path.stem,
            title=path.stem,
            regions=tuple(f"{name} ({i})" if name in repeated else name for i, name in enumerate(names, start=1)),
            coordinates=coordinates,
            labels=labels,
        )


def find_atlas(name_or_path: str | Path | Atlas) -> Atlas:
    """Return an atlas from itself, a bundled name, or the path of a table."""
    if isinstance(name_or_path, Atlas):
        return name_or_path
    text = str(name_or_path)
    if text.lower() in BUNDLED:
        return load_atlas(text.lower())
    if Path(text).suffix:
        return read_atlas(text)
    raise InputError(
        f"There is no atlas '{text}'. Bundled: {', '.join(BUNDLED)}. Your own is the path of a "
        f"{listed(ATLAS_SUFFIXES, 'or')} file."
    )


def _parse_table(text: str, path: Path) -> pd.DataFrame:
    table = read_table_of_words(text, f"Atlas '{path.name}'")
    table.columns = pd.Index([str(column).strip().lower() for column in table.columns])
    if table.columns.has_duplicates:
        raise InputError(f"Atlas '{path.name}' has two columns named '{table.columns[table.columns.duplicated()][0]}'.")
    missing = [column for column in ("x", "y", "z", "label") if column not in table.columns]
    if missing:
        raise InputError(
            f"Atlas '{path.name}' has no column {', '.join(missing)}. It needs x, y, z and label; "
            f"it has {', '.join(map(str, table.columns[:8]))}."
        )
    return table


def _parse_node_file(text: str, path: Path) -> pd.DataFrame:
    """Parse BrainNet Viewer's x y z colour size label, by white space; '#' opens a comment line, '-' is no label."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    current_limits().check("regions", len(lines), f"Atlas '{path.name}'")
    rows = [line.split(None, 5) for line in lines]
    short = next((row for row in rows if len(row) < 3), None)
    if not rows or short is not None:
        raise InputError(
            f"'{path.name}' has a row of {len(short or [])} columns; a .node file has x, y, z, colour, size and label."
        )
    names = [row[5].strip() if len(row) > 5 and row[5].strip() != "-" else "" for row in rows]
    numbered = [name or f"Region {i}" for i, name in enumerate(names, start=1)]
    return pd.DataFrame([row[:3] for row in rows], columns=["x", "y", "z"]).assign(label=numbered)


def _numeric_coordinates(table: pd.DataFrame, path: Path) -> FloatArray:
    coordinates = table[["x", "y", "z"]].apply(pd.to_numeric, errors="coerce").to_numpy(float)
    bad = np.flatnonzero(~np.isfinite(coordinates).all(axis=1))
    if bad.size:
        raise InputError(f"Atlas '{path.name}': row {bad[0] + 1} has a coordinate that is not a number.")
    if len(coordinates) < FEWEST_REGIONS:
        n_regions = counted(len(coordinates), "region")
        raise InputError(f"Atlas '{path.name}' has {n_regions}; at least {FEWEST_REGIONS} are needed.")
    if np.abs(coordinates).max() > 200:
        raise InputError(
            f"Atlas '{path.name}' has a coordinate of {np.abs(coordinates).max():g}; "
            "MNI coordinates in mm stay within 200 of the origin."
        )
    return coordinates


# Which atlas a set of readings is on: told by a layout, a BIDS entity or a label table, by region names, or asked.
#
# The user's word comes before all of them, and is told where files contradict it. A number of regions decides alone
# only where no other published parcellation has it, and the note then says so.


BY_USER = "the user"
_NO_SUCH_SIZE = "the number of regions, which no bundled atlas has"
_WHICH_FOR_ALL = "Which one is it? The answer is for all files: add those of another atlas on their own."
_NO_BRAIN = (
    "Regions go by name or number and cannot be drawn on a brain. Add their atlas as a table with x, y, z and label."
)


@dataclass(frozen=True)
class _AtlasEvidence:
    """What one reading says of its atlas: a bundled one's name, or None for another; and what said so.

    ``or_else`` are further orders of the same regions that it may mean.
    """

    name: str | None
    by: str
    or_else: tuple[str, ...] = ()


def settle_atlas(
    readings: Sequence[Reading], chosen: Atlas | None = None, *, unknown: bool = False
) -> tuple[Atlas, str, str]:
    """Settle the atlas of a cohort.

    Parameters
    ----------
    readings : sequence of Reading
    chosen : Atlas, optional
        The user's word.
    unknown : bool
        The user's word that it is none of the bundled atlases.

    Returns
    -------
    atlas : Atlas
    decided_by : str
        What decided that it is the one, for the provenance.
    note : str
        A sentence about it.

    Raises
    ------
    ChoiceNeeded
        When the readings do not say which axis is time or which atlas it is, or are of several atlases.
    """
    if chosen is not None:
        return _settle_by_user(readings, chosen, f"Atlas: {chosen.title}, as you said.")
    if not readings:
        return numbered_atlas(2), _NO_SUCH_SIZE, "Nothing was read, so no atlas was recognised."
    n_regions = _settle_size(readings, unknown=unknown)
    own = [item for item in readings if item.region_counts == {n_regions}]
    names = next((found for item in own if (found := item.names) and len(found) == n_regions), None)
    numbered = numbered_atlas(n_regions, names=names if names is not None and len(set(names)) == len(names) else None)
    given, no_brain = [item.coordinates for item in own if item.names == names], _NO_BRAIN
    if given and given[0] is not None and all(one is not None and np.array_equal(one, given[0]) for one in given):
        numbered = replace(numbered, coordinates=given[0])
        no_brain = "Regions lie where the files say, which is taken for MNI coordinates in mm."
    if unknown:
        return _settle_by_user(own, numbered, f"Atlas: none of the bundled ones, as you said. {no_brain}")
    if not _bundled_of(n_regions):
        others = ", ".join(others_of_size(n_regions))
        known = f" (parcellations of that size: {others})" if others else ""
        return numbered, _NO_SUCH_SIZE, f"No bundled atlas has {n_regions} regions{known}. {no_brain}"
    told = [_evidence(item, n_regions) for item in own]
    by = " and ".join(dict.fromkeys(item.by for items in told for item in items))
    atlas = _agreed(own, told, n_regions)
    if atlas is None:
        same = _bundled_of(n_regions)[0]
        example = f" (such as '{names[0]}')" if by == ATLAS_BY_NAMES and names else ""
        other = (
            f"{same.title} has {n_regions} regions too, but {by}{example} say that this is another atlas. {no_brain} "
            f"Choose the atlas {same.name} if it is the one after all."
        )
        return numbered, by, other
    if () in told:
        by_count = (
            f"Atlas: {atlas.title}, by {ATLAS_BY_COUNT}: no other published parcellation that is known here has "
            f"{atlas.n_regions}, but nothing in the files confirms it. If it is another, add it as a table with x, y, "
            "z and label."
        )
        return atlas, ATLAS_BY_COUNT, by_count
    return atlas, by, f"Atlas: {atlas.title}, told by {by}."


def _settle_by_user(readings: Sequence[Reading], atlas: Atlas, note: str) -> tuple[Atlas, str, str]:
    """Take the user's word for the atlas, and say where files tell another one."""
    n = atlas.n_regions
    own = [item for item in readings if n in item.region_counts]
    said = [(item, told) for item in own for told in _evidence(item, n) or _left_open(item, n)]
    against = [(item, told) for item, told in said if _contradicts(told, atlas)]
    if not against:
        return atlas, BY_USER, note
    by = " and ".join(dict.fromkeys(told.by for _, told in against))
    keys = dict.fromkeys(key for _, told in against if told.name is not None for key in (told.name, *told.or_else))
    named = [load_atlas(key).title for key in keys]
    file = against[0][0].file
    warning = (
        f"But {len(against):,} of {counted(len(own), 'recording')}{f', such as {file!r},' if file else ''} "
        f"{'name' if len(against) > 1 else 'names'} {listed(named) if named else 'another atlas'} (told by {by}). What "
        "you said is used; choose the other atlas if the files are right."
    )
    return atlas, f"{BY_USER}, against {by}", f"{note} {warning}"


def _contradicts(told: _AtlasEvidence, atlas: Atlas) -> bool:
    """Whether a file tells of another atlas; one of a user's own may well be the one that is not bundled."""
    if told.name is None:
        return atlas.name in BUNDLED
    if atlas.name in told.or_else:
        return False
    named = load_atlas(told.name)
    same_regions = atlas.coordinates is not None and set(atlas.regions) == set(named.regions)
    return named.fingerprint != atlas.fingerprint and not same_regions


def region_order(names: tuple[str, ...], reference: tuple[str, ...] | None, atlas: Atlas) -> list[int] | None:
    """Say in which order to take regions so that they stand as in the reference; None where they already do.

    Parameters
    ----------
    names : tuple of str
        Of the regions, as they stand.
    reference : tuple of str or None
        In the order that all subjects must have, where one is known.
    atlas : Atlas

    Raises
    ------
    InputError
        When the two do not name the same regions, or some names are the atlas's, but at other places: the rest could
        not be put in order.
    """
    place = {name: i for i, name in enumerate(atlas.regions, start=1)}
    if len(names) == atlas.n_regions and set(names) != set(place):
        for i, name in enumerate(names, start=1):
            if place.get(name, i) != i:
                raise InputError(
                    f"Its region {i} is named '{name}', which is region {place[name]} of {atlas.title}, and other "
                    "names are not the atlas's, so the regions cannot be put in its order. Correct the names, or "
                    "choose another atlas."
                )
    if reference is None or names == reference or all(NUMBERING_NAME.fullmatch(name) for name in names):
        return None
    if set(names) != set(reference) or len(set(names)) != len(names):
        other = next((name for name in names if name not in set(reference)), names[0])
        raise InputError(
            f"Its regions are named otherwise than those of the other subjects (such as '{other}'), so they cannot be "
            "put side by side."
        )
    standing = {name: i for i, name in enumerate(names)}
    return [standing[name] for name in reference]


def _settle_size(readings: Sequence[Reading], *, unknown: bool) -> int:
    """Return the number of regions, or ask which axis of the nameless tables has them."""
    counts = [item.region_counts for item in readings]
    undecided = [item for item, possible in zip(readings, counts, strict=True) if len(possible) > 1]
    decided = [item for item, possible in zip(readings, counts, strict=True) if len(possible) == 1]
    sizes = [next(iter(possible)) for possible in counts if len(possible) == 1]
    if len(undecided) < len(sizes):
        size = _most_plausible_size(sizes, [] if unknown else decided)
        undecided = [item for item in undecided if size in item.values.shape]  # others do not belong, either way round
        if not undecided:
            return size
    raise orientation_question(undecided[0], further_files=len(undecided) - 1)


def _evidence(reading: Reading, n_regions: int) -> tuple[_AtlasEvidence, ...]:
    """Say what one reading tells of its atlas, the strongest first; more than one where they contradict one another.

    A layout or a BIDS entity comes first; where it leaves the order of the regions open, or names an atlas that is not
    known here, their names decide. Another part of the file's name counts only where the names say nothing.
    """
    named = None if reading.file_name is None else reading.file_name.atlases(n_regions)
    by_names = _told_by_names(reading, n_regions)
    if named is None or not (named.certain or by_names is None):
        return () if by_names is None else (by_names,)
    open_between = len(named.bundled) > 1 or (named.bundled and named.others)  # the name may mean two atlases
    tells = not open_between and (named.certain or not reading.has_names)
    by_file = (_AtlasEvidence(next(iter(named.bundled), None), named.said_by),) if tells else ()
    if by_names is None or not (named.bundled or named.others):
        return by_file if by_names is None or by_names.name is None else (by_names,)
    if by_names.name in named.bundled:
        return (_AtlasEvidence(by_names.name, f"{named.said_by} and {by_names.by}"),)
    return by_file if by_names.name is None and by_file else (*by_file, by_names)


def _left_open(reading: Reading, n_regions: int) -> tuple[_AtlasEvidence, ...]:
    """What a file's name tells where it means one of several orders of the same regions."""
    named = None if reading.file_name is None else reading.file_name.atlases(n_regions)
    if named is None or len(named.bundled) < 2:
        return ()
    first, *others = named.bundled
    return (_AtlasEvidence(first, named.said_by, tuple(others)),)


def _told_by_names(reading: Reading, n_regions: int) -> _AtlasEvidence | None:
    names = reading.names
    if names is None or not reading.has_names:
        return None
    by = ATLAS_BY_NAMES + ("" if reading.names_from is None else f" in the label table '{reading.names_from}'")
    atlas = atlas_of_names(names)
    if atlas is not None:
        return _AtlasEvidence(atlas.name, by)
    if any(set(same.own_names(names)) & set(same.regions) for same in _bundled_of(n_regions)):
        return None  # some names are the atlas's and some are not
    return _AtlasEvidence(None, by)


def _agreed(own: Sequence[Reading], told: Sequence[tuple[_AtlasEvidence, ...]], n_regions: int) -> Atlas | None:
    """Return the atlas that all readings tell, None where all tell another than the bundled ones; or ask."""
    said = {item.name: item.by for items in told for item in items}
    named = [item.file_name.atlases(n_regions) for item in own if item.file_name is not None]
    keys = dict.fromkeys(key for found in named if found is not None for key in found.bundled)
    choices = [load_atlas(key) for key in keys] if len(keys) > 1 else _bundled_of(n_regions)  # what names leave open
    if len(said) > 1:
        titles = [f"{'another one' if name is None else load_atlas(name).title} (by {by})" for name, by in said.items()]
        raise atlas_question(
            f"The files name more than one atlas of {n_regions} regions: {listed(titles)}. {_WHICH_FOR_ALL}", choices
        )
    if () not in told:
        return load_atlas(name) if (name := next(iter(said))) is not None else None
    try:
        by_count = recognise_atlas(n_regions)
    except ChoiceNeeded as asked:
        file = next((item.file for item, said in zip(own, told, strict=True) if not said), None)
        which = f"The file {file!r} does not say" if file else "The data do not say"
        raise atlas_question(
            f"{asked.question} {which} which it is, neither by the names of all regions nor by a known layout. Which "
            "one is it?",
            choices,
        ) from None
    if by_count is not None and set(said) - {by_count.name}:
        raise atlas_question(
            f"The number of regions is that of {by_count.title}, and some files name another atlas of that size. "
            f"{_WHICH_FOR_ALL}",
            [by_count],
        )
    return by_count


def _bundled_of(n_regions: int) -> list[Atlas]:
    return [load_atlas(name) for name, about in BUNDLED.items() if about.n_regions == n_regions]


def _most_plausible_size(sizes: Sequence[int], readings: Sequence[Reading]) -> int:
    """Files of several sizes: the one size that is an atlas's, or that most files have; the others are then refused."""
    found = Counter(sizes)
    if len(found) == 1:
        return sizes[0]
    atlases: dict[int, Atlas] = {}
    for size in sorted(found):  # a bundled atlas's, unless every file of that size tells that it is another
        told = [_evidence(item, size) for item in readings if size in item.values.shape]
        if any(not items or any(item.name is not None for item in items) for items in told) and _bundled_of(size):
            atlases[size] = _bundled_of(size)[0]
    if len(atlases) == 1:
        return next(iter(atlases))
    if not atlases:
        (common, count), *_ = found.most_common()
        if count > len(sizes) / 2:
            return common
        listed = ", ".join(f"{found[size]} with {size}" for size in sorted(found))
        raise InputError(
            f"The files have different numbers of regions ({listed}), and none is known to be a bundled atlas's. "
            "Choose files of one kind by a pattern, or add a table of their atlas."
        )
    listed = ", ".join(f"{found[size]} with {size} regions ({atlas.title})" for size, atlas in atlases.items())
    raise ChoiceNeeded(
        f"The files are of more than one atlas: {listed}.",
        option="atlas",
        choices=[atlas.name for atlas in atlases.values()],
    )


# Files that lack some regions of an atlas: columns that are absent are put in their places, missing throughout.
#
# Parcels that a scan does not cover are often left out of a file. Where the names of the others are those of an atlas,
# the absent ones are known: they are written as NaN, and so the subject says which regions are missing, whether a file
# left their columns out or wrote nothing in them.


_LEAST_SHARE = 0.8  # of a bundled atlas's regions, so that their names tell it where the user did not
ABSENT = "absent regions"  # among the options of a source


def with_absent_regions(reading: Reading, chosen: Atlas | None = None) -> Reading:
    """Put the regions that a file leaves out in their places, where the names of the others tell the atlas.

    Parameters
    ----------
    reading : Reading
    chosen : Atlas, optional
        The user's word. Without it, a bundled atlas is taken that has all the names and whose regions are, for the
        most part, there; of several the one that misses the fewest.

    Returns
    -------
    Reading
        The same where no region is absent or the atlas is not known.
    """
    names = reading.names
    if names is None or len(set(names)) < len(names) or not reading.has_names:
        return reading
    if chosen is None and atlas_of_names(names) is not None:
        return reading
    atlases = [chosen] if chosen is not None else []
    if chosen is None:  # those that the file's name gives first, then the smallest
        shares = {key: len(names) / about.n_regions for key, about in BUNDLED.items()}
        sizes = {key: BUNDLED[key].n_regions for key, share in shares.items() if _LEAST_SHARE <= share < 1}
        said = reading.file_name
        ordered = sorted(sizes, key=lambda key: (said is None or not said.names_size(sizes[key]), sizes[key]))
        atlases = [load_atlas(key) for key in ordered]
    for atlas in atlases:
        own = atlas.own_names(names)
        if set(own) < set(atlas.regions):
            return _completed(reading, own, atlas)
    return reading


def _completed(reading: Reading, names: tuple[str, ...], atlas: Atlas) -> Reading:
    place = {region: i for i, region in enumerate(atlas.regions)}
    places = [place[name] for name in names]
    by_columns = reading.region_names is not None
    values = reading.values
    square = values.shape[0] == values.shape[1]
    same_names = reading.row_names == reading.region_names
    is_matrix = square and (same_names or np.allclose(values, values.T, atol=1e-6, equal_nan=True))
    if not by_columns or is_matrix:  # rows are regions, too
        values = _spread(values.T, places, atlas.n_regions).T
    if by_columns:
        values = _spread(values, places, atlas.n_regions)
    absent = [region for region in atlas.regions if region not in set(names)]
    return replace(
        reading,
        values=values,
        region_names=atlas.regions if by_columns else None,
        row_names=None if by_columns else atlas.regions,
        lengths=None,
        options={**reading.options, ABSENT: ", ".join(absent)},
    )


def _spread(values: FloatArray, places: list[int], n_regions: int) -> FloatArray:
    """Columns at their places among all regions; the others are NaN. Shape (n_rows, n_regions)."""
    whole = np.full((len(values), n_regions), np.nan)
    whole[:, places] = values
    return whole
