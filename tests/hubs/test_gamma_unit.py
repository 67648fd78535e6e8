import numpy as np
import pytest

from biobgt.hubs import control_spectra, gamma_unit


def test_the_unit_of_gamma_is_one_over_the_mean_eigenvalue(rng):
    weights = np.triu(rng.uniform(size=(12, 12)), 1)
    weights += weights.T
    assert gamma_unit(weights) == pytest.approx(control_spectra(weights).gamma_unit)
    assert gamma_unit(np.zeros((3, 3))) == 1
