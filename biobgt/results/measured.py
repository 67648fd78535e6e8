"""What was measured of a cohort: every result is computed once, and whoever asks for it again gets the same."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.data.atlas import Atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.connectivity import TangentSpace, graph_from_connectivity, subject_connectivity
from biobgt.data.graph import (
    ESTIMATORS,
    PEARSON,
    BrainGraph,
    ConnectivityKind,
    ConnectomeSettings,
    has_unit_diagonal,
)
from biobgt.data.result_keys import (
    CONNECTIVITY,
    EXPLANATION,
    GRAPH,
    HALF_HUBS,
    HUB_CORRELATION,
    HUB_CURVES,
    HUB_SWEEP,
    HUB_TABLE,
    HUBS,
    MEAN_CONNECTIVITY,
    MODULE_AGREEMENT,
    MODULE_DIFFERENCE,
    MODULE_LABELS,
    MODULE_SHUFFLE,
    MODULES,
    NULL_AGREEMENT,
    NULL_MODULARITY,
    NULL_SMALL_WORLD,
    OWN_AGREEMENT,
    PREDICTION,
    REGION_STORY,
    RESOLUTION_STEP,
    TANGENT_SPACE,
    Key,
    Kind,
    MemoryStore,
    Store,
)
from biobgt.hubs.options import GAMMAS, NULL_SEEDS, EntanglementOptions, HubOptions, Perturbation
from biobgt.hubs.resolvents import STEPS_ABOVE
from biobgt.modules.measures import PERMUTATIONS, SHUFFLES, ModuleOptions

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from biobgt.hubs.agreement import RankCorrelation
    from biobgt.hubs.evidence import AgainstNulls, GraphAgreement
    from biobgt.hubs.table import RegionStory, SubjectCurves, SubjectHubs
    from biobgt.model.ensemble import SubjectExplanation
    from biobgt.model.installed import InstalledModel
    from biobgt.modules.compare import ModuleDifference
    from biobgt.modules.partition import ModuleAgreement
    from biobgt.modules.structure import ModularityTest, SmallWorld, SubjectModules

# One subject of a cohort, or all of it, seen with one kind of brain graph: connectivity and the graph itself.


Result = TypeVar("Result")


def connectivity_key(subject: Subject, estimator: str) -> Key:
    """The key of a subject's connectivity, which depends on no other setting of a graph."""
    return Key(CONNECTIVITY, subject.id, None, estimator)


@dataclass(frozen=True, eq=False)
class MeasuredGraph:
    """What was measured of one subject of a cohort, or of all of it, with one kind of brain graph.

    Attributes
    ----------
    whole : MeasuredCohort
    one : Subject or None
        None where it is about the cohort.
    settings : ConnectomeSettings
    """

    whole: "MeasuredCohort"
    one: Subject | None
    settings: ConnectomeSettings

    @property
    def cohort(self) -> Cohort:
        """The cohort."""
        return self.whole.cohort

    @property
    def atlas(self) -> Atlas:
        """The cohort's atlas."""
        return self.cohort.atlas

    @property
    def subject(self) -> Subject:
        """The subject; there must be one."""
        if self.one is None:
            raise InputError("This is about one subject: name the subject.")
        return self.one

    @property
    def kind(self) -> ConnectivityKind:
        """What the connectivity of the subject, or of the cohort, is."""
        return self.cohort.kind if self.one is None else self.cohort.kind_of(self.one)

    @property
    def quantity(self) -> str:
        """What values of the subject's connectivity are called on scales and axes: r only where these are correlations.

        A matrix stands for itself, whatever the estimator, unless it was transformed to Fisher z.
        """
        given, estimator = self.subject.connectivity, ESTIMATORS[self.settings.estimator]
        correlated = given is None or (self.kind.functional and has_unit_diagonal(given))
        return estimator.quantity if correlated or estimator.key != PEARSON else self.kind.quantity

    def of(self, subject: str) -> Self:
        """Look at another subject of the cohort."""
        return type(self)(self.whole, self.cohort[subject], self.settings)

    def keep(self, kind: Kind, how: Hashable, measure: Callable[[], Result]) -> Result:
        """Measure what is not kept of this subject's graph, and keep it.

        Parameters
        ----------
        kind : Kind
        how : hashable
            What the result depends on beside the subject and the graph.
        measure : callable
            Computes the result.
        """
        return self.whole.keep(self.key(kind, how), measure)

    def has(self, kind: Kind, how: Hashable = None) -> bool:
        """Whether a result is kept."""
        return self.whole.store.get(self.key(kind, how)) is not None

    def key(self, kind: Kind, how: Hashable = None) -> Key:
        """The key of a result of this subject's graph."""
        return Key(kind, "" if self.one is None else self.one.id, self.settings, how)

    def connectivity(self) -> FloatArray:
        """Connectivity by the settings' estimator, shape (n_regions, n_regions)."""
        subject, estimator = self.subject, self.settings.estimator
        if estimator != PEARSON and not self.kind.functional:
            raise InputError(
                f"{ESTIMATORS[estimator].title} is for functional connectivity, and the matrix of subject "
                f"'{subject.id}' is not ({self.kind.key}). Choose {ESTIMATORS[PEARSON].title}, which takes a matrix as "
                "it is."
            )

        def measure() -> FloatArray:
            if estimator != "tangent":
                return subject_connectivity(subject, estimator=estimator)
            space = self.whole.keep(Key(TANGENT_SPACE), lambda: TangentSpace.fit(self.cohort))
            return space.transform([subject])[0]

        return self.whole.keep(connectivity_key(subject, estimator), measure)

    def pearson(self) -> FloatArray:
        """The Pearson matrix, or connectivity as brought: FC strength is on it, as in the paper, whatever the graph."""
        subject = self.subject
        return self.whole.keep(
            connectivity_key(subject, "pearson"), lambda: subject_connectivity(subject, estimator="pearson")
        )

    def mean_connectivity(self) -> tuple[float, float]:
        """Mean of the Pearson connectivity, and of its absolute values, over all pairs of regions with signal."""
        from biobgt.data.quality import mean_connectivity

        subject = self.subject
        return self.whole.keep(Key(MEAN_CONNECTIVITY, subject.id), lambda: mean_connectivity(subject))

    def graph(self) -> BrainGraph:
        """The brain graph."""
        return self.keep(
            GRAPH,
            None,
            lambda: graph_from_connectivity(
                self.connectivity(),
                self.settings,
                atlas=self.atlas,
                subject=self.subject.id,
                simulated=self.subject.simulated,
                whole=self.pearson(),
                kind=self.kind,
            ),
        )


# What is measured of the hubs of one subject, each result once.


class MeasuredHubs(MeasuredGraph):
    """Hubs of one subject, seen with one kind of brain graph."""

    def hubs(self, perturbation: Perturbation) -> "SubjectHubs":
        """Hubs, at any γ."""
        from biobgt.hubs.table import measure_hubs

        return self.keep(
            HUBS, perturbation, lambda: measure_hubs(self.graph(), self.pearson(), perturbation=perturbation)
        )

    def hub_table(self, options: HubOptions, measures: tuple[str, ...] | None = None) -> "pd.DataFrame":
        """The table of :func:`biobgt.hubs.hub_table`, of some measures or of all; not to be changed."""
        how = options.part(HubOptions)
        return self.keep(HUB_TABLE, (how, measures), lambda: self.hubs(how.perturbation).table(how, measures))

    def strongest_hub(self, options: HubOptions) -> int:
        """The region with the highest node entanglement, counted from 0."""
        from biobgt.hubs.measures import NE

        return int(self.hub_table(options, (NE,))[f"{NE}_rank"].to_numpy().argmin())

    def hub_correlation(self, options: EntanglementOptions, measure: str) -> "RankCorrelation":
        """Spearman's ρ of node entanglement with another measure, over the regions with signal."""
        from biobgt.hubs.table import hub_correlation

        how = options.part(EntanglementOptions)
        return self.keep(
            HUB_CORRELATION, (how, measure), lambda: hub_correlation(self.hubs(how.perturbation), how.gamma, measure)
        )

    def hub_sweep(
        self, perturbation: Perturbation, measures: tuple[str, ...], gammas: tuple[float, ...] = GAMMAS
    ) -> "pd.DataFrame":
        """The same over γ; see :func:`biobgt.hubs.table.subject_sweep`.

        Parameters
        ----------
        perturbation : {"control", "remove"}
        measures : tuple of str
            That node entanglement is compared with.
        gammas : tuple of float
            In units of 1/mean(λ).
        """
        from biobgt.hubs.table import subject_sweep

        return self.keep(
            HUB_SWEEP,
            (perturbation, measures, gammas),
            lambda: subject_sweep(self.hubs(perturbation), gammas, measures=measures),
        )

    def hub_curves(self, options: EntanglementOptions, measures: tuple[str, ...]) -> "SubjectCurves":
        """Hub measures over the regions, small enough to keep them of every subject of a group."""
        from biobgt.hubs.table import measure_curves

        gammas = self.gammas_with(options.gamma)
        return self.keep(
            HUB_CURVES,
            self.hub_curves_how(options, measures),
            lambda: measure_curves(
                self.graph(), self.pearson(), gammas, measures=measures, perturbation=options.perturbation
            ),
        )

    def hub_curves_how(self, options: EntanglementOptions, measures: tuple[str, ...]) -> Hashable:
        """What hub curves depend on beside the graph: not on γ, where that is one of the grid and regions are few."""
        return (options.perturbation, measures, self.gammas_with(options.gamma))

    def gammas_with(self, gamma: float) -> tuple[float, ...]:
        """The γ that are measured where one is asked for: the whole grid, where it is of it and regions are few."""
        few = self.atlas.n_regions <= STEPS_ABOVE
        return GAMMAS if few and gamma in GAMMAS else (gamma,)

    def hub_values(self, options: EntanglementOptions, measure: str) -> "NDArray[np.float64]":
        """One measure in every region, shape (n_regions,); no region is perturbed for one that needs no entropy."""
        from biobgt.hubs.classical import full_connectivity
        from biobgt.hubs.measures import HUB_MEASURES, measures_without_gamma

        if HUB_MEASURES[measure].depends_on_gamma:
            return self.hub_curves(options, (measure,)).at(options.gamma)[measure]
        graph = self.graph()
        found = measures_without_gamma(graph, full_connectivity(graph, self.pearson()), (measure,))
        return found[measure].astype(float)

    def region_story(self, options: HubOptions, region: int, gammas: tuple[float, ...] = GAMMAS) -> "RegionStory":
        """What node entanglement compares for one region.

        Parameters
        ----------
        options : HubOptions
        region : int
            Counted from 0.
        gammas : tuple of float
            Of the entropy curves, in units of 1/mean(λ).
        """
        from biobgt.hubs.table import region_story

        how = options.part(HubOptions)
        return self.keep(
            REGION_STORY,
            (how, region, gammas),
            lambda: region_story(self.graph(), self.hubs(how.perturbation), region, options=how, gammas=gammas),
        )

    def own_agreement(self, perturbation: Perturbation) -> "GraphAgreement":
        """Agreement of node entanglement beyond strength and degree, at every γ of the grid."""
        from biobgt.hubs.evidence import graph_agreement

        hubs = self.hubs(perturbation)
        return self.keep(
            OWN_AGREEMENT,
            perturbation,
            lambda: graph_agreement(self.graph(), GAMMAS, has_signal=hubs.has_signal, spectra=hubs.spectra),
        )

    def null_agreement(
        self, perturbation: Perturbation, seed: int, *, gammas: tuple[float, ...] = GAMMAS
    ) -> "GraphAgreement":
        """The same in one null graph.

        Parameters
        ----------
        perturbation : {"control", "remove"}
        seed : int
            Of the null graph.
        gammas : tuple of float
            In units of 1/mean(λ).
        """
        from biobgt.hubs.evidence import null_agreement

        hubs = self.hubs(perturbation)
        return self.keep(
            NULL_AGREEMENT,
            (perturbation, seed) if gammas == GAMMAS else (perturbation, seed, gammas),
            lambda: null_agreement(
                self.graph(), gammas, seed=seed, has_signal=hubs.has_signal, perturbation=perturbation
            ),
        )

    def nulls_left(self, perturbation: Perturbation, seeds: Sequence[int] = NULL_SEEDS) -> list[int]:
        """The seeds of the null graphs whose agreement is not measured yet."""
        return [seed for seed in seeds if not self.has(NULL_AGREEMENT, (perturbation, seed))]

    def agreement_against_nulls(
        self, options: EntanglementOptions, seeds: Sequence[int] = NULL_SEEDS
    ) -> "dict[str, AgainstNulls]":
        """The subject's agreement at one γ beside that of null graphs, by what is compared.

        Parameters
        ----------
        options : EntanglementOptions
            γ is one of the grid.
        seeds : sequence of int
            One of each null graph.
        """
        from biobgt.hubs.evidence import set_against_nulls

        nulls = [self.null_agreement(options.perturbation, seed) for seed in seeds]
        return set_against_nulls(self.own_agreement(options.perturbation), nulls, options.gamma)

    def half_hubs(self, perturbation: Perturbation, number: int) -> "SubjectHubs":
        """Hubs of the first half of the recording (0) or of the second (1)."""
        from biobgt.hubs.reliability import measure_half

        return self.keep(
            HALF_HUBS,
            (perturbation, number),
            lambda: measure_half(self.subject, self.atlas, self.settings, number, perturbation=perturbation),
        )

    def halves_left(self, perturbation: Perturbation) -> list[int]:
        """The halves of the recording whose hubs are not measured yet."""
        from biobgt.hubs.reliability import HALVES

        return [number for number in HALVES if not self.has(HALF_HUBS, (perturbation, number))]

    def halves_compared(self, options: HubOptions) -> "pd.DataFrame":
        """How alike the halves of the recording are; see :func:`biobgt.hubs.reliability.compare_halves`."""
        from biobgt.hubs.measures import HUB_MEASURES
        from biobgt.hubs.reliability import HALVES, compare_halves

        first, second = (self.half_hubs(options.perturbation, number) for number in HALVES)
        return compare_halves(first, second, options.gamma, measures=list(HUB_MEASURES), top=options.share)


# What is measured of the modules of one subject, or of two groups of a cohort, each result once.


class MeasuredModules(MeasuredGraph):
    """Modules of one subject or of two groups, seen with one kind of brain graph."""

    def modules(self, options: ModuleOptions) -> "SubjectModules":
        """The subject's modules with their measures and every region's role."""
        from biobgt.modules.structure import measure_modules

        how = options.part(ModuleOptions)
        whole = self.pearson() if self.kind.functional else None
        return self.keep(MODULES, how, lambda: measure_modules(self.graph(), whole, how))

    def graph_of_modules(self, options: ModuleOptions) -> BrainGraph:
        """The graph in which modules are sought."""
        from biobgt.modules.structure import graph_for_modules

        return graph_for_modules(self.graph(), options)

    def module_labels(self, options: ModuleOptions) -> tuple[int, ...]:
        """The module of each region, 0 for none; without measures, so that a group's are quickly found."""
        from biobgt.modules.structure import find_modules

        how = options.part(ModuleOptions)

        def find() -> tuple[int, ...]:
            known: SubjectModules | None = self.whole.store.get(self.key(MODULES, how))
            partition = find_modules(self.graph(), how) if known is None else known.partition
            return tuple(partition.labels.tolist())

        return self.keep(MODULE_LABELS, how, find)

    def module_agreement(self, options: ModuleOptions, labelling: str) -> "ModuleAgreement":
        """How far the subject's modules agree with the functional labels of its regions."""
        from biobgt.modules.partition import module_agreement

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
        from biobgt.modules.structure import modularity_test

        how = options.part(ModuleOptions)

        def measure() -> "ModularityTest":
            graph, partition = self.graph_of_modules(how), self.modules(how).partition
            return modularity_test(graph, partition, resolution=how.resolution, n_nulls=1, runs=how.runs, seed=seed)

        return self.keep(NULL_MODULARITY, (how, seed), measure)

    def null_small_world(self, options: ModuleOptions, seed: int) -> "SmallWorld":
        """Small-worldness against one random graph and one lattice; it does not know of modules."""
        from biobgt.modules.structure import small_world

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
        from biobgt.modules.compare import group_module_difference

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
        from biobgt.modules.compare import shuffled_changes

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


# What was measured of a cohort: every result is computed once, and whoever asks for it again gets the same one.
#
# The command line, the app, comparisons of groups and figures all ask here. A :class:`MeasuredCohort` is a cohort with
# a store of results; :meth:`MeasuredCohort.of` looks at it from one subject, with one kind of brain graph. A result is
# known by its :class:`Key`: its kind, the subject, the settings of the graph and the options that it depends on, and
# by nothing else. Where results are kept is up to the caller: in memory, or in a folder.


# Entered for as long as a result is measured: shows that something goes on, or raises to stop it.
Watch = Callable[[Key], AbstractContextManager[Any]]


def _unwatched(key: Key) -> AbstractContextManager[Any]:
    return nullcontext()


class MeasuredCohort:
    """A cohort with a store of what was measured of it.

    Parameters
    ----------
    cohort : Cohort
    store : Store, optional
        By default the memory of this object.
    watch : callable, optional
        Gets the key of each result that is about to be measured and returns a context in which it is.
    """

    def __init__(self, cohort: Cohort, store: Store | None = None, watch: Watch = _unwatched) -> None:
        self.cohort, self.store, self.watch = cohort, store or MemoryStore(), watch

    @property
    def atlas(self) -> Atlas:
        """The cohort's atlas."""
        return self.cohort.atlas

    def of(self, subject: str | None, settings: ConnectomeSettings | None = None) -> "Measured":
        """Look at one subject, or with None at the cohort, with one kind of graph; by default the usual one."""
        found = None if subject is None else self.cohort[subject]
        return Measured(self, found, settings or ConnectomeSettings.usual(self.cohort.kind))

    def keep(self, key: Key, measure: Callable[[], Result]) -> Result:
        """Measure what is not kept, and keep it."""
        found = self.store.get(key)
        if found is None:
            with self.watch(key):
                found = measure()
            self.store.put(key, found)
        return cast("Result", found)


class Measured(MeasuredHubs, MeasuredModules):
    """What was measured of one subject of a cohort, or of all of it: its graph, hubs, modules, and what models say."""

    def prediction(self, model: "InstalledModel") -> dict[str, Any]:
        """What a model says of the subject: a row of the table of :meth:`biobgt.model.ensemble.Ensemble.predict`.

        Where the model cannot be asked about the subject, the prediction is empty and the warning says why. That is
        kept too, so that one subject does not stop the work on all.
        """
        subject, ensemble = self.subject, model.ensemble  # what is wrong with a model is no subject's fault

        def ask() -> dict[str, Any]:
            alone = self.cohort.select(lambda one: one.id == subject.id)
            try:
                return cast("dict[str, Any]", ensemble.predict(alone).iloc[0].to_dict())
            except InputError as error:
                return {"subject": subject.id, "prediction": "", "warning": str(error)}

        return self.whole.keep(self._model_key(PREDICTION, model), ask)

    def predictions(
        self, model: "InstalledModel", progress: Callable[[int, int], None] | None = None
    ) -> "pd.DataFrame":
        """The table of :meth:`biobgt.model.ensemble.Ensemble.predict` of the whole cohort, a result of its own.

        The model is asked about several subjects at once, which is faster than :meth:`prediction` of each and differs
        from it by rounding, in the seventh digit.

        Parameters
        ----------
        model : InstalledModel
        progress : callable, optional
            Told (done, total) after every few subjects.
        """
        return self.whole.keep(
            self._model_key(PREDICTION, model), lambda: model.ensemble.predict(self.cohort, progress=progress)
        )

    def predicted(self, model: "InstalledModel") -> dict[str, Any] | None:
        """What :meth:`prediction` gives if it is kept, or None; the model does not run."""
        return self.whole.store.get(self._model_key(PREDICTION, model))

    def explanation(self, model: "InstalledModel") -> "SubjectExplanation":
        """What a model sees in the subject: its attention and embeddings."""

        def ask() -> "SubjectExplanation":
            model.ensemble.check(self.cohort)
            return model.ensemble.explain([self.subject])

        return self.whole.keep(self._model_key(EXPLANATION, model), ask)

    def _model_key(self, kind: Kind, model: "InstalledModel") -> Key:
        """A model makes its own graph of a subject, whatever the settings; its card has groups and temperatures."""
        how = (model.name, model.sha256, model.card_sha256)
        return Key(kind, "" if self.one is None else self.one.id, None, how)
