"""The methods section as Markdown, LaTeX and Word, byte for byte the same every time."""

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape

from biobgt.base.files import zipped
from biobgt.base.references import Cited, bibliography
from biobgt.base.wording import escape_markdown
from biobgt.export.methods import Methods, Run, Sentence, ToComplete

METHODS, LIBRARY = "methods", "references"  # names of the files, without suffix


def methods_files(methods: Methods, name: str, library: str) -> dict[str, bytes]:
    """A methods section as Markdown, Word and LaTeX with its BibTeX, by the names of the files.

    Parameters
    ----------
    methods : Methods
    name, library : str
        Of the text and of the BibTeX file, without suffix.
    """
    return {
        f"{name}.md": _markdown(methods).encode(),
        f"{name}.docx": _word(methods),
        f"{name}.tex": _latex(methods, library).encode(),
        f"{library}.bib": bibliography(methods.works).encode(),
    }


def _markdown(methods: Methods) -> str:
    lines = ["# Methods", ""]
    for heading, paragraphs in methods.sections:
        lines += [f"## {heading}", ""]
        for about, sentences in paragraphs:
            said = [f"**{about}.**"] if about else []
            for sentence in sentences:
                text = escape_markdown("".join(run if isinstance(run, str) else run.text for run in sentence))
                said.append(f"**{text}**" if len(sentence) == 1 and isinstance(sentence[0], ToComplete) else text)
            lines += [" ".join(said), ""]
    lines += ["## References", ""]
    lines += [f"- {escape_markdown(work.entry)}" for work in methods.works.values()]
    return "\n".join(lines) + f"\n\nThe same works are in {LIBRARY}.bib.\n"


# A methods section as LaTeX, with natbib's citations of the bundle's BibTeX file.
#
# It is a whole document that pdfLaTeX and its kin typeset; what stands between the beginning of the document and the
# bibliography is for a manuscript to take over.


_HEAD = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage[round,semicolon]{natbib}
\begin{document}
"""
_TEXT = {"\\": "backslash", "~": "asciitilde", "^": "asciicircum", "<": "less", ">": "greater", "|": "bar"}
_GREEK = {"Σ": "Sigma", "Δ": "Delta", "α": "alpha", "β": "beta", "γ": "gamma", "λ": "lambda", "ρ": "rho"}
_GREEK |= {"σ": "sigma", "τ": "tau", "ψ": "psi", "ω": "omega"}
_SIGNS = {"×": "times", "±": "pm", "≤": "leq", "≥": "geq", "≠": "neq", "≈": "approx", "·": "cdot", "√": "surd"}
_SPECIAL = {letter: rf"\{letter}" for letter in "&%$#_{}"}
_SPECIAL |= {letter: rf"\text{name}{{}}" for letter, name in _TEXT.items()}
_SPECIAL |= {sign: rf"$\{name}$" for sign, name in (_GREEK | _SIGNS).items()}
_SPECIAL |= {"–": "--", "−": "$-$", "∞": r"$\infty$", "²": "$^2$"}
# What T1 and UTF-8 input cannot typeset: letters beyond Latin, and signs that have no entry above.
_UNKNOWN = re.compile(r"[^\x00-\x7f\u00a0-\u017f\u2018-\u201d]")


def _latex(methods: Methods, library: str) -> str:
    lines = [_HEAD + r"\section*{Methods}"]
    for heading, paragraphs in methods.sections:
        lines.append(f"\\subsection*{{{latex(heading)}}}")
        for about, sentences in paragraphs:
            opening = [rf"\textbf{{{latex(about)}.}}"] if about else []
            lines.append("\n".join([*opening, *("".join(map(_latex_run, sentence)) for sentence in sentences)]) + "\n")
    lines += [r"\bibliographystyle{plainnat}", f"\\bibliography{{{library}}}", r"\end{document}"]
    return "\n".join(lines) + "\n"


def latex(text: str) -> str:
    r"""Escape what LaTeX would take for commands, and write signs that its fonts lack as mathematics.

    >>> print(latex("γ = 0.5, 10 % of sub_01"))
    $\gamma$ = 0.5, 10 \% of sub\_01
    """
    written = "".join(_SPECIAL.get(letter, letter) for letter in " ".join(text.split()))
    return _UNKNOWN.sub("?", written)


def _latex_run(run: Run) -> str:
    if isinstance(run, ToComplete):
        return rf"\textbf{{{latex(run.text)}}}"
    if isinstance(run, Cited):
        before = f"{latex(run.before)};" if run.before else ""
        beside = f"[{before}][{latex(run.behind)}]" if run.before or run.behind else ""  # natbib sets a comma between
        return rf"\citep{beside}{{{','.join(one.key for one in run.works)}}}"
    opened, closed = run[: len(run) - len(run.lstrip())], run[len(run.rstrip()) :]  # latex() takes outer blanks away
    return f"{' ' if opened else ''}{latex(run)}{' ' if closed else ''}"


# A methods section as a Word document (Office Open XML, ISO/IEC 29500), byte for byte the same every time.
#
# A ``.docx`` is a zip of XML. This one holds headings, paragraphs, bold and highlighted runs, and no more, so that no
# library is needed for it.


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


def _word(methods: Methods) -> bytes:
    body = [_block("Heading1", [_word_run("Methods")])]
    for heading, paragraphs in methods.sections:
        body.append(_block("Heading2", [_word_run(heading)]))
        body += [_word_paragraph(about, sentences) for about, sentences in paragraphs]
    body.append(_block("Heading2", [_word_run("References")]))
    body += [_block("Bibliography", [_word_run(one.entry)]) for one in methods.works.values()]
    document = f'{_HEADER}<w:document xmlns:w="{_WORDS}"><w:body>{"".join(body)}<w:sectPr/></w:body></w:document>'
    parts = {
        "[Content_Types].xml": _TYPES,
        "_rels/.rels": _related("officeDocument", "word/document.xml"),
        "word/document.xml": document,
        "word/_rels/document.xml.rels": _related("styles", "styles.xml"),
        "word/styles.xml": _styles(),
    }
    return zipped({name: text.encode() for name, text in parts.items()})


def _word_paragraph(about: str, sentences: Iterable[Sentence]) -> str:
    runs = [_word_run(f"{about}. ", bold=True)] if about else []
    for number, sentence in enumerate(sentences):
        runs += [_word_run(" ")] if number else []
        for run in sentence:
            to_complete = isinstance(run, ToComplete)
            runs.append(_word_run(run if isinstance(run, str) else run.text, bold=to_complete, marked=to_complete))
    return _block("Normal", runs)


def _word_run(text: str, *, bold: bool = False, marked: bool = False) -> str:
    look = ("<w:b/>" if bold else "") + ('<w:highlight w:val="yellow"/>' if marked else "")
    clean = "".join(letter for letter in text if letter.isprintable())  # XML has no control characters
    set_as = f"<w:rPr>{look}</w:rPr>" if look else ""
    return f'<w:r>{set_as}<w:t xml:space="preserve">{escape(clean)}</w:t></w:r>'


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
