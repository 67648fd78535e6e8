"""How much each network counts in a model: its regions' weights, by functional network."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

UNLABELLED = "no network"


def network_weights(weights: NDArray[np.float32], labels: Sequence[str | None]) -> pd.DataFrame:
    """Mean weight of every network's regions.

    Parameters
    ----------
    weights : ndarray, shape (n_members, n_regions)
        Around 1; see :func:`biobgt.model.pretrained.load_region_weights`.
    labels : sequence of str or None, length n_regions

    Returns
    -------
    DataFrame
        ``network``, ``regions``, ``weight`` (mean over members), ``lowest`` and ``highest`` (of any member), sorted by
        weight, the largest first.
    """
    networks = np.array([label or UNLABELLED for label in labels])
    rows = []
    for network in dict.fromkeys(networks.tolist()):
        inside = networks == network
        of_members = weights[:, inside].astype(np.float64).mean(axis=1)
        rows.append((network, int(inside.sum()), of_members.mean(), of_members.min(), of_members.max()))
    table = pd.DataFrame(rows, columns=["network", "regions", "weight", "lowest", "highest"])
    return table.sort_values("weight", ascending=False, ignore_index=True)


def network_table(weights: NDArray[np.float32], labels: Sequence[str | None]) -> pd.DataFrame:
    """:func:`network_weights` in words."""
    found = network_weights(weights, labels)
    return pd.DataFrame(
        {
            "Network": found["network"],
            "Regions": found["regions"].map(str),
            "Weight": found["weight"].map("{:.2f}".format),
            "Over members": [f"{low:.2f} to {high:.2f}" for low, high in found[["lowest", "highest"]].to_numpy()],
        }
    )
