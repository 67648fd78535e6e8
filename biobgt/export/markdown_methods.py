"""A methods section as Markdown."""

from biobgt.export.cited_text import Sentence, ToComplete
from biobgt.export.methods import LIBRARY, Methods, Paragraph
from biobgt.wording import plain_markdown


def methods_markdown(methods: Methods) -> str:
    """Write it, with a list of the works it names."""
    lines = ["# Methods", ""]
    for section in methods.sections:
        lines += [f"## {section.heading}", ""]
        for paragraph in section.paragraphs:
            lines += [_paragraph(paragraph), ""]
    lines += ["## References", ""]
    lines += [f"- {plain_markdown(work.entry)}" for work in methods.works.values()]
    return "\n".join(lines) + f"\n\nThe same works are in {LIBRARY}.bib.\n"


def _paragraph(paragraph: Paragraph) -> str:
    about = [f"**{paragraph.about}.**"] if paragraph.about else []
    return " ".join([*about, *map(_sentence, paragraph.sentences)])


def _sentence(sentence: Sentence) -> str:
    if len(sentence) == 1 and isinstance(sentence[0], ToComplete):
        return f"**{plain_markdown(sentence[0].text)}**"
    return plain_markdown("".join(run if isinstance(run, str) else run.text for run in sentence))
