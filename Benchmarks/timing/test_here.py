"""`make bench-here` says what is missing, and what helps."""

import here
import pytest


def test_without_a_sequencer_it_says_so_and_what_helps(monkeypatch, tmp_path):
    monkeypatch.setattr(here, "SEQUENCER", str(tmp_path / "seq"))
    with pytest.raises(SystemExit) as ended:
        here.main()
    assert "has no ALSA sequencer" in ended.value.code and "modprobe -a snd-seq snd-virmidi" in ended.value.code


def test_without_a_virtual_port_it_says_so_and_what_helps(monkeypatch, tmp_path):
    (tmp_path / "seq").touch()
    monkeypatch.setattr(here, "SEQUENCER", str(tmp_path / "seq"))
    monkeypatch.setattr(here, "virtual_card", lambda: None)
    assert here.obstacle().endswith("`sudo modprobe snd-virmidi`")


def test_the_page_says_which_computer_it_is_of_and_not_whose():
    facts = here.computer()
    assert "* kernel: " in facts and "* processor: " in facts and "* real-time limit: " in facts
