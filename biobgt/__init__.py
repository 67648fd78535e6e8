"""BioBGT Explorer: hubs, functional modules and transformer attention in brain networks."""

from biobgt.atlas import Atlas, load_atlas
from biobgt.cohort import Cohort, Subject
from biobgt.connectome import brain_graph, functional_connectivity
from biobgt.errors import ChoiceNeeded, InputError
from biobgt.graph import BrainGraph, ConnectomeSettings
from biobgt.readers import ImageOptions, ReadOptions, read_cohort

__version__ = "0.1.0"

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
    "brain_graph",
    "functional_connectivity",
    "load_atlas",
    "read_cohort",
]
