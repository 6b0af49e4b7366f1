"""The card for a Raspberry Pi, started on an emulated board: what it makes of itself, and what its owner sees and does.

`make image-test` runs it, as root, in a network namespace. The board has the processor of a Raspberry Pi 4, but not its
firmware nor its Wi-Fi, for which the kernel's simulated radios stand in. Its owner has the card in another computer,
that is, edits its first partition, and then only the network.
"""

import json
import random
import re
import socket
import struct
import subprocess
import time
import urllib.error
import urllib.request

import pytest
from board import qemu
from clean import PROJECT, run
from rig.wait import until

# Emulation is slow, and the machine may be busy.
SLOWLY = {"every": 0.5, "within": 900}
# The first partition of the card, for mtools.
FIRST = "@@1M"

CONFIGURATION = """version: 1\r
http: { address: 0.0.0.0, port: 80, token-file: /boot/firmware/token.txt }\r
play: true\r
outputs:\r
  - { port: raw:/dev/ttyAMA0, profile: generic }\r
"""


class Card:
    """A card, in the board or out of it."""

    def __init__(self, folder):
        self.folder = folder
        self.disk = folder / "card.img"
        (packed,) = (PROJECT / ".build/arm64/image").glob("tactus-*.img.xz")
        with open(self.disk, "wb") as disk:
            subprocess.run(["xz", "-dc", packed], stdout=disk, check=True)
        self.process = None
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "key", check=True)

    def put(self, name, text):
        """Writes a text file of the first partition."""
        (self.folder / "text").write_bytes(text.encode())
        run("mcopy", "-o", "-i", f"{self.disk}{FIRST}", self.folder / "text", f"::{name}", check=True)

    def text(self, name):
        """A text file of the first partition; none if it is not there."""
        done = run("mtype", "-i", f"{self.disk}{FIRST}", f"::{name}")
        return done.stdout if done.returncode == 0 else None

    def files(self):
        return run("mdir", "-b", "-i", f"{self.disk}{FIRST}", "::", check=True).stdout.replace("::/", "").split()

    def power_on(self):
        names = self.files()
        files = {}
        for kind in ("vmlinuz", "initrd.img"):
            (name,) = (name for name in names if name.startswith(kind))
            files[kind] = self.folder / kind
            run("mcopy", "-o", "-i", f"{self.disk}{FIRST}", f"::{name}", files[kind], check=True)
        for name in ("console", "said", "midi"):
            (self.folder / name).write_bytes(b"")
        line = self.text("cmdline.txt").replace("console=tty0", "").strip()
        self.since = time.monotonic()
        self.process = subprocess.Popen(
            qemu(self.folder, self.disk, files["vmlinuz"], files["initrd.img"], line), stdin=subprocess.DEVNULL)

    def pull_the_plug(self):
        self.process.kill()
        self.process.wait()

    @property
    def ticks(self):
        """How many ticks came over the serial line."""
        return (self.folder / "midi").read_bytes().count(0xF8)

    def wait(self, condition, what):
        until(lambda: condition() or self.process.poll() is not None, what, **SLOWLY)
        assert self.process.poll() is None, (self.folder / "console").read_text(errors="replace")
        print(f"{time.monotonic() - self.since:4.0f} s after power on: {what}")

    def ssh(self, command, expect=0):
        """Runs a command on the box as its owner, who has put a key on the card."""
        done = run(
            "ssh", "-i", self.folder / "key", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
            "-o", "LogLevel=ERROR", "-o", "BatchMode=yes", f"root@{self.address}", command)
        assert done.returncode == expect, (command, done.stdout, done.stderr)
        return done.stdout

    def panel(self, token=None):
        """What the panel answers: the HTTP status, and the gateway's state."""
        request = urllib.request.Request(f"http://{self.address}/api/v1/status")
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refusal:
            return refusal.code, None
        except OSError:
            return None, None

    def find(self):
        """Asks the network for tactus.local."""
        question = struct.pack(">6H", random.randrange(65536), 0, 1, 0, 0, 0) + b"\6tactus\5local\0" + struct.pack(">2H", 1, 1)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
            asker.settimeout(1)
            asker.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(OWN))
            asker.sendto(question, ("224.0.0.251", 5353))
            try:
                answer = asker.recv(9000)
            except TimeoutError:
                return False
        # The address is what follows type, class, lifetime and length.
        self.address = socket.inet_ntoa(re.search(rb"\0\x01\0\x01.{4}\0\x04(.{4})", answer[len(question):], re.S)[1])
        return True


# This computer at the other end of the cable: nothing there gives addresses.
OWN = "169.254.7.7"


@pytest.fixture(scope="module")
def card(tmp_path_factory):
    for words in ("tuntap add dev board mode tap", f"address add {OWN}/16 dev board", "link set board up",
                  "route add 224.0.0.0/4 dev board"):
        subprocess.run(["ip", *words.split()], check=True)
    card = Card(tmp_path_factory.mktemp("card"))
    yield card
    if card.process:
        card.pull_the_plug()


def test_it_makes_its_secrets_and_plays_without_a_login(card):
    assert not {"token.txt", "access-point.txt", "machine-id", "problems.txt"} & set(card.files()), "none is shipped"
    card.put("tactus.yaml", CONFIGURATION)
    card.put("authorized_keys", (card.folder / "key.pub").read_text())
    card.power_on()
    card.wait(lambda: card.ticks > 100, "ticks on the serial line")
    card.wait(card.find, "tactus.local is found")
    card.wait(lambda: card.panel()[0] == 401, "the panel wants its token")
    card.token = card.text("token.txt").strip()
    status, state = card.panel(card.token)
    assert (status, state["playing"]) == (200, True), state
    assert card.text("problems.txt") is None
    assert re.fullmatch("[0-9a-f]{32}\n", card.text("machine-id"))


def test_nobody_logs_in_but_by_the_key_on_the_card(card):
    card.wait(lambda: run("ssh-keyscan", "-t", "ed25519", card.address).stdout, "it answers to ssh")
    assert card.ssh("cat /etc/machine-id") == card.text("machine-id")
    # No key: ssh is told at once that there is no other way.
    stranger = run("ssh", "-F", "none", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
                   "-o", "PubkeyAuthentication=no", f"root@{card.address}", "true")
    assert stranger.returncode == 255 and "Permission denied (publickey)" in stranger.stderr, stranger.stderr
    assert not card.ssh("pgrep -a getty || true"), "there is no login on a screen"
    assert card.ssh("awk -F: '$2 !~ /^[*!]/' /etc/shadow") == "", "nobody has a password"
    print(card.ssh("systemd-analyze; free -m; df -h / /state /boot/firmware"))


def test_only_what_it_remembers_is_written(card):
    assert "Read-only" in card.ssh("touch /here /boot/firmware/here 2>&1 || true")
    assert card.ssh("findmnt -no OPTIONS / /boot/firmware | grep -vc ^ro || true").strip() == "0"
    assert card.ssh("systemctl --failed --plain --no-legend") == ""
    card.ssh("tactus tempo 97")
    card.wait(lambda: card.ssh("sync; grep -rl 97 /state/private/tactus || true"), "the tempo is remembered")


# The second radio is a phone's.
PHONE = """
set -e
modprobe mac80211_hwsim radios=2
until iw dev wlan0 info | grep -q 'type AP'; do sleep 1; done
ip netns add phone
nmcli device set wlan1 managed no
iw phy "$(cat /sys/class/net/wlan1/phy80211/name)" set netns name phone
ip netns exec phone sh -c '
    ip link set wlan1 up
    wpa_passphrase "$(sed -n "s/^network = //p" /boot/firmware/access-point.txt)" \
        "$(sed -n "s/^password = //p" /boot/firmware/access-point.txt)" >/run/phone.conf
    wpa_supplicant -B -i wlan1 -c /run/phone.conf
    busybox udhcpc -i wlan1 -q -s /bin/true -f -n -t 30
    ip address add 10.42.0.200/24 dev wlan1
    busybox wget -q -O - --header "Authorization: Bearer $(cat /boot/firmware/token.txt)" http://10.42.0.1/api/v1/status
'
"""


def test_without_a_known_network_it_makes_its_own(card):
    said = card.ssh(PHONE)
    assert "lease of 10.42.0." in said or '"tempo"' in said, said
    assert '"tempo"' in said, said


# The second radio is the stage's access point.
STAGE = """
set -e
systemctl stop NetworkManager
modprobe mac80211_hwsim radios=2
ip netns add stage
iw phy "$(cat /sys/class/net/wlan1/phy80211/name)" set netns name stage
cat >/run/stage.conf <<END
country=DE
network={
    ssid="Stage = left"
    mode=2
    frequency=2437
    key_mgmt=WPA-PSK
    psk="back\\slash 9"
}
END
ip netns exec stage sh -c 'ip link set wlan1 up; ip address add 10.9.0.1/24 dev wlan1; wpa_supplicant -B -i wlan1 -c /run/stage.conf'
systemctl start NetworkManager
until iw dev wlan0 link | grep -q 'SSID: Stage'; do sleep 1; done
iw dev wlan0 info; iw reg get | head -3
"""


def test_after_the_plug_was_pulled_it_is_the_same_box_and_joins_a_network_that_it_knows(card):
    known = card.ssh("cat /etc/machine-id /boot/firmware/token.txt; ssh-keygen -lf /state/ssh/ssh_host_ed25519_key.pub")
    card.pull_the_plug()
    card.put("wifi.txt", "country = DE\r\n\r\nnetwork = Stage = left\r\npassword = back\\slash 9\r\n")
    card.power_on()
    card.wait(card.find, "tactus.local is found again")
    card.wait(lambda: card.panel(card.token)[0] == 200, "the panel takes the same token")
    assert card.panel(card.token)[1]["tempo"] == 97
    assert card.ssh("cat /etc/machine-id /boot/firmware/token.txt; ssh-keygen -lf /state/ssh/ssh_host_ed25519_key.pub") == known
    said = card.ssh(STAGE)
    assert "country DE" in said and "type managed" in said, said


def test_what_is_wrong_on_the_card_is_told_there_and_the_panel_answers(card):
    card.pull_the_plug()
    card.put("tactus.yaml", "version: 1\nplayed: true\n")
    card.put("wifi.txt", "country = Germany\nnetwork = Stage\npassword = short\nSSID: x\n")
    card.power_on()
    card.wait(card.find, "tactus.local is found with a wrong configuration")
    card.wait(lambda: card.panel(card.token)[0] == 200, "the panel answers")
    problems = card.text("problems.txt")
    print(problems)
    assert re.search(r"tactus.yaml:2:1: .*played", problems)
    for text in ("wifi.txt:1: a country is two letters", "wifi.txt:4: expected KEY = VALUE", 'wifi.txt:3: a password has 8'):
        assert text in problems
    # Once mended, the file is gone.
    card.pull_the_plug()
    card.put("tactus.yaml", CONFIGURATION)
    card.put("wifi.txt", "")
    card.power_on()
    card.wait(lambda: card.ticks > 100, "ticks on the serial line")
    assert card.text("problems.txt") is None
