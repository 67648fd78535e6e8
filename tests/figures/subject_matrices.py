"""A subject who was brought as a small matrix, and what is measured of it."""

from biobgt.data.atlas import Atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.graph import ConnectomeSettings
from biobgt.results.measured import Measured


def measured_matrix(matrix, regions, *, networks=None, subject="s1", simulated=False, **settings):
    """What is measured of a connectivity matrix, with regions of some networks."""
    labels = {} if networks is None else {"networks": tuple(networks)}
    cohort = Cohort(
        "toy",
        (Subject(subject, connectivity=matrix, simulated=simulated),),
        Atlas("toy", "a toy", tuple(regions), labels=labels),
    )
    return Measured(cohort).of(subject, ConnectomeSettings(**settings))
