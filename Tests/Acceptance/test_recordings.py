"""`tactus monitor` with recordings of clicks and of a MIDI cable, in WAV, AIFF and FLAC, and with unusable files."""

import json
import os
import random
import statistics

import pytest

from rig import sounds
from rig.gateway import run_tactus

pytestmark = pytest.mark.real("audio")


def test_two_machines_in_a_stereo_file_are_compared_beat_by_beat(tmp_path):
    for kind in sounds.FORMATS:
        compared(tmp_path, kind)


def compared(folder, kind):
    chance = random.Random(1)
    first = [0.3 + 0.5 * beat + chance.gauss(0, 0.001) for beat in range(24)]
    second = [time - 0.004 + chance.gauss(0, 0.000_2) for time in first]
    path = sounds.write(folder / f"two.{kind}", sounds.clicks(first, 13), sounds.clicks(second, 13))
    done = run_tactus("monitor", path, "--as", "clicks", "--against", 2, "--json", "--report", folder)
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert said["stamps"] == "recording" and said["port"] == f"two.{kind}, channel 1"
    assert said["ticks"]["received"] == said["ticks"]["measured"] == 24
    assert said["tempo"]["beatsPerMinute"] == pytest.approx(120, abs=0.05)
    found = said["recording"]["against"]["difference"]
    truth = [later - earlier for later, earlier in zip(first, second)]
    assert found["medianMicroseconds"] == pytest.approx(statistics.median(truth) * 1e6, abs=20)
    for each, time, difference in zip(found["differences"], first, truth, strict=True):
        assert each["second"] == pytest.approx(time, abs=20e-6)
        assert each["microseconds"] == pytest.approx(difference * 1e6, abs=20)
    assert {path.suffix for path in folder.glob("monitor.*")} == {".html", ".svg", ".json"}
    assert "channel 1 comes" in (folder / "monitor.html").read_text()


def test_a_midi_cable_in_an_audio_jack_is_read_within_20_us(tmp_path):
    chance = random.Random(2)
    ticks = [0.1 + tick / 48 + chance.uniform(-0.001, 0.001) for tick in range(200)]
    line = sounds.midi([(0.09, b"\xFA"), *((time, b"\xF8") for time in ticks), (4.4, b"\xF2\x10\x00")], 4.5)
    path = sounds.write(tmp_path / "cable.wav", line, [0.9 * sample for sample in line])
    done = run_tactus("monitor", path, "--as", "midi", "--against", 2, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert (said["ticks"]["received"], said["ticks"]["lost"], said["ticks"]["doubled"]) == (200, 0, 0)
    assert said["recording"]["unreadable"] == 0
    assert [(each["kind"], each.get("position")) for each in said["transport"]["newest"]] == [
        ("start", None), ("song-position", 16)]
    differences = said["recording"]["against"]["difference"]["differences"]
    for each, time in zip(differences, ticks, strict=True):
        assert each["second"] == pytest.approx(time, abs=20e-6)


def made(folder, name):
    """Makes one of the files that cannot be measured, given by name."""
    path = folder / name
    if name == "fifo.wav":
        os.mkfifo(path)
    elif name == "folder.wav":
        path.mkdir()
    elif name == "text.wav":
        path.write_text("This is no recording.\n" * 1_000)
    elif name == "silence.wav":
        sounds.write(path, [0.0] * 48_000)
    elif name == "clicks.wav":
        sounds.write(path, sounds.clicks([0.1, 0.6, 1.1], 1.5))
    elif name == "copied.wav":
        sounds.write(path, *[sounds.clicks([0.1, 0.6, 1.1], 1.5)] * 2)
    elif name == "empty.wav":
        path.touch()
    elif name == "damaged.flac":
        whole = sounds.write(path, sounds.clicks([0.1 + 0.5 * beat for beat in range(9)], 5)).read_bytes()
        path.write_bytes(whole[:len(whole) // 2] + bytes(255 - byte for byte in whole[len(whole) // 2:]))
    return path


def test_what_cannot_be_measured_is_refused_with_what_would_be_right(tmp_path):
    for name in ("fifo.wav", "folder.wav", "text.wav", "empty.wav", "damaged.flac", "clicks.wav", "copied.wav", "silence.wav"):
        made(tmp_path, name)
    for name, arguments, code, words in (
            ("missing.wav", ["--as", "clicks"], 69, "there is no file"),
            ("fifo.wav", ["--as", "clicks"], 64, "not an ordinary file"),
            ("folder.wav", ["--as", "clicks"], 64, "not an ordinary file"),
            ("text.wav", ["--as", "clicks"], 65, "cannot be read"),
            ("empty.wav", ["--as", "clicks"], 65, "cannot be read"),
            ("damaged.flac", ["--as", "clicks"], 65, "cannot be read"),
            ("clicks.wav", [], 64, "--as clicks"),
            ("clicks.wav", ["--as", "drums"], 64, "'clicks' and 'midi'"),
            ("clicks.wav", ["--as", "clicks", "--channel", "2"], 64, "has 1 channel"),
            ("clicks.wav", ["--as", "clicks", "--against", "2"], 64, "has 1 channel"),
            ("clicks.wav", ["--as", "clicks", "--against", "1"], 64, "two different channels"),
            ("copied.wav", ["--as", "clicks", "--against", "2"], 69, "exactly the same sound"),
            ("clicks.wav", ["--as", "clicks", "--channel", "0"], 64, "from 1 to 256"),
            ("clicks.wav", ["--as", "clicks", "--against", "257"], 64, "from 1 to 256"),
            ("TR-8S", ["--as", "clicks"], 64, "for recordings")):
        done = run_tactus("monitor", tmp_path / name if "." in name else name, *arguments)
        assert (done.returncode, done.stdout) == (code, ""), (name, arguments, done.stderr)
        assert words in done.stderr and done.stderr.count("\n") == 1, (name, arguments, done.stderr)
    for name, kind, words in (("silence.wav", "clicks", "it is silent"), ("clicks.wav", "midi", "a signal that is no MIDI")):
        done = run_tactus("monitor", tmp_path / name, "--as", kind)
        assert done.returncode == 69 and words in done.stderr and "--channel" in done.stderr


def test_without_libsndfile_only_recordings_are_missing(tmp_path):
    path = made(tmp_path, "clicks.wav")
    folders = [folder for folder in ("/lib", "/usr/lib") for folder in [os.path.realpath(folder)]]
    libraries = {
        os.path.realpath(os.path.join(root, name)) for folder in set(folders) for root, _, names in os.walk(folder)
        for name in names if name.startswith("libsndfile.so")}
    assert libraries
    # Mount an empty file over the library, in a mount namespace for this command only.
    hide = "for library in $LIBRARIES; do mount --bind /dev/null $library; done; exec \"$@\""
    before = ["env", f"LIBRARIES={' '.join(libraries)}", "unshare", "--mount", "sh", "-c", hide, "sh"]
    done = run_tactus("monitor", path, "--as", "clicks", before=before)
    assert done.returncode == 71 and "apt install libsndfile1" in done.stderr
    assert run_tactus("profiles", "list", before=before).returncode == 0
