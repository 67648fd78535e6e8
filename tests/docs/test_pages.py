"""Pages say what the code has: commands that exist, names that can be imported, tables of all that is registered."""

import re
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from described_files import ROOT

import biobgt
from biobgt.base.references import GLOSSARY
from biobgt.data.atlas import BUNDLED
from biobgt.hubs.measures import HUB_MEASURES
from biobgt.model.folder import pretrained_names
from biobgt.readers import READERS
from docs.tools.command_line import all_commands
from docs.tools.commands import named_commands, read_command, shell_lines, whole_commands
from docs.tools.equations import with_mathml
from docs.tools.hooks import on_page_content
from docs.tools.offline import fetched_addresses
from docs.tools.tables import MADE, OPTIONS, expanded

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = [page.read_text(encoding="utf-8") for page in PAGES]


@pytest.mark.parametrize("line", dict.fromkeys(line for text in TEXTS for line in whole_commands(text)))
def test_command_line_reads_every_command(line: str) -> None:
    read_command(line)


@pytest.mark.parametrize("line", dict.fromkeys(line for text in TEXTS for line in named_commands(text)))
def test_commands_and_options_in_sentences_exist(line: str) -> None:
    read_command(line, whole=False)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    "line", ["biobgt hub study --out x", "biobgt hubs study --out x --gama 1", "biobgt fetch abid"]
)
def test_wrong_commands_are_found(line: str, whole: bool) -> None:
    with pytest.raises(Exception, match=r"no command|no option|No such option|gama"):
        read_command(line, whole=whole)


def test_make_targets_of_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = {line.split()[1] for line in shell_lines(text) if line.startswith("make ")}
    named |= set(re.findall(r"`make (\w+)`", text))
    assert {"run", "test", "check", "docs"} <= named
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in named)


def test_results_of_readme_are_those_of_the_cards() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert MADE["results"]() in text
    assert all(f"| `{name}` |" in text for name in pretrained_names() if name != "five-groups-aal90")
    found = re.findall(r"\| (\S+) \[\S+ \S+\] \| \S+ \[\S+ (\S+)\],", text)
    assert len(found) >= 6
    assert all(float(own) <= float(highest) for own, highest in found)  # none is clearly better than a linear one
    assert "git clone" not in text or "http" in text.split("git clone")[1].splitlines()[0]


def test_pictures_of_readme_are_there() -> None:
    shown = re.findall(r"!\[.+?\]\((.+?)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(shown) == 5
    assert all((ROOT / path).is_file() for path in shown)


def public_names(text: str) -> list[str]:
    return re.findall(r"`(biobgt(?:\.\w+)+)`", text) + re.findall(r"^::: (\S+)$", text, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_of_functions_can_be_imported(page: Path) -> None:
    for name in public_names(page.read_text(encoding="utf-8")):
        assert _exists(name), f"{page.name} names {name}, which there is not."


def _exists(name: str) -> bool:
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for part in parts[n:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def test_a_name_that_is_not_there_is_found() -> None:
    assert not _exists("biobgt.hubs.node_entanglment")
    assert _exists("biobgt.model.network.info_nce")


def test_every_public_package_has_its_page_of_the_reference() -> None:
    packages = {path.parent.name for path in Path(biobgt.__file__).parent.rglob("__init__.pyi")}
    assert packages <= {path.stem for path in (ROOT / "docs" / "reference").glob("*.md")}


def test_every_page_has_its_place_in_the_navigation() -> None:
    sections = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    entries = [entry for section in sections for pages in section.values() for entry in pages]
    named = {page for entry in entries for page in (entry.values() if isinstance(entry, dict) else [entry])}
    there = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert named == there | {"gallery.md"}


def test_every_asked_table_is_made_and_says_what_the_register_has() -> None:
    asked = {found for page in PAGES for found in re.findall(r"<!-- made: (.+) -->", page.read_text(encoding="utf-8"))}
    assert asked <= set(MADE)
    for name, register in {"atlases": BUNDLED, "hub measures": HUB_MEASURES, "models": pretrained_names()}.items():
        assert all(f"`{key}`" in MADE[name]() for key in register)
    assert all(suffix in MADE["formats"]() for reader in READERS.values() for suffix in reader.suffixes)
    assert all(f"## biobgt {' '.join(words)}\n" in MADE["commands"]() for words, _ in all_commands())
    assert "<!-- made" not in expanded("<!-- made: atlases -->")
    with pytest.raises(KeyError):
        expanded("<!-- made: nothing -->")


@pytest.mark.parametrize("name", OPTIONS)
def test_options_stand_with_the_names_that_the_command_line_has(name: str) -> None:
    flags = {
        flag for _, command in all_commands() for one in command.params for flag in (*one.opts, *one.secondary_opts)
    }
    for row in MADE[f"options {name}"]().splitlines()[2:]:
        assert set(re.match(r"\| `(.+?)`", row)[1].split("/")) <= flags


def test_every_term_is_explained_and_links_lead_to_terms() -> None:
    page = MADE["glossary"]()
    for key in GLOSSARY:
        assert f"{{#{key}}}" in page
    linked = {key for path in PAGES for key in re.findall(r"glossary\.md#([\w-]+)", path.read_text(encoding="utf-8"))}
    assert linked <= set(GLOSSARY)


def test_equations_become_mathml() -> None:
    html = with_mathml('<p><span class="arithmatex">\\(a &lt; b_i\\)</span></p><div class="arithmatex">\\[x\\]</div>')
    assert html.count("<math") == 2
    assert "arithmatex" not in html
    assert "&lt;" in html or "&#x0003C;" in html
    assert 'display="block"' in html


def test_code_is_shown_as_it_is_meant() -> None:
    shape = '(<span title="ndarray">ndarray</span>, <span title="shape">shape</span>(<span title="n">n</span>))'
    assert on_page_content(f"<code>{shape}</code>") == "<code>ndarray, shape (n,)</code>"
    assert on_page_content(r"<td><code>mean \|FC\|</code></td>") == "<td><code>mean |FC|</code></td>"
    assert on_page_content("see :func:<code>~biobgt.hubs.degree</code>") == "see <code>degree</code>"


def test_what_a_browser_would_fetch_is_found() -> None:
    fetched = '<script src="https://cdn.example/x.js"></script><link rel="stylesheet" href="//fonts.example/a.css">'
    assert fetched_addresses(fetched) == ["https://cdn.example/x.js", "//fonts.example/a.css"]
    assert fetched_addresses('@import "https://a.example/b.css"; a { background: url(https://a.example/c.png) }')
    own = '<a href="https://example.org">x</a><script src="assets/a.js"></script><img alt="x" src="img/a.png">'
    assert fetched_addresses(own) == []


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_places_that_pages_for_engineers_name_exist(page: str) -> None:
    named = re.findall(r"`((?:app|assets|benchmarks|biobgt|docs|tests)/[\w./]*)`", (ROOT / page).read_text("utf-8"))
    assert named
    assert [place for place in named if not (ROOT / place).exists()] == []
