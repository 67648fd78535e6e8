"""The pages, in the order of the menu: a new page is a row here and a file of its name, or a folder of one."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from biobgt.base.wording import COVARIATES, USUAL_COVARIATES, adjusted_for
from biobgt.hubs.reliability import ABIDE, study_people
from biobgt.model.systems import kinds_of_baselines
from session.cohorts import listed_figures


@dataclass(frozen=True)
class _PageEntry:
    """A page of the menu; ``name`` is its file or folder, and its path in the address (the first page has none there).

    ``shows`` is one sentence on what one finds there, which the tour says; ``beyond`` is what Home says after it.
    """

    name: str
    title: str
    icon: str
    shows: str = ""
    beyond: str = ""
    count: Callable[[], int] | None = None

    def menu_title(self) -> str:
        """The title in the menu, with how many things wait on the page, if any."""
        n = self.count() if self.count is not None else 0
        return f"{self.title} ({n})" if n else self.title

    @property
    def script(self) -> str:
        """The file that Streamlit runs, as seen from ``Home.py``."""
        parted = (Path(__file__).with_name(self.name) / "page.py").is_file()
        return f"views/{self.name}/page.py" if parted else f"views/{self.name}.py"


PAGES = {
    entry.name: entry
    for entry in (
        _PageEntry("home", "Home", ":material/home:"),
        _PageEntry(
            "explore",
            "Explore",
            ":material/explore:",
            "Brain, matrix, curves and people on one screen: point at a region in any of them, and all show it.",
            "γ answers at once, and a click keeps the region on every page.",
        ),
        _PageEntry(
            "subjects",
            "Subjects",
            ":material/group:",
            "Add your own files and a phenotype table, and see what was read, what was refused and why.",
            "For every subject there are the quality of the data, the series and the connectivity. In a terminal: "
            "`biobgt info PATH`.",
        ),
        _PageEntry(
            "hubs",
            "Hubs",
            ":material/hub:",
            "Which regions are hubs by node entanglement, node efficiency and FC strength, and at which diffusion "
            "times these agree.",
            f"They are compared with {study_people()[ABIDE]} real subjects. For a whole cohort, in a terminal: "
            "`biobgt hubs PATH --out DIR`.",
        ),
        _PageEntry(
            "modules",
            "Modules",
            ":material/grid_view:",
            "Louvain modules at any resolution, how well they agree with functional networks, and the role of every "
            "region.",
            "They are compared with real groups. For a whole cohort, in a terminal: `biobgt modules PATH --out DIR`.",
        ),
        _PageEntry(
            "compare",
            "Compare",
            ":material/compare_arrows:",
            "Whether two groups of your cohort differ in connectivity, segregation, hubs or modules, "
            f"{adjusted_for(tuple(USUAL_COVARIATES))}.",
            "What covariates cost, and what cannot be compared, is said before anything is computed. In a terminal: "
            "`biobgt compare PATH --groups NC ASD --of hubs --out DIR`.",
        ),
        _PageEntry(
            "study",
            "Study",
            ":material/science:",
            "A design over groups, scores and covariates, tested in every connection, region and network number.",
            "It runs in the background and ends with one report. In a terminal: `biobgt study PATH OUT`.",
        ),
        _PageEntry(
            "attention",
            "Attention",
            ":material/visibility:",
            "Where the trained models look in controls, ADHD, autism and a simulated Alzheimer's progression, and in "
            "your subject.",
            f"Tests say which module blocks differ, {adjusted_for(tuple(COVARIATES))}, as far as these are known.",
        ),
        _PageEntry(
            "predict",
            "Predict",
            ":material/online_prediction:",
            "A model's probabilities for your subjects, how often such probabilities were right, and a warning where a "
            "subject is unlike the training data.",
        ),
        _PageEntry(
            "models",
            "Models",
            ":material/model_training:",
            f"The card of each model: data, protocol, results compared with {kinds_of_baselines()} and with the "
            "paper's, and limits.",
        ),
        _PageEntry(
            "export",
            "Export",
            ":material/ios_share:",
            "The figures you added, at a journal's width, with the numbers behind them, a methods paragraph and a "
            "script that makes them again.",
            count=lambda: len(listed_figures()),
        ),
    )
}
