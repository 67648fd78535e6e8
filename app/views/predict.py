"""Predict: what a trained model says of the subjects, how sure that is, and where a subject lies among others.

Where the subjects' groups are known, it also says how well the model does in them, beside what its card says.
"""

from typing import Any

import pandas as pd
import streamlit as st

from biobgt import InputError
from biobgt.base.files import write_csv
from biobgt.base.kept import Key
from biobgt.base.wording import NOT_A_DIAGNOSIS, counted, is_trained_on, listed
from biobgt.figures import models as figures
from biobgt.figures.passport import prediction_passport
from biobgt.figures.which_model import ChosenModelOptions
from biobgt.model.passport import NEEDS_SERIES
from biobgt.model.pretrained import InstalledModel, installed_models
from biobgt.results.measured import Measured
from biobgt.training.card_text import CardText, observed_share
from biobgt.training.tables import CohortResults
from session.cohorts import OWN
from session.view import View, current_view
from views.shared import widgets
from views.shared.figures import show, show_beside
from views.shared.widgets import caption, escape_markdown, heading, input_errors_shown

_NO_PREDICTION = "no prediction"


def _show_page() -> None:
    """Show the page."""
    view = current_view()
    model = view.chosen_model
    simulated = view.cohort.simulated or (model is not None and model.simulated)
    widgets.open_page("predict", "", "calibration", "out-of-fold", simulated=simulated)
    st.warning(f"**{NOT_A_DIAGNOSIS}**", icon=":material/medical_information:")
    if not installed_models():
        widgets.no_models()
        return
    if model is None:
        atlases = sorted({model.atlas.title for model in installed_models().values()})
        said = (
            f"No trained model is on this cohort's atlas, {view.atlas.title} with {view.atlas.n_regions} regions. "
            f"There are models on {listed(atlases)}."
        )
        st.info(escape_markdown(said), icon=":material/info:")
        return
    if model.readouts:
        network, model = model, widgets.pick_readout(view, model)
        if model is None:
            return
        controls, *others = model.group_names
        n = model.card["data"]["subjects"][controls]
        said = (
            f"This readout was trained to tell {listed(others)} from {n:,} controls of {model.card['data']['title']}. "
            f"Its encoder and attention were trained on all cohorts of {network.name}."
        )
        st.markdown(escape_markdown(said))
    heading(escape_markdown(f"Model {model.name}"))
    widgets.show_headline(model.card)
    if not view.cohort.atlas_is_sure:
        widgets.ask_to_confirm_atlas(view.cohort, key="confirm_atlas_predict")
        return
    if said := model.refusal(view.cohort):
        st.info(escape_markdown(said), icon=":material/info:")
        return
    caption(CardText(model.card).members)
    for show_part in (_show_subject, _show_cohort, _show_results):
        with input_errors_shown():
            show_part(view, model)


def _heading(text: str, model: InstalledModel, *, simulated: bool) -> None:
    """A section's title; what a simulated model says of real subjects is marked too, and not for simulated subjects."""
    by = ", by a model of simulated patients" if model.simulated and not simulated else ""
    heading(escape_markdown(f"{text}{by}"))


def _show_subject(view: View, model: InstalledModel) -> None:
    """One subject: probabilities, how sure, and where among the training subjects."""
    subject = view.subject
    _heading(subject.id, model, simulated=subject.simulated)
    if (
        not view.measured.is_kept(Measured.prediction, model)
        and view.loaded.key == OWN
        and not st.button(escape_markdown(f"Predict {subject.id}"), icon=":material/play_arrow:", key="predict_subject")
    ):
        return
    said = view.measured.prediction(model)
    if not said["prediction"]:
        raise InputError(said["warning"])
    if said["warning"]:
        caution = f"Caution: {said['warning']}. Do not rely on the probabilities below."
        st.warning(escape_markdown(caution), icon=":material/warning:")
    widgets.show_numbers({f"Probability of {group}": f"{said[f'p_{group}']:.0%}" for group in model.group_names})
    # Of two groups the patients are the question, of three the user says.
    fixed = {"model": model.name, "model_sha256": model.sha256}
    if len(model.group_names) == 2:
        fixed["group"] = model.group_names[1]
    else:
        widgets.ask(figures.subject_probability.takes, "group", cohort=model.cohort)
    options = view.options(figures.subject_probability.takes, **fixed)
    if not is_trained_on(said["warning"]):  # how often such probabilities are right is known of new subjects only
        known, group = model.groups, options.group or model.group_names[-1]
        share = observed_share(known.labels, known.probabilities, model.group_names, float(said[f"p_{group}"]), group)
        st.markdown(escape_markdown(f"{share} {CardText(model.card).calibration}"))
    show(view, figures.subject_probability, options, key="place")
    _show_passport(view, model, options)


def _show_passport(view: View, model: InstalledModel, options: figures.SubjectProbabilityOptions) -> None:
    """Show how far the recording may be worse before the call flips, once asked for; it takes seconds."""
    heading(prediction_passport.name)
    if view.subject.series is None:
        st.markdown(escape_markdown(NEEDS_SERIES.format(view.subject.id)))
        return
    if not view.measured.is_kept(Measured.passport, model) and not st.button(
        "Make the recording worse, step by step", icon=":material/play_arrow:", key="passport_subject"
    ):
        caption("Takes some seconds: the model is asked about shorter, noisier and filtered copies of the scan.")
        return
    with input_errors_shown():
        show(view, prediction_passport, options, key="passport")


def _show_cohort(view: View, model: InstalledModel) -> None:
    """All subjects of the cohort: one by one, to be stopped at any time."""
    _heading("All subjects", model, simulated=view.cohort.simulated)
    rows = _predicted(view, model)
    whole = widgets.measure_all(
        Measured.prediction,
        [(view.measured.of(subject), model) for subject in view.cohort.ids],
        key="predict_all",
        start=f"Predict {counted(len(view.cohort), 'subject')}",
        doing="Subject",
    )
    if whole and None in rows:
        st.rerun()  # the subject above was among them
    columns = ["subject", *(f"p_{group}" for group in model.group_names), "prediction", "warning"]
    table = pd.DataFrame([row for row in rows if row is not None], columns=columns)
    if not table.empty:
        _show_predictions(view, model, table)


def _predicted(view: View, model: InstalledModel) -> list[Any]:
    """What the model says of every subject, None where it was not asked yet."""
    return [view.measured.of(subject).recall(Measured.prediction, model) for subject in view.cohort.ids]


def _show_predictions(view: View, model: InstalledModel, table: pd.DataFrame) -> None:
    """The predictions so far, to read and to take along."""
    groups = {subject.id: subject.group or "" for subject in view.cohort}
    table.insert(1, "group", [groups[subject] for subject in table["subject"]])
    # A word in place of each warning; its sentence says below why there is no prediction, or what to beware of.
    without, said = table["prediction"] == "", table["warning"]
    flags = said.where(said == "", "warning").mask(without, _NO_PREDICTION)
    shown = table.assign(prediction=table["prediction"].mask(without, None), warning=flags)
    remarks = table.assign(refused=said.where(without, ""), warning=said.mask(without, ""))
    columns = {"subject": "Subject", "group": "Group", "prediction": "Most probable", "warning": "Flag"}
    shares = {f"p_{group}": f"P {group}" for group in model.group_names}
    widgets.show_table(
        shown.rename(columns=columns | shares).round(3),
        key="predictions",
        placeholder="–",
        formats=dict.fromkeys(shares.values(), "percent"),
        alt="Predicted probabilities of the cohort's subjects",
    )
    refused, unlike = int(without.sum()), int((remarks["warning"] != "").sum())
    whose = "simulated subjects" if view.cohort.simulated else "subjects"
    by = f"model {model.name}, trained on simulated patients" if model.simulated else f"model {model.name}"
    left_out = f" Without a prediction: {counted(refused, 'subject')}; the table below says why." if refused else ""
    caption(
        f"Predicted by {by}: {len(table) - refused} of {len(view.cohort)} {whose}, {unlike} with a warning."
        f"{left_out} {NOT_A_DIAGNOSIS}"
    )
    widgets.show_remarks(remarks, {"refused": _NO_PREDICTION.capitalize(), "warning": "Warning"})
    trained = "Simulated: the model was trained on simulated patients. " if model.simulated else ""
    subjects = "Simulated subjects. " if view.cohort.simulated else ""
    written = write_csv(table.assign(model=model.name, note=f"{trained}{subjects}{NOT_A_DIAGNOSIS}"), index=False)
    name = f"predictions_{model.name.replace('/', '_')}.csv"
    widgets.offer_file("Download as CSV", written, name, key="download_predictions")


def _show_results(view: View, model: InstalledModel) -> None:
    """Show ROC, calibration, confusion and metrics of the cohort beside the card's, once all subjects are predicted."""
    said = _predicted(view, model)
    found = CohortResults.of(view.cohort, model.group_names, said)
    if not len(found.labels) or None in said:
        return
    if not found.is_enough:
        caption(f"{figures.too_few_words(view.cohort, model)} Groups are set on the page Subjects.")
        return
    heading("How well the model does in this cohort")
    asked = ChosenModelOptions(model=model.name, model_sha256=model.sha256)
    show_beside(view, (figures.cohort_roc, asked, ""), (figures.cohort_reliability, asked, ""))
    groups = tuple((subject.id, subject.group) for subject in view.cohort)
    key = Key("results_beside_card", (model.identity, groups), "Comparing with the card…", 8)
    table = view.measured.keep(key, lambda: found.table(model.card))
    confusion = found.confusion.rename(columns=lambda group: f"Most probable: {group}").rename_axis("Group")
    with widgets.columns("results"):
        with st.container():
            st.table(table, hide_index=True, alt="Metrics of this cohort and of the model's card")
        with st.container():
            st.table(confusion, alt="Subjects of each group by their most probable group")
    left_out = found.n_left_out and counted(found.n_left_out, "subject")
    out = f" Left out: {left_out} without a prediction or a group that the model knows." if left_out else ""
    caption(
        f"{counted(len(found.labels), 'subject')} with a known group. In brackets: 95 % bootstrap interval over "
        f"people.{out} The card reports held-out subjects. If yours were used in "
        f"training, their results are too optimistic. {NOT_A_DIAGNOSIS}"
    )


if __name__ == "__main__":  # Streamlit runs the file anew for every look at the page
    _show_page()
