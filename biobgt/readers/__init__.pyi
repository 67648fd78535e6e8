from .atlases import find_atlas, read_atlas
from .cohorts import read_cohort, stream_subjects
from .formats import READERS, Reader, readable_suffixes
from .images import ImageOptions
from .phenotypes import read_phenotypes
from .read_options import ReadOptions

__all__ = [
    "READERS",
    "ImageOptions",
    "ReadOptions",
    "Reader",
    "find_atlas",
    "read_atlas",
    "read_cohort",
    "read_phenotypes",
    "readable_suffixes",
    "stream_subjects",
]
