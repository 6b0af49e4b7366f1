"""Fixtures of the acceptance tests. Each test starts the programs it needs; all of them end with the test."""

import collections
import pathlib
import signal
import socket
import subprocess

import pytest

from rig.gateway import TACTUS, Gateway
from rig.joining import become_senior
from rig.labs import OfModule, Recordings
from rig.peer import Peer
from rig.rawline import RawLine
from rig.rawpeer import RawPeer
from rig.tracer import metronome

HERE = pathlib.Path(__file__).parent
# Real parts that a simulation cannot replace. A test that needs none of them belongs in the Swift tests.
PARTS = {
    "audio": "recordings in files, and sounds that a program plays",
    "browser": "the panel in Chromium",
    "disk": "files and file systems that are full, read-only or damaged",
    "installation": "what `make install` and a copied program bring",
    "line": "pipes and terminals that stand for serial lines",
    "network": "sockets, interfaces and network namespaces",
    "peer": "Link peers as processes on the wire",
    "permission": "rights and limits that the system grants or refuses",
    "process": "arguments, signals, exit codes and threads of a process",
    "sequencer": "the kernel's sequencer, in the lab",
    "terminal": "a person's terminal",
}


def pytest_configure(config):
    interfaces = {name for _, name in socket.if_nameindex()}
    if interfaces != {"lo"}:
        raise pytest.UsageError(
            f"these tests talk Link, and this is no network of their own (it has {', '.join(sorted(interfaces))}); "
            "run `make acceptance`, or Tests/in-namespace .venv/bin/python -m pytest Tests/Acceptance")
    if not pathlib.Path(TACTUS).exists():
        raise pytest.UsageError(f"{TACTUS} is not built; run `make programs`")
    config.recordings = Recordings()
    config.pluginmanager.register(Remainder())
    # Programs started in the background or by nohup ignore some signals, and their child processes inherit that.
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    signal.signal(signal.SIGTERM, end_early)


def end_early(*_):
    """Ends the tests on a signal from timeout(1) or Tests/acceptance. Results so far are still reported."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    pytest.exit("ended by SIGTERM", returncode=1)


def pytest_unconfigure(config):
    if hasattr(config, "recordings"):
        config.recordings.close()


def uses_lab(item):
    return "recordings" in getattr(item, "fixturenames", ())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Marks the tests that need the lab, and leaves out those that are for `make plan` only. Fails if a test has no mark that names its real part."""
    for item in items:
        if HERE not in item.path.parents:
            continue
        mark = item.get_closest_marker("real")
        if mark is None or mark.args[0] not in PARTS:
            raise pytest.UsageError(
                f"{item.nodeid} wants @pytest.mark.real(PART), where PART is one of {', '.join(PARTS)}; "
                "a test that needs none of them is a Swift test")
        if uses_lab(item):
            item.add_marker(pytest.mark.lab)
    if "case" not in config.option.markexpr:
        left = [item for item in items if item.get_closest_marker("plan")]
        items[:] = [item for item in items if item not in left]
        config.hook.pytest_deselected(items=left)


def pytest_collection_finish(session):
    """Starts the lab boots that the selected tests need."""
    if not session.config.option.collectonly:
        modules = dict.fromkeys(item.module for item in session.items if uses_lab(item))
        session.config.recordings.prepare([(module.__name__, boot) for module in modules for boot in module.BOOTS])


@pytest.fixture(scope="module")
def recordings(request):
    """Results of this module's lab boots, which are listed in its `BOOTS`."""
    return OfModule(request.config.recordings, request.module.__name__)


class Remainder:
    """If the run ends early, reports the remaining tests as not run, so that the report lists all of them.

    This is a plugin because the hooks of a conftest.py are only called for tests in its own folder.
    """

    def __init__(self):
        self.finished = set()

    def pytest_runtest_logreport(self, report):
        if report.when == "teardown":
            self.finished.add(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session):
        is_wrong = session.exitstatus in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.INTERNAL_ERROR)
        if is_wrong or session.config.option.collectonly or session.shouldstop or session.shouldfail:
            return
        why = (str(HERE), None, "not run: the run ended early")
        for item in session.items:
            if item.nodeid not in self.finished:
                for when, outcome, told in (("call", "skipped", why), ("teardown", "passed", None)):
                    session.config.hook.pytest_runtest_logreport(report=pytest.TestReport(
                        item.nodeid, item.location, {}, outcome, told, when))


PLAN = [
    "TEMPO-1", "TEMPO-2", "TEMPO-3", "TEMPO-4", "TEMPO-5", "BEATTIME-1", "BEATTIME-2", "STARTSTOPSTATE-1",
    "STARTSTOPSTATE-2", "AUDIOENGINE-1", "AUDIOENGINE-2", "BACKGROUND-1", "BACKGROUND-2", "BACKGROUND-3"]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    report.cases = [mark.args for mark in item.iter_markers("case")]


def pytest_terminal_summary(terminalreporter, config):
    show_plan(terminalreporter)
    show_times(terminalreporter, config.recordings.seconds)
    if config.option.xmlpath and config.recordings.seconds:
        lines = [f"{took:.1f} {boot}\n" for boot, took in config.recordings.seconds.items()]
        pathlib.Path(config.option.xmlpath).with_suffix(".boots").write_text("".join(lines))


def show_times(terminalreporter, boots):
    """Prints how long each file and each lab boot took."""
    cases, seconds = collections.Counter(), collections.Counter()
    for report in (one for found in terminalreporter.stats.values() for one in found if hasattr(one, "duration")):
        file = report.nodeid.partition("::")[0]
        seconds[file] += report.duration
        cases[file] += report.when == "call"
    if not seconds:
        return
    terminalreporter.section("where the time went")
    for file, took in seconds.most_common():
        terminalreporter.write_line(f"{took:7.1f} s  {cases[file]:4} cases  {file}")
    for boot, took in sorted(boots.items(), key=lambda each: -each[1]):
        terminalreporter.write_line(f"{took:7.1f} s  lab boot    {boot}")


def show_plan(terminalreporter):
    """Prints the cases of the test plan that were run, with results. A case passes if all its tests pass."""
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
    """Starts gateways. Those still running after the test are stopped as by Ctrl-C and must exit cleanly."""
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
    """A FIFO that stands in for a serial line, with everything it received."""
    with RawLine(tmp_path / "line") as opened:
        yield opened


@pytest.fixture
def reached():
    """An address of this machine that is not its own loopback address, so that others would reach it."""
    subprocess.run(["ip", "address", "add", "10.9.8.7/24", "dev", "lo"], check=True)
    yield "10.9.8.7"
    subprocess.run(["ip", "address", "delete", "10.9.8.7/24", "dev", "lo"], check=True)


@pytest.fixture(scope="module")
def browser():
    """A Chromium."""
    from rig.browser import Browser  # takes a second, which most tests need not wait

    with Browser() as opened:
        yield opened


@pytest.fixture
def peer():
    """An official peer at 130 BPM whose session is older than any begun later."""
    with Peer(130, start_stop_sync=True) as opened:
        become_senior()
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
    """A RawPeer; it sends nothing until told to."""
    with RawPeer() as peer:
        yield peer


@pytest.fixture
def figure(request, record_property, capsys):
    """Prints a measured value and its limit, and adds both to the report."""

    def show(name, value, bound=None):
        record_property(name, value)
        limit = f"  (bound {bound})" if bound is not None else ""
        with capsys.disabled():
            print(f"\n    {request.node.name}: {name} = {value}{limit}", end="")

    return show
