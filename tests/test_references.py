"""Works to cite: every entry of the bundled file is read, and named as lists of references name it."""

from biobgt.base.files import asset
from biobgt.base.references import REFERENCES, bibliography, work


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
