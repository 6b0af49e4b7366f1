"""Fixtures of the acceptance tests; each test starts the programs it needs and leaves none behind."""

import pathlib
import socket

import pytest

from rig.gateway import TACTUS, Gateway
from rig.rawline import RawLine
from rig.rawpeer import RawPeer
from rig.stalls import Stalls
from rig.tracer import metronome


def pytest_configure(config):
    interfaces = {name for _, name in socket.if_nameindex()}
    if interfaces != {"lo"}:
        raise pytest.UsageError(
            f"these tests talk Link, and this is no network of their own (it has {', '.join(sorted(interfaces))}); "
            "run `make acceptance`, or Tests/in-namespace .venv/bin/python -m pytest Tests/Acceptance")
    if not pathlib.Path(TACTUS).exists():
        raise pytest.UsageError(f"{TACTUS} is not built; run `make build`")


    config.stalls = Stalls()


def pytest_unconfigure(config):
    if hasattr(config, "stalls"):
        config.stalls.close()


def pytest_collection_modifyitems(config, items):
    """Marks the lab's tests, and has a test that failed run again if the machine stalled meanwhile.

    Five times at the most; R stands for that.
    """
    for item in items:
        if hasattr(item.module, "record") or hasattr(item.module, "Recordings"):
            item.add_marker(pytest.mark.lab)
        item.add_marker(pytest.mark.flaky(reruns=5, condition=config.stalls.happened))


def pytest_runtest_setup(item):
    item.config.stalls.begin()


PLAN = [
    "TEMPO-1", "TEMPO-2", "TEMPO-3", "TEMPO-4", "TEMPO-5", "BEATTIME-1", "BEATTIME-2", "STARTSTOPSTATE-1",
    "STARTSTOPSTATE-2", "AUDIOENGINE-1", "AUDIOENGINE-2", "BACKGROUND-1", "BACKGROUND-2", "BACKGROUND-3"]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    report.cases = [mark.args for mark in item.iter_markers("case")]


def pytest_terminal_summary(terminalreporter):
    """Prints the cases of the test plan with their verdicts, if any were run: a case passes if all its tests do."""
    verdicts = {}
    for outcome, verdict in (("passed", "passed"), ("failed", "FAILED"), ("error", "FAILED")):
        for report in terminalreporter.stats.get(outcome, []):
            for name, partner in getattr(report, "cases", []):
                verdicts.setdefault(name, {})[partner] = verdict
    if verdicts:
        terminalreporter.section("test plan")
        for name in PLAN:
            found = sorted(verdicts.get(name, {}).items())
            line = ", ".join(f"{partner}: {verdict}" for partner, verdict in found)
            terminalreporter.write_line(f"{name:18}{line or 'no test'}")


@pytest.fixture
def start(tmp_path):
    """Starts gateways; what a test leaves running is ended as by Ctrl-C, and must end well."""
    running = []

    def run(*arguments, name="gateway", **options):
        gateway = Gateway(*arguments, folder=tmp_path / name, **options)
        running.append(gateway)
        gateway.wait_ready()
        return gateway

    yield run
    try:
        for gateway in running:
            if gateway.process.poll() is None:
                gateway.stop()
    finally:
        for gateway in running:
            gateway.kill()


@pytest.fixture
def line(tmp_path):
    """A FIFO that stands for a serial line, and everything that came over it."""
    with RawLine(tmp_path / "line") as opened:
        yield opened


@pytest.fixture
def ours():
    """Our Link peer at 120 BPM, just enabled."""
    tracer = metronome(120)
    tracer.enable()
    yield tracer
    tracer.kill()


@pytest.fixture
def raw():
    """A Link peer made by hand; it says nothing until it is told to."""
    with RawPeer() as peer:
        yield peer


@pytest.fixture
def figure(request, record_property, capsys):
    """Prints a measured value beside the bound it is held to, and keeps it in the report."""

    def show(name, value, bound=None):
        record_property(name, value)
        limit = f"  (bound {bound})" if bound is not None else ""
        with capsys.disabled():
            print(f"\n    {request.node.name}: {name} = {value}{limit}", end="")

    return show
