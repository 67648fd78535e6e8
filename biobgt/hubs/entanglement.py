"""Node entanglement (NE): how much the spectral entropy of a graph changes when one region is perturbed.

NE(i) = |S(G_i) − S(G)| in bits (Definition 1), with G_i the graph after a perturbation of region i. The density matrix
is ρ = exp(−γL)/Z with L the Laplacian and Z = Tr exp(−γL) (Proposition 1), and the entropy S = −Tr ρ log₂ ρ (Eq. 5):
it depends on the eigenvalues of L only. In this order: entropies of spectra; the spectra of all perturbed graphs, exact
or to first order; the same entropies from resolvents, where these are cheaper; NE; and vertex entanglement, its source.
Whether NE agrees with other hub measures depends on γ: see docs/plausibility.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from scipy.sparse import csr_array

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.data.graph import Graph, check_choice
from biobgt.hubs.classical import hub_weights
from biobgt.hubs.measures import DEFAULT_GAMMA, DEFAULT_PERTURBATION, GAMMAS, Perturbation
from biobgt.hubs.resolvents import changed_regions, laplacian_change, resolvents_are_cheaper, trace_changes

_Gammas = float | Sequence[float] | FloatArray
_SpectrumMethod = Literal["exact", "first-order"]
EntanglementMethod = Literal["exact", "first-order", "mean-field"]

# Spectral entropy: how evenly information spreads over the diffusion modes of a graph.

_LOG2 = float(np.log(2))
# exp(−750) is zero in double precision: beyond it a mode carries nothing, and γλ itself could overflow.
_DEAD_MODE = 750.0
_LONG_GRID = 32


def check_gammas(gammas: _Gammas) -> FloatArray:
    """Return γ values as a vector, or say which one is not a diffusion time."""
    values = np.atleast_1d(np.asarray(gammas, dtype=np.float64))
    if values.ndim != 1 or not len(values):
        raise InputError(f"γ must be a number or a list of numbers, not an array of shape {values.shape}.")
    wrong = values[~(np.isfinite(values) & (values >= 0))]
    if len(wrong):
        raise InputError(f"γ is a diffusion time and must be finite and 0 or more, not {wrong[0]}.")
    return values


def _diffusion_times(gammas: _Gammas, absolute_gammas: _Gammas | None, *, unit: float) -> FloatArray:
    """Return absolute γ, shape (n_gammas,), or say which is none.

    Parameters
    ----------
    gammas : float or sequence of float, length n_gammas
        In units of 1/mean(λ).
    absolute_gammas : float or sequence of float, length n_gammas, or None
        The same as absolute numbers, in place of ``gammas``.
    unit : float
        1/mean(λ).
    """
    return check_gammas(gammas) * unit if absolute_gammas is None else check_gammas(absolute_gammas)


def gamma_unit(adjacency: Graph) -> float:
    """Return the natural unit of γ without any spectrum: the mean eigenvalue is the mean strength."""
    strength = float(hub_weights(adjacency).sum(axis=0).mean())
    return 1 / strength if strength > 0 else 1.0


def _propagator(eigenvalues: FloatArray, gamma: float) -> tuple[FloatArray, FloatArray]:
    """Return γλ (cut off where a mode is dead) and exp(−γλ)."""
    with np.errstate(over="ignore"):
        decay = np.minimum(gamma * eigenvalues, _DEAD_MODE)
    return decay, np.exp(-decay)


def spectral_entropy(eigenvalues: FloatArray, absolute_gamma: float) -> FloatArray:
    """Von Neumann entropy of the density matrix (Eq. 5), in bits.

    Written as S = log₂ Z + γ⟨λ⟩/ln 2. The smallest eigenvalue of a Laplacian is 0, so exp(−γλ) lies in
    [0, 1] and Z in [1, n]: this is the log-sum-exp already shifted by its largest term, and no γ overflows.

    Parameters
    ----------
    eigenvalues : ndarray, shape (..., n)
        Laplacian spectra, nonnegative.
    absolute_gamma : float
        Diffusion time, not in units of 1/mean(λ); 0 gives log₂ n, infinity log₂ of the number of components.

    Returns
    -------
    ndarray, shape (...)
    """
    decay, propagator = _propagator(eigenvalues, absolute_gamma)
    partition = propagator.sum(axis=-1)
    energy = np.einsum("...j,...j->...", decay, propagator) / partition
    return (np.log(partition) + energy) / _LOG2


def mean_field_entropy(eigenvalues: FloatArray, absolute_gamma: float) -> FloatArray:
    """Entropy in the paper's mean-field approximation (proof of Theorem 1), in bits.

    S ≈ 2mγn²/(ln 2 (n−α)²) · (1 − α/Z) + log₂ Z, with 2m the trace of the Laplacian (twice the total weight)
    and α the number of components. The difference of two such entropies with the same m and α is Eq. 6 with
    the factor α that the last step of its proof drops: the bracket is α·ΔZ/(Z·Z_i).

    Parameters
    ----------
    eigenvalues : ndarray, shape (..., n)
    absolute_gamma : float
        Diffusion time, not in units of 1/mean(λ).

    Returns
    -------
    ndarray, shape (...)

    Notes
    -----
    The approximation orders regions, it does not measure them. Its first term sums n equal products of two
    means that are each taken over n−α modes and is then multiplied by n once more, so it is n²/(n−α) times
    what n−α modes would carry: at large γ it exceeds log₂ n, which no entropy can. This factor is the same
    for all regions and is kept as the theorem has it.
    """
    n = eigenvalues.shape[-1]
    partition = _propagator(eigenvalues, absolute_gamma)[1].sum(axis=-1)
    components = (eigenvalues == 0).sum(axis=-1)
    # Without any edge α = n: there is no mode to average over and the trace is zero.
    spread = np.maximum(n - components, 1)
    energy = absolute_gamma * eigenvalues.sum(axis=-1) * n**2 / spread**2 * (1 - components / partition)
    return (energy + np.log(partition)) / _LOG2


def _entropy_curve(eigenvalues: FloatArray, gammas: FloatArray) -> FloatArray:
    """Spectral entropy of several graphs at several γ.

    On a long, evenly spaced grid exp(−(a+b)λ) = exp(−aλ)·exp(−bλ) leaves about √n_gammas exponentials to
    compute for each eigenvalue instead of n_gammas; a matrix product does the rest.

    Parameters
    ----------
    eigenvalues : ndarray, shape (n_graphs, n)
    gammas : ndarray, shape (n_gammas,)

    Returns
    -------
    ndarray, shape (n_gammas, n_graphs)
    """
    steps = np.diff(gammas)
    if len(gammas) < _LONG_GRID or not np.allclose(steps, steps[0], rtol=1e-9, atol=0):
        return np.stack([spectral_entropy(eigenvalues, gamma) for gamma in gammas])
    n_fine = round(np.sqrt(len(gammas)))
    fine = steps[0] * np.arange(n_fine)[:, None]
    coarse = gammas[::n_fine, None]
    partition = np.empty((len(eigenvalues), len(coarse) * n_fine))
    energy = np.empty_like(partition)
    with np.errstate(over="ignore"):
        for i, spectrum in enumerate(eigenvalues):
            slow, fast = np.exp(-coarse * spectrum), np.exp(-fine * spectrum)
            partition[i] = (slow @ fast.T).ravel()
            energy[i] = ((slow * spectrum) @ fast.T).ravel()
    partition, energy = partition[:, : len(gammas)], energy[:, : len(gammas)]
    return ((np.log(partition) + gammas * energy / partition) / _LOG2).T


# Laplacian spectra of a graph and of its perturbation at every region: computed once, any diffusion time is then cheap.

# Two entropies of some bits each are equal when they differ by less; otherwise rounding would rank regions.
_BITS_OF_EIGENVALUES = 1e-13
# Eigenvalues closer than this share of the largest are one eigenvalue: their vectors are not told apart.
_SAME_EIGENVALUE = 1e-10
# Below this share of connected pairs, as among citing papers, a product over connections is much the faster one.
_SPARSE = 0.01


@dataclass(frozen=True, eq=False)
class Spectra:
    """Laplacian eigenvalues of a graph and of its perturbation at every region.

    Attributes
    ----------
    original : ndarray, shape (n,)
        Ascending, with an exact zero for each connected component.
    perturbed : ndarray, shape (n, n)
        Row i: the graph after the perturbation of region i. Ascending, or to first order in the order of the
        original eigenvalues they come from.
    perturbation : {"control", "remove"}
    """

    original: FloatArray
    perturbed: FloatArray
    perturbation: Perturbation

    @property
    def gamma_unit(self) -> float:
        """The natural unit of γ, 1/mean(λ); 1 for a graph without edges, where γ changes nothing."""
        mean = float(self.original.mean())
        return 1 / mean if mean > 0 else 1.0

    def entropy(self, gammas: _Gammas) -> FloatArray:
        """Entropy of the unperturbed graph in bits, shape (n_gammas,), with γ in units of 1/mean(λ)."""
        return _entropy_curve(self.original[None], check_gammas(gammas) * self.gamma_unit)[:, 0]

    def entropy_change(
        self, gammas: _Gammas = DEFAULT_GAMMA, *, absolute_gammas: _Gammas | None = None, mean_field: bool = False
    ) -> FloatArray:
        """ΔS = S(G_i) − S(G) in bits, with its sign.

        Parameters
        ----------
        gammas : float or sequence of float, length n_gammas
            In units of 1/mean(λ).
        absolute_gammas : float or sequence of float, length n_gammas, optional
            The same as absolute numbers, in place of ``gammas``.
        mean_field : bool
            Take both entropies in the mean-field approximation of Theorem 1.

        Returns
        -------
        ndarray, shape (n_gammas, n)
        """
        times = _diffusion_times(gammas, absolute_gammas, unit=self.gamma_unit)
        graphs = np.vstack([self.original, self.perturbed])
        if mean_field:
            entropy = np.stack([mean_field_entropy(graphs, gamma) for gamma in times])
        else:
            entropy = _entropy_curve(graphs, times)
        change = entropy[:, 1:] - entropy[:, :1]
        change[np.abs(change) < _BITS_OF_EIGENVALUES] = 0
        return change

    def spectrum_after(self, region: int) -> FloatArray:
        """Laplacian eigenvalues after the perturbation of one region, shape (n,), ascending."""
        return np.sort(self.perturbed[region])

    def knows(self, gammas: _Gammas) -> bool:
        """Whether nothing is left to measure at these γ: eigenvalues serve any."""
        return True


def control_spectra(
    adjacency: Graph, *, perturbation: Perturbation = DEFAULT_PERTURBATION, method: _SpectrumMethod = "exact"
) -> Spectra:
    """Compute the spectra behind node entanglement: the graph's own, and one for each perturbed region.

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph
    perturbation : {"control", "remove"}
    method : {"exact", "first-order"}
        Eigenvalues of every perturbed Laplacian, or first-order perturbation of the original ones.

    Returns
    -------
    Spectra
    """
    weights = hub_weights(adjacency)
    check_choice("perturbation", perturbation, get_args(Perturbation))
    check_choice("method", method, get_args(_SpectrumMethod))
    matrix = _laplacian(weights)
    if method == "exact":
        original = np.asarray(np.linalg.eigvalsh(matrix), dtype=np.float64)
        perturbed = np.tile(original, (len(weights), 1))
        for i in changed_regions(weights, perturbation):
            members, change = laplacian_change(weights, i, perturbation)
            altered = matrix.copy()
            altered[np.ix_(members, members)] += change
            perturbed[i] = np.linalg.eigvalsh(altered)
    else:
        original, vectors = np.linalg.eigh(matrix)
        perturbed = original + _first_order_shift(weights, original, vectors, perturbation)
    return Spectra(_clean_eigenvalues(original), _clean_eigenvalues(perturbed), perturbation)


def _laplacian(weights: FloatArray) -> FloatArray:
    """Strengths on the diagonal, minus the weights off it, shape (n, n)."""
    matrix = -weights
    np.fill_diagonal(matrix, weights.sum(axis=1))
    return matrix


def _clean_eigenvalues(eigenvalues: FloatArray) -> FloatArray:
    """Set to exactly zero what a solver cannot tell from zero.

    A Laplacian has one zero eigenvalue for each connected component. Rounding leaves dust of either sign,
    which a large γ would blow up, and which would be counted wrongly as components.

    Parameters
    ----------
    eigenvalues : ndarray, shape (..., n)

    Returns
    -------
    ndarray, shape (..., n)
    """
    n = eigenvalues.shape[-1]
    dust = n * np.finfo(np.float64).eps * eigenvalues.max(axis=-1, keepdims=True)
    return np.where(eigenvalues <= dust, 0.0, eigenvalues)


def _first_order_shift(
    weights: FloatArray, original: FloatArray, vectors: FloatArray, perturbation: Perturbation
) -> FloatArray:
    """How far the perturbation of each region moves the eigenvalues, to first order: v_jᵀ ΔL v_j.

    One eigendecomposition of the original graph serves all regions (Huang et al. 2024). Where an eigenvalue is repeated
    its eigenvectors are an arbitrary basis, and the first order is given by the eigenvalues of VᵀΔLV on the eigenspace;
    so the result does not depend on the order of the regions.

    Parameters
    ----------
    weights : ndarray, shape (n, n)
    original : ndarray, shape (n,)
        Eigenvalues of the Laplacian, ascending.
    vectors : ndarray, shape (n, n)
        Its eigenvectors, in columns.
    perturbation : {"control", "remove"}

    Returns
    -------
    ndarray, shape (n, n)
        Row i for region i, in the order of the eigenvalues.
    """
    shift = (_control_shift if perturbation == "control" else _remove_shift)(weights, vectors)
    # Runs of equal eigenvalues, without the zeros: on those no perturbation has any effect to first order.
    gap = _SAME_EIGENVALUE * original[-1]
    edges = np.flatnonzero(np.diff(original) > gap) + 1
    runs = [slice(*run) for run in zip(np.r_[0, edges], np.r_[edges, len(original)], strict=True)]
    repeated = [run for run in runs if run.stop - run.start > 1 and original[run.start] > gap]
    for i in changed_regions(weights, perturbation) if repeated else ():
        members, change = laplacian_change(weights, i, perturbation)
        for run in repeated:
            shift[i, run] = _shift_of_repeated(vectors[members, run], change)
    return shift


def _control_shift(weights: FloatArray, vectors: FloatArray) -> FloatArray:
    """v_jᵀ ΔL_i v_j for all regions i and eigenvectors j, where i's neighbourhood S becomes a clique.

    With m = |S| and p the weight of each pair, the clique gives p(m·Σ_S v² − (Σ_S v)²), and what was there
    before takes away Σ_S d v² − v_SᵀWv_S, d being the strengths within S.
    """
    member = (weights > 0).astype(np.float64)
    np.fill_diagonal(member, 1)
    size = member.sum(axis=1, keepdims=True)
    near = _multiplier(member)
    strength_inside = member * (near @ weights)
    # An isolated region has no pair; its strength is zero too.
    pair = strength_inside.sum(axis=1, keepdims=True) / np.maximum(size * (size - 1), 1)
    squares = vectors**2
    clique = pair * (size * (near @ squares) - (near @ vectors) ** 2)
    strengths = _multiplier(strength_inside) @ squares
    shift: FloatArray = clique - strengths + _form_inside(weights, vectors, member)
    shift[size[:, 0] <= 2] = 0  # a neighbourhood of one edge is a clique already: keep rounding out of it
    return shift


def _form_inside(weights: FloatArray, vectors: FloatArray, member: FloatArray) -> FloatArray:
    """v_jᵀWv_j with W and v_j restricted to each neighbourhood.

    Where a neighbourhood holds more than half of the regions the form is taken on all of them and the outside
    is subtracted: vᵀWv − 2v_RᵀWv + v_RᵀWv_R.
    """
    products = vectors * (_multiplier(weights) @ vectors)
    large = member.mean(axis=1) > 0.5
    forms = np.zeros_like(weights)
    forms[large] = products.sum(axis=0) - 2 * (1 - member[large]) @ products
    for i, is_large in enumerate(large):
        few = np.flatnonzero(member[i] == (0 if is_large else 1))
        local = vectors[few]
        forms[i] += np.einsum("aj,aj->j", local, weights[np.ix_(few, few)] @ local)
    return forms


def _remove_shift(weights: FloatArray, vectors: FloatArray) -> FloatArray:
    """−Σ_b w_ib (v_i − v_b)² for all regions i and eigenvectors j."""
    strength, near = weights.sum(axis=1, keepdims=True), _multiplier(weights)
    shift: FloatArray = 2 * vectors * (near @ vectors) - strength * vectors**2 - near @ vectors**2
    return shift


def _multiplier(matrix: FloatArray) -> "FloatArray | csr_array":
    """The matrix as it multiplies fastest: by its few entries, or as it is."""
    return csr_array(matrix) if np.count_nonzero(matrix) < _SPARSE * matrix.size else matrix


def _shift_of_repeated(vectors: FloatArray, change: FloatArray) -> FloatArray:
    """Eigenvalues of VᵀΔLV, shape (k,), for the k eigenvectors of a repeated eigenvalue.

    ΔL is zero outside of m regions. Where these are fewer than the eigenvectors, Vᵀ = QR gives the m eigenvalues of
    RΔLRᵀ, and the others are zero.

    Parameters
    ----------
    vectors : ndarray, shape (m, k)
        Rows of the m regions that change.
    change : ndarray, shape (m, m)
        ΔL there.
    """
    m, k = vectors.shape
    if m >= k:
        return np.asarray(np.linalg.eigvalsh(vectors.T @ change @ vectors), dtype=np.float64)
    triangle = np.asarray(np.linalg.qr(vectors.T, mode="r"), dtype=np.float64)
    return np.sort(np.append(np.linalg.eigvalsh(triangle @ change @ triangle.T), np.zeros(k - m)))


# Exact entropies of a graph and of its perturbation at every region, from resolvents.

# γλ up to which resolvents are exact: beyond it rounding of a zero eigenvalue counts, which eigenvalues are cleaned of.
_LARGEST_DECAY = 1e4
# Two entropies that differ by less are equal; otherwise rounding would rank regions.
_BITS_OF_ENTROPY = 1e-12


@dataclass(frozen=True, eq=False)
class _Resolvents:
    """A graph whose perturbed entropies are taken from its resolvents, and are remembered.

    Attributes
    ----------
    weights : ndarray, shape (n, n)
    original : ndarray, shape (n,)
        Laplacian eigenvalues, ascending, with an exact zero for each connected component.
    vectors : ndarray, shape (n, n)
        Their eigenvectors, in columns.
    perturbation : {"control", "remove"}
    """

    weights: FloatArray
    original: FloatArray
    vectors: FloatArray
    perturbation: Perturbation
    _known: dict[float, FloatArray] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, adjacency: Graph, *, perturbation: Perturbation = DEFAULT_PERTURBATION) -> "_Resolvents":
        """Take the one eigendecomposition that is needed.

        Parameters
        ----------
        adjacency : ndarray, shape (n, n), or BrainGraph
        perturbation : {"control", "remove"}
        """
        check_choice("perturbation", perturbation, get_args(Perturbation))
        weights = hub_weights(adjacency)
        eigenvalues, vectors = np.linalg.eigh(_laplacian(weights))
        return cls(weights, _clean_eigenvalues(eigenvalues), vectors, perturbation)

    @cached_property
    def gamma_unit(self) -> float:
        """The natural unit of γ, 1/mean(λ)."""
        return gamma_unit(self.weights)

    def spectrum_after(self, region: int) -> FloatArray:
        """Laplacian eigenvalues after the perturbation of one region, shape (n,), ascending."""
        matrix = _laplacian(self.weights)
        if region in changed_regions(self.weights, self.perturbation):
            members, change = laplacian_change(self.weights, region, self.perturbation)
            matrix[np.ix_(members, members)] += change
        return _clean_eigenvalues(np.asarray(np.linalg.eigvalsh(matrix), dtype=np.float64))

    def entropy(self, gammas: _Gammas) -> FloatArray:
        """Entropy of the unperturbed graph in bits, shape (n_gammas,), with γ in units of 1/mean(λ)."""
        times = check_gammas(gammas) * self.gamma_unit
        return np.array([spectral_entropy(self.original, time) for time in times])

    def entropy_change(self, gammas: _Gammas = DEFAULT_GAMMA, *, absolute_gammas: _Gammas | None = None) -> FloatArray:
        """ΔS = S(G_i) − S(G) in bits, with its sign.

        Parameters
        ----------
        gammas : float or sequence of float, length n_gammas
            In units of 1/mean(λ).
        absolute_gammas : float or sequence of float, length n_gammas, optional
            The same as absolute numbers, in place of ``gammas``.

        Returns
        -------
        ndarray, shape (n_gammas, n)
        """
        times = _diffusion_times(gammas, absolute_gammas, unit=self.gamma_unit)
        self._measure(np.unique([time for time in times if time not in self._known]))
        return np.stack([self._known[time] for time in times])

    def knows(self, gammas: _Gammas) -> bool:
        """Whether nothing is left to measure at these γ, in units of 1/mean(λ)."""
        return all(time in self._known for time in check_gammas(gammas) * self.gamma_unit)

    def _measure(self, times: FloatArray) -> None:
        with np.errstate(over="ignore"):
            long = times * self.original[-1] > _LARGEST_DECAY
        if long.any():
            self._known.update(zip(times[long], self._spectra.entropy_change(absolute_gammas=times[long]), strict=True))
        short = times[~long & (times > 0)]
        if len(short):
            self._known.update(zip(short, self._changes(short), strict=True))
        if (times == 0).any():
            self._known[0.0] = np.zeros(len(self.weights))

    def _changes(self, times: FloatArray) -> FloatArray:
        added, moved = trace_changes(self.weights, self.original, self.vectors, times, perturbation=self.perturbation)
        decay = times[:, None] * self.original
        partition = np.exp(-decay).sum(axis=1, keepdims=True)
        energy = (decay * np.exp(-decay)).sum(axis=1, keepdims=True)
        after = (energy + moved) / (partition + added)
        change: FloatArray = (np.log1p(added / partition) + after - energy / partition) / np.log(2)
        change[np.abs(change) < _BITS_OF_ENTROPY] = 0
        return change

    @cached_property
    def _spectra(self) -> Spectra:
        return control_spectra(self.weights, perturbation=self.perturbation)


PerturbedGraphs = Spectra | _Resolvents


def perturbed_graphs(
    adjacency: Graph,
    gammas: _Gammas = GAMMAS,
    *,
    absolute_gammas: _Gammas | None = None,
    perturbation: Perturbation = DEFAULT_PERTURBATION,
) -> PerturbedGraphs:
    """Prepare the exact entropies of a graph and its perturbations, by whichever of two ways takes less.

    By eigenvalues it is one eigenvalue problem for each region, then any diffusion time; by resolvents one eigenvalue
    problem in all, then a little for each diffusion time. Both give the same entropies to 1e-10 bits.

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph
    gammas : float or sequence of float, length n_gammas
        That will be asked for, in units of 1/mean(λ); any other can be asked for too.
    absolute_gammas : float or sequence of float, length n_gammas, optional
        The same as absolute numbers, in place of ``gammas``.
    perturbation : {"control", "remove"}
    """
    weights = hub_weights(adjacency)
    if resolvents_are_cheaper(weights, _diffusion_times(gammas, absolute_gammas, unit=gamma_unit(weights))):
        return _Resolvents.of(weights, perturbation=perturbation)
    return control_spectra(weights, perturbation=perturbation)


def node_entanglement(
    adjacency: Graph,
    *,
    gamma: float = DEFAULT_GAMMA,
    absolute_gamma: float | None = None,
    perturbation: Perturbation = DEFAULT_PERTURBATION,
    method: EntanglementMethod = "exact",
    signed: bool = False,
) -> FloatArray:
    """Node entanglement of every region, at one diffusion time; of many, :func:`perturbed_graphs` shares the work.

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph
        Symmetric, nonnegative, zero diagonal.
    gamma : float
        Diffusion time in units of 1/mean(λ), λ the Laplacian eigenvalues.
    absolute_gamma : float, optional
        The same as an absolute number, in place of ``gamma``.
    perturbation : {"control", "remove"}
        ``control``: i's closed neighbourhood becomes a clique of the same total weight (each pair of i and its
        k neighbours gets 2W/(k(k+1))). ``remove``: i loses its edges and stays as an isolated node.
    method : {"exact", "first-order", "mean-field"}
        The entropy of every perturbed graph, from its eigenvalues or from resolvents of the graph, whichever takes less
        (:mod:`biobgt.hubs.entanglement`); first-order perturbation of the graph's eigenvalues; or Theorem 1 with
        its factor α put right (see :func:`biobgt.hubs.mean_field_entropy` for what it is worth).
    signed : bool
        Keep the sign of ΔS = S(G_i) − S(G).

    Returns
    -------
    ndarray, shape (n,)
        In bits.

    Notes
    -----
    An isolated or silent region has NE 0, and so has, under ``control``, a region with one neighbour and every
    region of a complete graph with equal weights. A graph without edges has NE 0 everywhere.
    """
    check_choice("method", method, get_args(EntanglementMethod))
    if method == "exact":
        exact = perturbed_graphs(adjacency, gamma, absolute_gammas=absolute_gamma, perturbation=perturbation)
        change = exact.entropy_change(gamma, absolute_gammas=absolute_gamma)[0]
    else:
        spectra = control_spectra(
            adjacency, perturbation=perturbation, method="first-order" if method == "first-order" else "exact"
        )
        change = spectra.entropy_change(gamma, absolute_gammas=absolute_gamma, mean_field=method == "mean-field")[0]
    return change if signed else np.abs(change)


# Vertex entanglement (VE) of Huang, Wang, Ren & Lü, Communications Physics 7:19 (2024).
#
# VE(i) = min over β of S(G_i) − S(G), with the control graph's eigenvalues to first order. It is the source of the
# paper's node entanglement, and differs from it: VE keeps the sign, looks at all diffusion times and takes the lowest.
# The key players are the regions with the *most negative* VE.


def vertex_entanglement(adjacency: Graph) -> FloatArray:
    """Vertex entanglement of every region, in bits; the most negative regions are the key players.

    Parameters
    ----------
    adjacency : ndarray, shape (n, n), or BrainGraph
        Symmetric, nonnegative, zero diagonal.

    Returns
    -------
    ndarray, shape (n,)
        0 or less: the minimum is over the β of :func:`default_betas`, which start at 0 where nothing differs.
    """
    spectra = control_spectra(adjacency, method="first-order")
    lowest: FloatArray = spectra.entropy_change(absolute_gammas=default_betas(spectra.original)).min(axis=0)
    return lowest


def default_betas(eigenvalues: FloatArray) -> FloatArray:
    """Huang's grid: 100 values from 0 to 5/λ₊ and 100 from there to 10/λ₊, the shared one once.

    Parameters
    ----------
    eigenvalues : ndarray, shape (n,)
        Laplacian spectrum with exact zeros; λ₊ is its smallest non-zero value.

    Returns
    -------
    ndarray, shape (199,), or (1,) with the value 0 for a graph without edges
    """
    nonzero = eigenvalues[eigenvalues > 0]
    if not len(nonzero):
        return np.zeros(1)
    middle = 5 / nonzero.min()
    return np.concatenate([np.linspace(0, middle, 100), np.linspace(middle, 2 * middle, 100)[1:]])
