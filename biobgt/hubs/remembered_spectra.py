"""Spectra that remember the change of entropy at every γ they were asked for, for those who move γ to and fro."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from biobgt.hubs.entropy import check_gammas
from biobgt.hubs.spectra import Spectra


@dataclass(frozen=True, eq=False)
class RememberedSpectra(Spectra):
    """Spectra whose exact changes of entropy are computed once a γ."""

    known: dict[float, NDArray[np.float64]] = field(default_factory=dict)

    def entropy_change(self, gammas: float | NDArray[np.float64], *, mean_field: bool = False) -> NDArray[np.float64]:
        """ΔS = S(G_i) − S(G) in bits, with its sign, shape (n_gammas, n)."""
        if mean_field:
            return super().entropy_change(gammas, mean_field=True)
        times = check_gammas(gammas).tolist()
        new = [gamma for gamma in dict.fromkeys(times) if gamma not in self.known]
        if new:
            self.known.update(zip(new, super().entropy_change(np.array(new)), strict=True))
        return np.stack([self.known[gamma] for gamma in times])
