"""Works to cite, and the glossary."""

from biobgt.base.files import asset
from biobgt.base.references import GLOSSARY, REFERENCES, bibliography, sorted_terms, work
from biobgt.hubs.measures import COMPARED, HUB_MEASURES, EntanglementOptions


def test_every_entry_is_read_and_written_as_it_stands():
    text = asset("references.bib").read_text(encoding="utf-8")
    assert text.count("@") == len(REFERENCES)
    assert bibliography(REFERENCES) == text
    assert all({"author", "year"} <= set(one.fields) for one in REFERENCES.values())


def test_names_follow_the_number_of_authors_and_keep_their_accents():
    assert work("meila2007").short == "Meilă 2007"
    assert work("latora2001").short == "Latora and Marchiori 2001"
    assert work("velickovic2018").entry.startswith("Veličković, P. et al. (2018). Graph Attention Networks.")
    assert work("guimera2005").in_full == "Guimerà and Amaral, Nature 433:895 (2005), doi:10.1038/nature03288"
    assert work("liu2024sparsity").in_full == "Liu et al., Neural Networks (2024)"


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
