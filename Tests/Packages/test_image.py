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
# The first partition of the card, for mtools; and where the third begins, in bytes from its end.
FIRST = "@@1M"
LAST = 64 << 20
# This computer at the other end of the cable: nothing there gives addresses.
OWN = "169.254.7.7"
SECRETS = ("token.txt", "access-point.txt", "machine-id")

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

    def power_on(self, more=""):
        """Starts the kernel that is on the card, with the command line from there, and `more` on it."""
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
        words = qemu(self.folder, self.disk, files["vmlinuz"], files["initrd.img"], f"{line} {more}")
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL)

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

    def open(self, port):
        try:
            socket.create_connection((self.address, port), timeout=10).close()
        except OSError:
            return False
        return True

    def ssh(self, command):
        """Runs a command on the box as its owner, who has put a key on the card."""
        done = run(
            "timeout", "1200", "ssh", "-i", self.folder / "key", "-o", "StrictHostKeyChecking=no",
            "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-o", "BatchMode=yes",
            "-o", "ServerAliveInterval=60", f"root@{self.address}", command)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
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
        question = struct.pack(">6H", random.randrange(65536), 0, 1, 0, 0, 0) + b"\6tactus\5local\0\0\1\0\1"
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


@pytest.fixture(scope="module")
def card(tmp_path_factory):
    for words in ("tuntap add dev board mode tap", f"address add {OWN}/16 dev board", "link set board up",
                  "route add 224.0.0.0/4 dev board"):
        subprocess.run(["ip", *words.split()], check=True)
    card = Card(tmp_path_factory.mktemp("card"))
    yield card
    if card.process:
        card.pull_the_plug()


def test_as_it_is_shipped_it_makes_its_secrets_and_shows_its_panel_to_who_has_the_token(card):
    assert not {*SECRETS, "problems.txt"} & set(card.files()), "no secret is shipped"
    card.power_on()
    card.wait(card.find, "tactus.local is found, at the first start")
    card.wait(lambda: card.panel()[0] == 401, "the panel wants its token")
    card.secrets = [card.text(name) for name in SECRETS]
    card.token = card.secrets[0].strip()
    card.wait(lambda: card.panel(card.token)[0] == 200, "and takes it")
    assert not card.panel(card.token)[1]["playing"]
    assert re.fullmatch("[a-z2-9]{20}\n", card.secrets[0]) and re.fullmatch("[0-9a-f]{32}\n", card.secrets[2])
    assert re.search(r"^network = Tactus \w{4}\npassword = \w{12}$", card.secrets[1], re.M)
    assert "problems.txt" not in card.files()
    assert not card.open(22), "nobody logs in"


def test_with_a_broken_memory_and_power_lost_before_it_plays_without_a_login(card):
    card.pull_the_plug()
    with open(card.disk, "r+b") as disk:
        disk.seek(-LAST, 2)
        disk.write(bytes(1 << 20))
    card.put("token.txt.new", "half a tok")
    card.put("tactus.yaml", CONFIGURATION)
    card.put("authorized_keys", (card.folder / "key.pub").read_text())
    card.power_on("modules_load=mac80211_hwsim")
    card.wait(lambda: card.ticks > 100, "ticks on the serial line, with nobody logged in")
    card.wait(card.find, "tactus.local is found again")
    card.wait(lambda: card.panel(card.token)[0] == 200, "the panel takes the same token")
    assert card.panel(card.token)[1]["playing"]
    assert [card.text(name) for name in SECRETS] == card.secrets


def test_nobody_logs_in_but_by_the_key_on_the_card(card):
    card.wait(lambda: card.open(22), "it answers to ssh")
    assert card.ssh("cat /etc/machine-id") == card.secrets[2]
    # No key: ssh is told at once that there is no other way.
    stranger = run("ssh", "-F", "none", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
                   "-o", "PubkeyAuthentication=no", f"root@{card.address}", "true")
    assert stranger.returncode == 255 and "Permission denied (publickey)" in stranger.stderr, stranger.stderr
    assert not card.ssh("pgrep -a getty || true"), "there is no login on a screen"
    assert card.ssh("awk -F: '$2 !~ /^[*!]/' /etc/shadow") == "", "nobody has a password"
    print(card.ssh("systemd-analyze; free -m; df -h / /state /boot/firmware"))


def test_only_what_it_remembers_is_written(card):
    for folder in ("/", "/boot/firmware"):
        assert card.ssh(f"findmnt -no OPTIONS {folder}").startswith("ro,"), folder
    assert card.ssh("findmnt -no SOURCE /state").startswith("/dev/"), "its broken memory is made anew"
    assert card.ssh("systemctl --failed --plain --no-legend") == ""
    card.ssh("tactus tempo 97")
    card.wait(lambda: card.ssh("sync; grep -rl 97 /state/private/tactus || true"), "the tempo is remembered")


# The kernel has two simulated radios. The box has taken one; the other is a phone's.
PHONE = """
set -e
until iw dev | grep -q 'type AP'; do sleep 1; done
echo "own network: $(cut -d. -f1 /proc/uptime) s after the kernel's start it is there"
phone=wlan1
! iw dev wlan1 info | grep -q 'type AP' || phone=wlan0
ip netns add phone
nmcli device set $phone managed no
iw phy "$(cat /sys/class/net/$phone/phy80211/name)" set netns name phone
cat >/run/phone <<'END'
set -e
said() { sed -n "s/^$1 = //p" /boot/firmware/access-point.txt; }
ip link set $1 up
wpa_passphrase "$(said network)" "$(said password)" >/run/phone.conf
wpa_supplicant -B -i $1 -c /run/phone.conf
busybox udhcpc -i $1 -q -s /bin/true -f -n -t 60 2>&1
ip address add 10.42.0.200/24 dev $1
busybox wget -q -O - --header "Authorization: Bearer $(cat /boot/firmware/token.txt)" http://10.42.0.1/api/v1/status
END
timeout 900 ip netns exec phone sh /run/phone $phone
"""


def test_without_a_known_network_it_makes_its_own(card):
    said = card.ssh(PHONE)
    print(re.search("own network.*", said)[0])
    assert "lease of 10.42.0." in said and '"tempo"' in said, said


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
    for text in ("1: a country is two letters", "3: a password has 8 to 63", "4: expected KEY = VALUE"):
        assert f"wifi.txt:{text}" in problems


# The second radio is the stage's access point, which twice has another password for a while: so its handshakes fail, as those
# of one that is busy or starts do. Here, joining may take longer than on a board.
STAGE = """
set -e
iw reg get | head -2
systemctl stop NetworkManager
systemctl mask --runtime --now box-own-network
modprobe mac80211_hwsim radios=2
ip netns add stage
iw phy "$(cat /sys/class/net/wlan1/phy80211/name)" set netns name stage
cat >/run/stage <<'END'
set -e
ip link set wlan1 up
ip address add 10.9.0.1/24 dev wlan1
dnsmasq --port=0 --interface=wlan1 --dhcp-range=10.9.0.10,10.9.0.20 --leasefile-ro --pid-file=/run/stage.pid
END
ip netns exec stage sh /run/stage
access_point() {
    ! [ -e /run/access-point ] || kill "$(cat /run/access-point)"
    while [ -e /run/access-point ]; do sleep 1; done
    cat >/run/stage.conf <<END
network={
    ssid="Stage = left"
    mode=2
    frequency=2437
    key_mgmt=WPA-PSK
    psk="$1"
}
END
    ip netns exec stage wpa_supplicant -B -P /run/access-point -i wlan1 -c /run/stage.conf >/dev/null
}
refused() { journalctl -u NetworkManager | grep -c 'state change: .* -> failed' || true; }
joined() { nmcli -g NAME,STATE connection show --active | grep -q '^known-.*:activated$'; }
access_point 'not the one'
systemctl start NetworkManager
/usr/lib/box/own-network 600 &
own_network=$!
for trial in 1 2; do
    before=$(refused)
    until [ "$(refused)" -gt "$before" ]; do sleep 1; done
    if joined; then exit 1; fi
    access_point 'back\\slash 9'
    until joined; do sleep 1; done
    echo "joined: $trial"
    iw dev wlan0 link
    [ $trial = 2 ] || access_point 'not the one'
done
iw dev wlan0 info
kill $own_network
"""


def test_once_all_is_right_it_joins_the_network_that_it_knows_and_joins_it_again(card):
    card.pull_the_plug()
    card.put("tactus.yaml", CONFIGURATION)
    card.put("wifi.txt", "country = DE\r\n\r\nnetwork = Stage = left\r\npassword = back\\slash 9\r\n")
    card.power_on()
    card.wait(card.find, "tactus.local is found")
    card.wait(lambda: card.open(22), "it answers to ssh")
    card.wait(lambda: card.panel(card.token)[0] == 200, "the panel answers")
    assert card.panel(card.token)[1]["tempo"] == 97
    assert not card.text("problems.txt"), "what was wrong is no longer told"
    said = card.ssh(STAGE)
    assert "country DE" in said and said.count("SSID: Stage = left") == 2 and "type managed" in said, said
