"""Every registered figure is in the gallery, with a command that makes it; and the site is built from it."""

import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from described_files import ROOT
from PIL import Image

from biobgt.export.request import CohortRef
from biobgt.figures.hubs import hub_curves
from biobgt.figures.register import all_figures
from docs.tools import gallery
from docs.tools.commands import read_command
from tests.made_study import made_study

# Five subjects per group, as few as a model can be judged by, on a small atlas, and little of what takes long.
SMALL = gallery.Shown(
    CohortRef("ad", demo=True, n_per_group=5, seed=3),
    "adsim-aal90",
    made_study,
    options={
        "gamma_sweep": {"gammas": (0.1, 1.0)},
        "resolution_sweep": {"resolutions": (0.8, 1.0), "runs": 2},
        "modularity_against_chance": {"null_graphs": 2},
        "small_worldness": {"null_graphs": 1},
        "specification_curve": {"most": 8},
        "subject_specification_curve": {"most": 8},
        "group_module_brain": {"runs": 2},
        "group_module_flow": {"runs": 2},
    },
    demos=dict.fromkeys(("centiles", "centiles_brain"), CohortRef("asd", demo=True, n_per_group=2)),
)


@pytest.fixture(scope="session")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The gallery of the small cohort, at the lowest resolution."""
    folder = tmp_path_factory.mktemp("gallery")
    gallery.write(folder, SMALL, dpi=72)
    return folder


def test_every_registered_figure_has_its_picture_and_its_words(drawn: Path) -> None:
    page = (drawn / gallery.PAGE).read_text(encoding="utf-8")
    for key, kind in all_figures().items():
        assert page.count(f"### {kind.name} {{#{key}}}") == 1
        assert f"]({gallery.PICTURES}/{key}.png)" in page
        with Image.open(drawn / gallery.PICTURES / f"{key}.png") as picture:
            assert min(picture.size) > 80
            assert len(picture.convert("L").getcolors()) > 2, f"{key} is empty."


@pytest.mark.parametrize("key", all_figures())
def test_the_command_asks_for_the_figure_that_is_shown(key: str) -> None:
    one = gallery.example(all_figures()[key])
    read_command(one.command)
    words = shlex.split(one.command)
    assert words[:3] == ["biobgt", "figure", key]
    given = [word.removeprefix("--set=") for word in words if word.startswith("--set=")]
    options = dict(all_figures()[key].takes.read_text(text, of="It") for text in given)
    assert options == dict(one.request.options)
    if one.request.cohort.study:
        assert words[3] == "study:study"
        return
    model = getattr(all_figures()[key], "example_of", "") or "abide-cc200"
    assert words[3] == (f"model:{model}" if one.request.cohort.model else "demo:asd")


def test_a_new_figure_is_in_the_gallery_by_being_registered() -> None:
    with all_figures().temporarily(replace(hub_curves, key="another", name="Another figure")):
        commands = [one.command for one in gallery.examples(SMALL)]
    assert "biobgt figure another demo:ad --out figures" in commands


def test_site_is_built_without_a_broken_link_and_without_the_network(drawn: Path, tmp_path: Path) -> None:
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    from docs.tools import hooks
    from docs.tools.offline import pages_that_fetch

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setattr(hooks, "GALLERY", drawn)
        config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path / "site"), strict=True)
        config.hooks["docs/tools/hooks.py"].GALLERY = drawn
        build(config)
    assert list(pages_that_fetch(tmp_path / "site")) == []
    method = (tmp_path / "site" / "method.html").read_text(encoding="utf-8")
    assert "<math" in method
    assert "arithmatex" not in method
    reference = (tmp_path / "site" / "reference" / "hubs.html").read_text(encoding="utf-8")
    assert 'id="biobgt.hubs.node_entanglement"' in reference
    assert ":func:" not in reference
