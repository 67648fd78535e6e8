"""Every way in: files, folders and archives of region series, connectivity matrices and images."""

from biobgt.readers.atlases import find_atlas, read_atlas
from biobgt.readers.cohorts import read_cohort, stream_subjects
from biobgt.readers.files import READABLE_SUFFIXES, ReadOptions
from biobgt.readers.images import ImageOptions
from biobgt.readers.phenotypes import read_phenotypes

__all__ = [
    "READABLE_SUFFIXES",
    "ImageOptions",
    "ReadOptions",
    "find_atlas",
    "read_atlas",
    "read_cohort",
    "read_phenotypes",
    "stream_subjects",
]
