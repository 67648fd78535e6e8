from .data import StudyData
from .findings import StudyFindings

__all__ = ["StudyData", "StudyFindings"]
