"""One small valid file of every format, made here: what the fuzzer damages."""

import bz2
import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import h5py
import nibabel
import numpy as np
import openpyxl
import scipy.io
import scipy.sparse
from nibabel import cifti2, gifti

from biobgt import Cohort, ConnectomeSettings, Subject
from biobgt.data.atlas import Atlas
from biobgt.readers.project import save_project

N_REGIONS = 6
N_TIMEPOINTS = 12
SHAPE = (6, 5, 4)
Writer = Callable[[Path, np.random.Generator], None]


def series(rng: np.random.Generator) -> np.ndarray:
    """Series of N_TIMEPOINTS by N_REGIONS that change slowly, as BOLD does."""
    return np.round(np.cumsum(rng.standard_normal((N_TIMEPOINTS, N_REGIONS)), axis=0), 3)


def atlas() -> Atlas:
    coordinates = np.array([[4.0 * i, 4.0, 4.0] for i in range(N_REGIONS)])
    return Atlas("fuzz", "Fuzz", tuple(f"R{i}" for i in range(N_REGIONS)), coordinates)


def _text(separator: str, *, header: bool) -> Writer:
    def write(path: Path, rng: np.random.Generator) -> None:
        lines = [separator.join(f"{value:.3f}" for value in row) for row in series(rng)]
        if header:
            lines.insert(0, separator.join(atlas().regions))
        path.write_text("\n".join(lines) + "\n")

    return write


def _npz(path: Path, rng: np.random.Generator) -> None:
    two = np.concatenate([series(rng), series(rng)])
    choices: list[dict[str, object]] = [
        {"data": series(rng)},
        {"series": two, "n_timepoints": [N_TIMEPOINTS] * 2, "subject": ["a", "b"]},
        {"data": np.stack([np.corrcoef(series(rng).T) for _ in range(3)]), "ids": [1.0, 2.0, 3.0]},
    ]
    save = np.savez_compressed if rng.random() < 0.5 else np.savez
    save(path, **choices[rng.integers(3)])  # type: ignore[arg-type]


def _mat5(path: Path, rng: np.random.Generator) -> None:
    connectivity = np.corrcoef(series(rng).T)
    sparse = scipy.sparse.csc_matrix(np.where(connectivity > 0.3, connectivity, 0))
    cells = np.empty((1, 2), dtype=object)
    cells[0, 0], cells[0, 1] = np.eye(2), "words"
    choices: list[dict[str, object]] = [
        {"data": series(rng), "TR": 2.0},
        {"w": sparse},
        {"s": {"connectivity": connectivity, "inner": {"x": 1}}},
        {"c": cells, "data": series(rng).astype(np.float32)},
    ]
    scipy.io.savemat(path, choices[rng.integers(4)], do_compression=rng.random() < 0.5)


def save_mat73(path: Path, values: np.ndarray) -> None:
    """Write as MATLAB 7.3 does: HDF5 behind a 512-byte text block, arrays transposed."""
    with h5py.File(path, "w", userblock_size=512) as file:
        file["data"] = np.asarray(values).T
        file["data"].attrs["MATLAB_class"] = np.bytes_("double")
    with_userblock(path)


def with_userblock(path: Path) -> None:
    """Make a MATLAB 7.3 file of it."""
    with path.open("r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(128))


def _hdf5(path: Path, rng: np.random.Generator) -> None:
    with h5py.File(path, "w", libver="latest" if rng.random() < 0.5 else "earliest") as file:
        compressed = {"chunks": (4, 3), "compression": "gzip", "shuffle": True} if rng.random() < 0.5 else {}
        file.create_dataset("group/data", data=series(rng), **compressed)
        file["group"].attrs["made by"] = "the fuzzer"
        file["soft"] = h5py.SoftLink("/group/data")


def _image(path: Path, rng: np.random.Generator) -> None:
    voxels = rng.integers(0, 999, (*SHAPE, N_TIMEPOINTS)).astype(rng.choice(["<f4", "<i2", ">i2"]))
    image = nibabel.Nifti1Image(voxels, np.diag([4.0, 4.0, 4.0, 1.0]))
    image.header.set_zooms((4, 4, 4, 2))
    nibabel.save(image, path)


def label_image(path: Path, rng: np.random.Generator) -> None:
    labels = np.zeros(SHAPE, "<f4") + np.arange(1, N_REGIONS + 1, dtype="<f4")[:, None, None]
    nibabel.save(nibabel.Nifti1Image(labels, np.diag([4.0, 4.0, 4.0, 1.0])), path)


def _words(path: Path, rng: np.random.Generator) -> None:
    rows = ["participant_id,group,age,sex", "good,NC,70.5,F", "mutant,AD,71,M", 'other,"MCI",,n/a']
    path.write_text("\n".join(rows) + "\n")


def _workbook(path: Path, rng: np.random.Generator) -> None:
    book = openpyxl.Workbook()
    for row in (["subject", "group", "age", "seen"], ["good", "NC", 70.5, True], ["mutant", "AD", 71, None]):
        book.active.append(row)
    book.save(path)


def _atlas_table(path: Path, rng: np.random.Generator) -> None:
    rows = [f"{4 * i},{-3 * i},2.5,Region {i},Net{i % 2}" for i in range(N_REGIONS)]
    path.write_text("x,y,z,label,network\n" + "\n".join(rows) + "\n")


def _node(path: Path, rng: np.random.Generator) -> None:
    path.write_text("# nodes\n" + "".join(f"{4 * i} {-3 * i} 2.5 1 2.0 Region_{i}\n" for i in range(N_REGIONS)))


def _zip(path: Path, rng: np.random.Generator) -> None:
    method = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA][rng.integers(4)]
    table = io.StringIO()
    np.savetxt(table, series(rng), "%.3f", ",")
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("study/sub-01.csv", table.getvalue())
        archive.writestr("study/sub-02/ses-1/sub-02_ses-1.csv", table.getvalue())
        archive.writestr("study/participants.tsv", "participant_id\tgroup\nsub-01\tNC\nsub-02\tAD\n")


def _project(path: Path, rng: np.random.Generator) -> None:
    subjects = tuple(Subject(id=name, series=series(rng), group="NC") for name in ("a", "b"))
    save_project(Cohort("fuzz", subjects, atlas()), ConnectomeSettings(), {"gamma": 0.5}, path)


LEFT = "CIFTI_STRUCTURE_CORTEX_LEFT"
_N_VERTICES = 32492


def parcels(names: Sequence[str]) -> cifti2.ParcelsAxis:
    """Parcels that are vertices of the left cortex, ten each."""
    vertices = [{LEFT: np.arange(10 * i, 10 * i + 10)} for i in range(len(names))]
    return cifti2.ParcelsAxis(names, [np.zeros((0, 3), int)] * len(names), vertices, nvertices={LEFT: _N_VERTICES})


def cortex(vertices: np.ndarray, structure: str = LEFT) -> cifti2.BrainModelAxis:
    """Grayordinates: some vertices of a hemisphere."""
    return cifti2.BrainModelAxis.from_surface(vertices, _N_VERTICES, name=structure)


def save_cifti(values: np.ndarray, axes: Sequence[cifti2.Axis], path: Path) -> Path:
    nibabel.save(cifti2.Cifti2Image(values.astype(np.float32), header=axes), path)
    return path


def _cifti(path: Path, rng: np.random.Generator) -> None:
    """Parcels, or vertices, over time; parcels by parcels where the name says so."""
    regions = parcels(atlas().regions)
    if path.name.endswith(".pconn.nii"):
        save_cifti(np.corrcoef(series(rng).T), (regions, regions), path)
    else:
        other = cortex(np.arange(N_REGIONS)) if path.name.endswith(".dtseries.nii") else regions
        save_cifti(series(rng), (cifti2.SeriesAxis(0, 2.0, N_TIMEPOINTS), other), path)


def cifti_labels(path: Path) -> None:
    """One parcel per vertex of a dense series."""
    table = {i + 1: (name, (1, 0, 0, 1)) for i, name in enumerate(atlas().regions)}
    labels = cifti2.LabelAxis(["parcels"], [{0: ("???", (0, 0, 0, 0)), **table}])
    save_cifti(np.arange(1, N_REGIONS + 1)[None], (labels, cortex(np.arange(N_REGIONS))), path)


def _gifti(path: Path, rng: np.random.Generator) -> None:
    """One vertex per region over time, with its labels beside it."""
    encoding = rng.choice(["GIFTI_ENCODING_B64GZ", "GIFTI_ENCODING_B64BIN", "GIFTI_ENCODING_ASCII"])
    time = {"intent": "NIFTI_INTENT_TIME_SERIES", "encoding": encoding}
    arrays = [gifti.GiftiDataArray(row.astype(np.float32), **time) for row in series(rng)]
    nibabel.save(gifti.GiftiImage(darrays=arrays), path)
    surface_labels(path.with_name(f"{path.name.split('.')[0]}.label.gii"))


def surface_labels(path: Path, _: np.random.Generator | None = None) -> None:
    """One label per vertex."""
    save_gifti_labels(range(1, N_REGIONS + 1), dict(enumerate(atlas().regions, start=1)), path)


def save_gifti_labels(keys: Sequence[int], names: Mapping[int, str], path: Path) -> Path:
    """Write the label of each vertex, and the names of labels."""
    table = gifti.GiftiLabelTable()
    for key, name in names.items():
        label = gifti.GiftiLabel(key=key, red=1.0, green=0.0, blue=0.0, alpha=1.0)
        label.label = name
        table.labels.append(label)
    array = gifti.GiftiDataArray(np.asarray(keys, np.int32), intent="NIFTI_INTENT_LABEL")
    nibabel.save(gifti.GiftiImage(darrays=[array], labeltable=table), path)
    return path


def _pairs(path: Path, rng: np.random.Generator) -> None:
    """One row per person and one column per pair of regions, between columns of phenotypes."""
    names = atlas().regions
    rows, columns = np.triu_indices(N_REGIONS, 1)
    lines = [",".join(["subject", *(f"{names[i]}__{names[j]}" for i, j in zip(rows, columns, strict=True)), "age"])]
    for person in ("a", "b", "c"):
        connections = np.corrcoef(series(rng).T)[rows, columns]
        lines.append(",".join([person, *(f"{value:.3f}" for value in connections), "70"]))
    path.write_text("\n".join(lines) + "\n")


def _edges(path: Path, rng: np.random.Generator) -> None:
    """One row per connection of two subjects."""
    names, values = atlas().regions, np.corrcoef(series(rng).T)
    rows = [f"{who},{names[i]},{names[j]},{values[i, j]:.3f}" for who in "ab" for i in range(6) for j in range(i)]
    path.write_text("\n".join(["subject,from,to,weight", *rows]) + "\n")


def _bz2(path: Path, rng: np.random.Generator) -> None:
    plain = path.with_suffix("")
    _text(" ", header=False)(plain, rng)
    path.write_bytes(bz2.compress(plain.read_bytes()))
    plain.unlink()


def _tvb(path: Path, rng: np.random.Generator) -> None:
    """Weights, centres and lengths of tracts in an archive."""
    values = np.abs(np.corrcoef(series(rng).T))
    centres = "\n".join(f"{name} {4 * i} 4 4" for i, name in enumerate(atlas().regions))
    table = "\n".join(" ".join(f"{value:.4f}" for value in row) for row in values)
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {"weights": table, "tract_lengths": table, "centres": centres}.items():
            packed = rng.random() < 0.5
            archive.writestr(f"{name}.txt" + ".bz2" * packed, bz2.compress(text.encode()) if packed else text)


FORMATS: Mapping[str, Writer] = {
    "npy": lambda path, rng: np.save(path, series(rng)),
    "npz": _npz,
    "mat5.mat": _mat5,
    "mat73.mat": lambda path, rng: save_mat73(path, series(rng)),
    "h5": _hdf5,
    "nii": _image,
    "nii.gz": _image,
    "labels.nii": label_image,
    "ptseries.nii": _cifti,
    "pconn.nii": _cifti,
    "dtseries.nii": _cifti,
    "func.gii": _gifti,
    "time.gii": _gifti,
    "label.gii": surface_labels,
    "xlsx": _workbook,
    "csv": _text(",", header=True),
    "tsv": _text("\t", header=True),
    "1D": _text("\t", header=False),
    "txt": _text(" ", header=False),
    "phenotypes.csv": _words,
    "pairs.csv": _pairs,
    "edges.csv": _edges,
    "atlas.csv": _atlas_table,
    "node": _node,
    "zip": _zip,
    "tvb.zip": _tvb,
    "txt.bz2": _bz2,
    "biobgt": _project,
    "folder": _text(",", header=False),
}
