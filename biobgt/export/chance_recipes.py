"""The recipe of modularity against chance: Q of a subject's modules beside Q of null graphs."""

from collections.abc import Mapping

import pandas as pd

from biobgt.analysis import graph_for_modules
from biobgt.export.making import MadeFigure, Order, Recipe
from biobgt.export.module_recipes import HOW_TO_FIND, module_options, module_words, subject_modules
from biobgt.figures import chance_caption, paper
from biobgt.figures.paper.style import PaperStyle
from biobgt.modules import ModularityTest, modularity_test
from biobgt.modules.chance import pool_modularity_tests
from biobgt.modules.partition import check_count


def _test(order: Order) -> ModularityTest:
    """The test as the page takes it: a null graph at a time, each kept, pooled at the end."""
    subject, settings, options = order.subject, order.request.settings, module_options(order)
    check_count("null graphs", order.options["null_graphs"], least=1)
    graph, partition = graph_for_modules(order.measured.graph(subject, settings), options), subject_modules(order)

    def against(seed: int) -> ModularityTest:
        return order.measured.keep(
            ("null graph", subject.id, settings, options, seed),
            lambda: modularity_test(graph, partition.partition, resolution=options.resolution, n_nulls=1, seed=seed),
        )

    return pool_modularity_tests([against(options.seed + i) for i in range(order.options["null_graphs"])])


def _chance(order: Order, style: PaperStyle) -> MadeFigure:
    subject, test = order.subject, _test(order)
    figure = paper.modularity_against_chance(
        test, title=f"Modularity of {subject.id}", simulated=subject.simulated, style=style
    )
    n = len(test.null)
    numbers = pd.DataFrame(
        {
            "graph": [subject.id, *(f"null graph {number}" for number in range(1, n + 1))],
            "seed": [test.seed, *range(test.seed, test.seed + n)],
            "modularity Q": [test.q, *test.null.tolist()],
        }
    )
    words = module_words(order)
    words["methods"] = (
        *words["methods"],
        f"Modularity Q was compared with that of {n} null graphs, in each of which modules were sought anew, because "
        "random graphs have modules, too (Guimerà et al. 2004). A null graph has the same number of connections of "
        "every region, by swaps (Maslov and Sneppen 2002), and the same weights, handed out so that strengths are "
        f"nearly kept (Rubinov and Sporns 2011); their seeds are {test.seed} to {test.seed + n - 1}. p is the share of "
        "these graphs, the subject's own among them, with at least its Q.",
    )
    words["citations"] = (*words["citations"], "guimera2004", "maslov2002", "rubinov2011")
    return MadeFigure(figure, numbers, chance_caption(subject.id, test, simulated=subject.simulated), **words)


CHANCE_FIGURES: Mapping[str, Recipe] = {
    "modularity_against_chance": Recipe("Modularity against chance", _chance, {**HOW_TO_FIND, "null_graphs": 100}),
}
