"""A methods section as a Word document (Office Open XML, ISO/IEC 29500), byte for byte the same every time.

A ``.docx`` is a zip of XML. This one holds headings, paragraphs, bold and highlighted runs, and no more, so that no
library is needed for it.
"""

import io
import zipfile
from collections.abc import Iterable
from xml.sax.saxutils import escape

from biobgt.export.cited_text import Run, ToComplete
from biobgt.export.methods import Methods, Paragraph
from biobgt.output import TIMELESS

_HEADER = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_WORDS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_TYPES = (
    f'{_HEADER}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/word/document.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>'
    '<Override PartName="/word/styles.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/></Types>'
)
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def methods_word(methods: Methods) -> bytes:
    """Write it, with a list of the works it names."""
    body = [_styled("Heading1", "Methods")]
    for section in methods.sections:
        body += [_styled("Heading2", section.heading), *map(_paragraph, section.paragraphs)]
    body += [_styled("Heading2", "References"), *(_styled("Bibliography", one.entry) for one in methods.works.values())]
    document = f'{_HEADER}<w:document xmlns:w="{_WORDS}"><w:body>{"".join(body)}<w:sectPr/></w:body></w:document>'
    parts = {
        "[Content_Types].xml": _TYPES,
        "_rels/.rels": _related("officeDocument", "word/document.xml"),
        "word/document.xml": document,
        "word/_rels/document.xml.rels": _related("styles", "styles.xml"),
        "word/styles.xml": _styles(),
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name, TIMELESS), text.encode(), zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def _paragraph(paragraph: Paragraph) -> str:
    runs = [_run(f"{paragraph.about}. ", bold=True)] if paragraph.about else []
    for number, sentence in enumerate(paragraph.sentences):
        runs += [_run(" ")] if number else []
        runs += map(_of, sentence)
    return _block("Normal", runs)


def _of(run: Run) -> str:
    if isinstance(run, ToComplete):
        return _run(run.text, bold=True, marked=True)
    return _run(run if isinstance(run, str) else run.text)


def _run(text: str, *, bold: bool = False, marked: bool = False) -> str:
    look = ("<w:b/>" if bold else "") + ('<w:highlight w:val="yellow"/>' if marked else "")
    clean = "".join(letter for letter in text if letter.isprintable())  # XML has no control characters
    set_as = f"<w:rPr>{look}</w:rPr>" if look else ""
    return f'<w:r>{set_as}<w:t xml:space="preserve">{escape(clean)}</w:t></w:r>'


def _styled(style: str, text: str) -> str:
    return _block(style, [_run(text)])


def _block(style: str, runs: Iterable[str]) -> str:
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>{"".join(runs)}</w:p>'


def _related(kind: str, target: str) -> str:
    relation = f'<Relationship Id="rId1" Type="{_RELATION}/{kind}" Target="{target}"/>'
    return f'{_HEADER}<Relationships xmlns="{_PACKAGE}">{relation}</Relationships>'


def _styles() -> str:
    def style(key: str, name: str, paragraph: str, run: str, *, default: bool = False) -> str:
        based = ' w:default="1"' if default else ""
        base = "" if default else '<w:basedOn w:val="Normal"/>'
        return (
            f'<w:style w:type="paragraph"{based} w:styleId="{key}"><w:name w:val="{name}"/>{base}'
            f"<w:pPr>{paragraph}</w:pPr><w:rPr>{run}</w:rPr></w:style>"
        )

    spaced = '<w:spacing w:after="160" w:line="276" w:lineRule="auto"/>'
    level = '<w:keepNext/><w:spacing w:before="240" w:after="80"/><w:outlineLvl w:val="{}"/>'
    styles = [
        style("Normal", "Normal", spaced, '<w:sz w:val="22"/>', default=True),
        style("Heading1", "heading 1", level.format(0), '<w:b/><w:sz w:val="32"/>'),
        style("Heading2", "heading 2", level.format(1), '<w:b/><w:sz w:val="26"/>'),
        style("Bibliography", "Bibliography", '<w:ind w:left="360" w:hanging="360"/>', ""),
    ]
    return f'{_HEADER}<w:styles xmlns:w="{_WORDS}">{"".join(styles)}</w:styles>'
