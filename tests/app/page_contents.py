"""What a page shows, in numbers and words, for tests to compare."""

import base64
import json
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image
from streamlit.testing.v1 import AppTest

BADGE = "Simulated"
_buffer = BytesIO()
Image.new("RGB", (1, 1)).save(_buffer, "png")
DOT = _buffer.getvalue()  # in the place of pictures


def chart(page: AppTest, key: str) -> Any:
    """The chart with this key, as it is sent to the browser."""
    return next(chart.proto for chart in page.get("plotly_chart") if chart.proto.id.endswith(f"-{key}"))


def figure(page: AppTest, key: str) -> dict[str, Any]:
    """The JSON of the figure with this key."""
    return json.loads(chart(page, key).spec)


def traces(page: AppTest, key: str) -> dict[str, Any]:
    """What is drawn in a figure, by name."""
    return {trace["name"]: trace for trace in figure(page, key)["data"] if "name" in trace}


def heatmaps(shown: dict) -> list[dict]:
    """The heatmaps of a figure."""
    return [trace for trace in shown["data"] if trace["type"] == "heatmap"]


def array(values: Any) -> np.ndarray:
    """Decode an array as plotly writes it."""
    if not isinstance(values, dict):
        return np.asarray(values)
    flat = np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
    return flat.reshape([int(n) for n in str(values.get("shape", flat.size)).split(",")])


def matrix(page: AppTest, key: str = "connectivity") -> np.ndarray:
    """The numbers of the first heatmap of a figure."""
    return array(figure(page, key)["data"][0]["z"])


def table_with(page: AppTest, column: str) -> pd.DataFrame | None:
    """The first table that has this column, None where none has."""
    return next((frame.value for frame in page.dataframe if column in frame.value.columns), None)


def as_shown(text: str) -> str:
    """Text as the browser shows it, without the marks that keep Markdown out."""
    return text.replace("\\", "").replace("\u2060", "")


def words(elements: Any) -> str:
    """What elements of one kind say, such as ``page.caption`` or ``page.markdown``."""
    return as_shown("\n".join(element.value for element in elements))


def captions(page: AppTest) -> str:
    """All captions."""
    return words(page.caption)


def metrics(page: AppTest) -> dict[str, str]:
    """The numbers in boxes, by their titles."""
    return {as_shown(metric.label): metric.value for metric in page.metric}


def badges(block: Any) -> int:
    """Count the badges that say that something is simulated."""
    return sum("badge[" in text.value and BADGE in text.value for text in block.markdown)


def assert_no_error(page: AppTest) -> None:
    assert [error.value for error in page.error] == []
    assert [error.value for error in page.exception] == []


def address_of(page: AppTest) -> dict[str, str]:
    """The parameters of the address."""
    return {name: value[0] if isinstance(value, list) else value for name, value in page.query_params.items()}


def buttons(page: AppTest) -> set[str]:
    """The keys of all buttons."""
    return {button.key for button in page.button if button.key}


def in_atlas_order(page: AppTest) -> AppTest:
    """The page of attention with regions as the atlas lists them."""
    return page.selectbox(key="attention_order").select("atlas").run()


def parts(page: AppTest) -> dict[str, Any]:
    """What the linked screen of Explore was sent: the frame under its own name, and every part."""
    sent = [json.loads(one.proto.json) for one in page.get("bidi_component")]
    return {one.get("part", "frame"): one for one in sent}
