"""Brain graphs as files for other programs: BIDS connectivity, GraphML, BrainNet Viewer, CIFTI, or a table.

:data:`GRAPH_FORMATS` is the register of them; ``biobgt connectome --format`` and the page of exports offer what it has.
A node carries its name, its place in MNI mm, its functional labels and what else is known of it (its module, its hub
measures) wherever the format has room for them. BrainNet Viewer draws by place, so regions without coordinates are left
out there, of the nodes and of the edges; CIFTI lays values on the cortex, so only regions of the cortex are in it.
"""

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import biobgt
from biobgt.base.errors import InputError
from biobgt.base.files import write_csv
from biobgt.base.options import Registry
from biobgt.base.references import REFERENCES
from biobgt.data.atlas import Atlas
from biobgt.data.cortex import HEMISPHERES, N_VERTICES, has_surface, hemisphere_labels, surface_labels
from biobgt.data.graph import BrainGraph
from biobgt.figures.regions import with_gaps
from biobgt.hubs.measures import COMPARED, HubOptions
from biobgt.modules.measures import NamedModuleOptions

if TYPE_CHECKING:
    from biobgt.results.measured import Measured

_Nodes = pd.DataFrame | None
_MODULE = "module"  # the column that BrainNet Viewer colours by
_NODES = "_nodes"
_DIGITS = "%.8g"


@dataclass(frozen=True, eq=False)
class _GraphFormat:
    """A way to write a brain graph.

    Attributes
    ----------
    key : str
        As given on the command line.
    title : str
    write : callable
        From a graph, and a table of what is known of its regions, to the contents of its files, by what follows the
        subject's name in theirs.
    fits : callable
        Whether graphs of an atlas can be written so.
    of_nodes : bool
        Whether it holds what is known of the regions, and no connections.
    """

    key: str
    title: str
    write: Callable[[BrainGraph, _Nodes], Mapping[str, bytes]]
    fits: Callable[[Atlas], bool] = lambda _: True
    of_nodes: bool = False


def _table(graph: BrainGraph, nodes: _Nodes) -> dict[str, bytes]:
    frame = pd.DataFrame(graph.weights, index=graph.atlas.regions, columns=graph.atlas.regions)
    files = {".csv": write_csv(frame, float_format=_DIGITS).encode()}
    return files if nodes is None else files | {_NODES + ".csv": write_csv(nodes, float_format=_DIGITS).encode()}


def _bids(graph: BrainGraph, nodes: _Nodes) -> dict[str, bytes]:
    """BIDS connectivity: a matrix with names as its header, and what it is in a JSON file beside it."""
    frame = pd.DataFrame(graph.weights, columns=graph.atlas.regions)
    stem = f"_seg-{''.join(filter(str.isalnum, graph.atlas.name))}_relmat"
    about = {
        "RelationshipMeasure": "" if graph.settings is None else graph.settings.describe(graph.kind),
        "Weighted": True,
        "Directed": False,
        "ValidDiagonal": False,
        "StorageFormat": "Full",
        "NonNegative": bool((graph.weights >= 0).all()),
        "Atlas": graph.atlas.title,
        "Simulated": graph.simulated,
        "GeneratedBy": [{"Name": "BioBGT Explorer", "Version": biobgt.__version__}],
        "References": [REFERENCES[cited].in_full for cited in graph.atlas.cites],
    }
    text = write_csv(frame, sep="\t", index=False, float_format=_DIGITS)
    files = {f"{stem}.tsv": text.encode(), f"{stem}.json": (json.dumps(about, indent=2) + "\n").encode()}
    if nodes is None:
        return files
    known = write_csv(nodes, sep="\t", float_format=_DIGITS)
    return files | {f"{stem.removesuffix('_relmat')}{_NODES}.tsv": known.encode()}


def _graphml(graph: BrainGraph, nodes: _Nodes) -> dict[str, bytes]:
    import networkx

    atlas = graph.atlas
    drawn = networkx.Graph(subject=graph.subject, atlas=atlas.title, simulated=graph.simulated)
    for i, name in enumerate(atlas.regions):  # GraphML has no empty values, so what is not known is left out
        about: dict[str, Any] = {"name": name}
        if atlas.coordinates is not None and atlas.placed[i]:
            about |= dict(zip("xyz", atlas.coordinates[i].tolist(), strict=True))
        about |= {key: labels[i] for key, labels in atlas.labels.items() if labels[i] is not None}
        further = {} if nodes is None else nodes.iloc[i].dropna().to_dict()
        drawn.add_node(i, **about, **{str(key): value for key, value in further.items()})
    rows, columns = np.nonzero(np.triu(graph.weights))
    for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
        drawn.add_edge(i, j, weight=float(graph.weights[i, j]))
    file = io.BytesIO()
    networkx.write_graphml_xml(drawn, file)
    return {".graphml": file.getvalue()}


def _brainnet(graph: BrainGraph, nodes: _Nodes) -> dict[str, bytes]:
    """BrainNet Viewer: places, colours by module or the first labelling, sizes by strength, names; and the matrix."""
    atlas = graph.atlas
    if atlas.coordinates is None or not atlas.placed.any():
        raise InputError(f"BrainNet Viewer draws regions at their places, and those of {atlas.title} are not known.")
    kept = np.flatnonzero(atlas.placed)
    if nodes is not None and _MODULE in nodes:
        colours = [int(module) for module in nodes[_MODULE]]
    else:  # of the first functional label; 0 is none
        labels = next(iter(atlas.labels.values()), (None,) * graph.n_regions)
        numbers = {label: i for i, label in enumerate(sorted({label for label in labels if label}), start=1)}
        colours = [numbers.get(label, 0) if label else 0 for label in labels]
    strengths = np.abs(graph.weights).sum(axis=0)
    lines = []
    for i in kept:
        place, name = (f"{value:g}" for value in atlas.coordinates[i]), atlas.regions[i].replace(" ", "_")
        lines.append("\t".join([*place, str(colours[i]), f"{strengths[i]:.6g}", name]))
    edges = ["\t".join(_DIGITS % value for value in row) for row in graph.weights[np.ix_(kept, kept)]]
    return {".node": ("\n".join(lines) + "\n").encode(), ".edge": ("\n".join(edges) + "\n").encode()}


def _pscalar(graph: BrainGraph, nodes: _Nodes) -> dict[str, bytes]:
    """CIFTI parcel scalars: one map per numeric column, on the parcels of fsaverage5."""
    from nibabel import FileHolder
    from nibabel.cifti2 import cifti2, cifti2_axes

    written: Any = cifti2  # without types
    axes: Any = cifti2_axes
    numbers = None if nodes is None else nodes.select_dtypes("number")
    if numbers is None or not len(numbers.columns):
        raise InputError("A .pscalar.nii file holds values of regions, and none were given.")
    labels = surface_labels(graph.atlas)
    kept = np.unique(labels[labels > 0]) - 1
    structures = {side: f"CIFTI_STRUCTURE_CORTEX_{side.upper()}" for side in HEMISPHERES}
    vertices = [
        {
            name: found.astype(np.int32)
            for side, name in structures.items()
            if (found := np.flatnonzero(hemisphere_labels(labels, side) == region + 1)).size
        }
        for region in kept
    ]
    parcels = axes.ParcelsAxis(
        [graph.atlas.regions[region] for region in kept],
        [np.zeros((0, 3), dtype=int)] * len(kept),
        vertices,
        nvertices=dict.fromkeys(structures.values(), N_VERTICES),
    )
    values = numbers.to_numpy(np.float32).T[:, kept]
    image = written.Cifti2Image(values, header=(axes.ScalarAxis([str(name) for name in numbers]), parcels))
    image.nifti_header.set_intent("ConnParcelScalr")
    file = io.BytesIO()
    image.update_headers()
    image.to_file_map({"image": FileHolder(fileobj=file)})
    return {".pscalar.nii": file.getvalue()}


GRAPH_FORMATS: Registry[_GraphFormat] = Registry(
    "graph format",
    _GraphFormat("csv", "a table with region names", _table),
    _GraphFormat("bids", "BIDS connectivity (relmat.tsv and .json)", _bids),
    _GraphFormat("graphml", "GraphML, for networkx, Gephi and Cytoscape", _graphml),
    _GraphFormat(
        "brainnet", "BrainNet Viewer (.node and .edge)", _brainnet, fits=lambda atlas: bool(atlas.placed.any())
    ),
    _GraphFormat(
        "pscalar",
        "CIFTI parcel scalars (.pscalar.nii, on fsaverage5): hub measures and modules, without connections",
        _pscalar,
        fits=has_surface,
        of_nodes=True,
    ),
)


def node_table(measured: "Measured", hubs: HubOptions, modules: NamedModuleOptions) -> pd.DataFrame:
    """What is known of a subject's regions: the module, what it is called, and hub measures; NaN where nothing is.

    Parameters
    ----------
    measured : Measured
        Of one subject.
    hubs : HubOptions
    modules : NamedModuleOptions
    """
    from biobgt.figures.modules import named_modules  # brings scipy, which lists of commands do without

    atlas = measured.atlas
    partition = measured.modules(modules).partition
    names = named_modules(atlas, modules.labelling, partition)
    values = measured.hub_table(hubs, COMPARED)[list(COMPARED)]
    known = {key: with_gaps(values[key].to_numpy(float), measured.subject) for key in COMPARED}
    labels = partition.labels.tolist()
    called = [names.get(module, "") for module in labels]
    return pd.DataFrame(
        {_MODULE: labels, f"{_MODULE}_name": called, **known}, index=pd.Index(atlas.regions, name="region")
    )
