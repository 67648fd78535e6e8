"""Installed models: a list of them, and the user's own added or removed."""

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from biobgt.cli.main import print_line, print_notice, print_table
from biobgt.model.folder import own_folders
from biobgt.model.own import add_model, remove_model
from biobgt.model.pretrained import installed_models, unusable_models


def list_models() -> None:
    """Print the models that are installed, and what the card of each says first."""
    own = own_folders()
    rows = [
        (name, "your own" if name in own else "shipped", model.card["atlas"], model.card["headline"])
        for name, model in installed_models().items()
    ]
    print_table(pd.DataFrame(rows, columns=["model", "whose", "atlas", "what its card says first"]), title="Models")
    for name, reason in unusable_models().items():
        print_notice(f"The model in the folder {name} cannot be used. {reason}")


def add(
    source: Annotated[
        Path, typer.Argument(metavar="FOLDER_OR_ZIP", help="Folder that 'biobgt train' wrote, or a zip of it.")
    ],
    name: Annotated[str | None, typer.Option(help="Name of the model. Default: that of the folder or zip.")] = None,
) -> None:
    """Put your own or a colleague's model beside the shipped ones, so that pages, commands and figures offer it.

    It is copied into your data folder once card, weights and group results have been checked. A name that a model has
    already is refused.

    Examples
    --------
    biobgt models add my-model
    biobgt models add from-a-colleague.zip --name their-adni
    """
    added = add_model(source, name)
    print_line(f"The model {added} was added. Use it as --model {added}, or choose it in the app.")


def remove(name: Annotated[str, typer.Argument(help="Name of one of your own models.")]) -> None:
    """Delete one of your own models from your data folder; shipped models and the folder it came from stay.

    Examples
    --------
    biobgt models remove my-model
    biobgt models remove their-adni
    """
    remove_model(name)
    print_line(f"The model {name} was removed.")
