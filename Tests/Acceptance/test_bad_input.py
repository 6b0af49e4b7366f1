"""What a person can get wrong on the command line: one clear line, the right exit code, nothing started."""

import socket
import threading
import time

import pytest

from rig.gateway import PORT, complaint, run_tactus

USAGE, UNAVAILABLE, SYSTEM, NO_PERMISSION = 64, 69, 71, 77


def refused(code, *arguments, naming=None, before=()):
    """Runs a command that must be refused with this code and one line, which holds the words of `naming`."""
    began = time.monotonic()
    done = run_tactus(*arguments, before=before)
    assert done.returncode == code, f"exit {done.returncode}: {done.stderr!r}"
    assert done.stdout == "", "results only go to stdout"
    line = complaint(done.stderr)
    assert line.startswith("tactus: "), line
    if naming:
        assert naming in line, f"{naming!r} is not named in {line!r}"
    assert time.monotonic() - began < 5
    return line


@pytest.mark.parametrize("option", ["--bogus", "--temp", "-x", "stray"])
def test_unknown_options(option):
    refused(USAGE, "run", option, naming=option)


def test_unknown_commands():
    refused(USAGE, "dance", naming="dance")


@pytest.mark.parametrize(
    "option", ["--tempo", "--quantum", "--output", "--follow", "--clock-in", "--http", "--log-level"])
def test_options_without_their_value(option):
    refused(USAGE, "run", option, naming=option)
    refused(USAGE, "run", f"{option}=", naming=option)


@pytest.mark.parametrize("tempo", [
    "abc", " ", "5", "19.99", "999.01", "1000", "nan", "inf", "1e2", "0x80", "120bpm", "12O", "--5", "9" * 400])
def test_tempos(tempo):
    refused(USAGE, "run", f"--tempo={tempo}", naming="20 to 999")
    refused(USAGE, "tempo", "--", tempo, naming="20 to 999")


@pytest.mark.parametrize("quantum", ["-1", "-0.5", "64.5", "65", "x", "nan", "inf", "4 beats"])
def test_quanta(quantum):
    refused(USAGE, "run", f"--quantum={quantum}", naming="0 to 64")


@pytest.mark.parametrize("address", [
    "nonsense", "127.0.0.1", "127.0.0.1:", ":8808", "127.0.0.1:99999", "127.0.0.1:-1", "127.0.0.1:x",
    "300.0.0.1:8808", "127.0.0.1:8808:9", "http://127.0.0.1:8808"])
def test_addresses(address):
    refused(USAGE, "run", f"--http={address}", naming="127.0.0.1:8808")


@pytest.mark.parametrize("address", ["0.0.0.0:8808", "192.168.7.1:8808"])
def test_other_addresses_want_a_secret(address):
    refused(USAGE, "run", "--http", address, naming="--http-token-file")


def test_secrets_that_cannot_be_read(tmp_path):
    refused(USAGE, "run", "--http-token-file", tmp_path / "none", naming="none")
    empty = tmp_path / "empty"
    empty.touch()
    refused(USAGE, "run", "--http-token-file", empty, naming="empty")


@pytest.mark.parametrize("output", [
    "", " ", "raw:", "raw:@31250", "raw:/dev/null@fast", "raw:/dev/null@0", "raw:/dev/null@-1", "raw:/dev/null@",
    "virtual:", "virtual: ", "200:0", "24:999", "0:254"])
def test_outputs(output):
    refused(USAGE, "run", f"--output={output}", naming="--output")


@pytest.mark.parametrize("port", ["", " ", "200:0", "24:999", "x" * 128, "a\nb"])
def test_ports_to_follow(port):
    refused(USAGE, "run", f"--follow={port}", naming="--follow")
    refused(USAGE, "follow", port)


@pytest.mark.parametrize("device", ["", " ", "hw", "hw:1", "hw:1,", "hw:1,x", "1,0", "hw:{1},0", "hw:1,99"])
def test_raw_devices(device):
    refused(USAGE, "run", f"--clock-in={device}", naming="--clock-in")
    refused(USAGE, "run", "--clock-in", "hw:1,0", "--follow", "A", naming="--follow")


def test_outputs_that_can_never_be_a_line(tmp_path):
    refused(USAGE, "run", "--output", f"raw:{tmp_path}", naming=str(tmp_path))
    (tmp_path / "file").write_text("kept")
    refused(USAGE, "run", "--output", f"raw:{tmp_path}/file", naming=f"{tmp_path}/file")
    assert (tmp_path / "file").read_text() == "kept"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        refused(USAGE, "run", "--output", f"raw:{tmp_path}/socket", naming=f"{tmp_path}/socket")


@pytest.mark.parametrize("arguments", [
    ["--realtime-priority", "100"], ["--realtime-priority=-1"], ["--realtime-priority", "high"],
    ["--dispatch", "later"],
    ["--log-level", "loud"], ["--log-format", "xml"], ["--interface", ""], ["--interface", "a name"],
    ["--output", "A", "--output", "A"], ["--http", "127.0.0.1:8808", "--no-http"],
])
def test_other_values(arguments):
    refused(USAGE, "run", *arguments)


@pytest.mark.parametrize("arguments", [
    ["link"], ["link", "maybe"], ["link", "on", "off"], ["start-stop-sync", "1"], ["tempo"], ["play", "now"],
    ["status", "--url", "nonsense"], ["status", "--url", "ftp://127.0.0.1:8808"], ["status", "--token-file", "/none"],
])
def test_other_commands(arguments):
    refused(USAGE, *arguments)


@pytest.mark.parametrize("command", [
    ["status"], ["status", "--json"], ["link", "on"], ["follow", "off"], ["start-stop-sync", "off"], ["play"], ["stop"],
    ["tempo", "120"]])
def test_commands_without_a_gateway(command):
    refused(UNAVAILABLE, *command, naming=str(PORT))


def test_a_url_where_something_else_answers():
    """A server that talks, but not as a gateway does."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")

        threading.Thread(target=answer, daemon=True).start()
        port = server.getsockname()[1]
        refused(UNAVAILABLE, "status", "--url", f"http://127.0.0.1:{port}", naming=str(port))


def test_a_port_that_is_taken(start):
    """A second gateway ends before it has sent anything, and the first does not notice."""
    first = start("--no-link")
    refused(SYSTEM, "run", naming=str(PORT))
    assert first.status()["link"]["peers"] == 0


def test_a_port_that_is_not_ours_to_take():
    """Ports below 1024 want a right that this run is left without."""
    refused(
        NO_PERMISSION, "run", "--http", "127.0.0.1:80", naming="80",
        before=["setpriv", "--bounding-set=-net_bind_service"])
