"""A finding measured in every way by a process of its own, which can be followed, stopped and resumed.

The process is ``biobgt survive`` as anybody types it; see :mod:`biobgt.study.background`.
"""

import hashlib
from pathlib import Path

from biobgt.base.files import data_folder
from biobgt.specifications.folder import VERDICT
from biobgt.specifications.plan import SurvivalPlan
from biobgt.study.background import BackgroundRun, graph_words

_KEY_LENGTH = 24


class BackgroundSurvival(BackgroundRun):
    """One finding in all the ways of a plan, in a private folder; other ways of it share what was measured.

    Parameters
    ----------
    plan : SurvivalPlan
    root : Path, optional
        By default in the user's data folder.
    """

    def __init__(self, plan: SurvivalPlan, root: Path | None = None) -> None:
        self.plan = plan
        about = repr((sorted(plan.marks.items()), plan.situation.asked, plan.situation.settings))
        key = hashlib.sha256(about.encode()).hexdigest()[:_KEY_LENGTH]
        super().__init__((root or data_folder() / "survival") / key, out="survival", last=VERDICT)

    def start(self) -> None:
        """Start, or go on with, what is not there yet."""
        situation, finding = self.plan.situation, self.plan.finding
        words = [*self.plan.options.command_line(changed=True), *graph_words(situation.settings)]
        if finding.whom == "subject":
            words += ["--subject", situation.cohort.ids[0]]
        self.run("survive", situation.cohort, situation.settings, words)
