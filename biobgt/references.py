"""Works to cite: BibTeX entries by key, and the short form for the methods text."""

from collections.abc import Iterable

from biobgt.cited_work import Reference, article
from biobgt.labellings import FUNCTIONAL_LABELLINGS
from biobgt.registry import Registry

# A measure or a figure cites a work of the register by its key, and any other by the work itself.
Citation = str | Reference


REFERENCES: Registry[Reference] = Registry(
    "work to cite",
    Reference(
        "peng2025",
        "Peng et al. 2025",
        "inproceedings",
        {
            "author": "Peng, Ciyuan and Huang, Yuelong and Dong, Qichao and Yu, Shuo and Xia, Feng and "
            "Zhang, Chengqi and Jin, Yaochu",
            "title": "Biologically Plausible Brain Graph Transformer",
            "booktitle": "International Conference on Learning Representations",
            "year": "2025",
        },
    ),
    article(
        "huang2024",
        "Huang et al. 2024",
        r"Huang, Yiming and Wang, Hao and Ren, Xiao-Long and L{\"u}, Linyuan",
        "Identifying key players in complex networks via network entanglement",
        "Communications Physics",
        "7",
        "19",
        "10.1038/s42005-023-01483-8",
    ),
    article(
        "latora2001",
        "Latora and Marchiori 2001",
        "Latora, Vito and Marchiori, Massimo",
        "Efficient Behavior of Small-World Networks",
        "Physical Review Letters",
        "87",
        "198701",
        "10.1103/PhysRevLett.87.198701",
    ),
    article(
        "blondel2008",
        "Blondel et al. 2008",
        "Blondel, Vincent D. and Guillaume, Jean-Loup and Lambiotte, Renaud and Lefebvre, Etienne",
        "Fast unfolding of communities in large networks",
        "Journal of Statistical Mechanics: Theory and Experiment",
        "2008",
        "P10008",
        "10.1088/1742-5468/2008/10/P10008",
    ),
    article(
        "rubinov2010",
        "Rubinov and Sporns 2010",
        "Rubinov, Mikail and Sporns, Olaf",
        "Complex network measures of brain connectivity: Uses and interpretations",
        "NeuroImage",
        "52",
        "1059--1069",
        "10.1016/j.neuroimage.2009.10.003",
    ),
    article(
        "rubinov2011",
        "Rubinov and Sporns 2011",
        "Rubinov, Mikail and Sporns, Olaf",
        "Weight-conserving characterization of complex functional brain networks",
        "NeuroImage",
        "56",
        "2068--2079",
        "10.1016/j.neuroimage.2011.03.069",
    ),
    article(
        "lancichinetti2012",
        "Lancichinetti and Fortunato 2012",
        "Lancichinetti, Andrea and Fortunato, Santo",
        "Consensus clustering in complex networks",
        "Scientific Reports",
        "2",
        "336",
        "10.1038/srep00336",
    ),
    article(
        "guimera2005",
        "Guimerà and Amaral 2005",
        r"Guimer{\`a}, Roger and Amaral, Lu{\'\i}s A. Nunes",
        "Functional cartography of complex metabolic networks",
        "Nature",
        "433",
        "895--900",
        "10.1038/nature03288",
    ),
    article(
        "guimera2004",
        "Guimerà et al. 2004",
        r"Guimer{\`a}, Roger and Sales-Pardo, Marta and Amaral, Lu{\'\i}s A. Nunes",
        "Modularity from fluctuations in random graphs and complex networks",
        "Physical Review E",
        "70",
        "025101",
        "10.1103/PhysRevE.70.025101",
    ),
    article(
        "humphries2008",
        "Humphries and Gurney 2008",
        "Humphries, Mark D. and Gurney, Kevin",
        "Network 'Small-World-Ness': A Quantitative Method for Determining Canonical Network Equivalence",
        "PLoS ONE",
        "3",
        "e0002051",
        "10.1371/journal.pone.0002051",
    ),
    article(
        "telesford2011",
        "Telesford et al. 2011",
        "Telesford, Qawi K. and Joyce, Karen E. and Hayasaka, Satoru and Burdette, Jonathan H. and Laurienti, Paul J.",
        "The Ubiquity of Small-World Networks",
        "Brain Connectivity",
        "1",
        "367--375",
        "10.1089/brain.2011.0038",
    ),
    article(
        "onnela2005",
        "Onnela et al. 2005",
        r"Onnela, Jukka-Pekka and Saram{\"a}ki, Jari and Kert{\'e}sz, J{\'a}nos and Kaski, Kimmo",
        "Intensity and coherence of motifs in weighted complex networks",
        "Physical Review E",
        "71",
        "065103",
        "10.1103/PhysRevE.71.065103",
    ),
    article(
        "sporns2004",
        "Sporns and Zwi 2004",
        "Sporns, Olaf and Zwi, Jonathan D.",
        "The Small World of the Cerebral Cortex",
        "Neuroinformatics",
        "2",
        "145--162",
        "10.1385/NI:2:2:145",
    ),
    article(
        "maslov2002",
        "Maslov and Sneppen 2002",
        "Maslov, Sergei and Sneppen, Kim",
        "Specificity and Stability in Topology of Protein Networks",
        "Science",
        "296",
        "910--913",
        "10.1126/science.1065103",
    ),
    article(
        "newman2004",
        "Newman and Girvan 2004",
        "Newman, Mark E. J. and Girvan, Michelle",
        "Finding and Evaluating Community Structure in Networks",
        "Physical Review E",
        "69",
        "026113",
        "10.1103/PhysRevE.69.026113",
    ),
    article(
        "chan2014",
        "Chan et al. 2014",
        "Chan, Micaela Y. and Park, Denise C. and Savalia, Neil K. and Petersen, Steven E. and Wig, Gagan S.",
        "Decreased Segregation of Brain Systems across the Healthy Adult Lifespan",
        "Proceedings of the National Academy of Sciences",
        "111",
        "E4997--E5006",
        "10.1073/pnas.1415122111",
    ),
    article(
        "hubert1985",
        "Hubert and Arabie 1985",
        "Hubert, Lawrence and Arabie, Phipps",
        "Comparing Partitions",
        "Journal of Classification",
        "2",
        "193--218",
        "10.1007/BF01908075",
    ),
    article(
        "meila2007",
        "Meilă 2007",
        "Meil{\\u{a}}, Marina",
        "Comparing Clusterings: An Information Based Distance",
        "Journal of Multivariate Analysis",
        "98",
        "873--895",
        "10.1016/j.jmva.2006.11.013",
    ),
    article(
        "vinh2010",
        "Vinh et al. 2010",
        "Vinh, Nguyen Xuan and Epps, Julien and Bailey, James",
        "Information Theoretic Measures for Clusterings Comparison: Variants, Properties, Normalization and Correction "
        "for Chance",
        "Journal of Machine Learning Research",
        "11",
        "2837--2854",
        "",
    ),
    article(
        "alexanderbloch2012",
        "Alexander-Bloch et al. 2012",
        "Alexander-Bloch, Aaron and others",
        "The discovery of population differences in network community structure: New methods and applications to brain "
        "functional networks in schizophrenia",
        "NeuroImage",
        "59",
        "3889--3900",
        "10.1016/j.neuroimage.2011.11.035",
    ),
    article(
        "freedman1983",
        "Freedman and Lane 1983",
        "Freedman, David and Lane, David",
        "A Nonstochastic Interpretation of Reported Significance Levels",
        "Journal of Business \\& Economic Statistics",
        "1",
        "292--298",
        "10.1080/07350015.1983.10509354",
    ),
    article(
        "benjamini1995",
        "Benjamini and Hochberg 1995",
        "Benjamini, Yoav and Hochberg, Yosef",
        "Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple Testing",
        "Journal of the Royal Statistical Society: Series B (Methodological)",
        "57",
        "289--300",
        "10.1111/j.2517-6161.1995.tb02031.x",
    ),
    article(
        "dosenbach2010",
        "Dosenbach et al. 2010",
        "Dosenbach, Nico U. F. and others",
        "Prediction of Individual Brain Maturity Using {fMRI}",
        "Science",
        "329",
        "1358--1361",
        "10.1126/science.1194144",
    ),
    article(
        "dimartino2014",
        "Di Martino et al. 2014",
        "Di Martino, Adriana and others",
        "The autism brain imaging data exchange: towards a large-scale evaluation of the intrinsic brain architecture "
        "in autism",
        "Molecular Psychiatry",
        "19",
        "659--667",
        "10.1038/mp.2013.78",
    ),
    article(
        "power2017",
        "Power 2017",
        "Power, Jonathan D.",
        "A simple but useful way to assess {fMRI} scan qualities",
        "NeuroImage",
        "154",
        "150--158",
        "10.1016/j.neuroimage.2016.08.009",
    ),
    article(
        "ledoit2004",
        "Ledoit and Wolf 2004",
        "Ledoit, Olivier and Wolf, Michael",
        "A well-conditioned estimator for large-dimensional covariance matrices",
        "Journal of Multivariate Analysis",
        "88",
        "365--411",
        "10.1016/S0047-259X(03)00096-4",
    ),
    article(
        "abraham2014",
        "Abraham et al. 2014",
        "Abraham, Alexandre and others",
        "Machine learning for neuroimaging with scikit-learn",
        "Frontiers in Neuroinformatics",
        "8",
        "14",
        "10.3389/fninf.2014.00014",
    ),
    article(
        "hunter2007",
        "Hunter 2007",
        "Hunter, John D.",
        "Matplotlib: A {2D} Graphics Environment",
        "Computing in Science \\& Engineering",
        "9",
        "90--95",
        "10.1109/MCSE.2007.55",
    ),
    article(
        "craddock2012",
        "Craddock et al. 2012",
        "Craddock, R. Cameron and James, G. Andrew and Holtzheimer, Paul E. and Hu, Xiaoping P. and Mayberg, Helen S.",
        "A whole brain {fMRI} atlas generated via spatially constrained spectral clustering",
        "Human Brain Mapping",
        "33",
        "1914--1928",
        "10.1002/hbm.21333",
    ),
    article(
        "tzourio2002",
        "Tzourio-Mazoyer et al. 2002",
        "Tzourio-Mazoyer, Nathalie and others",
        "Automated Anatomical Labeling of Activations in {SPM} Using a Macroscopic Anatomical Parcellation of the "
        "{MNI} {MRI} Single-Subject Brain",
        "NeuroImage",
        "15",
        "273--289",
        "10.1006/nimg.2001.0978",
    ),
    article(
        "power2011",
        "Power et al. 2011",
        "Power, Jonathan D. and others",
        "Functional Network Organization of the Human Brain",
        "Neuron",
        "72",
        "665--678",
        "10.1016/j.neuron.2011.09.006",
    ),
    article(
        "yeo2011",
        "Yeo et al. 2011",
        "Yeo, B. T. Thomas and others",
        "The organization of the human cerebral cortex estimated by intrinsic functional connectivity",
        "Journal of Neurophysiology",
        "106",
        "1125--1165",
        "10.1152/jn.00338.2011",
    ),
    article(
        "glasser2016",
        "Glasser et al. 2016",
        "Glasser, Matthew F. and others",
        "A multi-modal parcellation of human cerebral cortex",
        "Nature",
        "536",
        "171--178",
        "10.1038/nature18933",
    ),
    article(
        "gordon2016",
        "Gordon et al. 2016",
        "Gordon, Evan M. and others",
        "Generation and Evaluation of a Cortical Area Parcellation from Resting-State Correlations",
        "Cerebral Cortex",
        "26",
        "288--303",
        "10.1093/cercor/bhu239",
    ),
)


def named_labelling(labelling: str) -> tuple[str, tuple[Citation, ...]]:
    """What functional labels are called in a text, with their work, and that work; a user's own labels have none."""
    if labelling not in FUNCTIONAL_LABELLINGS:
        return labelling, ()
    known = FUNCTIONAL_LABELLINGS[labelling]
    return f"{known.title}{in_brackets((known.citation,))}", (known.citation,)


def work(citation: Citation) -> Reference:
    """The work that a citation names."""
    return citation if isinstance(citation, Reference) else REFERENCES[citation]


def in_brackets(citations: Iterable[Citation]) -> str:
    """Name works behind what they are cited for, with a blank before; nothing where there is none."""
    shorts = "; ".join(work(citation).short for citation in citations)
    return f" ({shorts})" if shorts else ""


def bibliography(citations: Iterable[Citation]) -> str:
    """Write the works as BibTeX, in the order of their keys, each once."""
    works = {found.key: found for found in map(work, citations)}
    return "\n".join(works[key].bibtex() for key in sorted(works))
