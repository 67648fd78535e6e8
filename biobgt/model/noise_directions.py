"""Where white noise moves a subject: directions of log-Euclidean connectivity that a model can be told not to look at.

Noise of variance v on z-scored series divides all correlations by 1 + v on average, which is the same as mixing them
with more of the identity. A cohort's mean therefore moves along a curve, from itself to nothing, that can be computed
from correlations alone. A readout that looks along that curve takes every noisy scan for the group with the weaker
connections; one that is blind to it does not. Sampling error, which noise adds too, has no direction.
"""

import torch
from torch import Tensor

from biobgt.model.presets import MOST_NOISE_DIRECTIONS, Preset

# What is left of a correlation without noise and with noise of SD 1, 2 and 4.
FADED = (1.0, 1 / 2, 1 / 5, 1 / 17)
assert len(FADED) == MOST_NOISE_DIRECTIONS
_AT_ONCE = 64


def noise_directions(correlations: Tensor, preset: Preset) -> Tensor:
    """Orthonormal directions spanned by the mean logarithm at the first few strengths of noise.

    Parameters
    ----------
    correlations : Tensor, shape (n_subjects, n_regions, n_regions)
        Of training subjects; the diagonal is taken as 1.
    preset : Preset

    Returns
    -------
    Tensor, shape (n_regions ** 2, preset.noise_directions)
    """
    n = correlations.shape[1]
    shares = [(1 - preset.shrinkage) * faded for faded in FADED[: preset.noise_directions]]
    sums = torch.zeros(len(shares), n, n, dtype=torch.float64)
    for part in torch.split(correlations, _AT_ONCE):
        whole = part.clone()
        whole.diagonal(dim1=1, dim2=2).fill_(1)
        values, vectors = torch.linalg.eigh(whole)
        for total, share in zip(sums, shares, strict=True):
            logarithms = torch.log(share * values.clamp(min=0) + 1 - share)
            total += ((vectors * logarithms[:, None, :]) @ vectors.transpose(1, 2)).sum(dim=0).cpu()
    basis, _ = torch.linalg.qr(sums.flatten(1).T)
    return basis.to(correlations)
