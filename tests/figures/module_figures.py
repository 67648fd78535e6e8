"""Figures of modules, drawn of a few numbers that one can check by hand."""

from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
from hub_figures import measured_of

from biobgt.figures import modules as family
from biobgt.modules.measures import NamedModuleOptions


def heatmap_of(modules, names, *, matrix=None, q=0.5, resolution=1.0, **about):
    """Connectivity by module, and the matrix that it is made of."""
    n = len(modules)
    matrix = np.arange(n * n, dtype=float).reshape(n, n) if matrix is None else matrix
    found = SimpleNamespace(partition=SimpleNamespace(labels=np.array(modules), q=q))
    results = {"connectivity": lambda: matrix, "quantity": "r", "modules": lambda options: found}
    measured = measured_of([f"R{i}" for i in range(n)], **results, **about)
    with patch.object(family, "named_modules", return_value=names):
        return matrix, family.module_heatmap(measured, NamedModuleOptions(resolution=resolution))
