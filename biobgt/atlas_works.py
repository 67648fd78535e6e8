"""The works to cite for the bundled atlases, beside those that other parts of the house cite too."""

from biobgt.cited_work import article

SCHAEFER = article(
    "schaefer2018",
    "Schaefer et al. 2018",
    "Schaefer, Alexander and others",
    "Local-Global Parcellation of the Human Cerebral Cortex from Intrinsic Functional Connectivity {MRI}",
    "Cerebral Cortex",
    "28",
    "3095--3114",
    "10.1093/cercor/bhx179",
)
FAN = article(
    "fan2016",
    "Fan et al. 2016",
    "Fan, Lingzhong and others",
    "The Human {Brainnetome} Atlas: A New Brain Atlas Based on Connectional Architecture",
    "Cerebral Cortex",
    "26",
    "3508--3526",
    "10.1093/cercor/bhw157",
)
DESIKAN = article(
    "desikan2006",
    "Desikan et al. 2006",
    "Desikan, Rahul S. and others",
    "An automated labeling system for subdividing the human cerebral cortex on {MRI} scans into gyral based regions of "
    "interest",
    "NeuroImage",
    "31",
    "968--980",
    "10.1016/j.neuroimage.2006.01.021",
)
DESTRIEUX = article(
    "destrieux2010",
    "Destrieux et al. 2010",
    "Destrieux, Christophe and Fischl, Bruce and Dale, Anders and Halgren, Eric",
    "Automatic parcellation of human cortical gyri and sulci using standard anatomical nomenclature",
    "NeuroImage",
    "53",
    "1--15",
    "10.1016/j.neuroimage.2010.06.010",
)
MAKRIS = article(
    "makris2006",
    "Makris et al. 2006",
    "Makris, Nikos and others",
    "Decreased volume of left and total anterior insular lobule in schizophrenia",
    "Schizophrenia Research",
    "83",
    "155--171",
    "10.1016/j.schres.2005.11.020",
)
ROLLS = article(
    "rolls2015",
    "Rolls et al. 2015",
    "Rolls, Edmund T. and Joliot, Marc and Tzourio-Mazoyer, Nathalie",
    "Implementation of a new parcellation of the orbitofrontal cortex in the automated anatomical labeling atlas",
    "NeuroImage",
    "122",
    "1--5",
    "10.1016/j.neuroimage.2015.07.075",
)
MEHTA = article(
    "mehta2024",
    "Mehta et al. 2024",
    "Mehta, Kahini and others",
    "{XCP-D}: A Robust Pipeline for the Post-Processing of {fMRI} data",
    "Imaging Neuroscience",
    "2",
    "1--26",
    "10.1162/imag_a_00257",
)
PAULI = article(
    "pauli2018",
    "Pauli et al. 2018",
    "Pauli, Wolfgang M. and Nili, Amanda N. and Tyszka, J. Michael",
    "A high-resolution probabilistic in vivo atlas of human subcortical brain nuclei",
    "Scientific Data",
    "5",
    "180063",
    "10.1038/sdata.2018.63",
)
NAJDENOVSKA = article(
    "najdenovska2018",
    "Najdenovska et al. 2018",
    "Najdenovska, Elena and others",
    "In-vivo probabilistic atlas of human thalamic nuclei based on diffusion-weighted magnetic resonance imaging",
    "Scientific Data",
    "5",
    "180270",
    "10.1038/sdata.2018.270",
)
GLASSER_PIPELINES = article(
    "glasser2013",
    "Glasser et al. 2013",
    "Glasser, Matthew F. and others",
    "The minimal preprocessing pipelines for the {Human Connectome Project}",
    "NeuroImage",
    "80",
    "105--124",
    "10.1016/j.neuroimage.2013.04.127",
)
KING = article(
    "king2019",
    "King et al. 2019",
    "King, Maedbh and Hernandez-Castillo, Carlos R. and Poldrack, Russell A. and Ivry, Richard B. and "
    r"Diedrichsen, J{\"o}rn",
    "Functional boundaries in the human cerebellum revealed by a multi-domain task battery",
    "Nature Neuroscience",
    "22",
    "1371--1378",
    "10.1038/s41593-019-0436-x",
)
