"""Modules in the brain: one subject's, with the strongest connections that hold them together, and a group's."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from biobgt.base.errors import InputError
from biobgt.base.options import option
from biobgt.base.wording import counted
from biobgt.figures.brain import IN_NONE, Brain, BrainKind, brain_caption, brain_option, in_brain
from biobgt.figures.drawing import Drawing
from biobgt.figures.modules import (
    ModuleComparisonOptions,
    compared_modules,
    group_methods,
    module_colours,
    module_methods,
    named_modules,
)
from biobgt.figures.register import figure
from biobgt.modules.measures import NamedModuleOptions

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from biobgt.data.atlas import Atlas
    from biobgt.results.measured import Measured

EDGE_NUMBERS = tuple(range(0, 301, 10))
_FARTHER = 1.3  # so that a whole brain fits on half a page


@dataclass(frozen=True)
class ModuleBrainOptions(NamedModuleOptions):
    """How many connections are drawn with the modules."""

    connections: int = option(
        0,
        title="Strongest connections within modules",
        help="The strongest positive connections whose two regions are in the same module.",
        steps=EDGE_NUMBERS,
        low=0,
        link="brain_edges",
    )
    brain: BrainKind = brain_option()


@figure("module_brain", "Modules in the brain", takes=ModuleBrainOptions)
def module_brain(measured: "Measured", options: ModuleBrainOptions) -> Drawing:
    """One subject's modules in the brain, with the strongest connections within them."""
    from biobgt.modules.partition import strongest_within_modules

    brain, subject = Brain.of(measured.atlas, options.brain), measured.subject
    partition = measured.modules(options).partition
    edges = strongest_within_modules(measured.graph_of_modules(options), partition, most=options.connections)
    brain, numbers = _in_modules(replace(brain, edges=edges), measured.atlas, options.labelling, partition.labels)
    in_none = IN_NONE if 0 in partition.labels else ""
    colour = f"the module, of {len(brain.group_colours)}{in_none}"
    return in_brain(
        brain,
        lambda where: brain_caption(brain, subject, where, colour=colour) + brain.left_out,
        title=f"Modules of {subject.id}",
        simulated=subject.simulated,
        numbers=numbers,
        methods=module_methods(measured, options),
    )


def _in_modules(brain: Brain, atlas: "Atlas", labelling: str, modules: "NDArray[Any]") -> tuple[Brain, Any]:
    """The brain in the colours of its modules, and what makes its table."""
    names = named_modules(atlas, labelling, modules)
    called = [names[module] if module else None for module in modules.tolist()]
    colours = {names[module]: colour for module, colour in module_colours(sorted(names)).items()}

    def numbers() -> "pd.DataFrame":
        import pandas as pd

        named = {"module": modules.tolist(), "name": [name or "" for name in called]}
        return pd.DataFrame({"region": brain.regions, **named, **brain.places})

    return replace(brain, groups=called, group_colours=colours), numbers


@dataclass(frozen=True)
class _GroupBrainOptions(ModuleComparisonOptions):
    """Which of two groups is drawn; by default the first."""

    group: str = option("", title="Group shown")
    brain: BrainKind = brain_option()

    @property
    def shown(self) -> str:
        """The group that is drawn."""
        if self.group and self.group not in self.groups:
            raise InputError(f"'{self.group}' is not one of the compared groups: name {self.first} or {self.second}.")
        return self.group or self.first


@figure("group_module_brain", "A group's modules in the brain", takes=_GroupBrainOptions, of_subject=False)
def group_module_brain(measured: "Measured", options: _GroupBrainOptions) -> Drawing:
    """The modules that the subjects of one of two groups agree on, in the brain."""
    # Groups take long to compare, and all in vain where there is no brain. Two of them stand side by side.
    brain = Brain.of(measured.atlas, options.brain, distance=_FARTHER)
    found, shown, (first, second) = compared_modules(measured, options), options.shown, options.groups
    modules = found.first if shown == first else found.second
    brain, numbers = _in_modules(brain, measured.atlas, options.labelling, modules)
    simulated = measured.cohort.simulated
    whom = counted(found.n_subjects[options.groups.index(shown)], "simulated subject" if simulated else "subject")

    def caption(where: str) -> str:
        return (
            f"{shown}: {counted(len(brain.group_colours), 'module')} that its {whom} agree on, as "
            f"{brain.regions_in(where)}{IN_NONE if 0 in modules else ''}.{brain.left_out} Modules are numbered and "
            f"coloured as those of {second if shown == first else first} with which they share the most regions."
        )

    return in_brain(
        brain,
        caption,
        title=f"Modules of {shown}",
        simulated=simulated,
        numbers=numbers,
        methods=group_methods(measured, options, found),
    )
