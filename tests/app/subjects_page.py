"""The page of subjects, for tests: files to bring, and hands that edit its table."""

import numpy as np

from biobgt import Cohort
from biobgt.data.cohort import GROUP_TITLES

N_REGIONS = 6


def table_file(series: np.ndarray, i: int) -> tuple[str, bytes, str]:
    header = ",".join(f"area{region}" for region in range(N_REGIONS))
    rows = [",".join(map(str, row)) for row in series[i].tolist()]
    return f"sub-0{i}.csv", "\n".join([header, *rows]).encode(), "text/csv"


PHENOTYPES = ("p.csv", b"subject,group,age\nsub-00,NC,20\nsub-01,NC,21.5\nsub-02,ASD,19\n", "text/csv")


def editor(page):
    (table,) = page.data_editor
    return table


def edit(page, rows: dict[int, dict[str, object]]):
    page.session_state[editor(page).key] = {"edited_rows": rows, "added_rows": [], "deleted_rows": []}
    return page


def press(page, label: str):
    next(button for button in page.button if button.label == label).click()
    page.run()
    return page


def cohort_of(page) -> Cohort:
    return page.session_state["own_cohort"].cohort


def groups_of(page) -> list[str | None]:
    return [subject.group for subject in cohort_of(page)]


def choose_for_ticked(page, group: str):
    box = next(box for box in page.selectbox if box.label == "Group of all ticked subjects")
    if group not in (*GROUP_TITLES, "no group"):
        box.options.append(group)  # AppTest does not know that a browser lets one type another
    box.set_value(group)
