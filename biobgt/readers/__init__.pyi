from . import fetch, project
from .cohort import read_cohort
from .formats import READERS, ImageOptions, Reader, ReadOptions, readable_suffixes
from .maps import read_map
from .phenotypes import read_phenotypes
from .recognise import find_atlas, read_atlas

__all__ = [
    "READERS",
    "ImageOptions",
    "ReadOptions",
    "Reader",
    "fetch",
    "find_atlas",
    "project",
    "read_atlas",
    "read_cohort",
    "read_map",
    "read_phenotypes",
    "readable_suffixes",
]
