from .data import StudyData
from .design import DesignOptions, plan_study
from .findings import StudyFindings, read_findings
from .tested import study_findings

__all__ = ["DesignOptions", "StudyData", "StudyFindings", "plan_study", "read_findings", "study_findings"]
