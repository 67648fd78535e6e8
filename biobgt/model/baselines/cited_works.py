"""The papers in which the systems of the benchmark are described."""

from biobgt.cited_work import Reference


def _work(key: str, short: str, author: str, title: str, where: str) -> Reference:
    fields = {"author": author, "title": title, "booktitle": where, "year": short.rsplit(" ", 1)[1]}
    return Reference(key, short, "inproceedings", fields)


BREIMAN_2001 = Reference(
    "breiman2001",
    "Breiman 2001",
    "article",
    {
        "author": "Breiman, Leo",
        "title": "Random Forests",
        "journal": "Machine Learning",
        "volume": "45",
        "pages": "5--32",
        "year": "2001",
        "doi": "10.1023/A:1010933404324",
    },
)
CORTES_1995 = Reference(
    "cortes1995",
    "Cortes and Vapnik 1995",
    "article",
    {
        "author": "Cortes, Corinna and Vapnik, Vladimir",
        "title": "Support-Vector Networks",
        "journal": "Machine Learning",
        "volume": "20",
        "pages": "273--297",
        "year": "1995",
        "doi": "10.1007/BF00994018",
    },
)
NADEAU_2003 = Reference(
    "nadeau2003",
    "Nadeau and Bengio 2003",
    "article",
    {
        "author": "Nadeau, Claude and Bengio, Yoshua",
        "title": "Inference for the Generalization Error",
        "journal": "Machine Learning",
        "volume": "52",
        "pages": "239--281",
        "year": "2003",
        "doi": "10.1023/A:1024068626366",
    },
)
DWIVEDI_2020 = _work(
    "dwivedi2020",
    "Dwivedi and Bresson 2020",
    "Dwivedi, Vijay Prakash and Bresson, Xavier",
    "A Generalization of Transformer Networks to Graphs",
    "AAAI Workshop on Deep Learning on Graphs",
)
CHEN_2022 = _work(
    "chen2022",
    "Chen et al. 2022",
    "Chen, Dexiong and O'Bray, Leslie and Borgwardt, Karsten",
    "Structure-Aware Transformer for Graph Representation Learning",
    "International Conference on Machine Learning",
)
KREUZER_2021 = _work(
    "kreuzer2021",
    "Kreuzer et al. 2021",
    "Kreuzer, Devin and Beaini, Dominique and Hamilton, Will and L{\\'e}tourneau, Vincent and Tossou, Prudencio",
    "Rethinking Graph Transformers with Spectral Attention",
    "Advances in Neural Information Processing Systems",
)
YING_2021 = _work(
    "ying2021",
    "Ying et al. 2021",
    "Ying, Chengxuan and others",
    "Do Transformers Really Perform Badly for Graph Representation?",
    "Advances in Neural Information Processing Systems",
)
LIU_2024_GRADFORMER = _work(
    "liu2024gradformer",
    "Liu et al. 2024",
    "Liu, Chuang and Yao, Zelin and Zhan, Yibing and Ma, Xueqi and Pan, Shirui and Hu, Wenbin",
    "Gradformer: Graph Transformer with Exponential Decay",
    "International Joint Conference on Artificial Intelligence",
)
LIU_2024_SPARSITY = _work(
    "liu2024sparsity",
    "Liu et al. 2024",
    "Liu, Chuang and others",
    "Exploring Sparsity in Graph Transformers",
    "Neural Networks",
)
DENG_2024 = _work(
    "deng2024",
    "Deng et al. 2024",
    "Deng, Chenhui and Yue, Zichao and Zhang, Zhiru",
    "Polynormer: Polynomial-Expressive Graph Transformer in Linear Time",
    "International Conference on Learning Representations",
)
KAN_2022 = _work(
    "kan2022",
    "Kan et al. 2022",
    "Kan, Xuan and Dai, Wei and Cui, Hejie and Zhang, Zilong and Guo, Ying and Yang, Carl",
    "Brain Network Transformer",
    "Advances in Neural Information Processing Systems",
)
VELICKOVIC_2018 = _work(
    "velickovic2018",
    "Veličković et al. 2018",
    "Veli{\\v{c}}kovi{\\'c}, Petar and others",
    "Graph Attention Networks",
    "International Conference on Learning Representations",
)
LI_2021 = _work(
    "li2021",
    "Li et al. 2021",
    "Li, Xiaoxiao and others",
    "BrainGNN: Interpretable Brain Graph Neural Network for {fMRI} Analysis",
    "Medical Image Analysis",
)
CUI_2023 = _work(
    "cui2023",
    "Cui et al. 2023",
    "Cui, Hejie and others",
    "BrainGB: A Benchmark for Brain Network Analysis with Graph Neural Networks",
    "IEEE Transactions on Medical Imaging",
)
