from . import (
    colours,
    errors,
    files,
    folders,
    limits,
    options,
    parallel,
    references,
    serving,
    signals,
    statistics,
    wording,
)

__all__ = [
    "colours",
    "errors",
    "files",
    "folders",
    "limits",
    "options",
    "parallel",
    "references",
    "serving",
    "signals",
    "statistics",
    "wording",
]
