"""The linked screen's face to Python: mounts it and its parts, and serves its scripts and the plotly package's."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

Send = Callable[[str, Mapping[str, Any]], None]  # a part of the screen, by its name

_HERE = Path(__file__).parent
_HTML = '<div class="linked"></div>'
_PLOTLY = "plotly.min.js"
_SERVED = {path.name: path for path in sorted(_HERE.glob("*.js"))}
_SERVED[_PLOTLY] = Path(str(files("plotly") / "package_data" / _PLOTLY))
# Browsers keep scripts for as long as these do not change, and then find others at another address.
_PATH = f"linked/{hashlib.sha256(b''.join(path.read_bytes() for path in _SERVED.values())).hexdigest()[:12]}"
# The scripts are modules that import each other, so they come from the server; Streamlit itself takes one alone. All
# are asked for at once, before the first has said which others it needs.
_LOADER = f"""const at = (name) => new URL("{_PATH}/" + name, document.baseURI).href;
const ask = (rel, name) => document.head.append(Object.assign(document.createElement("link"), {{rel, href: at(name)}}));
for (const name of {json.dumps([name for name in _SERVED if name != _PLOTLY])}) ask("modulepreload", name);
import(at("plotly.js")).then(({{ plotly }}) => plotly());
export default async (component) => (await import(at("linked.js"))).default(component);"""


async def _script(request: Request) -> Response:
    """A script of the screen, by its name; nothing else of the folder, and nothing beyond it."""
    path = _SERVED.get(request.path_params["name"])
    if path is None:
        return PlainTextResponse("There is no such script.", 404)
    return FileResponse(path, media_type="text/javascript", headers={"cache-control": "max-age=31536000, immutable"})


SCRIPTS = Route(f"/{_PATH}/{{name}}", _script)


@contextmanager
def show_screen(
    name: str, frame: Mapping[str, Any], **heard: Any
) -> Iterator[Callable[[str, Mapping[str, Any]], None]]:
    """Show a linked screen, and give what sends its parts; those that did not change are not sent again.

    Parameters
    ----------
    name : str
        Unique on the page.
    frame : mapping
        Regions, controls, and the names of the tiles in their order.
    **heard : callable
        ``on_said_change``, called when the user chose something.
    """
    css = (_HERE / "linked.css").read_text()
    screen = st.components.v2.component("linked", html=_HTML, css=css, js=_LOADER, isolate_styles=False)
    screen(key=name, data={"screen": name, **frame}, default={"said": None}, **heard)
    carry = st.components.v2.component("linked_part", html="<span></span>", js=_LOADER, isolate_styles=False)
    parts = st.container(key=f"{name}_parts", gap=None)

    def send(part: str, contents: Mapping[str, Any]) -> None:
        with parts:
            carry(key=f"{name}_part_{part}", data={"screen": name, "part": part, **contents})

    yield send
