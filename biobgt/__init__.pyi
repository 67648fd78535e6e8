from . import (
    base,
    bench,
    data,
    export,
    figures,
    groups,
    hubs,
    inference,
    model,
    modules,
    readers,
    results,
    specifications,
    study,
    training,
)
from .base.errors import ChoiceNeeded, InputError
from .data.atlas import Atlas, load_atlas
from .data.cohort import Cohort, Subject
from .data.connectivity import brain_graph, functional_connectivity
from .data.graph import BrainGraph, ConnectomeSettings
from .readers import ImageOptions, ReadOptions, read_cohort

__version__: str

__all__ = [
    "Atlas",
    "BrainGraph",
    "ChoiceNeeded",
    "Cohort",
    "ConnectomeSettings",
    "ImageOptions",
    "InputError",
    "ReadOptions",
    "Subject",
    "base",
    "bench",
    "brain_graph",
    "data",
    "export",
    "figures",
    "functional_connectivity",
    "groups",
    "hubs",
    "inference",
    "load_atlas",
    "model",
    "modules",
    "read_cohort",
    "readers",
    "results",
    "specifications",
    "study",
    "training",
]
