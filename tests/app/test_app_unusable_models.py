"""Folders of models that cannot be used are named on the page of models, each with the reason."""

import json
import shutil

from page_contents import as_shown, assert_no_error

from biobgt.model import pretrained
from biobgt.model.pretrained import pretrained_folder


def test_models_that_cannot_be_used_are_named_with_the_reason(open_page, monkeypatch, tmp_path) -> None:
    shipped = pretrained_folder() / "adsim-aal90"
    card = json.loads((shipped / "card.json").read_text(encoding="utf-8"))
    for name, text in (("broken", "{"), ("elsewhere", json.dumps(card | {"atlas": "ours"}))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "card.json").write_text(text, encoding="utf-8")
    monkeypatch.setattr(pretrained, "pretrained_folder", lambda: tmp_path)
    page = open_page("models")
    assert_no_error(page)
    first, second = (as_shown(warning.value) for warning in page.warning)
    assert first == (
        "The model in the folder broken cannot be used. The card of model 'broken' cannot be read (JSONDecodeError)."
    )
    assert second.startswith("The model in the folder elsewhere cannot be used. ")
    assert "'ours'" in second
    assert "No trained model is installed" in page.info[0].value
    shutil.rmtree(tmp_path / "broken")
    page.run()
    assert [as_shown(warning.value) for warning in page.warning] == [second]
