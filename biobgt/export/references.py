"""What an export cites: BibTeX entries by key, and the short form for the methods text."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import biobgt
from biobgt.atlas import LABELLINGS


@dataclass(frozen=True)
class Reference:
    """A work to cite: how the text names it, its BibTeX type, and its fields."""

    short: str
    kind: str
    fields: Mapping[str, str]

    def bibtex(self, key: str) -> str:
        """Write it as BibTeX."""
        lines = [f"  {name} = {{{value}}}" for name, value in self.fields.items()]
        return f"@{self.kind}{{{key},\n" + ",\n".join(lines) + "\n}\n"


def _article(short: str, author: str, title: str, journal: str, volume: str, pages: str, doi: str) -> Reference:
    year = short.rsplit(" ", 1)[1]
    values = {"author": author, "title": title, "journal": journal, "volume": volume, "pages": pages, "year": year}
    return Reference(short, "article", values | {"doi": doi})


REFERENCES: Mapping[str, Reference] = {
    "biobgt": Reference(
        f"BioBGT Explorer {biobgt.__version__}",
        "software",
        {
            "author": "{The BioBGT Explorer developers}",
            "title": "{BioBGT Explorer}",
            "version": biobgt.__version__,
        },
    ),
    "peng2025": Reference(
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
    "huang2024": _article(
        "Huang et al. 2024",
        r"Huang, Yiming and Wang, Hao and Ren, Xiao-Long and L{\"u}, Linyuan",
        "Identifying key players in complex networks via network entanglement",
        "Communications Physics",
        "7",
        "19",
        "10.1038/s42005-023-01483-8",
    ),
    "latora2001": _article(
        "Latora and Marchiori 2001",
        "Latora, Vito and Marchiori, Massimo",
        "Efficient Behavior of Small-World Networks",
        "Physical Review Letters",
        "87",
        "198701",
        "10.1103/PhysRevLett.87.198701",
    ),
    "blondel2008": _article(
        "Blondel et al. 2008",
        "Blondel, Vincent D. and Guillaume, Jean-Loup and Lambiotte, Renaud and Lefebvre, Etienne",
        "Fast unfolding of communities in large networks",
        "Journal of Statistical Mechanics: Theory and Experiment",
        "2008",
        "P10008",
        "10.1088/1742-5468/2008/10/P10008",
    ),
    "rubinov2010": _article(
        "Rubinov and Sporns 2010",
        "Rubinov, Mikail and Sporns, Olaf",
        "Complex network measures of brain connectivity: Uses and interpretations",
        "NeuroImage",
        "52",
        "1059--1069",
        "10.1016/j.neuroimage.2009.10.003",
    ),
    "rubinov2011": _article(
        "Rubinov and Sporns 2011",
        "Rubinov, Mikail and Sporns, Olaf",
        "Weight-conserving characterization of complex functional brain networks",
        "NeuroImage",
        "56",
        "2068--2079",
        "10.1016/j.neuroimage.2011.03.069",
    ),
    "lancichinetti2012": _article(
        "Lancichinetti and Fortunato 2012",
        "Lancichinetti, Andrea and Fortunato, Santo",
        "Consensus clustering in complex networks",
        "Scientific Reports",
        "2",
        "336",
        "10.1038/srep00336",
    ),
    "guimera2005": _article(
        "Guimerà and Amaral 2005",
        r"Guimer{\`a}, Roger and Amaral, Lu{\'\i}s A. Nunes",
        "Functional cartography of complex metabolic networks",
        "Nature",
        "433",
        "895--900",
        "10.1038/nature03288",
    ),
    "guimera2004": _article(
        "Guimerà et al. 2004",
        r"Guimer{\`a}, Roger and Sales-Pardo, Marta and Amaral, Lu{\'\i}s A. Nunes",
        "Modularity from fluctuations in random graphs and complex networks",
        "Physical Review E",
        "70",
        "025101",
        "10.1103/PhysRevE.70.025101",
    ),
    "maslov2002": _article(
        "Maslov and Sneppen 2002",
        "Maslov, Sergei and Sneppen, Kim",
        "Specificity and Stability in Topology of Protein Networks",
        "Science",
        "296",
        "910--913",
        "10.1126/science.1065103",
    ),
    "vinh2010": Reference(
        "Vinh et al. 2010",
        "article",
        {
            "author": "Vinh, Nguyen Xuan and Epps, Julien and Bailey, James",
            "title": "Information Theoretic Measures for Clusterings Comparison: Variants, Properties, Normalization "
            "and Correction for Chance",
            "journal": "Journal of Machine Learning Research",
            "volume": "11",
            "pages": "2837--2854",
            "year": "2010",
        },
    ),
    "alexanderbloch2012": _article(
        "Alexander-Bloch et al. 2012",
        "Alexander-Bloch, Aaron and others",
        "The discovery of population differences in network community structure: New methods and applications to brain "
        "functional networks in schizophrenia",
        "NeuroImage",
        "59",
        "3889--3900",
        "10.1016/j.neuroimage.2011.11.035",
    ),
    "freedman1983": _article(
        "Freedman and Lane 1983",
        "Freedman, David and Lane, David",
        "A Nonstochastic Interpretation of Reported Significance Levels",
        "Journal of Business \\& Economic Statistics",
        "1",
        "292--298",
        "10.1080/07350015.1983.10509354",
    ),
    "benjamini1995": _article(
        "Benjamini and Hochberg 1995",
        "Benjamini, Yoav and Hochberg, Yosef",
        "Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple Testing",
        "Journal of the Royal Statistical Society: Series B (Methodological)",
        "57",
        "289--300",
        "10.1111/j.2517-6161.1995.tb02031.x",
    ),
    "dosenbach2010": _article(
        "Dosenbach et al. 2010",
        "Dosenbach, Nico U. F. and others",
        "Prediction of Individual Brain Maturity Using {fMRI}",
        "Science",
        "329",
        "1358--1361",
        "10.1126/science.1194144",
    ),
    "dimartino2014": _article(
        "Di Martino et al. 2014",
        "Di Martino, Adriana and others",
        "The autism brain imaging data exchange: towards a large-scale evaluation of the intrinsic brain architecture "
        "in autism",
        "Molecular Psychiatry",
        "19",
        "659--667",
        "10.1038/mp.2013.78",
    ),
    "power2017": _article(
        "Power 2017",
        "Power, Jonathan D.",
        "A simple but useful way to assess {fMRI} scan qualities",
        "NeuroImage",
        "154",
        "150--158",
        "10.1016/j.neuroimage.2016.08.009",
    ),
    "ledoit2004": _article(
        "Ledoit and Wolf 2004",
        "Ledoit, Olivier and Wolf, Michael",
        "A well-conditioned estimator for large-dimensional covariance matrices",
        "Journal of Multivariate Analysis",
        "88",
        "365--411",
        "10.1016/S0047-259X(03)00096-4",
    ),
    "abraham2014": _article(
        "Abraham et al. 2014",
        "Abraham, Alexandre and others",
        "Machine learning for neuroimaging with scikit-learn",
        "Frontiers in Neuroinformatics",
        "8",
        "14",
        "10.3389/fninf.2014.00014",
    ),
    "hunter2007": _article(
        "Hunter 2007",
        "Hunter, John D.",
        "Matplotlib: A {2D} Graphics Environment",
        "Computing in Science \\& Engineering",
        "9",
        "90--95",
        "10.1109/MCSE.2007.55",
    ),
    "craddock2012": _article(
        "Craddock et al. 2012",
        "Craddock, R. Cameron and James, G. Andrew and Holtzheimer, Paul E. and Hu, Xiaoping P. and Mayberg, Helen S.",
        "A whole brain {fMRI} atlas generated via spatially constrained spectral clustering",
        "Human Brain Mapping",
        "33",
        "1914--1928",
        "10.1002/hbm.21333",
    ),
    "tzourio2002": _article(
        "Tzourio-Mazoyer et al. 2002",
        "Tzourio-Mazoyer, Nathalie and others",
        "Automated Anatomical Labeling of Activations in {SPM} Using a Macroscopic Anatomical Parcellation of the "
        "{MNI} {MRI} Single-Subject Brain",
        "NeuroImage",
        "15",
        "273--289",
        "10.1006/nimg.2001.0978",
    ),
    "power2011": _article(
        "Power et al. 2011",
        "Power, Jonathan D. and others",
        "Functional Network Organization of the Human Brain",
        "Neuron",
        "72",
        "665--678",
        "10.1016/j.neuron.2011.09.006",
    ),
}
ATLAS_KEYS: Mapping[str, str] = {
    "cc200": "craddock2012",
    "aal90": "tzourio2002",
    "aal116": "tzourio2002",
    "dosenbach160": "dosenbach2010",
    "power264": "power2011",
}
LABELLING_KEYS: Mapping[str, str] = {"dosenbach": "dosenbach2010", "paper": "peng2025"}


def named_labelling(labelling: str) -> tuple[str, tuple[str, ...]]:
    """What functional labels are called in a text, with their work where it is known, and the key of that work."""
    title, key = LABELLINGS.get(labelling, labelling), LABELLING_KEYS.get(labelling)
    return (title, ()) if key is None else (f"{title} ({REFERENCES[key].short})", (key,))


def bibliography(keys: Iterable[str]) -> str:
    """Write the works as BibTeX, in the order of their keys, each once."""
    return "\n".join(REFERENCES[key].bibtex(key) for key in sorted(set(keys)))
