"""Terms are explained where a page first uses them, and all of them from every page."""

import pytest
from page_contents import assert_no_error

from biobgt.base.references import GLOSSARY, sorted_terms
from views.page_map import PAGES
from views.shared.widgets import explained

TERMS = {
    "subjects": {"atlas", "region-series"},
    "hubs": {"hub", "ne", "neff", "fc-strength", "gamma", "agreement", "null-graph", "control-graph"},
    "modules": {"louvain", "resolution", "modularity", "ami", "participation"},
    "compare": {"covariate", "residual-degrees", "effect-size", "fdr"},
    "attention": {"attention", "fdr"},
    "predict": {"calibration", "out-of-fold"},
    "models": {"out-of-fold", "tangent-space"},
}


def helps(page) -> str:
    return "\n".join(element.help for element in (*page.title, *page.subheader) if element.help)


@pytest.mark.parametrize("name", TERMS)
def test_terms_are_explained_once_at_the_first_heading_that_uses_them(look_at, name) -> None:
    said = helps(look_at(name))
    for key in TERMS[name]:
        assert said.count(explained(key)) == 1, key


def test_an_unknown_term_is_a_bug() -> None:
    with pytest.raises(Exception, match="entanglemnt"):
        explained("entanglemnt")
    assert explained() is None


def test_whole_glossary_opens_from_the_sidebar(open_page) -> None:
    page = open_page("export")
    assert not [text for text in page.markdown if GLOSSARY["ve"].definition in text.value]
    page.sidebar.button(key="glossary").click().run()
    assert_no_error(page)
    shown = [text.value for text in page.markdown if text.value.startswith("**") and "**: " in text.value]
    assert [text.partition("**: ")[0] for text in shown] == [f"**{term.term}" for term in sorted_terms()]
    assert any(text.endswith("(Huang et al. 2024)") for text in shown)


@pytest.mark.parametrize("name", ["home", "models"])
def test_every_page_offers_it(look_at, name) -> None:
    assert name in PAGES
    assert [button.label for button in look_at(name).sidebar.button if button.key == "glossary"] == ["Glossary"]
