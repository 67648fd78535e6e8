"""What makes a figure again: which figure, of whom, from which graph, with which options; as JSON, too.

A cohort is named by the demo it is, or by the SHA-256 of its numbers, so that the same subjects are recognised in
whatever file they lie and other subjects are refused.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from biobgt.base.errors import InputError, no_such
from biobgt.base.options import Options, Plain, option
from biobgt.data.atlas import BUNDLED, LATER_LABELLINGS
from biobgt.data.cohort import Cohort
from biobgt.data.graph import ConnectomeSettings
from biobgt.data.simulate import DEMO_COHORTS, DEMO_PER_GROUP, demo_cohort
from biobgt.model.pretrained import installed_model
from biobgt.readers.fetch import DEMO_PREFIX

PANELS = "panels"  # the name of a figure that is made of others
FEWEST_PANELS = 2
MODEL_PREFIX, STUDY_PREFIX = "model:", "study:"
_FIGURE, _PANELS, _VERSION = "biobgt-figure", "biobgt-panels", 1  # formats of requests


@dataclass(frozen=True)
class CohortRef:
    """A cohort by name: a demo with its parameters, a user's own, or the one a model's or a study's results are of.

    Attributes
    ----------
    name : str
        The demo's short name (``asd``), the model's, or what the user calls the cohort or its study.
    demo, model, study : bool
    n_per_group, seed : int
        Of a demo.
    sha256 : str
        Of a user's own cohort, from :func:`cohort_sha256`; of a model, that of its weights, as its card has it; of a
        study, that of what it found; empty where it was not asked for yet.
    """

    name: str
    demo: bool = False
    model: bool = False
    n_per_group: int = DEMO_PER_GROUP
    seed: int = 0
    sha256: str = ""
    study: bool = False

    def __post_init__(self) -> None:
        if self.demo and self.name not in DEMO_COHORTS:
            raise no_such("demo cohort", self.name, DEMO_COHORTS)

    @property
    def own(self) -> bool:
        """Whether these are subjects that a user brought."""
        return not (self.demo or self.model or self.study)

    @property
    def place(self) -> str:
        """As the command line names it: ``demo:asd``, ``model:abide-cc200``; a user's own has no such name."""
        prefix = DEMO_PREFIX if self.demo else MODEL_PREFIX if self.model else STUDY_PREFIX
        return "" if self.own else f"{prefix}{self.name}"

    def draw(self) -> Cohort:
        """Draw the demo cohort; of a model's, whose subjects are not shipped, only the atlas is known."""
        if self.model:
            model = installed_model(self.name)
            if self.sha256 not in ("", model.sha256):
                raise InputError(
                    f"The model '{self.name}' was trained anew since the figure was exported. Use the version of "
                    "BioBGT Explorer that provenance.json names."
                )
            return model.cohort
        if self.study:
            raise InputError(f"The study '{self.name}' is a folder: name it, as study:FOLDER.")
        if not self.demo:
            raise InputError(f"The subjects of '{self.name}' are not a demo: name the file they are in.")
        return demo_cohort(self.name, n_per_group=self.n_per_group, seed=self.seed)

    def check(self, cohort: Cohort) -> None:
        """Refuse another cohort than the one that was exported."""
        if self.own and self.sha256 and cohort_sha256(cohort) != self.sha256:
            raise InputError(
                f"These are not the subjects that the figures were made of: the SHA-256 of '{cohort.name}' is another "
                f"than that of '{self.name}' at the time. Bring the same files, with the same atlas and groups, "
                "or use the version of BioBGT Explorer that provenance.json names."
            )


@dataclass(frozen=True)
class FigureRequest:
    """One figure to be made: the key of its kind, the cohort, the subject, the graph's settings, the options."""

    figure: str
    cohort: CohortRef
    subject: str | None = None
    settings: ConnectomeSettings = field(default_factory=ConnectomeSettings)
    options: Mapping[str, Plain] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "format": _FIGURE,
            "version": _VERSION,
            "figure": self.figure,
            "cohort": {name: value for name, value in asdict(self.cohort).items() if name != "study" or value},
            "subject": self.subject,
            "settings": self.settings.as_dict(),
            "options": {name: list(value) if isinstance(value, tuple) else value for name, value in self._options},
        }

    def to_json(self) -> str:
        """Write as JSON; the same request is always the same text."""
        return _json(self.as_dict())

    @property
    def model(self) -> str:
        """The trained model behind the figure, or an empty name."""
        return self.cohort.name if self.cohort.model else str(self.options.get("model", ""))

    def full_options(self) -> Options:
        """All options of the figure, the given ones checked and the others by default."""
        from biobgt.figures.register import all_figures

        figure = all_figures().named(self.figure)
        return figure.takes.from_plain(self.options, of=f"The figure '{figure.name}'")

    @cached_property
    def _options(self) -> tuple[tuple[str, Plain], ...]:
        return tuple(sorted(self.options.items()))

    def __hash__(self) -> int:
        return hash((self.figure, self.cohort, self.subject, self.settings, self._options))

    @classmethod
    def from_json(cls, text: str) -> "FigureRequest":
        """Read what :meth:`to_json` wrote; anything else ends with a sentence."""
        document = _document(text, _FIGURE, "a figure. Give one of the .json files of an exported bundle.")
        try:
            return cls(
                figure=_a(str, document["figure"]),
                cohort=CohortRef(**_checked({"study": False, **document["cohort"]}, CohortRef)),
                subject=None if document["subject"] is None else _a(str, document["subject"]),
                settings=ConnectomeSettings(**_checked(document["settings"], ConnectomeSettings)),
                options={_a(str, name): _plain(value) for name, value in document["options"].items()},
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(f"The request of a figure is damaged ({error}). Export the figure again.") from None


@dataclass(frozen=True)
class PanelOptions(Options):
    """How panels are arranged."""

    columns: int = option(
        2,
        title="Columns",
        help="Panels in a row, or as many as can be read side by side. Those of a last row that is not full share "
        "its width.",
        choices=(1, 2, 3, 4),
    )
    letters: bool = option(True, title="Letters", help="The letters a, b, c … above the panels.")


@dataclass(frozen=True)
class PanelsRequest:
    """One figure of several panels: the request of each, in order, and how they are arranged."""

    panels: tuple[FigureRequest, ...]
    options: PanelOptions = field(default_factory=PanelOptions)

    def __post_init__(self) -> None:
        if len(self.panels) < FEWEST_PANELS:
            raise InputError(f"A figure of several panels needs at least {FEWEST_PANELS}: name more figures.")

    @property
    def columns(self) -> int:
        """Panels in a row as asked for: two panels never stand in three columns."""
        return min(self.options.columns, len(self.panels))

    def to_json(self) -> str:
        """Write as JSON; the same request is always the same text."""
        panels = [panel.as_dict() for panel in self.panels]
        return _json({"format": _PANELS, "version": _VERSION, "options": self.options.as_dict(), "panels": panels})

    @classmethod
    def from_json(cls, text: str) -> "PanelsRequest":
        """Read what :meth:`to_json` wrote; anything else ends with a sentence."""
        document = _document(text, _PANELS, "panels. Give requests/panels.json of an exported bundle.")
        try:
            panels = tuple(FigureRequest.from_json(json.dumps(panel)) for panel in document["panels"])
            options: dict[str, Any] = dict(document["options"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"The request of panels is damaged ({error}). Export the figure again.") from None
        return cls(panels, PanelOptions.from_plain(options, of="A figure of panels"))


def cohort_sha256(cohort: Cohort) -> str:
    """SHA-256 over what figures depend on: regions, places, labels, and every subject's id, group, TR and numbers.

    The kind of connectivity is part of it where that is not functional.
    """
    digest = hashlib.sha256()
    atlas = cohort.atlas
    later = LATER_LABELLINGS if atlas.name in BUNDLED else frozenset()
    said = {
        "regions": atlas.regions,
        "coordinates": None if atlas.coordinates is None else atlas.coordinates.tolist(),
        "labels": {name: labels for name, labels in atlas.labels.items() if name not in later},
    }
    digest.update(json.dumps(said, sort_keys=True).encode())
    for subject in cohort:
        values = subject.series if subject.series is not None else subject.connectivity
        numbers = np.ascontiguousarray(values, dtype="<f8")
        about = (subject.id, subject.group, subject.kind, subject.tr, numbers.shape)
        digest.update(json.dumps(about).encode())
        digest.update(numbers.tobytes())
    if not cohort.kind.functional:
        digest.update(cohort.kind.key.encode())
    return digest.hexdigest()


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _document(text: str, format: str, expected: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except ValueError:
        document = None
    if not isinstance(document, dict) or document.get("format") != format:
        raise InputError(f"This is no request of {expected}")
    if document.get("version") != _VERSION:
        raise InputError("This request was written by a newer version of BioBGT Explorer. Update, then try again.")
    return document


def _checked(document: Mapping[str, Any], kind: type[CohortRef] | type[ConnectomeSettings]) -> dict[str, Any]:
    """The fields of a dataclass, each of the kind that its default or its neighbours have."""
    names = {one.name for one in fields(kind)}
    if set(document) != names:
        raise KeyError(f"expected {', '.join(sorted(names))}")
    texts = {"name", "sha256", "estimator", "sign", "threshold"}
    kinds: dict[str, Any] = dict.fromkeys(texts, str) | dict.fromkeys(("demo", "model", "study", "backbone"), bool)
    kinds["level"] = float
    return {name: _a(kinds.get(name, int), value) for name, value in document.items()}


def _a(kind: type, value: Any) -> Any:
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise TypeError(f"{value!r} is not a {kind.__name__}")
    return value


def _plain(value: Any) -> Plain:
    if isinstance(value, list):
        if value and all(type(one) is str for one in value):
            return tuple(value)
        return tuple(float(_a(float, number)) for number in value)
    if not isinstance(value, str | int | float | bool):
        raise TypeError(f"{value!r} is no plain value")
    return value
