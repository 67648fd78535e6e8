"""Where results go."""

from pathlib import Path

from biobgt.errors import InputError


def make_folder(folder: Path) -> None:
    """Make a folder for results, or say why it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"The folder '{folder}' cannot be made ({error.strerror}). Name another one.") from None
