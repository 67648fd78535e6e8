"""Works to cite, and the glossary."""

import pytest

from biobgt.base.files import asset
from biobgt.base.references import GLOSSARY, REFERENCES, Cited, cited, cut, in_brackets
from biobgt.hubs.measures import COMPARED, HUB_MEASURES, EntanglementOptions


def test_every_entry_is_read_and_written_as_it_stands():
    text = asset("references.bib").read_text(encoding="utf-8")
    assert text.count("@") == len(REFERENCES)
    assert "\n".join(one.bibtex() for one in REFERENCES.values()) == text
    assert all({"author", "year"} <= set(one.fields) for one in REFERENCES.values())


def test_names_follow_the_number_of_authors_and_keep_their_accents():
    assert REFERENCES["meila2007"].short == "Meilă 2007"
    assert REFERENCES["latora2001"].short == "Latora and Marchiori 2001"
    assert REFERENCES["velickovic2018"].entry.startswith("Veličković, P. et al. (2018). Graph Attention Networks.")
    assert REFERENCES["guimera2005"].in_full == "Guimerà and Amaral, Nature 433:895 (2005), doi:10.1038/nature03288"
    assert REFERENCES["liu2024sparsity"].in_full == "Liu et al., Neural Networks (2024)"


def test_sentences_are_cut_at_their_citations() -> None:
    sentence = "Its (signed) AMI [AMI; @vinh2010], NE [@peng2025; @huang2024] and p [@freedman1983; 9 permutations]."
    vinh, peng, huang, freedman = (REFERENCES[key] for key in ("vinh2010", "peng2025", "huang2024", "freedman1983"))
    assert cut(sentence) == (
        "Its (signed) AMI ",
        Cited((vinh,), before="AMI"),
        ", NE ",
        Cited((peng, huang)),
        " and p ",
        Cited((freedman,), behind="9 permutations"),
        ".",
    )
    assert cited(sentence) == (
        "Its (signed) AMI (AMI; Vinh et al. 2010), NE (Peng et al. 2025; Huang et al. 2024) and p (Freedman and Lane "
        "1983; 9 permutations)."
    )
    assert in_brackets(["peng2025", "huang2024"]) == " [@peng2025; @huang2024]"
    assert in_brackets(()) == ""


@pytest.mark.parametrize(
    "text", ["", "[a, b]", "[@nobody1900]", "a@b.org [x@y]", "[@vinh2010; @nobody1900]", "@vinh2010"]
)
def test_brackets_of_other_things_stay_text(text: str) -> None:
    assert cited(text) == text


def test_terms_are_whole_sentences_with_known_works() -> None:
    for term in GLOSSARY.values():
        assert term.short.endswith(".")
        assert len(term.short) <= 120, "A tooltip holds one sentence."
        assert term.definition.endswith(".")
        assert all(REFERENCES[citation].short for citation in term.citations)


def test_words_that_the_app_uses_are_explained() -> None:
    words = {term.term for term in GLOSSARY.values()}
    assert {HUB_MEASURES[key].short for key in COMPARED} <= words
    assert {"γ", "AMI", "control graph", "tangent space", "attention"} <= words
    assert GLOSSARY["gamma"].short.endswith("in units of 1/mean(λ).")
    assert "1/mean(λ)" in EntanglementOptions.declared()["gamma"].help


def test_terms_are_in_the_order_of_a_dictionary() -> None:
    keys = list(GLOSSARY)
    assert keys == sorted(keys)
    assert keys.index("first-order") < keys.index("gamma") < keys.index("global-signal")
