"""The group level of a study: what its folder holds is read back, tested, and the findings are written beside it."""

from collections.abc import Callable
from pathlib import Path

from biobgt.study.design import DesignOptions
from biobgt.study.findings import StudyFindings
from biobgt.study.folder import FINISHED, RUNNING, STOPPED, StudyFolder, tell_progress
from biobgt.study.tested import study_findings

GROUP = "group"


def group_level(out: Path, options: DesignOptions, *, tell: Callable[[str], None]) -> StudyFindings:
    """Test a design on what a study's folder holds, and write the findings into it.

    Parameters
    ----------
    out : Path
        The study's folder.
    options : DesignOptions
    tell : callable
        Told in a sentence what is going on.
    """
    folder = StudyFolder(out)
    folder.recordings()  # says what is not there before anything is locked

    def told(sentence: str) -> None:
        tell(sentence)
        tell_progress(out, GROUP, RUNNING, said=sentence)

    with folder.alone():
        state = STOPPED
        try:
            told("Reading what was measured…")
            findings = study_findings(folder.data(), options, tell=told)
            findings.write(out / GROUP)
            state = FINISHED
        finally:
            tell_progress(out, GROUP, state)
    return findings
