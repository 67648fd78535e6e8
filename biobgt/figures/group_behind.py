"""The mean and the spread of a subject's group, which lie behind the subject's own hub curves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from biobgt.cohort import person_of
from biobgt.figures.frame import Values
from biobgt.figures.hub_curve_options import HubCurvesOptions
from biobgt.people import counted_people

if TYPE_CHECKING:
    from biobgt.cohort import Subject
    from biobgt.measured import Measured


@dataclass(frozen=True)
class GroupBehind:
    """A group whose curves lie behind the subject's: its name, sizes, and mean and SD by measure, (n_regions,) each."""

    name: str
    n_people: int
    n_recordings: int
    mean: Mapping[str, Values]
    sd: Mapping[str, Values]

    @property
    def words(self) -> str:
        """What lies behind, as captions say it."""
        averaged = ", averaged for each person first" if self.n_recordings > self.n_people else ""
        return (
            " Behind each curve, dashed line and band are the mean ± 1 SD of the "
            f"{counted_people(self.n_people, self.n_recordings)} of {self.name}{averaged}, this one among them, each "
            "on its own scale and γ."
        )


def group_members(measured: "Measured") -> "tuple[Subject, ...]":
    """The subjects of the subject's group, itself among them; the whole cohort where it has no group."""
    group = measured.subject.group
    return tuple(subject for subject in measured.cohort if group is None or subject.group == group)


def group_behind(measured: "Measured", options: HubCurvesOptions) -> GroupBehind:
    """Measure every subject of the subject's group."""
    from biobgt.hubs.group_curves import group_curves

    members = group_members(measured)
    curves = [measured.of(member.id).hub_curves(options, options.measures) for member in members]
    persons = [person_of(member.id) for member in members]
    found = group_curves(curves, options.gamma, persons=persons, scale=options.scale)
    name = measured.subject.group or "whole cohort"
    return GroupBehind(name, found.n_subjects, found.n_recordings, found.mean, found.sd)
