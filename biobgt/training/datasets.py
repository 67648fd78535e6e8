"""What a card and the methods say of the cohorts that models are trained on: their titles, terms, works and limits."""

from dataclasses import dataclass
from typing import Literal, get_args

from biobgt.base.references import Citation, work

CohortKind = Literal["abide", "cni-adhd", "adsim", "adni", "folder"]
ABIDE, CNI_ADHD, ADSIM, ADNI, FOLDER = get_args(CohortKind)


@dataclass(frozen=True)
class CohortStory:
    """What a card says of a cohort.

    Attributes
    ----------
    title : str
    short : str
        Stands in brackets behind a group where several cohorts are trained together.
    terms : str
    works : tuple of Citation
        What to cite for its data.
    paper : mapping of str to str, or None
        The paper's results on its cohort of that kind, in percent, as printed.
    limits : tuple of str
    people : str
        The kind of cohort whose people these are, where they are another's.
    remark : str
        Stands behind what to cite.
    """

    title: str
    short: str
    terms: str
    works: tuple[Citation, ...]
    paper: dict[str, str] | None
    limits: tuple[str, ...]
    people: str = ""
    remark: str = ""

    @property
    def citation(self) -> str:
        """What to cite, on one line."""
        return (
            "; ".join([*(work(cited).in_full for cited in self.works), *filter(None, [self.remark])]) or "None given."
        )


_OF_A_USER = ("As good as the data it was trained on; see the results above.",)
STORIES: dict[str, CohortStory] = {
    ABIDE: CohortStory(
        title="ABIDE I, Preprocessed Connectomes Project",
        short="ABIDE",
        terms="Non-commercial research use (ABIDE / Preprocessed Connectomes Project).",
        works=("dimartino2014", "craddock2013"),
        paper={"accuracy": "74.00 ± 2.01", "auc": "73.33 ± 2.37"},
        limits=(
            "Preprocessing shifts correlations: subjects to predict must be preprocessed as those it was trained on. "
            "The files that this project's own model was trained on are band-passed, with the global signal removed.",
            "In ABIDE subjects with autism move more (r = 0.19 with mean framewise displacement in 899 subjects), and "
            "part of what separates the groups may be motion.",
            "Mostly boys and young men; how well it holds for women and older adults is not known.",
            "The settings of the preset 'best' were chosen on training and validation subjects of this cohort, each of "
            "whom is tested in some fold: on new subjects results may be a little worse.",
        ),
    ),
    CNI_ADHD: CohortStory(
        title="CNI-TLC 2019 (ADHD and controls, one site, TR 2.5 s, CompCor)",
        short="CNI-2019",
        terms="Research use, as released for the CNI Transfer Learning Challenge.",
        works=("schirmer2021",),
        paper={"accuracy": "71.06 ± 0.08", "auc": "71.64 ± 1.14"},
        limits=(
            "Children of one site; the challenge's own entries were weak too.",
            "The paper's numbers are on ADHD-200 (190 regions), another cohort.",
        ),
    ),
    ADSIM: CohortStory(
        title="Simulated Alzheimer's progression over real ABIDE controls (AAL-90)",
        short="simulated",
        people=ABIDE,
        terms="Made from ABIDE controls: non-commercial research use.",
        works=("dimartino2014",),
        remark="the simulation is described in docs/simulation.md",
        paper={"accuracy": "52.08 ± 2.08", "auc": "62.33 ± 5.98"},
        limits=(
            "MCI and AD are simulated: connections of hubs and of the default mode fade. Nothing here was learned "
            "from a patient, and nothing may be concluded about one.",
            "The controls are children and young adults.",
            "The paper's numbers are on ADNI, real patients; they are not comparable.",
        ),
    ),
    ADNI: CohortStory(
        title="ADNI, supplied by the user",
        short="ADNI",
        terms="ADNI data use agreement: the data may not be passed on.",
        works=("jack2008",),
        paper={"accuracy": "52.08 ± 2.08", "auc": "62.33 ± 5.98"},
        limits=_OF_A_USER,
    ),
    FOLDER: CohortStory(
        title="A cohort of the user's own",
        short="own",
        terms="As the data's owner says.",
        works=(),
        paper=None,
        limits=_OF_A_USER,
    ),
}
