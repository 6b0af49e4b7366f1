"""Mistakes on the command line: each gets one clear line and the right exit code, and nothing is started."""

import socket
import threading

import pytest

from rig.gateway import PORT, complaint, run_tactus

pytestmark = pytest.mark.real("process")

USAGE, UNAVAILABLE, SYSTEM, NO_PERMISSION = 64, 69, 71, 77


def refused(code, *arguments, naming=None, before=()):
    """Runs a command that must fail with this exit code and one line of stderr that contains `naming`."""
    done = run_tactus(*arguments, before=before)
    assert done.returncode == code, f"{arguments}: exit {done.returncode}: {done.stderr!r}"
    assert done.stdout == "", "results only go to stdout"
    line = complaint(done.stderr)
    assert line.startswith("tactus: "), line
    if naming:
        assert naming in line, f"{naming!r} is not named in {line!r}"
    return line


def test_wrong_words_get_one_line_and_exit_code_64():
    """Tries one example of each kind; the Swift tests try all values that each option refuses."""
    for option in ("--bogus", "stray", "--tempo", "--output", "--http="):
        refused(USAGE, "run", option, naming=option.rstrip("="))
    refused(USAGE, "dance", naming="dance")
    for words, naming in (
            (["--tempo=19.99"], "20 to 999"), (["--tempo=" + "9" * 400], "20 to 999"), (["--quantum=65"], "0 to 64"),
            (["--http=127.0.0.1:99999"], "127.0.0.1:8808"), (["--http", "0.0.0.0:8808"], "--http-token-file"),
            (["--output=200:0"], "--output"), (["--follow=a\nb"], "--follow"), (["--clock-in=hw:1"], "--clock-in"),
            (["--realtime-priority", "100"], None), (["--output", "A", "--output", "A"], None),
            (["--http", "127.0.0.1:8808", "--no-http"], None)):
        refused(USAGE, "run", *words, naming=naming)
    for words in (["link", "maybe"], ["learn", "dance"], ["learn", "tap", "--seconds", "0"], ["tempo", "--", "1e2"], ["play", "now"], ["status", "--url", "ftp://127.0.0.1:8808"],
                  ["follow", "24:999"]):
        refused(USAGE, *words)


@pytest.mark.real("network")
def test_commands_without_a_gateway_or_a_sequencer_or_where_something_else_answers():
    for command in (["ports"], ["learn", "tap"]):
        refused(SYSTEM, *command, naming="tactus doctor")
    for command in (["status"], ["link", "on"], ["follow", "off"], ["play"], ["tempo", "120"]):
        refused(UNAVAILABLE, *command, naming=str(PORT))
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")

        threading.Thread(target=answer, daemon=True).start()
        port = server.getsockname()[1]
        refused(UNAVAILABLE, "status", "--url", f"http://127.0.0.1:{port}", naming=str(port))


@pytest.mark.real("permission")
def test_a_port_without_permission():
    """Ports below 1024 need a privilege that this run does not have."""
    refused(
        NO_PERMISSION, "run", "--http", "127.0.0.1:80", naming="80",
        before=["setpriv", "--bounding-set=-net_bind_service"])
