"""A methods section as LaTeX, with natbib's citations of the bundle's BibTeX file.

It is a whole document that pdfLaTeX and its kin typeset; what stands between the beginning of the document and the
bibliography is for a manuscript to take over.
"""

import re

from biobgt.export.cited_text import Cited, Run, ToComplete
from biobgt.export.methods import Methods, Paragraph

_HEAD = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage[round,semicolon]{natbib}
\begin{document}
"""
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "'": "'",
    "–": "--",
    "−": "$-$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "·": r"$\cdot$",
    "√": r"$\surd$",
    "∞": r"$\infty$",
    "Σ": r"$\Sigma$",
    "Δ": r"$\Delta$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "γ": r"$\gamma$",
    "λ": r"$\lambda$",
    "ρ": r"$\rho$",
    "σ": r"$\sigma$",
    "τ": r"$\tau$",
    "ψ": r"$\psi$",
    "ω": r"$\omega$",
    "²": r"$^2$",
}
# What T1 and UTF-8 input cannot typeset: letters beyond Latin, and signs that have no entry above.
_UNKNOWN = re.compile(r"[^\x00-\x7f\u00a0-\u017f\u2018-\u201d]")


def methods_latex(methods: Methods, library: str) -> str:
    """Write it.

    Parameters
    ----------
    methods : Methods
    library : str
        Name of the BibTeX file, without suffix.
    """
    lines = [_HEAD + r"\section*{Methods}"]
    for section in methods.sections:
        lines.append(f"\\subsection*{{{latex(section.heading)}}}")
        lines += [_paragraph(paragraph) + "\n" for paragraph in section.paragraphs]
    lines += [r"\bibliographystyle{plainnat}", f"\\bibliography{{{library}}}", r"\end{document}"]
    return "\n".join(lines) + "\n"


def latex(text: str) -> str:
    r"""Escape what LaTeX would take for commands, and write signs that its fonts lack as mathematics.

    >>> print(latex("γ = 0.5, 10 % of sub_01"))
    $\gamma$ = 0.5, 10 \% of sub\_01
    """
    written = "".join(_SPECIAL.get(letter, letter) for letter in " ".join(text.split()))
    return _UNKNOWN.sub("?", written)


def _paragraph(paragraph: Paragraph) -> str:
    about = [rf"\textbf{{{latex(paragraph.about)}.}}"] if paragraph.about else []
    return "\n".join([*about, *("".join(map(_run, sentence)) for sentence in paragraph.sentences)])


def _run(run: Run) -> str:
    if isinstance(run, ToComplete):
        return rf"\textbf{{{latex(run.text)}}}"
    if isinstance(run, Cited):
        before = f"[{latex(run.before)};][]" if run.before else ""
        return rf"\citep{before}{{{','.join(one.key for one in run.works)}}}"
    opened, closed = run[: len(run) - len(run.lstrip())], run[len(run.rstrip()) :]  # latex() takes outer blanks away
    return f"{' ' if opened else ''}{latex(run)}{' ' if closed else ''}"
