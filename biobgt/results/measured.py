"""What was measured of a cohort: every result is computed once, and whoever asks for it again gets the same.

The command line, the app, comparisons of groups and figures all ask a :class:`Measured`. What a method under
:func:`biobgt.base.kept.kept` gives is known by its name, the subject, the settings of the graph and its arguments, and
by nothing else. Where results are kept is up to the caller: in memory, or in a folder.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt import hubs as _hubs
from biobgt import model as _model
from biobgt import modules as _modules
from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.kept import Key, MemoryStore, Store, kept
from biobgt.data.atlas import Atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.connectivity import TangentSpace, graph_from_connectivity, subject_connectivity
from biobgt.data.graph import (
    ESTIMATORS,
    PEARSON,
    BrainGraph,
    ConnectivityKind,
    ConnectomeSettings,
    Estimator,
    estimators_for,
)
from biobgt.data.quality import mean_connectivity
from biobgt.hubs.measures import GAMMAS, HUB_MEASURES, NE, NULL_SEEDS, EntanglementOptions, HubOptions, Perturbation
from biobgt.hubs.resolvents import STEPS_ABOVE
from biobgt.modules.measures import PERMUTATIONS, SHUFFLES, ModuleOptions

Asked = ParamSpec("Asked")
Result = TypeVar("Result")
# Entered for as long as a result is measured: shows that something goes on, or raises to stop it.
Watch = Callable[[Key], AbstractContextManager[Any]]


class Measured:
    """What was measured of one subject of a cohort, or of all of it, with one kind of brain graph.

    Parameters
    ----------
    cohort : Cohort
    store : Store, optional
        Where results are kept; by default the memory of this object.
    watch : callable, optional
        Gets the key of each result that is about to be measured and returns a context in which it is.
    subject : str, optional
        Without one it is about the cohort.
    settings : ConnectomeSettings, optional
        How graphs are made; by default as usual for the cohort's kind of connectivity.
    """

    def __init__(
        self,
        cohort: Cohort,
        store: Store | None = None,
        watch: Watch = lambda key: nullcontext(),
        *,
        subject: str | None = None,
        settings: ConnectomeSettings | None = None,
    ) -> None:
        self.cohort, self.store, self.watch = cohort, store or MemoryStore(), watch
        self.one = None if subject is None else cohort[subject]
        self.settings = settings or ConnectomeSettings.usual(cohort.kind)

    def of(self, subject: str | None, settings: ConnectomeSettings | None = None) -> "Measured":
        """Look at one subject, or with None at the cohort; by default with the same kind of graph."""
        return Measured(self.cohort, self.store, self.watch, subject=subject, settings=settings or self.settings)

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
        """What values of the subject's connectivity are called on scales and axes."""
        return self.kind.quantity_of(self.subject.connectivity, self.settings.estimator)

    def keep(self, key: Key, measure: Callable[[], Result]) -> Result:
        """Measure what is not kept, and keep it."""
        found = self.store.get(key)
        if found is None:
            with self.watch(key):
                found = measure()
            self.store.put(key, found)
        return cast("Result", found)

    def key(
        self, method: Callable[Concatenate["Measured", Asked], Any], *args: Asked.args, **arguments: Asked.kwargs
    ) -> Key:
        """The key of what a method or function under :func:`biobgt.base.kept.kept` gives to these arguments."""
        return cast("Key", cast("Any", method).key(self, *args, **arguments))

    def recall(
        self, method: Callable[Concatenate["Measured", Asked], Result], *args: Asked.args, **arguments: Asked.kwargs
    ) -> Result | None:
        """What it gave before, or None: nothing is measured."""
        return cast("Result | None", self.store.get(self.key(method, *args, **arguments)))

    def is_kept(
        self, method: Callable[Concatenate["Measured", Asked], Any], *args: Asked.args, **arguments: Asked.kwargs
    ) -> bool:
        """Whether a result is there: ``measured.is_kept(Measured.hubs, "control")``."""
        return self.recall(method, *args, **arguments) is not None

    # Connectivity, and the graph that is made of it.

    @kept("Fitting the tangent space to the cohort…", most=2, subject=False, graph=False)
    def tangent_space(self) -> TangentSpace:
        """The tangent space of the cohort."""
        return TangentSpace.fit(self.cohort)

    @kept(most=8, graph=False)
    def connectivity_by(self, estimator: Estimator) -> FloatArray:
        """Connectivity by one estimator, shape (n_regions, n_regions); it depends on no other setting of a graph."""
        if estimator not in estimators_for(self.kind):
            raise InputError(
                f"{ESTIMATORS[estimator].title}: not for {self.kind.title.lower()}, which that of subject "
                f"'{self.subject.id}' is ({self.kind.key}). Choose one of: {', '.join(estimators_for(self.kind))}."
            )
        if estimator == "tangent":
            return self.tangent_space().transform([self.subject])[0]
        return subject_connectivity(self.subject, estimator=estimator)

    def connectivity(self) -> FloatArray:
        """Connectivity by the settings' estimator, shape (n_regions, n_regions)."""
        return self.connectivity_by(self.settings.estimator)

    def pearson(self) -> FloatArray:
        """The Pearson matrix, or connectivity as brought: FC strength is on it, as in the paper, whatever the graph."""
        return self.connectivity_by(PEARSON)

    @kept(most=1000, graph=False)  # two numbers each
    def mean_connectivity(self) -> tuple[float, float]:
        """Mean of the Pearson connectivity, and of its absolute values, over all pairs of regions with signal."""
        return mean_connectivity(self.subject)

    @kept(most=8)
    def graph(self) -> BrainGraph:
        """The brain graph."""
        return graph_from_connectivity(
            self.connectivity(),
            self.settings,
            atlas=self.atlas,
            subject=self.subject.id,
            simulated=self.subject.simulated,
            whole=self.pearson(),
            kind=self.kind,
        )

    # Hubs of one subject.

    @kept("Perturbing every region…", most=48)  # a third of a megabyte each, at 200 regions
    def hubs(self, perturbation: Perturbation) -> "_hubs.SubjectHubs":
        """Hubs, at any γ."""
        return _hubs.table.measure_hubs(self.graph(), self.pearson(), perturbation=perturbation)

    @kept()
    def hub_table(self, options: HubOptions, measures: tuple[str, ...] | None = None) -> pd.DataFrame:
        """The table of :func:`biobgt.hubs.hub_table`, of some measures or of all; not to be changed."""
        return self.hubs(options.perturbation).table(options, measures)

    def strongest_hub(self, options: HubOptions) -> int:
        """The region with the highest node entanglement, counted from 0."""
        return int(self.hub_table(options, (NE,))[f"{NE}_rank"].to_numpy().argmin())

    @kept(most=256)
    def hub_correlation(self, options: EntanglementOptions, measure: str) -> "_hubs.agreement.RankCorrelation":
        """Spearman's ρ of node entanglement with another measure, over the regions with signal."""
        return _hubs.agreement.hub_correlation(self.hubs(options.perturbation), options.gamma, measure)

    @kept()
    def hub_sweep(
        self, perturbation: Perturbation, measures: tuple[str, ...], gammas: tuple[float, ...] = GAMMAS
    ) -> pd.DataFrame:
        """The same over γ; see :func:`biobgt.hubs.agreement.subject_sweep`.

        Parameters
        ----------
        perturbation : {"control", "remove"}
        measures : tuple of str
            That node entanglement is compared with.
        gammas : tuple of float
            In units of 1/mean(λ).
        """
        return _hubs.agreement.subject_sweep(self.hubs(perturbation), gammas, measures=measures)

    def gammas_with(self, gamma: float) -> tuple[float, ...]:
        """The γ that are measured where one is asked for: the whole grid, where it is of it and regions are few."""
        few = self.atlas.n_regions <= STEPS_ABOVE
        return GAMMAS if few and gamma in GAMMAS else (gamma,)

    @kept(
        "Perturbing every region…",
        most=3000,  # 50 kB each, at 200 regions
        by=lambda self, options, measures: (options.perturbation, measures, self.gammas_with(options.gamma)),
    )
    def hub_curves(self, options: EntanglementOptions, measures: tuple[str, ...]) -> "_hubs.table.SubjectCurves":
        """Hub measures over the regions, small enough to keep them of every subject of a group."""
        gammas = self.gammas_with(options.gamma)
        return _hubs.table.measure_curves(
            self.graph(), self.pearson(), gammas, measures=measures, perturbation=options.perturbation
        )

    def hub_values(self, options: EntanglementOptions, measure: str) -> FloatArray:
        """One measure in every region, shape (n_regions,); no region is perturbed for one that needs no entropy."""
        if HUB_MEASURES[measure].depends_on_gamma:
            return self.hub_curves(options, (measure,)).at(options.gamma)[measure]
        graph, whole = self.graph(), _hubs.classical.full_connectivity(self.graph(), self.pearson())
        return _hubs.table.MeasuresWithoutGamma(graph, whole)[measure].astype(float)

    @kept()
    def explain_region(
        self, options: HubOptions, region: int, gammas: tuple[float, ...] = GAMMAS
    ) -> "_hubs.region.RegionExplanation":
        """What node entanglement compares for one region.

        Parameters
        ----------
        options : HubOptions
        region : int
            Counted from 0.
        gammas : tuple of float
            Of the entropy curves, in units of 1/mean(λ).
        """
        hubs = self.hubs(options.perturbation)
        return _hubs.region.explain_region(self.graph(), hubs, region, options=options, gammas=gammas)

    @kept()
    def own_agreement(self, perturbation: Perturbation) -> "_hubs.agreement.GraphAgreement":
        """Agreement of node entanglement beyond strength and degree, at every γ of the grid."""
        hubs = self.hubs(perturbation)
        return _hubs.agreement.graph_agreement(self.graph(), GAMMAS, has_signal=hubs.has_signal, spectra=hubs.spectra)

    @kept("Measuring a null graph…", most=2000)
    def null_agreement(
        self, perturbation: Perturbation, seed: int, *, gammas: tuple[float, ...] = GAMMAS
    ) -> "_hubs.agreement.GraphAgreement":
        """The same in one null graph.

        Parameters
        ----------
        perturbation : {"control", "remove"}
        seed : int
            Of the null graph.
        gammas : tuple of float
            In units of 1/mean(λ).
        """
        graph, active = self.graph(), self.hubs(perturbation).has_signal
        return _hubs.agreement.graph_agreement(graph, gammas, has_signal=active, perturbation=perturbation, null=seed)

    def agreement_against_nulls(
        self, options: EntanglementOptions, seeds: Sequence[int] = NULL_SEEDS
    ) -> "dict[str, _hubs.agreement.AgainstNulls]":
        """The subject's agreement at one γ beside that of null graphs, by what is compared.

        Parameters
        ----------
        options : EntanglementOptions
            γ is one of the grid.
        seeds : sequence of int
            One of each null graph.
        """
        nulls = [self.null_agreement(options.perturbation, seed) for seed in seeds]
        return _hubs.agreement.set_against_nulls(self.own_agreement(options.perturbation), nulls, options.gamma)

    @kept("Measuring half of the recording…", most=32)
    def half_hubs(self, perturbation: Perturbation, number: int) -> "_hubs.SubjectHubs":
        """Hubs of the first half of the recording (0) or of the second (1)."""
        return _hubs.reliability.measure_half(
            self.subject, self.atlas, self.settings, number, perturbation=perturbation
        )

    def halves_compared(self, options: HubOptions) -> pd.DataFrame:
        """How alike the halves of the recording are; see :func:`biobgt.hubs.reliability.compare_halves`."""
        first, second = (self.half_hubs(options.perturbation, number) for number in _hubs.reliability.HALVES)
        every = list(HUB_MEASURES)
        return _hubs.reliability.compare_halves(first, second, options.gamma, measures=every, top=options.share)

    # Modules of one subject.

    @kept("Looking for modules…", most=48)  # a third of a megabyte each, with the consensus of 200 regions
    def modules(self, options: ModuleOptions) -> "_modules.SubjectModules":
        """The subject's modules with their measures and every region's role."""
        return _modules.structure.measure_modules(
            self.graph(), self.pearson() if self.kind.functional else None, options
        )

    def graph_of_modules(self, options: ModuleOptions) -> BrainGraph:
        """The graph in which modules are sought."""
        return _modules.structure.graph_for_modules(self.graph(), options)

    @kept(most=2048)
    def module_labels(self, options: ModuleOptions) -> tuple[int, ...]:
        """The module of each region, 0 for none; without measures, so that a group's are quickly found."""
        known = self.recall(Measured.modules, options)
        partition = _modules.structure.find_modules(self.graph(), options) if known is None else known.partition
        return tuple(partition.labels.tolist())

    @kept(most=256)
    def module_agreement(self, options: ModuleOptions, labelling: str) -> "_modules.ModuleAgreement":
        """How far the subject's modules agree with the functional labels of its regions."""
        return _modules.partition.module_agreement(self.modules(options).partition, self.atlas, labelling)

    @kept(most=1024, by=lambda self, options, resolution: (options.signed, options.runs, options.seed, resolution))
    def resolution_step(self, options: ModuleOptions, resolution: float) -> dict[str, float]:
        """The modules at one resolution of a sweep; see :func:`biobgt.modules.louvain.resolution_step`."""
        graph = self.graph_of_modules(options)
        return _modules.louvain.resolution_step(graph, resolution, runs=options.runs, seed=options.seed)

    @kept(most=2048)
    def null_modularity(self, options: ModuleOptions, seed: int) -> "_modules.ModularityTest":
        """The modularity of the subject's modules against one null graph."""
        graph, found, at = self.graph_of_modules(options), self.modules(options).partition, options.resolution
        return _modules.structure.modularity_test(graph, found, resolution=at, n_nulls=1, runs=options.runs, seed=seed)

    @kept(most=256, by=lambda self, options, seed: (options.signed, seed))
    def null_small_world(self, options: ModuleOptions, seed: int) -> "_modules.SmallWorld":
        """Small-worldness against one random graph and one lattice; it does not know of modules."""
        return _modules.structure.small_world(self.graph_of_modules(options), n_nulls=1, seed=seed)

    # Modules of two groups. Groups may change while results are kept, so their members are part of the key.

    def _members(self, groups: tuple[str, str]) -> tuple[tuple[str, ...], ...]:
        return tuple(self.cohort.group(group).ids for group in groups)

    def _labels_of(self, groups: tuple[str, str], options: ModuleOptions) -> dict[str, tuple[int, ...]]:
        return {name: self.of(name).module_labels(options) for ids in self._members(groups) for name in ids}

    @kept(
        "Comparing the groups…",
        most=32,
        subject=False,
        by=lambda self, options, groups, n_permutations, labels: (
            (options, groups, self._members(groups), n_permutations)
        ),
    )
    def module_difference(
        self,
        options: ModuleOptions,
        groups: tuple[str, str],
        *,
        n_permutations: int = PERMUTATIONS,
        labels: Mapping[str, tuple[int, ...]] | None = None,
    ) -> "_modules.compare.ModuleDifference":
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
        known = labels or self._labels_of(groups, options)
        return _modules.compare.group_module_difference(
            self.cohort, groups, known, n_permutations=n_permutations, seed=options.seed
        )

    @kept(
        most=2048,  # a number each
        subject=False,
        by=lambda self, options, groups, number, labels: (options, groups, self._members(groups), number),
    )
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
        known = labels or self._labels_of(groups, options)
        return _modules.compare.shuffled_changes(self.cohort, groups, known, number=number, seed=options.seed)

    def all_shuffled_changes(self, options: ModuleOptions, groups: tuple[str, str]) -> tuple[int, ...]:
        """The same after every one of so many shuffles that the range over them is one of 95 %."""
        return tuple(self.shuffled_changes(options, groups, number) for number in range(SHUFFLES))

    # What models say. A model makes its own graph of a subject, whatever the settings.

    @kept("Running the model…", most=2000, graph=False, by=lambda self, model: model.identity)  # a row of a table each
    def prediction(self, model: "_model.InstalledModel") -> dict[str, Any]:
        """What a model says of the subject: a row of the table of :meth:`biobgt.model.ensemble.Ensemble.predict`.

        Where the model cannot be asked about the subject, the prediction is empty and the warning says why. That is
        kept too, so that one subject does not stop the work on all.
        """
        subject, ensemble = self.subject, model.ensemble  # what is wrong with a model is no subject's fault
        alone = self.cohort.select(lambda one: one.id == subject.id)
        try:
            return cast("dict[str, Any]", ensemble.predict(alone).iloc[0].to_dict())
        except InputError as error:
            return {"subject": subject.id, "prediction": "", "warning": str(error)}

    @kept("Running the model…", most=8, subject=False, graph=False, by=lambda self, model, progress: model.identity)
    def predictions(
        self, model: "_model.InstalledModel", progress: Callable[[int, int], None] | None = None
    ) -> pd.DataFrame:
        """The table of :meth:`biobgt.model.ensemble.Ensemble.predict` of the whole cohort, a result of its own.

        The model is asked about several subjects at once, which is faster than :meth:`prediction` of each and differs
        from it by rounding, in the seventh digit.

        Parameters
        ----------
        model : InstalledModel
        progress : callable, optional
            Told (done, total) after every few subjects.
        """
        return model.ensemble.predict(self.cohort, progress=progress)

    @kept("Making the recording worse…", most=500, graph=False, by=lambda self, model: model.identity)
    def passport(self, model: "_model.InstalledModel") -> pd.DataFrame:
        """What a model says of worse recordings made of the subject's, as :func:`biobgt.model.passport` makes them."""
        from biobgt.model.passport import measure_passport

        model.ensemble.check(self.cohort)
        return measure_passport(model.ensemble, self.subject, self.atlas)

    @kept("Running the model…", most=12, graph=False, by=lambda self, model: model.identity)  # megabytes each
    def explanation(self, model: "_model.InstalledModel") -> "_model.SubjectExplanation":
        """What a model sees in the subject: its attention and embeddings."""
        model.ensemble.check(self.cohort)
        return model.ensemble.explain([self.subject])

    @kept("Running the model…", most=2000, graph=False, by=lambda self, model: model.identity)  # 80 kB at 200 regions
    def attention_map(self, model: "_model.InstalledModel") -> NDArray[np.float16]:
        """The subject's attention in multiples of uniform, mean over layers and heads, kept of every subject."""
        attention = self.explanation(model).attention[0]
        return _model.attention.select_attention(attention).astype(np.float16)
