"""What `make install` installs, from manual pages to units, and how a release is made."""

import datetime
import os
import pathlib
import re
import shutil
import subprocess
import sysconfig

import pytest

from rig.gateway import PROJECT, TACTUS
from rig.interface import described_commands

pytestmark = pytest.mark.real("installation")


def make(*targets, folder):
    """Calls make for a system in the folder, with the program under test."""
    subprocess.run(
        ["make", *targets, f"DOCUMENTS={folder}/documents", f"DESTDIR={folder}", "PREFIX=/usr", f"RELEASE={TACTUS}"],
        cwd=PROJECT, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=60)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder into which everything is installed."""
    folder = tmp_path_factory.mktemp("system")
    make("documents", "install", folder=folder)
    return folder / "usr"


def test_what_is_uninstalled_is_gone(tmp_path):
    make("documents", "install", folder=tmp_path)
    assert (tmp_path / "usr/bin/tactus").exists()
    shutil.rmtree(tmp_path / "documents")
    make("uninstall", folder=tmp_path)
    assert [path for path in tmp_path.rglob("*") if not path.is_dir()] == []


def test_the_program_carries_neither_tables_of_all_languages_nor_tls():
    """Foundation would add ICU's tables, which are 34 MB; a package that uses TLS would add BoringSSL."""
    program = pathlib.Path(TACTUS).read_bytes()
    assert b"icudt" not in program, "something imports Foundation; Essentials has what is needed of it"
    assert b"BoringSSL" not in program, "a dependency speaks TLS"


def test_the_packages_that_people_are_told_to_install_are_those_it_takes():
    dynamic = subprocess.run(["readelf", "--dynamic", TACTUS], check=True, capture_output=True, text=True).stdout
    libraries = [f"*/{sysconfig.get_config_var('MULTIARCH')}/{name}" for name in re.findall(r"\(NEEDED\).*\[(\S+)\]", dynamic)]
    owners = subprocess.run(["dpkg-query", "--search", *libraries], check=True, capture_output=True, text=True).stdout
    # Every Debian has libc, with the linker, and those of gcc. Newer ones have a package for another length of time_t.
    everywhere = {"libc6", "libgcc-s1", "libstdc++6"}
    needed = {line.split(":")[0].removesuffix("t64") for line in owners.splitlines()} - everywhere
    assert needed == {"libasound2", "liblo7", "libyaml-0-2"}
    loaded = {"libsndfile1", "libsystemd0"}  # when there is something to ask of them
    for page, start in (("README.md", "On another computer the executable"), ("docs/releasing.md", "The executable then")):
        told = (PROJECT / page).read_text().partition(start)[2].partition(".\n")[0]
        assert {name for name in re.findall(r"`(lib[\w.+-]+)`", told) if not name.endswith("t64")} - loaded == needed
    script = (PROJECT / "Packaging/install-packages").read_text()
    built_with = re.search(r'^build="(.*)"$', script, re.M)[1].split()
    asked = re.findall(r'\.apt\(\["([\w.+-]+)"\]\)', (PROJECT / "Package.swift").read_text())
    assert len(asked) == 4 and set(asked) <= set(built_with)


def text(page):
    """A manual page's text, without roff markup."""
    plain = re.sub(r"\\f.|\\&", "", page.read_text()).replace("\\-", "-").replace("\\(aq", "'").replace("\\(ga", "`")
    return " ".join(re.sub(r"^\.\w+", "", line) for line in plain.splitlines())


def test_each_command_and_each_file_has_a_page(installed):
    of_commands(installed)
    of_files(installed)
    for page in sorted((installed / "share/man").glob("man*/*")):
        command = ["groff", "-man", "-Tutf8", "-ww", "-z", page]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.stderr == "", page


def of_commands(installed):
    """Each names the options and examples."""
    pages = {page.stem for page in (installed / "share/man/man1").glob("*.1")}
    assert pages == {"-".join(path) for path, _ in described_commands()}
    for path, command in described_commands():
        page = text(installed / f"share/man/man1/{'-'.join(path)}.1")
        assert " ".join(path) in page
        for argument in command.get("arguments") or []:
            if argument["shouldDisplay"]:
                name = argument.get("preferredName")
                assert (f"--{name['name']}" if name else argument["valueName"]) in page, (path, argument)
                assert " ".join((argument.get("abstract") or "").split()) in page, (path, argument)
        for line in (command.get("discussion") or "").partition("EXAMPLES\n")[2].splitlines():
            assert line.strip() in page, (path, line)


def of_files(installed):
    """Each names every key."""
    keys = re.findall(r"^\| `([a-z.-]+)` +\|.*\|.*\|.*\|", (PROJECT / "Profiles/README.md").read_text(), re.M)
    page = text(installed / "share/man/man5/tactus-profile.5")
    assert "clock.when" in keys and [key for key in keys if key not in page] == []
    example = (PROJECT / "Packaging/config.example.yaml").read_text()
    page = text(installed / "share/man/man5/tactus-config.5")
    assert [line for line in example.splitlines() if " ".join(line.split()) not in " ".join(page.split())] == []
    assert (installed / "share/doc/tactus/examples/config.yaml").read_text() == example


def test_the_page_of_machines_says_what_the_profiles_say():
    made = subprocess.run([PROJECT / "Packaging/machines", TACTUS], check=True, capture_output=True, text=True, timeout=60)
    assert (PROJECT / "docs/machines.md").read_text() == made.stdout, "run `make machines`"


# Most exposure that `systemd-analyze security` may find, 0 to 10.
EXPOSURE = {"system": 2.0, "user": 4.0}


def test_systemd_takes_the_units_and_finds_little_exposed(installed, tmp_path):
    for kind in EXPOSURE:
        judged(installed, kind, tmp_path)


def judged(installed, kind, tmp_path):
    unit = installed / "lib/systemd" / kind / "tactus.service"
    assert "ExecStart=/usr/bin/tactus run" in unit.read_text()
    # Started from where it is not installed, and without reading the manual pages that are not installed either.
    there = tmp_path / "tactus.service"
    there.write_text(re.sub("^Documentation=.*\n", "", unit.read_text().replace("/usr/bin/tactus", TACTUS), flags=re.M))

    def analyze(*arguments):
        return subprocess.run(
            ["systemd-analyze", f"--{kind}", *arguments, there], capture_output=True, text=True, timeout=60,
            env={"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(tmp_path)})

    verified = analyze("verify", "--recursive-errors=no")
    assert (verified.returncode, verified.stderr) == (0, "")
    exposed = analyze("security", "--offline=true", f"--threshold={EXPOSURE[kind] * 10:.0f}")
    assert exposed.returncode == 0, exposed.stdout
    assert "Overall exposure level" in exposed.stdout


def test_the_version_is_that_of_the_newest_release_in_the_changelog():
    heads = re.findall(r"^## (.*)$", (PROJECT / "CHANGELOG.md").read_text(), re.M)
    assert heads[0] == "[Unreleased]"
    version, date = re.fullmatch(r"\[(\d+\.\d+\.\d+)\] - (\S+)", heads[1]).groups()
    datetime.date.fromisoformat(date)
    # The Debian package and its changelog have what Packaging/version prints.
    for command in ([TACTUS, "--version"], [PROJECT / "Packaging/version"]):
        said = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
        assert re.split(r"[\s+]", said)[0] == version, command


def test_a_release_has_a_version_a_date_and_a_tag(tmp_path):
    clone = tmp_path / "clone"

    def call(*command, expect=0):
        done = subprocess.run(
            command, cwd=clone, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
        assert done.returncode == expect, done.stderr
        return done.stdout if expect == 0 else done.stderr

    # Of what lies here, committed or not.
    clone.mkdir()
    for name in ("Packaging/version", "Packaging/release", "CHANGELOG.md", "Sources/GatewayStatus/Status.swift"):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, clone / name)
    text = (clone / "CHANGELOG.md").read_text()
    notes = "### Added\n\n- Something new.\n"
    older = text[text.index("\n## [", text.index("## [Unreleased]")):]
    (clone / "CHANGELOG.md").write_text(f"# Changelog\n\n## [Unreleased]\n\n{notes}{older}")
    before = call("Packaging/version").strip()
    assert re.fullmatch(r"\d+\.\d+\.\d+", before), "outside of Git it is the version alone"
    (tmp_path / ".gitconfig").write_text("[user]\nname = Tester\nemail = tester@example.org\n")
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "All"]):
        call("git", *words)
    assert re.fullmatch(re.escape(before) + r"\+\d{14}\.[0-9a-f]{8}", call("Packaging/version").strip())
    call("Packaging/release", "987.0.1")
    assert call("Packaging/version") == "987.0.1\n"
    heads = r"^## \[Unreleased\]\n\n## \[987\.0\.1\] - \d{4}-\d\d-\d\d\n\n"
    assert re.search(heads, (clone / "CHANGELOG.md").read_text(), re.M)
    assert call("git", "tag", "--list", "--format=%(contents)").strip() == notes.strip()
    assert "nothing under Unreleased" in call("Packaging/release", "987.0.2", expect=1)
    (clone / "CHANGELOG.md").write_text("changed")
    assert call("Packaging/version").endswith(".changed\n")
