"""What users do on a page: go to it, bring files, press buttons, edit the table of their subjects."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from biobgt import Cohort
from biobgt.data.cohort import GROUP_TITLES

N_REGIONS = 6
PHENOTYPES = ("p.csv", b"subject,group,age\nsub-00,NC,20\nsub-01,NC,21.5\nsub-02,ASD,19\n", "text/csv")


def start_at(session: AppTest, page: str) -> AppTest:
    """Let a session that has not run yet open at a page, named as in its address.

    Before the first run, ``AppTest.switch_page`` takes the name of the file for the path in the address.
    """
    session._page_hash = "" if page == "home" else calc_hash(page)
    return session


def press(page: AppTest, label: str) -> AppTest:
    """Press the button of this label, and look at the page then."""
    next(button for button in page.button if label in button.label).click()
    return page.run()


def turn_to(page: AppTest, tab: str) -> AppTest:
    """Choose a tab of the page."""
    (tabs,) = (control for control in page.segmented_control if control.key.endswith("_tab"))
    return tabs.select(tab).run()


def visit(page: AppTest, *names: str) -> AppTest:
    """Go from page to page."""
    for name in names:
        parted = name in ("explore", "study", "subjects")
        page.switch_page(f"views/{name}/page.py" if parted else f"views/{name}.py").run()
    return page


# Files as the uploader hands them over, and as AppTest takes them.


@dataclass(frozen=True)
class Uploaded:
    name: str
    content: bytes

    @property
    def file_id(self) -> str:
        return self.name

    def getbuffer(self) -> memoryview:
        return memoryview(self.content)


BROKEN = Uploaded("broken.1D", b"#1\t#2\n1.0\tpear\n2.0\t3.0\n")


def csv_file(name: str, values: np.ndarray, columns: Any = None) -> tuple[str, bytes, str]:
    """A table, with a header where columns are named."""
    text = pd.DataFrame(values).to_csv(index=False, header=list(columns) if columns is not None else False)
    return name, text.encode(), "text/csv"


def abide_file(name: str, series: np.ndarray) -> tuple[str, bytes, str]:
    """A table as ABIDE's: tabs, and regions by number."""
    columns = [f"#{i}" for i in range(1, series.shape[1] + 1)]
    text = pd.DataFrame(series).to_csv(index=False, sep="\t", header=columns, float_format="%.6f")
    return name, text.encode(), ""


def table_file(series: np.ndarray, i: int) -> tuple[str, bytes, str]:
    return csv_file(f"sub-0{i}.csv", series[i], [f"area{region}" for region in range(N_REGIONS)])


def bring(page: AppTest, *files: tuple[str, bytes, str] | Uploaded, phenotypes: Any = None) -> AppTest:
    """Let files lie in the uploaders of the page of subjects."""
    given = [(file.name, file.content, "") if isinstance(file, Uploaded) else file for file in files]
    if phenotypes is not None:
        table = (phenotypes.name, phenotypes.content, "text/csv") if isinstance(phenotypes, Uploaded) else phenotypes
        page.file_uploader(key="phenotypes0").set_value(table)
    page.file_uploader(key="files0").set_value(given)
    return page.run()


# The user's own subjects, and the table of them.


def cohort_of(page: AppTest) -> Cohort:
    return page.session_state["own_cohort"].cohort


def groups_of(page: AppTest) -> dict[str, str | None]:
    return {subject.id: subject.group for subject in cohort_of(page)}


def edit(page: AppTest, rows: dict[int, dict[str, object]]) -> AppTest:
    (table,) = page.data_editor
    page.session_state[table.key] = {"edited_rows": rows, "added_rows": [], "deleted_rows": []}
    return page


def choose_for_ticked(page: AppTest, group: str) -> None:
    box = next(box for box in page.selectbox if box.label == "Group of all ticked subjects")
    if group not in (*GROUP_TITLES, "no group"):
        box.options.append(group)  # AppTest does not know that a browser lets one type another
    box.set_value(group)
