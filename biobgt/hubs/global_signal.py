"""When FC strength has little to say: where the mean correlation is near zero, as after global-signal regression.

Regressing the global signal out pulls the mean over all connections of every region towards zero. What is left of FC
strength, the mean with signs, is then the small remainder of large positive and negative parts, and an agreement with
it, or a lack of one, says little about hubs.
"""

# Between two cohorts: the mean correlation was below 0.051 in all of 899 ABIDE subjects, whose global signal was
# regressed out, and above 0.062 in all of 240 CNI-2019 subjects, whose was not (assets/studies/beyond_strength.py).
LITTLE_MEAN_CONNECTIVITY = 0.056


def has_little_fc_strength(mean_connectivity: float) -> bool:
    """Whether a subject's mean correlation over all pairs of regions is too near zero for FC strength to mean much."""
    return mean_connectivity < LITTLE_MEAN_CONNECTIVITY
