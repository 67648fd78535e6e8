"""What was measured of a cohort: every result is computed once, and whoever asks for it again gets the same one.

The command line, the app, comparisons of groups and figures all ask here. A :class:`MeasuredCohort` is a cohort with a
store of results; :meth:`MeasuredCohort.of` looks at it from one subject, with one kind of brain graph. A result is
known by its :class:`Key`: its kind, the subject, the settings of the graph and the options that it depends on, and by
nothing else. Where results are kept is up to the caller: in memory, or in a folder.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar, cast

from biobgt.atlas import Atlas
from biobgt.cohort import Cohort
from biobgt.errors import InputError
from biobgt.graph import ConnectomeSettings
from biobgt.kept_results import EXPLANATION, PREDICTION, Key, Kind, MemoryStore, Store
from biobgt.measured_hubs import MeasuredHubs
from biobgt.measured_modules import MeasuredModules

if TYPE_CHECKING:  # SciPy's statistics take a second, and not every page and command needs them
    import pandas as pd

    from biobgt.model.ensemble import SubjectExplanation
    from biobgt.model.installed import InstalledModel

Result = TypeVar("Result")

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
