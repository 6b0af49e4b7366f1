"""The panel's address as a QR code, read by a program that phones use, too."""

import signal

import numpy
import pytest
import zxingcpp

from rig.gateway import Gateway, complaint, environment, run_tactus
from rig.screen import Screen
from rig.wait import until

TOKEN = "correct+horse/battery="


def pixels(lines):
    """A picture of a code that is drawn with half blocks, four pixels for each module."""
    rows = [[255 if character in full else 0 for character in line] for line in lines for full in ("█▀", "█▄")]
    return numpy.kron(numpy.array(rows, dtype=numpy.uint8), numpy.ones((4, 4), dtype=numpy.uint8))


def read(text):
    """What the codes in a text say."""
    lines = [line for line in text.splitlines() if line and set(line) <= set("█▀▄ ")]
    found = zxingcpp.read_barcodes(pixels(lines), formats=zxingcpp.BarcodeFormat.QRCode)
    return [code.text for code in found]


@pytest.fixture
def token(tmp_path):
    path = tmp_path / "token"
    path.write_text(TOKEN)
    path.chmod(0o600)
    return path


@pytest.mark.real("network")
def test_status_shows_a_code_of_the_address_that_others_use(start, token, reached):
    start("--no-link", "--http", "0.0.0.0:8899", "--http-token-file", token, port=8899, token=TOKEN)
    done = run_tactus("status", "--qr", "--url", f"http://{reached}:8899", "--token-file", token)
    assert done.returncode == 0, done.stderr
    assert read(done.stdout) == [f"http://{reached}:8899/#token=correct%2Bhorse%2Fbattery%3D"]
    here = run_tactus("status", "--qr", "--url", "http://127.0.0.1:8899", "--token-file", token)
    assert here.returncode == 64 and "--http-token-file FILE" in complaint(here.stderr)


@pytest.mark.real("terminal")
def test_run_shows_a_code_of_an_address_that_others_reach(tmp_path, token, reached):
    command = [*Gateway.COMMAND, "run", "--no-link", "--http", f"{reached}:8808", "--http-token-file", token, "--qr"]
    with Screen(command, environment(tmp_path)) as screen:
        # The live line comes after what the start prints, but where it will be may be cleared before.
        until(lambda: screen.read() or "BPM" in screen.raw, "the live line is there")
        plain = screen.raw.replace("\x1b[97;40m", "").replace("\x1b[0m", "").removeprefix("\r\x1b[K")
        assert plain.startswith(f"Panel: http://{reached}:8808 (asks for the token)")
        assert read(plain) == [f"http://{reached}:8808/#token=correct%2Bhorse%2Fbattery%3D"]
        assert screen.end(signal.SIGINT) == 0


@pytest.mark.real("network")
def test_without_a_terminal_there_is_no_code_and_no_token(start, token, reached):
    running = start("--no-link", "--http", "0.0.0.0:8899", "--http-token-file", token, "--qr", port=8899, token=TOKEN)
    until(lambda: "No QR code: this is not a terminal" in running.stdout, "the reason is told")
    assert "Panel: http://" in running.stdout
    for text in (running.stdout, running.stderr):
        assert "█" not in text
        assert TOKEN not in text and "correct%2Bhorse" not in text
