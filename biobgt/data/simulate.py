"""Subjects that were never scanned: demo cohorts, and a simulated Alzheimer's progression."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from zlib import crc32

import numpy as np

from biobgt.base.arrays import FloatArray, ranks
from biobgt.base.errors import InputError, no_such
from biobgt.base.files import asset
from biobgt.base.references import cited
from biobgt.data.atlas import Atlas, load_atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.graph import check_connectivity

# Group-level parameters of real cohorts, and subjects drawn from them.
#
# A subject's connectome is the group's mean (Fisher z) plus a draw from a low-rank subject covariance. What those
# components leave out of a person's individuality is a Wishart draw around it, and its series are Gaussian with the
# cohort's mean temporal spectrum, so that their correlations carry the sampling noise of a scan of that length. The
# parameters hold averages and components over hundreds of subjects, and no subject.


# Correlations from tanh(mean + draw) need not belong together; eigenvalues below this are raised to it.
_SMALLEST_EIGENVALUE = 1e-6


@dataclass(frozen=True, eq=False)
class GroupParameters:
    """What is known of a cohort's groups; connections are ordered as ``numpy.triu_indices(n_regions, 1)``.

    Attributes
    ----------
    groups : tuple of str
    n_subjects : tuple of int
        How many real subjects each group's mean was taken over.
    mean_z : ndarray, shape (n_groups, n_connections)
        Mean Fisher-z connectome of each group.
    components : ndarray, shape (n_components, n_connections)
        Directions in which subjects differ within groups, each scaled by its standard deviation.
    individual_dof : int
        Degrees of freedom of the Wishart draw: the fewer, the more a subject differs from what the
        components say.
    spectrum : ndarray, shape (n_frequencies,)
        Mean power of the series, on an even grid from 0 to half a cycle per time point.
    n_timepoints : int
    tr : float
        Seconds between time points.
    """

    groups: tuple[str, ...]
    n_subjects: tuple[int, ...]
    mean_z: FloatArray
    components: FloatArray
    individual_dof: int
    spectrum: FloatArray
    n_timepoints: int
    tr: float

    @property
    def n_regions(self) -> int:
        """Number of regions, from n (n − 1) / 2 connections."""
        return int((1 + np.sqrt(1 + 8 * self.mean_z.shape[1])) / 2)

    def mean_connectivity(self, group: str) -> FloatArray:
        """Return a group's mean connectome as correlations, shape (n_regions, n_regions), unit diagonal."""
        return _correlation_matrix(self.mean_z[self.groups.index(group)], self.n_regions)


@cache
def load_parameters(name: str) -> GroupParameters:
    """Load the bundled parameters ``asd``, ``adhd`` or ``ad``."""
    with np.load(asset("demo", f"{name}.npz"), allow_pickle=False) as stored:
        return GroupParameters(
            groups=tuple(str(group) for group in stored["groups"]),
            n_subjects=tuple(int(count) for count in stored["n_subjects"]),
            mean_z=stored["mean_z"].astype(np.float64),
            components=stored["components"].astype(np.float64),
            individual_dof=int(stored["individual_dof"]),
            spectrum=stored["spectrum"].astype(np.float64),
            n_timepoints=int(stored["n_timepoints"]),
            tr=float(stored["tr"]),
        )


def draw_series(parameters: GroupParameters, group: str, rng: np.random.Generator) -> FloatArray:
    """Draw one subject's region series.

    Parameters
    ----------
    parameters : GroupParameters
    group : str
        One of ``parameters.groups``.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray, shape (n_timepoints, n_regions)
        Gaussian, of mean zero and expected variance one: a finite sample of the subject's true connectome.
    """
    factor, n = _draw_factor(parameters, group, rng), parameters.n_timepoints
    # The Fourier amplitudes that give the spectrum's shape, no mean and unit expected variance. A real series has each
    # frequency twice (f and −f) but for the highest one of an even length, which has no imaginary part.
    frequencies = np.fft.rfftfreq(n)
    power = np.interp(frequencies, np.linspace(0, 0.5, len(parameters.spectrum)), parameters.spectrum)
    power[0] = 0
    amplitude = np.sqrt(power / (np.where(frequencies == 0.5, 1, 2) * power).sum())
    real, imaginary = rng.standard_normal((2, len(amplitude), factor.shape[1])) / np.sqrt(2)
    if n % 2 == 0:
        real[-1] *= np.sqrt(2)
    coefficients = amplitude[:, None] * (real + 1j * imaginary)
    return np.fft.irfft(coefficients, n, axis=0, norm="forward") @ factor.T


def _draw_factor(parameters: GroupParameters, group: str, rng: np.random.Generator) -> FloatArray:
    """Draw F, shape (n_regions, individual_dof), whose rows have unit length: the connectome is F Fᵀ."""
    scores = rng.standard_normal(len(parameters.components))
    z = parameters.mean_z[parameters.groups.index(group)] + scores @ parameters.components
    values, vectors = np.linalg.eigh(_correlation_matrix(z, parameters.n_regions))
    # The symmetric root: the signs of eigenvectors differ between machines, and a seed must not.
    expected = _unit_rows((vectors * np.sqrt(np.maximum(values, _SMALLEST_EIGENVALUE))) @ vectors.T)
    return _unit_rows(expected @ rng.standard_normal((parameters.n_regions, parameters.individual_dof)))


def _correlation_matrix(z: FloatArray, n_regions: int) -> FloatArray:
    matrix = np.zeros((n_regions, n_regions))
    matrix[np.triu_indices(n_regions, 1)] = np.tanh(z)
    matrix += matrix.T
    np.fill_diagonal(matrix, 1)
    return matrix


def _unit_rows(factor: FloatArray) -> FloatArray:
    return factor / np.linalg.norm(factor, axis=1, keepdims=True)


# A simulated Alzheimer's progression: hub and default-mode connections fade with severity.
#
# Region i has a vulnerability v_i from 0 to 1. At severity s its signal becomes √(1−a_i) x_i + √a_i ξ_i with a_i = s
# v_i and ξ_i independent noise of the same spectrum, so that a correlation C_ij becomes √((1−a_i)(1−a_j)) C_ij. This
# is **invented, not measured**: hubs carry the most amyloid (Buckner et al., J. Neurosci. 29:1860, 2009) and the
# default mode loses coherence (Greicius et al., PNAS 101:4637, 2004), and that is all it takes from the disease.


DEFAULT_MODE_WEIGHT = 0.5
# In AAL-90 this region has carried the default mode's label only since its nearest seed, a cerebellar one, no longer
# counts. Demos and models are made of subjects in whom it does not fade.
SPARED = "Fusiform_L"


@dataclass(frozen=True)
class _Severity:
    """How severity is spread in a group: normal with this mean and standard deviation, held within 0 and 1."""

    mean: float
    sd: float


SEVERITY: Mapping[str, _Severity] = {
    "NC": _Severity(mean=0.0, sd=0.0),
    "MCI": _Severity(mean=0.25, sd=0.10),
    "AD": _Severity(mean=0.45, sd=0.12),
}


def vulnerability(mean_connectivity: FloatArray, atlas: Atlas) -> FloatArray:
    """Say how much each region suffers: half by its rank as a hub, half by lying in the default mode.

    AAL's left fusiform gyrus (:data:`SPARED`) does not count to the default mode.

    Parameters
    ----------
    mean_connectivity : ndarray, shape (n_regions, n_regions)
        Mean correlations of the controls; a region's strength is the sum of its positive ones.
    atlas : Atlas
        With Dosenbach's networks.

    Returns
    -------
    ndarray, shape (n_regions,)
        From 0 to 1.
    """
    connectivity = check_connectivity(mean_connectivity, what="The controls' mean connectivity")
    networks = atlas.labelling("dosenbach")
    if len(networks) != len(connectivity):
        raise InputError(
            f"The controls' mean connectivity has {len(connectivity)} regions and atlas {atlas.name} has "
            f"{atlas.n_regions}; use the atlas with which the data were extracted."
        )
    positive = np.maximum(connectivity, 0)
    strength = positive.sum(axis=1) - np.diag(positive)
    hubness = (ranks(strength) - 1) / (len(strength) - 1)
    fades = [network == "default" and region != SPARED for region, network in zip(atlas.regions, networks, strict=True)]
    in_default_mode = np.array(fades, dtype=np.float64)
    return (1 - DEFAULT_MODE_WEIGHT) * hubness + DEFAULT_MODE_WEIGHT * in_default_mode


def _draw_severity(group: str, *, seed: int | np.random.Generator) -> float:
    """Draw one subject's severity from its group's distribution in :data:`SEVERITY`."""
    if group not in SEVERITY:
        raise InputError(f"The progression has no group '{group}'. It has: {', '.join(SEVERITY)}.")
    spread = SEVERITY[group]
    drawn = spread.mean + spread.sd * np.random.default_rng(seed).standard_normal()
    return float(np.clip(drawn, 0, 1))


def fade_connectivity(connectivity: FloatArray, vulnerability: FloatArray, severity: float) -> FloatArray:
    """Fade correlations: C_ij becomes √((1−a_i)(1−a_j)) C_ij, and the diagonal stays.

    Parameters
    ----------
    connectivity : ndarray, shape (n_regions, n_regions)
    vulnerability : ndarray, shape (n_regions,)
    severity : float
        From 0 (nothing changes) to 1.

    Returns
    -------
    ndarray, shape (n_regions, n_regions)
        Positive semi-definite if ``connectivity`` was: it is D C D plus a non-negative diagonal.
    """
    kept = np.sqrt(1 - _lost_share(vulnerability, severity, n_regions=len(connectivity)))
    faded = connectivity * np.outer(kept, kept)
    np.fill_diagonal(faded, np.diag(connectivity))
    return faded


def fade_series(
    series: FloatArray,
    vulnerability: FloatArray,
    severity: float,
    *,
    seed: int | np.random.Generator,
) -> FloatArray:
    """Fade series: region i becomes √(1−a_i) x_i + √a_i ξ_i, with the mean kept.

    Parameters
    ----------
    series : ndarray, shape (n_timepoints, n_regions)
    vulnerability : ndarray, shape (n_regions,)
    severity : float
        From 0 (nothing changes) to 1.
    seed : int or numpy.random.Generator

    Returns
    -------
    ndarray, shape (n_timepoints, n_regions)
        Their correlations are those of :func:`fade_connectivity`, up to the noise of a finite sample.
    """
    lost = _lost_share(vulnerability, severity, n_regions=series.shape[1])
    kept = np.sqrt(1 - lost)
    noise = phase_randomised(series, seed=seed)
    return kept * series + (1 - kept) * series.mean(axis=0) + np.sqrt(lost) * noise


def phase_randomised(series: FloatArray, *, seed: int | np.random.Generator) -> FloatArray:
    """Return noise with each region's own power spectrum and mean zero, independent between regions.

    The noise has the spectrum of the signal it replaces, so that the spectrum cannot give a patient away.

    Parameters
    ----------
    series : ndarray, shape (n_timepoints, n_regions)
    seed : int or numpy.random.Generator

    Returns
    -------
    ndarray, shape (n_timepoints, n_regions)
    """
    rng = np.random.default_rng(seed)
    coefficients = np.fft.rfft(series - series.mean(axis=0), axis=0)
    phases = rng.uniform(0, 2 * np.pi, size=coefficients.shape)
    if len(series) % 2 == 0:
        phases[-1] = np.pi * (phases[-1] > np.pi)  # the highest frequency of an even length is real
    return np.fft.irfft(coefficients * np.exp(1j * phases), len(series), axis=0)


def simulate_progression(
    subject: Subject, group: str, vulnerability: FloatArray, *, seed: int | np.random.Generator
) -> Subject:
    """Make a simulated subject of ``group`` from a control, with a severity drawn for that group.

    Parameters
    ----------
    subject : Subject
        A control, real or drawn, with series or a matrix of correlations.
    group : str
        One of :data:`SEVERITY`.
    vulnerability : ndarray, shape (n_regions,)
    seed : int or numpy.random.Generator

    Returns
    -------
    Subject
        Of that group and marked simulated (a control of severity 0 as well, since what it stands beside is
        simulated), with ``simulated severity`` among its phenotypes. Its id and source are kept.
    """
    rng = np.random.default_rng(seed)
    severity = _draw_severity(group, seed=rng)
    series, connectivity = subject.series, subject.connectivity
    if series is not None:
        series = fade_series(series, vulnerability, severity, seed=rng)
    if connectivity is not None:
        connectivity = fade_connectivity(connectivity, vulnerability, severity)
    return replace(
        subject,
        series=series,
        connectivity=connectivity,
        group=group,
        phenotypes={**subject.phenotypes, "simulated severity": round(severity, 3)},
        simulated=True,
    )


def _lost_share(vulnerability: FloatArray, severity: float, *, n_regions: int) -> FloatArray:
    """Return a = s v, the share of each region's variance that becomes noise."""
    if not 0 <= severity <= 1:
        raise InputError(f"The severity is {severity}; it must lie between 0 and 1.")
    vulnerability = np.asarray(vulnerability, dtype=np.float64)
    if vulnerability.shape != (n_regions,):
        raise InputError(f"The vulnerability has shape {vulnerability.shape}, expected ({n_regions},).")
    if not np.all((vulnerability >= 0) & (vulnerability <= 1)):
        raise InputError("A vulnerability lies outside 0 to 1.")
    return severity * vulnerability


# The demo cohorts: subjects drawn from group-level parameters, because no real subject may be shipped.
#
# Subject i of a group is the same however many are drawn. What the subjects reproduce of the real groups, and what
# not, is measured in ``docs/simulation.md``; they show how things work and are evidence of nothing.


@dataclass(frozen=True)
class _Demo:
    title: str
    atlas: str
    groups: tuple[str, ...]
    origin: str


_ABIDE = "ABIDE [@dimartino2014; @craddock2013]"
_DEMOS: Mapping[str, _Demo] = {
    "asd": _Demo("Demo NC / ASD (simulated)", "cc200", ("NC", "ASD"), _ABIDE),
    "adhd": _Demo("Demo NC / ADHD (simulated)", "cc200", ("NC", "ADHD"), "CNI-TLC 2019 [@schirmer2021]"),
    "ad": _Demo("Demo NC / MCI / AD (simulated)", "aal90", ("NC", "MCI", "AD"), _ABIDE),
}
DEMO_PER_GROUP = 20
DEMO_COHORTS: Mapping[str, str] = {name: demo.title for name, demo in _DEMOS.items()}


def demo_cohort(name: str, *, n_per_group: int = DEMO_PER_GROUP, seed: int = 0) -> Cohort:
    """Draw a demo cohort.

    Parameters
    ----------
    name : str
        One of :data:`DEMO_COHORTS`: ``asd``, ``adhd`` or ``ad``.
    n_per_group : int
    seed : int
        Zero or more. The same seed gives the same subjects, and a larger cohort begins with those of a
        smaller one in every group.

    Returns
    -------
    Cohort
        Every subject is marked simulated.

    Examples
    --------
    >>> cohort = demo_cohort("asd", n_per_group=2, seed=0)
    >>> cohort.ids
    ('sim-NC-001', 'sim-NC-002', 'sim-ASD-001', 'sim-ASD-002')
    >>> cohort.atlas.name, cohort.atlas.n_regions
    ('cc200', 200)
    """
    if name not in _DEMOS:
        raise no_such("demo cohort", name, _DEMOS)
    if n_per_group < 1:
        raise InputError(f"A demo cohort needs at least 1 subject per group, not {n_per_group}.")
    if seed < 0:
        raise InputError(f"The seed is {seed}; it must be 0 or more.")
    demo, parameters = _DEMOS[name], load_parameters(name)
    atlas = load_atlas(demo.atlas)
    progression = set(demo.groups) != set(parameters.groups)
    fading = vulnerability(parameters.mean_connectivity("NC"), atlas) if progression else None
    subjects = tuple(
        _draw_subject(parameters, group, i, key=(seed, crc32(f"{name}/{group}".encode())), fading=fading)
        for group in demo.groups
        for i in range(n_per_group)
    )
    return Cohort(demo.title, subjects, atlas, notes=_notes(demo, parameters, progression=progression))


def _draw_subject(
    parameters: GroupParameters, group: str, index: int, *, key: tuple[int, int], fading: FloatArray | None
) -> Subject:
    # Every subject has a stream of its own, so that it does not depend on how many are drawn.
    seed, stream = key
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(stream, index)))
    # In the progression everyone is drawn as a control first.
    drawn_as = group if fading is None else "NC"
    subject = Subject(
        id=f"sim-{group}-{index + 1:03d}",
        series=draw_series(parameters, drawn_as, rng),
        group=group,
        tr=parameters.tr,
        simulated=True,
    )
    return subject if fading is None else simulate_progression(subject, group, fading, seed=rng)


def _notes(demo: _Demo, parameters: GroupParameters, *, progression: bool) -> tuple[str, ...]:
    counted = " and ".join(
        f"{count} {group}" for group, count in zip(parameters.groups, parameters.n_subjects, strict=True)
    )
    drawn = (
        f"All subjects are simulated: they were drawn from group-level averages over {counted} subjects of "
        f"{cited(demo.origin)}. They show how things work and are evidence of nothing."
    )
    if not progression:
        return (drawn,)
    severities = ", ".join(f"{group} {SEVERITY[group].mean:g}" for group in demo.groups)
    return drawn, (
        "MCI and AD are an invented progression, not measured on patients: connections of hubs and of the default "
        f"mode fade with severity (mean severity: {severities})."
    )
