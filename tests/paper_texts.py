"""The texts of a drawing for paper, and whether all of them can be read."""

from itertools import combinations

from matplotlib.text import Text

from biobgt.figures.paper.frame import drawing
from biobgt.figures.paper_style import PaperStyle


def drawn_texts(figure, monkeypatch, style=None):
    """Every text that is really drawn, with its place in pixels; ticks may be made as late as here, in the style."""
    found = []
    draw = Text.draw

    def record(self, renderer):
        if self.get_visible() and self.get_text().strip():
            found.append((self.get_text(), self.get_window_extent(renderer)))
        return draw(self, renderer)

    with drawing(style or PaperStyle()), monkeypatch.context() as patch:
        patch.setattr(Text, "draw", record)
        figure.canvas.draw()
    return found


def texts_inside_and_apart(figure, monkeypatch, style=None):
    """The texts that are drawn; none may be cut or lie on another."""
    texts = drawn_texts(figure, monkeypatch, style)
    assert texts
    for text, box in texts:
        assert box.x0 >= 0, f"'{text}' is cut on the left"
        assert box.y0 >= 0, f"'{text}' is cut at the bottom"
        assert box.x1 <= figure.bbox.x1, f"'{text}' is cut on the right"
        assert box.y1 <= figure.bbox.y1, f"'{text}' is cut at the top"
    for (one, here), (other, there) in combinations(texts, 2):
        across = min(here.x1, there.x1) - max(here.x0, there.x0)
        along = min(here.y1, there.y1) - max(here.y0, there.y0)
        assert min(across, along) <= 1, f"'{one}' lies on '{other}'"
    return [text for text, _ in texts]
