"""The terms of this project, each explained once: in a few words, in a paragraph, and with the work to cite.

The documentation's glossary is made of the register :data:`GLOSSARY`. A page that uses a term may show its ``short``
explanation beside it. A hub measure or a module measure is defined in its own register; here it has its plain words.
"""

from dataclasses import dataclass

from biobgt.references import Citation
from biobgt.registry import Registry


@dataclass(frozen=True)
class Term:
    """A term and what it means.

    Attributes
    ----------
    key : str
        For links: the anchor on the page of the documentation.
    term : str
        As texts write it.
    short : str
        One sentence, for a tooltip.
    definition : str
        What a reader needs to know beyond that, in a few sentences.
    citations : tuple of Citation
    """

    key: str
    term: str
    short: str
    definition: str
    citations: tuple[Citation, ...] = ()


GLOSSARY: Registry[Term] = Registry(
    "term",
    Term(
        "agreement",
        "agreement (ρ)",
        "Spearman's rank correlation of two hub measures over the regions of one brain graph.",
        "It is 1 where two measures put the regions in the same order, and 0 where the orders have nothing in common. "
        "Agreement given strength and degree is the partial rank correlation: what is left when both measures are "
        "adjusted for how strongly and to how many others a region is connected.",
    ),
    Term(
        "ami",
        "AMI",
        "Adjusted mutual information: how well two divisions into modules agree, 1 for equal, about 0 by chance.",
        "It compares a subject's Louvain modules with functional networks, or the modules of two groups. Unlike plain "
        "mutual information it does not grow with the number of modules. ARI and VI answer the same question in other "
        "units.",
        ("vinh2010",),
    ),
    Term(
        "atlas",
        "atlas",
        "A division of the brain into named regions; one column of region series for each.",
        "A number of regions does not identify an atlas, because several have the same number. Region names, a known "
        "layout, the file name or the user decide. An atlas with coordinates can be drawn on a brain.",
    ),
    Term(
        "attention",
        "attention",
        "How much a trained model mixes what region j says into region i; the weights of one region sum to 1.",
        "One map per layer and head, of which figures show one or the mean. A row says where a region looks, a column "
        "which regions look at it. Attention of the models here is mostly functional connectivity, and changes little "
        "of what they predict: it shows what the model was given, and is no explanation of a disease.",
        ("peng2025",),
    ),
    Term(
        "brain-graph",
        "brain graph",
        "Regions as nodes, and their connections that pass the threshold as weighted edges.",
        "It is made of a connectivity matrix by a sign rule and a threshold. Hubs and modules are measured on it, "
        "except FC strength and system segregation, which use the full matrix.",
        ("rubinov2010",),
    ),
    Term(
        "calibration",
        "calibration",
        "Whether a probability of 70 % is right in 70 % of the cases.",
        "The expected calibration error (ECE) is the mean distance between claimed probabilities and observed shares. "
        "It is never exactly 0 in a finite sample, so that model cards give the value expected by chance beside it.",
    ),
    Term(
        "consensus",
        "consensus modules",
        "The division that many runs of Louvain, or many subjects of a group, agree on.",
        "Louvain finds another division with every run. The consensus counts how often two regions share a module, "
        "keeps what is more frequent than by chance, and divides again until all runs agree.",
        ("lancichinetti2012",),
    ),
    Term(
        "control-graph",
        "control graph",
        "The graph after a region's neighbourhood was replaced by a clique of the same total weight.",
        "The region and its k neighbours, with total weight W among them, are all connected to each other by "
        "2W/(k(k+1)). Everything else stays. Node entanglement compares the entropy of this graph with that of the "
        "original. The other perturbation, *remove*, takes the region's connections away.",
        ("huang2024",),
    ),
    Term(
        "covariate",
        "covariate",
        "What else may differ between two groups, such as motion, age, sex or site, and is adjusted for.",
        "A comparison of groups fits the covariates in a linear model and asks what the group adds. Every number takes "
        "one degree of freedom, and sites or other words take one for each value but the first. Where a covariate says "
        "which group a person is of, no test can tell the two apart.",
        ("freedman1983",),
    ),
    Term(
        "effect-size",
        "effect size (d)",
        "The difference of two groups in residual standard deviations; without covariates it is Cohen's d.",
        "The residual standard deviation is what is left of the spread between people when group and covariates are "
        "fitted. With few residual degrees of freedom d overstates a true effect.",
    ),
    Term(
        "fc-strength",
        "FC strength",
        "The mean connectivity of a region with all others, negative values included.",
        "It needs no threshold. Whether the global signal was regressed out changes it more than anything else.",
        ("rubinov2010",),
    ),
    Term(
        "fdr",
        "FDR (q)",
        "False discovery rate: the expected share of false findings among all that are called significant.",
        "A q of 0.05 or less means that, of all features with such a q or a lower one, about 5 % are expected to be "
        "false. It is computed over all features of one comparison.",
        ("benjamini1995",),
    ),
    Term(
        "first-order",
        "first-order NE",
        "Node entanglement from a first-order change of the eigenvalues instead of the perturbed graph's own.",
        "It is faster and ranks regions much as the exact values do. Models use it; the app and the tables use exact "
        "values.",
        ("huang2024",),
    ),
    Term(
        "gamma",
        "γ",
        "The diffusion time of node entanglement, in units of 1/mean(λ).",
        "λ are the eigenvalues of the graph's Laplacian, so that γ = 1 means the same in weak and strong graphs. A "
        "small γ looks at a region's surroundings, a large γ at the whole brain. Which regions are hubs depends on γ: "
        "look at the sweep before you choose one.",
        ("huang2024",),
    ),
    Term(
        "global-signal",
        "global signal",
        "The mean of all regions' series.",
        "Regressing it out removes what all regions share, makes about half of the correlations negative, and changes "
        "which measures agree with FC strength. Subjects with and without it should not be mixed.",
    ),
    Term(
        "hub",
        "hub",
        "A region that matters more than others for the whole network, by a measure that you choose.",
        "Each measure calls its own highest regions hubs: the top share, or those more than one standard deviation "
        "above the mean. Measures differ in which regions these are.",
        ("rubinov2010",),
    ),
    Term(
        "laplacian",
        "Laplacian (λ)",
        "The matrix of degrees minus weights; its eigenvalues λ say how fast a signal spreads over the graph.",
        "L = D − A, with the strengths of regions on the diagonal. As many eigenvalues are 0 as the graph has "
        "separate parts.",
    ),
    Term(
        "louvain",
        "Louvain",
        "A method that divides a graph into modules by making modularity Q as large as it can.",
        "It starts from chance, so that a seed is part of the result. The best of several runs is shown, or their "
        "consensus.",
        ("blondel2008",),
    ),
    Term(
        "modularity",
        "modularity (Q)",
        "The share of connection weight within modules, beyond what is expected at random.",
        "Random graphs have a Q above 0 too, because Louvain looks for the best division. So Q is compared with that "
        "of graphs with the same degrees and strengths.",
        ("newman2004", "guimera2004"),
    ),
    Term(
        "ne",
        "NE",
        "Node entanglement: how much the entropy of the whole graph changes when one region is perturbed, in bits.",
        "It is the node importance of the BioBGT paper. In real subjects it agrees with node efficiency at some "
        "diffusion times, but at γ up to 10 hardly beyond what strength and degree explain (at γ = 30 a weak "
        "correlation is left where the global signal was regressed out), and it is less reliable than node "
        "efficiency.",
        ("peng2025", "huang2024"),
    ),
    Term(
        "neff",
        "NEff",
        "Node efficiency: how close a region is, on average, to all others along the strongest paths.",
        "The mean of 1/distance to all other regions, where a connection of weight w has length 1/w. Its mean over "
        "regions is the global efficiency of the graph.",
        ("latora2001",),
    ),
    Term(
        "null-graph",
        "null graph",
        "A random graph in which every region keeps its degree and, closely, its strength.",
        "What null graphs show as well is explained by degrees and strengths, and is no evidence of anything else.",
        ("maslov2002",),
    ),
    Term(
        "out-of-fold",
        "out of fold",
        "Said of a subject's prediction by a model from whose training that subject was left out.",
        "Results on model cards are out of fold. Several recordings of one person are never split between training "
        "and test.",
    ),
    Term(
        "participation",
        "participation",
        "How evenly a region's connections spread over the modules, from 0 (one module) towards 1.",
        "With within-module z it says which role a region has: a connector hub has many connections within its module "
        "and to others, a provincial hub only within.",
        ("guimera2005",),
    ),
    Term(
        "region-series",
        "region series",
        "The mean fMRI signal of each region over time: one row per time point, one column per region.",
        "Preprocessing, such as motion correction, filtering and confounds, is done before. A file does not say which "
        "of its axes is time, so that this is asked where nothing else decides it.",
    ),
    Term(
        "resolution",
        "resolution",
        "Louvain's setting for how fine the modules are: above 1 more and smaller ones, below 1 fewer and larger.",
        "There is no right value. The sweep shows at which values the division is stable.",
    ),
    Term(
        "residual-degrees",
        "residual degrees of freedom",
        "Number of people minus what the intercept, the group and the covariates take.",
        "With fewer than ten, a comparison that is adjusted for covariates is refused, because its effect sizes would "
        "be inflated; the page and the command line then say which covariate takes most.",
    ),
    Term(
        "simulated",
        "simulated",
        "Drawn by this program, and not measured on any person.",
        "Demo subjects, and all subjects with MCI or AD in the models adsim-aal90 and five-groups-aal90, are "
        "simulated. They show how things work and are evidence of nothing.",
    ),
    Term(
        "spectral-entropy",
        "spectral entropy",
        "How evenly diffusion spreads over all ways in which a signal can decay on the graph, in bits.",
        "The von Neumann entropy of ρ = exp(−γL)/Z, where Z makes the trace 1.",
        ("huang2024",),
    ),
    Term(
        "system-segregation",
        "system segregation",
        "(within − between) / within: how much stronger connectivity is within modules than between them.",
        "Of the mean Fisher-z connectivity, in the full matrix.",
        ("chan2014",),
    ),
    Term(
        "tangent-space",
        "tangent space",
        "Connectivity as the difference to the cohort's mean, measured along the curved space of such matrices.",
        "A subject's tangent matrix depends on who else is in the cohort, and is no correlation. It separates groups "
        "better than plain correlations do.",
        ("abraham2014",),
    ),
    Term(
        "threshold",
        "threshold",
        "Which connections of the matrix become edges of the brain graph.",
        "A weight keeps connections at least that strong, so that graphs of different subjects have different "
        "numbers of edges; a share keeps as many in every subject, however weak they are.",
        ("rubinov2010",),
    ),
    Term(
        "ve",
        "VE",
        "Vertex entanglement: the lowest signed change of entropy over all diffusion times; hubs have low values.",
        "It is the measure of Huang et al. from which node entanglement was made, and needs no choice of γ.",
        ("huang2024",),
    ),
    Term(
        "within-module-z",
        "within-module z",
        "A region's strength within its module, in standard deviations above the module's mean.",
        "From a limit upwards a region is called a hub of its module.",
        ("guimera2005",),
    ),
)


def sorted_terms() -> list[Term]:
    """All terms in the order of a dictionary; γ stands where "gamma" would."""
    return sorted(GLOSSARY.values(), key=lambda one: one.key)
