"""The panel's address as a QR code, read by a program that phones use, too."""

import os
import pty
import signal
import subprocess

import numpy
import pytest
import zxingcpp

from rig.gateway import TACTUS, complaint, environment, run_tactus
from rig.wait import PATIENCE, until

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
def test_status_shows_a_code_of_the_address_that_others_use(start, token):
    subprocess.run(["ip", "address", "add", "10.9.8.7/24", "dev", "lo"], check=True)
    try:
        start("--no-link", "--http", "0.0.0.0:8899", "--http-token-file", token, port=8899, token=TOKEN)
        done = run_tactus("status", "--qr", "--url", "http://10.9.8.7:8899", "--token-file", token)
        assert done.returncode == 0, done.stderr
        assert read(done.stdout) == ["http://10.9.8.7:8899/#token=correct%2Bhorse%2Fbattery%3D"]
        here = run_tactus("status", "--qr", "--url", "http://127.0.0.1:8899", "--token-file", token)
        assert here.returncode == 64 and "--http-token-file FILE" in complaint(here.stderr)
    finally:
        subprocess.run(["ip", "address", "delete", "10.9.8.7/24", "dev", "lo"], check=True)


@pytest.mark.real("terminal")
def test_run_shows_a_code_of_an_address_that_others_reach(tmp_path, token):
    address = "10.9.8.7:8808"
    subprocess.run(["ip", "address", "add", "10.9.8.7/24", "dev", "lo"], check=True)
    far, near = pty.openpty()
    command = ["setpriv", "--pdeathsig", "KILL", TACTUS, "run", "--no-link", "--http", address, "--http-token-file", token, "--qr"]
    process = subprocess.Popen(
        command, env={"TERM": "xterm-256color", **environment(tmp_path)}, stdin=subprocess.DEVNULL, stdout=near,
        stderr=subprocess.DEVNULL, start_new_session=True)
    os.close(near)
    try:
        text = b""
        # The live line comes after what the start prints, but where it will be may be cleared before.
        while b"BPM" not in text:
            text += os.read(far, 65536)
        plain = text.decode(errors="replace").replace("\x1b[97;40m", "").replace("\x1b[0m", "").removeprefix("\r\x1b[K")
        assert plain.startswith(f"Panel: http://{address} (asks for the token)")
        assert read(plain) == ["http://10.9.8.7:8808/#token=correct%2Bhorse%2Fbattery%3D"]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE) == 0
    finally:
        process.kill()
        process.wait()
        os.close(far)
        subprocess.run(["ip", "address", "delete", "10.9.8.7/24", "dev", "lo"], check=True)


@pytest.mark.real("network")
def test_without_a_terminal_there_is_no_code_and_no_token(start, token):
    subprocess.run(["ip", "address", "add", "10.9.8.7/24", "dev", "lo"], check=True)
    try:
        running = start("--no-link", "--http", "0.0.0.0:8899", "--http-token-file", token, "--qr", port=8899, token=TOKEN)
        until(lambda: "No QR code: this is not a terminal" in running.stdout, "the reason is told")
        assert "Panel: http://" in running.stdout
        for text in (running.stdout, running.stderr):
            assert "█" not in text
            assert TOKEN not in text and "correct%2Bhorse" not in text
    finally:
        subprocess.run(["ip", "address", "delete", "10.9.8.7/24", "dev", "lo"], check=True)
