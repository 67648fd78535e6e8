"""The folder of a study: what is in it, who is at work on it, and how the tests read it back.

It is laid out as BIDS derivatives are. Every file appears whole or not at all, and the last one of a recording says
that its others are there, so a run may end at any moment and the next one goes on. Whoever works on the folder
holds a lock that the system frees when the process ends.
"""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import biobgt
from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.files import held_by_another, make_folder, meant, read_csv, write_atomically
from biobgt.data.atlas import BUNDLED, Atlas, load_atlas
from biobgt.data.cohort import Cohort, person_of
from biobgt.data.graph import KINDS, ConnectivityKind, ConnectomeSettings
from biobgt.study.data import StudyData
from biobgt.study.files import (
    LENGTHS,
    MATRIX,
    MISSING,
    NETWORK,
    REGIONS,
    stems,
    table_files,
    to_json,
    to_tsv,
)
from biobgt.study.options import RecordingOptions
from biobgt.study.subject import (
    LEVEL,
    MEASURED_SIMPLER,
    OVERALL,
    network_columns,
    region_columns,
    tested_numbers,
)

ABOUT, ATLAS, RECORDINGS, REFUSED, PROGRESS = "study.json", "atlas.tsv", "recordings", "refused", "progress.json"
REPORT = "report.html"
MEASURED, FAILED, WAITING = "measured", "failed", "waiting"
RUNNING, FINISHED, STOPPED = "running", "finished", "stopped"
_LOCK = ".lock"
_BIDS_VERSION = "1.10.0"
_RECORDINGS_COLUMNS: Mapping[str, str] = {
    "subject": "Id of the recording, as it was read.",
    "group": "Group, as in the phenotypes.",
    "data": "series: region time series; connectivity: a matrix.",
    "time points": "Number of time points.",
    "regions": "Number of regions.",
    "simulated": "Whether it was drawn and is no real person.",
    "status": f"{MEASURED}, {FAILED}, or {WAITING} to be measured.",
    "reason": "Why it failed.",
    "files": "Its files in this folder, without their endings.",
}


class StudyFolder:
    """A study's folder, as its runs write it and its tests read it.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    # Who is at work on it.

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the folder; a second run is refused for as long as this process lives."""
        make_folder(self.path)
        with (self.path / _LOCK).open("a") as lock:
            if held_by_another(lock):
                raise InputError(f"Another run is at work in '{self.path}'. Wait for its end, or name another folder.")
            yield

    def is_running(self) -> bool:
        """Whether a run is at work on it now."""
        with suppress(OSError), (self.path / _LOCK).open() as lock:
            return held_by_another(lock)
        return False

    # What a run writes.

    def begin(self, cohort: Cohort, settings: ConnectomeSettings, options: RecordingOptions) -> None:
        """Write what the study is, before anything is measured; a folder of other things is refused.

        Parameters
        ----------
        cohort : Cohort
        settings : ConnectomeSettings
        options : RecordingOptions
        """
        others = [one.name for one in self.path.iterdir() if not one.name.startswith(".")]
        if others and not (self.path / ABOUT).exists():
            raise InputError(f"'{self.path}' holds other files ({min(others)}) and no study. Name an empty folder.")
        about = {
            "cohort": cohort.name,
            "connectivity": cohort.kind.key,
            "atlas": {"name": cohort.atlas.name, "title": cohort.atlas.title, "citation": cohort.atlas.citation},
            "settings": {key: value for key, value in settings.as_dict().items() if key != LEVEL},
            "options": options.as_dict(),
            "notes": cohort.notes,
            "version": biobgt.__version__,
        }
        description = {
            "Name": f"Hubs, modules and connectivity of {cohort.name}",
            "BIDSVersion": _BIDS_VERSION,
            "DatasetType": "derivative",
            "GeneratedBy": [{"Name": "BioBGT Explorer", "Version": biobgt.__version__}],
        }
        refused = pd.DataFrame([{"file": one.file, "reason": one.reason} for one in cohort.refused])
        files = {
            ABOUT: to_json(about),
            "dataset_description.json": to_json(description),
            ATLAS: to_tsv(cohort.atlas.table().rename(columns={"region": "name"})),
            f"{REFUSED}.tsv": to_tsv(refused.reindex(columns=["file", "reason"])),
            f"{REFUSED}.json": _dictionary({"file": "File that was not read.", "reason": "Why it was not read."}),
            f"{REGIONS[1:]}.json": _dictionary(region_columns(cohort.kind, options)),
            f"{NETWORK[1:]}.json": _dictionary(network_columns(cohort.kind, cohort.atlas.labels, options)),
        }
        self._write(files)

    def write_recordings(self, cohort: Cohort, status: Mapping[str, str]) -> None:
        """Write who is in the study and how far each recording is.

        Parameters
        ----------
        cohort : Cohort
        status : mapping of str to str
            Of each recording: measured, waiting, or why it failed.
        """
        table = cohort.table()
        own = [status[name] for name in cohort.ids]
        known = (MEASURED, WAITING)
        table["status"] = [one if one in known else FAILED for one in own]
        table["reason"] = ["" if one in known else one for one in own]
        table["files"] = list(stems(cohort.ids, cohort.kind, cohort.atlas).values())
        columns = {
            name: _RECORDINGS_COLUMNS.get(str(name), "As in the table of phenotypes that was read.") for name in table
        }
        self._write({**table_files(RECORDINGS, table), f"{RECORDINGS}.json": _dictionary(columns)})

    def has(self, stem: str, mark: str) -> bool:
        """Whether the files of a recording are all there, and of the same numbers, settings and options."""
        try:
            about = json.loads((self.path / f"{stem}{MATRIX}.json").read_text(encoding="utf-8"))
            sizes = about["Sizes"] if about["Fingerprint"] == mark else {"": -1}
            return all((self.path / f"{stem}{name}").stat().st_size == size for name, size in sizes.items())
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def write_recording(self, stem: str, files: Mapping[str, bytes]) -> None:
        """Write the files of a recording, in their order."""
        make_folder((self.path / stem).parent)
        self._write({f"{stem}{name}": content for name, content in files.items()})

    def _write(self, files: Mapping[str, bytes]) -> None:
        for name, content in files.items():
            path = self.path / name
            if not path.exists() or path.read_bytes() != content:
                write_atomically(path, content)

    # What is read back.

    @cached_property
    def _about(self) -> dict[str, Any]:
        try:
            about: dict[str, Any] = json.loads((self.path / ABOUT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise InputError(f"'{self.path}' holds no study. Run its participant level first.") from None
        return about

    @property
    def about(self) -> Mapping[str, Any]:
        """What the study is, as its first file says: cohort, connectivity, atlas, settings, options, notes, version."""
        return self._about

    @property
    def kind(self) -> ConnectivityKind:
        """What the connectivity of its recordings is."""
        return KINDS[self._about["connectivity"]]

    @property
    def options(self) -> RecordingOptions:
        """What was measured of every recording."""
        plain = {name: tuple(one) if isinstance(one, list) else one for name, one in self._about["options"].items()}
        return RecordingOptions.from_plain(plain, of="The study")

    @property
    def settings(self) -> ConnectomeSettings:
        """How graphs were made, with the first level."""
        return ConnectomeSettings(**self._about["settings"], level=self.options.levels[0])

    @cached_property
    def atlas(self) -> Atlas:
        """The atlas: the bundled one, or as the study's table has it."""
        table = _read_tsv(self.path / ATLAS, dtype=str)
        about, names = self._about["atlas"], tuple(table["name"])
        if about["name"] in BUNDLED and (bundled := load_atlas(about["name"])).regions == names:
            return bundled
        places = table[["x", "y", "z"]].astype(float).to_numpy() if "x" in table else None
        labels = [str(name) for name in table if name not in ("name", "x", "y", "z", "hemisphere")]
        told = {name: tuple(None if pd.isna(one) else one for one in table[name]) for name in labels}
        return Atlas(**about, regions=names, coordinates=places, labels=told)

    def recordings(self) -> pd.DataFrame:
        """A row per recording that was measured."""
        try:
            table = meant(pd.read_parquet(self.path / f"{RECORDINGS}.parquet"))
        except FileNotFoundError:
            raise InputError(f"'{self.path}' holds no study. Run its participant level first.") from None
        return table[table["status"] == MEASURED].reset_index(drop=True)

    def data(self) -> StudyData:
        """All that was measured, as arrays."""
        table, atlas, options = self.recordings(), self.atlas, self.options
        if table.empty:
            raise InputError(f"No recording in '{self.path}' was measured: {RECORDINGS}.tsv says why.")
        n, n_levels, pairs = len(table), len(options.levels), np.triu_indices(atlas.n_regions, 1)
        edges = np.empty((n, len(pairs[0])), np.float32)
        measured = dict.fromkeys([*options.region_measures, *MEASURED_SIMPLER])
        regions = {name: np.empty((n, n_levels, atlas.n_regions)) for name in measured}
        network: dict[str, FloatArray] = {}
        for number, stem in enumerate(table["files"]):
            edges[number] = self.connectivity(stem)[pairs]
            of_regions, of_network = self.regions(stem), self.network(stem)
            if not set(regions) <= set(of_regions):
                raise InputError(
                    f"'{self.path}' was measured by an earlier version, without strength and degree of regions. Run "
                    "its participant level again."
                )
            for name, values in regions.items():
                values[number] = of_regions[name].to_numpy(float).reshape(n_levels, -1)
            for name in filter(of_network.__contains__, tested_numbers(atlas)):
                network.setdefault(name, np.full((n, n_levels), np.nan))[number] = of_network[name]
        return StudyData(
            table=table.drop(columns=["status", "reason", "files"]),
            persons=tuple(map(person_of, table["subject"])),
            atlas=atlas,
            kind=self.kind,
            settings=self.settings,
            levels=options.levels,
            edges=edges,
            regions={name: regions[name] for name in options.region_measures},
            network=network,
            overall=network[OVERALL][:, 0],
            lengths=self._mean_lengths(table["files"]),
            model=options.model,
            simpler={name: regions[name] for name in MEASURED_SIMPLER},
        )

    def connectivity(self, stem: str) -> np.ndarray[Any, np.dtype[np.float32]]:
        """The matrix of a recording, shape (n_regions, n_regions)."""
        return self._matrix(f"{stem}{MATRIX}.tsv")

    def _matrix(self, name: str) -> np.ndarray[Any, np.dtype[np.float32]]:
        table = pd.read_csv(self.path / name, sep="\t", na_values=MISSING, dtype=np.float32)
        return table.to_numpy(np.float32)

    def _mean_lengths(self, stems: "pd.Series[str]") -> FloatArray | None:
        """Mean lengths of the tracts of each pair over the recordings that have one; None where none were given."""
        names = [f"{stem}{LENGTHS}.tsv" for stem in stems if (self.path / f"{stem}{LENGTHS}.tsv").exists()]
        total, count = np.zeros((2, self.atlas.n_regions * (self.atlas.n_regions - 1) // 2))
        for name in names:
            own = self._matrix(name)[np.triu_indices(self.atlas.n_regions, 1)].astype(np.float64)
            total, count = total + np.where(own > 0, own, 0), count + (own > 0)
        return np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0) if names else None

    def regions(self, stem: str) -> pd.DataFrame:
        """The table of regions of a recording."""
        return pd.read_parquet(self.path / f"{stem}{REGIONS}.parquet")

    def network(self, stem: str) -> pd.DataFrame:
        """The table of the network of a recording."""
        return pd.read_parquet(self.path / f"{stem}{NETWORK}.parquet")


def _dictionary(columns: Mapping[Any, str]) -> bytes:
    return to_json({str(name): {"Description": text} for name, text in columns.items()})


def _read_tsv(path: Path, **how: Any) -> pd.DataFrame:
    return read_csv(path, sep="\t", na_values=MISSING, keep_default_na=False, **how)


class Progress:
    """How far a run that measures is, in a file of the folder that a page may read; once a second at most.

    Parameters
    ----------
    folder : Path
    done : int
        Recordings, or whatever is measured one by one, that were there before.
    total : int
        All of them, those included.
    level : str
        What the run is.
    """

    def __init__(self, folder: Path, done: int, total: int, *, level: str = "participant") -> None:
        self.folder, self.before, self.total, self.level = folder, done, total, level
        self.began = self.told = time.monotonic()
        self.failed = 0
        self.end(RUNNING, 0)

    def tell(self, done: int) -> None:
        """Say that so many more recordings are done."""
        now = time.monotonic()
        if now - self.told >= 1:
            self.told, rate = now, done / (now - self.began)
            left = (self.total - self.before - done) / rate
            self.end(RUNNING, done, per_second=round(rate, 3), seconds_left=round(left))

    def end(self, state: str, done: int, **rate: float) -> None:
        """Say that the run is finished, or was stopped."""
        about = {"done": self.before + done, "total": self.total, "failed": self.failed, **rate}
        tell_progress(self.folder, self.level, state, **about)


def tell_progress(folder: Path, level: str, state: str, **about: Any) -> None:
    """Write how far a run is.

    Parameters
    ----------
    folder : Path
    level, state : str
    **about
        What else is known.
    """
    write_atomically(folder / PROGRESS, to_json({"level": level, "state": state, **about}))
