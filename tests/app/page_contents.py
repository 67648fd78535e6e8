"""What a page shows, in numbers and words, for tests to compare."""

import base64
import json
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

BADGE = "Simulated"


def chart(page: AppTest, key: str) -> Any:
    """The chart with this key, as it is sent to the browser."""
    return next(chart.proto for chart in page.get("plotly_chart") if chart.proto.id.endswith(f"-{key}"))


def figure(page: AppTest, key: str) -> dict[str, Any]:
    """The JSON of the figure with this key."""
    return json.loads(chart(page, key).spec)


def array(values: Any) -> np.ndarray:
    """Decode an array as plotly writes it."""
    if not isinstance(values, dict):
        return np.asarray(values)
    flat = np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
    return flat.reshape([int(n) for n in str(values.get("shape", flat.size)).split(",")])


def as_shown(text: str) -> str:
    """Text as the browser shows it, without the marks that keep Markdown out."""
    return text.replace("\\", "").replace("\u2060", "")


def captions(page: AppTest) -> str:
    """All captions."""
    return as_shown("\n".join(caption.value for caption in page.caption))


def badges(block: Any) -> int:
    """Count the badges that say that something is simulated."""
    return sum("badge[" in text.value and BADGE in text.value for text in block.markdown)


def assert_no_error(page: AppTest) -> None:
    assert [error.value for error in page.error] == []
    assert [error.value for error in page.exception] == []


def heatmaps(shown: dict) -> list[dict]:
    """The heatmaps of a figure."""
    return [trace for trace in shown["data"] if trace["type"] == "heatmap"]


def in_atlas_order(page: AppTest) -> AppTest:
    """The page of attention with regions as the atlas lists them."""
    return page.selectbox(key="attention_order").select("atlas").run()
