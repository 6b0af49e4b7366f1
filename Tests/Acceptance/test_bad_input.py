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
    """Tries one example of each kind; CommandLineTests try all values that each option refuses."""
    for words, naming in (
            (["dance"], "dance"), (["run", "--bogus"], "--bogus"), (["run", "stray"], "stray"), (["run", "--tempo"], "--tempo"),
            (["run", "--tempo=" + "9" * 400], "20 to 999"), (["run", "--http", "0.0.0.0:8808"], "--http-token-file"),
            (["run", "--follow=a\nb"], "--follow"), (["run", "--output", "A", "--output", "A"], None), (["play", "now"], None),
            (["learn", "dance"], None), (["profiles", "list", "--profiles", "/none"], "no such folder"),
            (["config", "check", "--profiles", "/none"], "no such folder"), (["status", "--url", "ftp://127.0.0.1:8808"], None)):
        refused(USAGE, *words, naming=naming)


def test_a_configuration_that_is_a_link_to_nothing_is_told(tmp_path):
    (tmp_path / "tactus").mkdir()
    (tmp_path / "tactus/config.yaml").symlink_to("away")
    home = "env", f"XDG_CONFIG_HOME={tmp_path}"
    done = run_tactus("config", "check", before=home)
    assert (done.returncode, done.stdout) == (65, "") and "a link to a file that does not exist" in done.stderr
    assert "a link to a file that does not exist" in run_tactus("run", before=home).stderr


@pytest.mark.real("network")
def test_commands_without_a_gateway_a_sequencer_or_a_permission_or_where_something_else_answers():
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
    # Ports below 1024 need a privilege that this run does not have.
    refused(
        NO_PERMISSION, "run", "--http", "127.0.0.1:80", naming="80",
        before=["setpriv", "--bounding-set=-net_bind_service"])
