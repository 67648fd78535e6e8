"""What can be asked whether it would survive: every finding is one object, with what is measured for it and its words.

A finding of one subject is an estimate for each way. One of people is a number of each recording, and people are tested
in :mod:`biobgt.specifications.people`: its mean, a difference of two groups, or how it goes with a score.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from biobgt.base.errors import InputError, no_such
from biobgt.base.options import Registry
from biobgt.base.wording import capitalised
from biobgt.data.atlas import LABELLINGS, Atlas
from biobgt.data.connectivity import fisher_z
from biobgt.data.graph import PEARSON
from biobgt.hubs.agreement import hub_correlation
from biobgt.hubs.measures import HUB_MEASURES, NE
from biobgt.hubs.table import SubjectHubs, measure_hubs
from biobgt.modules.partition import label_agreement, module_blocks
from biobgt.results.measured import Measured
from biobgt.specifications.options import FindingOptions
from biobgt.specifications.ways import Way
from biobgt.study.options import RecordingOptions

LABEL_SHUFFLES = 199
Whom = Literal["subject", "mean", "difference"]
_NAN = float("nan")


@dataclass(frozen=True)
class Estimate:
    """What one way gives.

    Attributes
    ----------
    estimate : float
        NaN where this way gives none; ``why`` says why.
    low, high : float
        Ends of its 95 % interval; NaN where there is none.
    p : float
        NaN where nothing is tested.
    verdict : bool or None
        Of a finding that is a yes or a no.
    why : str
    """

    estimate: float
    low: float = _NAN
    high: float = _NAN
    p: float = _NAN
    verdict: bool | None = None
    why: str = ""


@dataclass(frozen=True)
class Finding:
    """Something that was seen and might be otherwise.

    Attributes
    ----------
    key : str
    title : str
    whom : {"subject", "mean", "difference"}
        One subject; the mean over people; or a difference of two groups, or how it goes with a score.
    moved_by : callable
        The keys of the choices that can move it.
    measure : callable
        ``(measured, ways, asked)``: estimates of one recording in ways that share its graph.
    words : callable
        ``(asked, atlas)``: what is estimated, within a sentence: "modularity Q".
    quantity : callable
        ``asked``: what the estimates of one recording are in, for an axis.
    """

    key: str
    title: str
    whom: Whom
    moved_by: Callable[[FindingOptions], Sequence[str]]
    measure: Callable[[Measured, Sequence[Way], FindingOptions], list[Estimate]]
    words: Callable[[FindingOptions, Atlas], str]
    quantity: Callable[[FindingOptions], str]


_DATA = ("estimator", "global-signal", "recording")
_GRAPH = (*_DATA, "sign", "threshold")
_TEST = ("motion", "overall")
_NE = ("gamma", "perturbation")


# What is measured of one recording.


def _hubs(measured: Measured, ways: Sequence[Way]) -> dict[str, SubjectHubs]:
    """The hubs of one graph by perturbation: kept ones, or measured at the diffusion times of the ways alone."""
    found: dict[str, SubjectHubs] = {}
    for perturbation in dict.fromkeys(way.hubs.perturbation for way in ways):
        known = measured.recall(Measured.hubs, perturbation)
        if known is None:
            gammas = sorted({way.hubs.gamma for way in ways if way.hubs.perturbation == perturbation})
            known = measure_hubs(measured.graph(), measured.pearson(), perturbation=perturbation, gammas=gammas)
        found[perturbation] = known
    return found


def _agreement(measured: Measured, ways: Sequence[Way], asked: FindingOptions) -> list[Estimate]:
    hubs, found = _hubs(measured, ways), []
    for way in ways:
        rho = hub_correlation(hubs[way.hubs.perturbation], way.hubs.gamma, asked.beside)
        found.append(Estimate(rho.rho, rho.low, rho.high, why="" if np.isfinite(rho.rho) else "Nothing varies."))
    return found


def _is_hub(measured: Measured, ways: Sequence[Way], asked: FindingOptions) -> list[Estimate]:
    hubs, place, found = _hubs(measured, ways), _region(measured.atlas, asked.region), []
    for way in ways:
        table = hubs[way.hubs.perturbation].table(way.hubs, (asked.measure,))
        row = table.iloc[place]
        found.append(Estimate(float(row[f"{asked.measure}_z"]), verdict=bool(row[f"{asked.measure}_hub"])))
    return found


def _modules_match(measured: Measured, ways: Sequence[Way], asked: FindingOptions) -> list[Estimate]:
    found = []
    for way in ways:
        labels = np.array(measured.module_labels(way.modules))
        ami, shuffled = label_agreement(
            labels, measured.atlas.labelling(way.labelling), shuffles=LABEL_SHUFFLES, seed=asked.seed
        )
        p = (1 + int((shuffled >= ami - 1e-12).sum())) / (1 + LABEL_SHUFFLES)
        found.append(Estimate(ami, p=p) if np.isfinite(ami) else Estimate(_NAN, why="There are no modules."))
    return found


def _edge(measured: Measured, ways: Sequence[Way], asked: FindingOptions) -> list[Estimate]:
    first, second = _region(measured.atlas, asked.region), _region(measured.atlas, asked.other_region)
    return [Estimate(float(_correlations(measured)[first, second]))] * len(ways)


def _block(measured: Measured, ways: Sequence[Way], asked: FindingOptions) -> list[Estimate]:
    labels = measured.atlas.labelling(_labelling(asked, measured.atlas))
    blocks = module_blocks(_correlations(measured)[None], labels)
    first, second = (blocks.modules.index(name) for name in _block_names(asked, measured.atlas))
    return [Estimate(float(blocks.values[0, first, second]))] * len(ways)


def _correlations(measured: Measured) -> np.ndarray:
    """Connectivity by the estimator of the way; correlations are Fisher z."""
    matrix = measured.connectivity()
    return fisher_z(matrix) if measured.settings.estimator == PEARSON and measured.kind.functional else matrix


def _hub_measure(measured: Measured, ways: Sequence[Way], asked: FindingOptions) -> list[Estimate]:
    place = _region(measured.atlas, asked.region)
    if not HUB_MEASURES[asked.measure].depends_on_gamma:
        value = float(measured.hub_values(ways[0].hubs, asked.measure)[place])
        return [Estimate(value)] * len(ways)
    hubs = _hubs(measured, ways)
    return [
        Estimate(float(hubs[way.hubs.perturbation].values(way.hubs.gamma, (asked.measure,))[asked.measure][place]))
        for way in ways
    ]


def _segregation(measured: Measured, ways: Sequence[Way], asked: FindingOptions) -> list[Estimate]:
    from biobgt.modules.structure import segregation

    def of(labelling: str) -> float:
        labels = measured.atlas.labelling(labelling)
        numbers = {label: place for place, label in enumerate(sorted(set(filter(None, labels))), start=1)}
        matrix = measured.connectivity()
        return segregation(matrix, [numbers.get(label or "", 0) for label in labels]).system_segregation

    known = {name: of(name) for name in dict.fromkeys(way.labelling for way in ways)}
    return [Estimate(known[way.labelling]) for way in ways]


def _modularity(measured: Measured, ways: Sequence[Way], asked: FindingOptions) -> list[Estimate]:
    from biobgt.modules.structure import find_modules

    return [Estimate(find_modules(measured.graph(), way.modules).q) for way in ways]


def _mean_connectivity(measured: Measured, ways: Sequence[Way], asked: FindingOptions) -> list[Estimate]:
    return [Estimate(measured.mean_connectivity()[0])] * len(ways)


def _attention(measured: Measured, ways: Sequence[Way], asked: FindingOptions) -> list[Estimate]:
    """Attention of a block in multiples of uniform attention; a model makes a graph of its own."""
    from biobgt.study.subject import model_of

    attention = measured.attention_map(model_of(RecordingOptions(model=asked.model))).astype(np.float64)
    blocks = module_blocks(attention[None], measured.atlas.labelling(_labelling(asked, measured.atlas)))
    first, second = (blocks.modules.index(name) for name in _block_names(asked, measured.atlas))
    return [Estimate(float(blocks.values[0, first, second]))] * len(ways)


# What is asked of, checked.


def _region(atlas: Atlas, name: str) -> int:
    if not name:
        raise InputError("This finding is about a region: name it with --region.")
    if name not in atlas.regions:
        raise InputError(f"Atlas {atlas.name} has no region '{name}'. Its first is '{atlas.regions[0]}'.")
    return atlas.regions.index(name)


def _labelling(asked: FindingOptions, atlas: Atlas) -> str:
    name = asked.labelling or next(iter(atlas.labels), "")
    if name not in atlas.labels:
        raise InputError(f"Atlas {atlas.name} has no functional networks '{name}'; this finding needs some.")
    return name


def _block_names(asked: FindingOptions, atlas: Atlas) -> tuple[str, str]:
    known = sorted({label for label in atlas.labelling(_labelling(asked, atlas)) if label})
    if len(asked.networks) not in (1, 2):
        raise InputError(f"Name the block by one network or two with --networks: {', '.join(known)}.")
    for name in asked.networks:
        if name not in known:
            raise no_such("network", name, known)
    return asked.networks[0], asked.networks[-1]


def check_finding(finding: Finding, asked: FindingOptions, atlas: Atlas) -> None:
    """Refuse what a finding lacks, before anything is measured.

    Parameters
    ----------
    finding : Finding
    asked : FindingOptions
    atlas : Atlas
        Of the cohort.
    """
    if finding.key in ("hub", "edge", "hub-measure"):
        _region(atlas, asked.region)
    if finding.key == "edge" and _region(atlas, asked.region) == _region(atlas, asked.other_region):
        raise InputError("An edge has two ends: name another region with --other-region.")
    if finding.key in ("block", "attention"):
        _block_names(asked, atlas)
    if finding.key == "attention" and not asked.model:
        raise InputError("Attention is that of a model: name it with --model.")
    if finding.key in ("modules", "segregation"):
        _labelling(asked, atlas)
    if finding.key.startswith("agreement") and asked.beside == NE:
        raise InputError("NE agrees with itself. Name another hub measure with --beside.")


def _block_words(asked: FindingOptions, atlas: Atlas) -> str:
    first, second = _block_names(asked, atlas)
    return f"connectivity {'within ' + first if first == second else f'between {first} and {second}'}"


def _measure_moved(asked: FindingOptions) -> Sequence[str]:
    """A measure of the full matrix depends on no sign rule and no threshold, and only NE on diffusion."""
    needs = HUB_MEASURES[asked.measure].needs
    if needs == "connectivity":
        return "global-signal", "recording", *_TEST
    return (*_GRAPH, *_NE, *_TEST) if needs == "entropy change" else (*_GRAPH, *_TEST)


def _rho(asked: FindingOptions) -> str:
    return f"Spearman's ρ of NE with {HUB_MEASURES[asked.beside].short}"


def _agreement_words(asked: FindingOptions, atlas: Atlas) -> str:
    return f"NE agrees with {HUB_MEASURES[asked.beside].short}"


FINDINGS: Registry[Finding] = Registry(
    "finding",
    Finding(
        "agreement",
        "NE agrees with another hub measure in one subject",
        "subject",
        lambda asked: (*_GRAPH, *_NE),
        _agreement,
        _agreement_words,
        _rho,
    ),
    Finding(
        "agreement-of-cohort",
        "NE agrees with another hub measure over people",
        "mean",
        lambda asked: (*_GRAPH, *_NE),
        _agreement,
        _agreement_words,
        _rho,
    ),
    Finding(
        "hub",
        "A region is a hub",
        "subject",
        lambda asked: (*_measure_moved(asked)[: -len(_TEST)], "criterion"),
        _is_hub,
        lambda asked, atlas: f"{asked.region} is a hub by {HUB_MEASURES[asked.measure].short}",
        lambda asked: f"{HUB_MEASURES[asked.measure].short}, z over regions",
    ),
    Finding(
        "modules",
        "Modules match functional networks",
        "subject",
        lambda asked: (*_GRAPH, "resolution", "labelling", "seed"),
        _modules_match,
        lambda asked, atlas: f"modules match {_networks_words(asked, atlas)}",
        lambda asked: "adjusted mutual information",
    ),
    Finding(
        "edge",
        "Groups differ in a connection",
        "difference",
        lambda asked: (*_DATA, *_TEST),
        _edge,
        lambda asked, atlas: f"connectivity of {asked.region} with {asked.other_region}",
        lambda asked: "connectivity",
    ),
    Finding(
        "block",
        "Groups differ in the connectivity of networks",
        "difference",
        lambda asked: (*_DATA, *_TEST),
        _block,
        _block_words,
        lambda asked: "connectivity",
    ),
    Finding(
        "hub-measure",
        "Groups differ in a hub measure of a region",
        "difference",
        _measure_moved,
        _hub_measure,
        lambda asked, atlas: f"{HUB_MEASURES[asked.measure].title} of {asked.region}",
        lambda asked: HUB_MEASURES[asked.measure].short,
    ),
    Finding(
        "segregation",
        "Groups differ in system segregation",
        "difference",
        lambda asked: (*_DATA, "labelling", *_TEST),
        _segregation,
        lambda asked, atlas: "system segregation",
        lambda asked: "system segregation",
    ),
    Finding(
        "modularity",
        "Groups differ in modularity",
        "difference",
        lambda asked: (*_GRAPH, "resolution", "seed", *_TEST),
        _modularity,
        lambda asked, atlas: "modularity Q",
        lambda asked: "modularity Q",
    ),
    Finding(
        "mean-connectivity",
        "Groups differ in mean connectivity",
        "difference",
        lambda asked: ("global-signal", "recording", "motion"),
        _mean_connectivity,
        lambda asked, atlas: "mean connectivity",
        lambda asked: "mean connectivity",
    ),
    Finding(
        "attention",
        "Groups differ in a model's attention",
        "difference",
        lambda asked: ("global-signal", "recording", *_TEST),
        _attention,
        lambda asked, atlas: _block_words(asked, atlas).replace("connectivity", f"attention of {asked.model}", 1),
        lambda asked: "attention, in multiples of uniform",
    ),
)


def _networks_words(asked: FindingOptions, atlas: Atlas) -> str:
    name = _labelling(asked, atlas)
    return LABELLINGS.get(name, name)


def finding_words(finding: Finding, asked: FindingOptions, atlas: Atlas, whose: Mapping[str, str], *, up: bool) -> str:
    """A finding as a sentence without its end: "System segregation is lower in ASD than in NC".

    Parameters
    ----------
    finding : Finding
    asked : FindingOptions
    atlas : Atlas
    whose : mapping of str to str
        ``subject`` or ``cohort``, and its name.
    up : bool
        Whether the reference's estimate is above 0; of a yes or a no, which it is.
    """
    words = finding.words(asked, atlas)
    if finding.whom == "difference":
        if asked.score:
            return capitalised(f"{words} {'rises' if up else 'falls'} with {asked.score}")
        return capitalised(f"{words} is {'higher' if up else 'lower'} in {asked.second} than in {asked.first}")
    if not up:
        words = words.replace(" is a hub", " is no hub").replace("NE agrees", "NE disagrees")
    of = whose.get("subject") or whose["cohort"]
    return capitalised(f"{words} in {of}")
