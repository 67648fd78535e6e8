"""The glossary: every term can be shown behind a word, and cites works that there are."""

from biobgt.base.references import GLOSSARY, sorted_terms, work
from biobgt.hubs.measures import COMPARED, HUB_MEASURES
from biobgt.hubs.options import EntanglementOptions


def test_terms_are_whole_sentences_with_known_works() -> None:
    for term in GLOSSARY.values():
        assert term.short.endswith(".")
        assert len(term.short) <= 120, "A tooltip holds one sentence."
        assert term.definition.endswith(".")
        assert all(work(citation).short for citation in term.citations)


def test_words_that_the_app_uses_are_explained() -> None:
    words = {term.term for term in GLOSSARY.values()}
    assert {HUB_MEASURES[key].short for key in COMPARED} <= words
    assert {"γ", "AMI", "control graph", "tangent space", "attention"} <= words
    assert GLOSSARY["gamma"].short.endswith("in units of 1/mean(λ).")
    assert "1/mean(λ)" in EntanglementOptions.declared()["gamma"].help


def test_terms_are_in_the_order_of_a_dictionary() -> None:
    keys = [term.key for term in sorted_terms()]
    assert keys == sorted(keys)
    assert keys.index("first-order") < keys.index("gamma") < keys.index("global-signal")
