"""A small demo cohort, and a request of every figure that can be made of it."""

from biobgt.export import CohortRef, FigureRequest
from biobgt.figures.register import all_figures

DEMO = CohortRef("ad", demo=True, n_per_group=2, seed=3)
SUBJECT = "sim-AD-002"
MODEL = "adsim-aal90"
OPTIONS = {
    "hub_curves": {"group": True, "scale": "rank", "n_random": 50, "seed": 4},
    "gamma_sweep": {"gammas": (0.1, 1.0)},
    "resolution_sweep": {"resolutions": (0.8, 1.0), "runs": 2},
    "modularity_against_chance": {"null_graphs": 2},
    "small_worldness": {"null_graphs": 2},
    "specification_curve": {"first": "NC", "second": "AD", "permutations": 99, "most": 4},
    "subject_specification_curve": {"most": 4},
    "group_module_brain": {"first": "NC", "second": "AD"},
    "group_module_flow": {"first": "NC", "second": "AD"},
    "group_differences": {"first": "NC", "second": "AD", "permutations": 20},
    "connectivity_difference": {"first": "NC", "second": "AD"},
    "connection_differences": {"first": "NC", "second": "AD", "permutations": 20},
    "group_means": {"first": "NC", "second": "AD", "permutations": 20, "measure": "degree"},
    "group_mean_brains": {"first": "NC", "second": "AD", "permutations": 20, "measure": "degree"},
    "group_module_brains": {"first": "NC", "second": "AD"},
    "group_difference_brain": {"first": "NC", "second": "AD", "permutations": 20, "measure": "degree"},
}


def request_of(figure, ref=DEMO, **options):
    subject = SUBJECT if all_figures()[figure].of_subject else None
    return FigureRequest(figure, ref, subject, options=OPTIONS.get(figure, {}) | options)
