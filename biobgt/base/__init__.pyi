from . import (
    arrays,
    colours,
    errors,
    files,
    folders,
    kept,
    limits,
    options,
    parallel,
    references,
    serving,
    wording,
)

__all__ = [
    "arrays",
    "colours",
    "errors",
    "files",
    "folders",
    "kept",
    "limits",
    "options",
    "parallel",
    "references",
    "serving",
    "wording",
]
