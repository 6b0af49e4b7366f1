"""The text files on the card for a Raspberry Pi, as any editor may leave them; Tests/Packages starts the whole card."""

import configparser
import subprocess

import pytest

from rig.gateway import PROJECT

pytestmark = pytest.mark.real("process")


@pytest.fixture
def networks(tmp_path):
    """Gives the networks, and what is printed and complained of, that come from a `wifi.txt`."""

    def of(text, password="password = abcdefghjkmn\n"):
        own, known, folder = (tmp_path / name for name in ("access-point.txt", "wifi.txt", "networks"))
        own.write_text(f"# Ours.\nnetwork = Tactus 7k2m\n{password}")
        known.write_bytes(text.encode())
        folder.mkdir()
        done = subprocess.run(
            [PROJECT / "Packaging/box/root/usr/lib/box/networks", folder, own, known], capture_output=True, text=True)
        found = {}
        for path in sorted(folder.iterdir()):
            assert path.stat().st_mode & 0o77 == 0, "passwords are not for everybody"
            file = configparser.ConfigParser(interpolation=None)
            file.read(path)
            security = file["wifi-security"] if "wifi-security" in file else {}
            found[file["wifi"]["ssid"]] = file["wifi"]["mode"], security.get("psk")
        return found, done.stdout, done.stderr

    return of


def test_networks_are_read_however_the_lines_end(networks):
    found, country, wrong = networks(
        "\ufeffcountry = de\r\n\r\n# At home\r\nNetwork=Café = links\r\npassword =  back\\slash 9 \r\nnetwork = Open")
    assert found == {
        "Tactus 7k2m": ("ap", "abcdefghjkmn"), "Café = links": ("infrastructure", r"back\\slash 9"),
        "Open": ("infrastructure", None)}
    assert (country, wrong) == ("DE\n", "")


def test_what_is_wrong_is_told_by_its_line_and_no_password_gets_to_another_network(networks):
    found, country, wrong = networks(
        "password = whose is this?\nnetwork = One\npassword = secret of one\npassword = short\nnetwork = Two\n"
        f"network = {'far' * 11}\ncountry = Germany\nssid: Three\n")
    assert found == {"Tactus 7k2m": ("ap", "abcdefghjkmn"), "Two": ("infrastructure", None)} and country == ""
    assert wrong.splitlines() == [
        "wifi.txt:1: a password comes after its network",
        "wifi.txt:4: a password has 8 to 63 characters, or is 64 hexadecimal digits",
        "wifi.txt:6: a network's name has at most 32 bytes",
        'wifi.txt:7: a country is two letters, such as DE, not "Germany"', "wifi.txt:8: expected KEY = VALUE"]


def test_the_box_makes_no_open_network(networks):
    found, _, wrong = networks("network = Open\n", password="")
    assert found == {"Open": ("infrastructure", None)}
    assert wrong == "access-point.txt:2: the box makes no network without a password\n"
