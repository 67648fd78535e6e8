"""What is measured of the modules of one subject, or of two groups of a cohort, each result once."""

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

from biobgt.graph import BrainGraph
from biobgt.kept_results import (
    MODULE_AGREEMENT,
    MODULE_DIFFERENCE,
    MODULE_LABELS,
    MODULE_SHUFFLE,
    MODULES,
    NULL_MODULARITY,
    NULL_SMALL_WORLD,
    RESOLUTION_STEP,
    Key,
)
from biobgt.measured_graph import MeasuredGraph
from biobgt.modules.module_options import PERMUTATIONS, SHUFFLES, ModuleOptions

if TYPE_CHECKING:  # SciPy's statistics take a second, and not every page and command needs them
    from biobgt.modules.difference import ModuleDifference
    from biobgt.modules.finding import SubjectModules
    from biobgt.modules.label_agreement import ModuleAgreement
    from biobgt.modules.segregation import ModularityTest
    from biobgt.modules.small_world import SmallWorld


class MeasuredModules(MeasuredGraph):
    """Modules of one subject or of two groups, seen with one kind of brain graph."""

    def modules(self, options: ModuleOptions) -> "SubjectModules":
        """The subject's modules with their measures and every region's role."""
        from biobgt.modules.finding import measure_modules

        how = options.part(ModuleOptions)
        whole = self.pearson() if self.kind.functional else None
        return self.keep(MODULES, how, lambda: measure_modules(self.graph(), whole, how))

    def graph_of_modules(self, options: ModuleOptions) -> BrainGraph:
        """The graph in which modules are sought."""
        from biobgt.modules.finding import graph_for_modules

        return graph_for_modules(self.graph(), options)

    def module_labels(self, options: ModuleOptions) -> tuple[int, ...]:
        """The module of each region, 0 for none; without measures, so that a group's are quickly found."""
        from biobgt.modules.finding import find_modules

        how = options.part(ModuleOptions)

        def find() -> tuple[int, ...]:
            known: SubjectModules | None = self.whole.store.get(self.key(MODULES, how))
            partition = find_modules(self.graph(), how) if known is None else known.partition
            return tuple(partition.labels.tolist())

        return self.keep(MODULE_LABELS, how, find)

    def module_agreement(self, options: ModuleOptions, labelling: str) -> "ModuleAgreement":
        """How far the subject's modules agree with the functional labels of its regions."""
        from biobgt.modules.label_agreement import module_agreement

        how = options.part(ModuleOptions)
        return self.keep(
            MODULE_AGREEMENT,
            (how, labelling),
            lambda: module_agreement(self.modules(how).partition, self.atlas, labelling),
        )

    def resolution_step(self, options: ModuleOptions, resolution: float) -> dict[str, float]:
        """The modules at one resolution of a sweep; see :func:`biobgt.modules.louvain.resolution_step`."""
        from biobgt.modules.louvain import resolution_step

        return self.keep(
            RESOLUTION_STEP,
            self.resolution_step_how(options, resolution),
            lambda: resolution_step(self.graph_of_modules(options), resolution, runs=options.runs, seed=options.seed),
        )

    @staticmethod
    def resolution_step_how(options: ModuleOptions, resolution: float) -> Hashable:
        """What a step of a sweep depends on beside the graph."""
        return (options.signed, options.runs, options.seed, resolution)

    def null_modularity(self, options: ModuleOptions, seed: int) -> "ModularityTest":
        """The modularity of the subject's modules against one null graph."""
        from biobgt.modules.segregation import modularity_test

        how = options.part(ModuleOptions)

        def measure() -> "ModularityTest":
            graph, partition = self.graph_of_modules(how), self.modules(how).partition
            return modularity_test(graph, partition, resolution=how.resolution, n_nulls=1, runs=how.runs, seed=seed)

        return self.keep(NULL_MODULARITY, (how, seed), measure)

    def null_small_world(self, options: ModuleOptions, seed: int) -> "SmallWorld":
        """Small-worldness against one random graph and one lattice; it does not know of modules."""
        from biobgt.modules.small_world import small_world

        return self.keep(
            NULL_SMALL_WORLD,
            (options.signed, seed),
            lambda: small_world(self.graph_of_modules(options), n_nulls=1, seed=seed),
        )

    def module_difference(
        self,
        options: ModuleOptions,
        groups: tuple[str, str],
        *,
        n_permutations: int = PERMUTATIONS,
        labels: Mapping[str, tuple[int, ...]] | None = None,
    ) -> "ModuleDifference":
        """The modules of two groups of the cohort, compared.

        Parameters
        ----------
        options : ModuleOptions
        groups : (str, str)
        n_permutations : int
            How often people are shuffled.
        labels : mapping of str to tuple of int, optional
            The :meth:`module_labels` of every subject, where they are known already.
        """
        from biobgt.modules.difference import group_module_difference

        how = options.part(ModuleOptions)
        members = tuple(self.cohort.group(group).ids for group in groups)

        def compare() -> "ModuleDifference":
            known = labels or {name: self.of(name).module_labels(how) for ids in members for name in ids}
            return group_module_difference(self.cohort, groups, known, n_permutations=n_permutations, seed=how.seed)

        depends = (groups, members, how, n_permutations)
        return self.whole.keep(Key(MODULE_DIFFERENCE, "", self.settings, depends), compare)

    def shuffled_changes(
        self,
        options: ModuleOptions,
        groups: tuple[str, str],
        number: int,
        labels: Mapping[str, tuple[int, ...]] | None = None,
    ) -> int:
        """How many regions change module between the groups after one shuffle of their people.

        Parameters
        ----------
        options : ModuleOptions
        groups : (str, str)
        number : int
            Of the shuffle.
        labels : mapping of str to tuple of int, optional
            As for :meth:`module_difference`.
        """
        from biobgt.modules.difference import shuffled_changes

        how = options.part(ModuleOptions)

        def count() -> int:
            ids = [name for group in groups for name in self.cohort.group(group).ids]
            known = labels or {name: self.of(name).module_labels(how) for name in ids}
            return shuffled_changes(self.cohort, groups, known, number=number, seed=how.seed)

        return self.whole.keep(self._shuffle_key(how, groups, number), count)

    def all_shuffled_changes(self, options: ModuleOptions, groups: tuple[str, str]) -> tuple[int, ...]:
        """The same after every one of so many shuffles that the range over them is one of 95 %."""
        return tuple(self.shuffled_changes(options, groups, number) for number in range(SHUFFLES))

    def shuffles_left(self, options: ModuleOptions, groups: tuple[str, str]) -> list[int]:
        """The numbers of the shuffles that :meth:`shuffled_changes` has not done yet."""
        how = options.part(ModuleOptions)
        return [i for i in range(SHUFFLES) if self.whole.store.get(self._shuffle_key(how, groups, i)) is None]

    def _shuffle_key(self, how: ModuleOptions, groups: tuple[str, str], number: int) -> Key:
        members = tuple(self.cohort.group(group).ids for group in groups)
        return Key(MODULE_SHUFFLE, "", self.settings, (groups, members, how, number))
