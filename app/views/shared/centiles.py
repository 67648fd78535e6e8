"""Where the subject stands among others of its age and sex: the figure, and a table of all that is like it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import isfinite
from typing import Any

import streamlit as st

from biobgt import ConnectomeSettings
from biobgt.base.options import Options
from biobgt.data.cohort import counted_people
from biobgt.figures.register import Figure
from biobgt.groups.centiles import CentileOptions
from biobgt.groups.standing import centile_words, check_group, standing_of, why_not_published
from session.view import View, choose
from views.shared.figures import show
from views.shared.widgets import ask_in_row, escape_markdown, heading, in_one_line, measure_all, show_table


def show_centiles(
    view: View,
    figure: Figure[Any],
    *asked: str,
    measure: Callable[..., object],
    arguments: tuple[Any, ...],
    defaults: Options,
    beside: Mapping[str, CentileOptions],
) -> None:
    """Ask for a measure and a reference, and show the subject's centile.

    Parameters
    ----------
    view : View
    figure : Figure
    *asked : str
        Names of its options.
    measure, arguments
        What is measured of every person of a group, under ``@kept``, and of what it depends.
    defaults : Options
        With which the published people were measured.
    beside : mapping of str to options
        The rows of the table, by what they are called.
    """
    heading("Among people of the same age and sex", "centile")
    ask_in_row(figure.takes, *asked, "reference", cohort=view.cohort)
    options: CentileOptions = view.options(figure.takes)
    if not options.reference and (why := why_not_published(view.measured, options)):
        _say_why_not(why, view, options, defaults)
        return
    if options.reference:
        group = check_group(view.cohort, options.reference)
        people = counted_people(len(set(group.persons)), len(group))
        if not measure_all(
            measure,
            [(view.measured.of(name), *arguments) for name in group.ids],
            key=f"centile_{figure.key}",
            start=f"Measure {people} of {escape_markdown(options.reference)}",
            doing="Measuring subject",
        ):
            return
    show(view, figure, options)
    _show_table(view, {name: replace(one, reference=options.reference) for name, one in beside.items()}, figure.key)


def _say_why_not(why: str, view: View, options: CentileOptions, defaults: Options) -> None:
    """Say why there is no published reference, and offer the default settings where there is one with them."""
    st.info(escape_markdown(why), icon=":material/info:")
    usual = view.measured.of(view.subject.id, ConnectomeSettings())
    if not why_not_published(usual, replace(options, **defaults.as_dict())):
        st.button(
            "Go back to the settings of the published people",
            key="centile_settings",
            icon=":material/settings_backup_restore:",
            on_click=choose,
            args=(ConnectomeSettings(), defaults),
        )


def _show_table(view: View, beside: Mapping[str, CentileOptions], key: str) -> None:
    """One row per place or measure: value, centile, and its interval."""
    rows = []
    for name, options in beside.items():
        found = standing_of(view.measured, options)
        if found.why_not and not isfinite(found.value):
            continue
        interval = "" if found.why_not else f"{centile_words(found.low)} to {centile_words(found.high)}"
        rows.append({"": name, "Value": found.value, "Centile": found.centile, "95 % interval": interval})
    show_table(
        rows,
        key=f"{key}_table",
        formats={"Value": "%.4g", "Centile": "%.1f"},
        width="content",
        alt="Centiles in a table",
    )
    said = (
        "A centile says which share of people of the same age and sex has a lower value. It is no diagnosis: one of "
        "twenty healthy people is below the 5th. The interval covers other samples of people and other sites."
    )
    in_one_line(said, key=f"{key}_table")
