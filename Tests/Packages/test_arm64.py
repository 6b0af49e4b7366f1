"""The package for arm64 on a small board with Debian 13: installed, started when the board is switched on, in company.

`make arm64-test` runs it, as root, in a network namespace. The board is emulated; LinkHut, which is unmodified, runs on
this computer and reaches it over the network between the two.
"""

import re
import subprocess

import pytest
from board import HOST, Board
from clean import PROJECT
from rig.linkhut import LinkHut
from rig.wait import until

# Emulation is slow, and the machine may be busy.
SLOWLY = {"every": 0.1, "within": 600}

# A box: nobody logs in to it.
INSTALL = """
apt-get install -y -qq -o Dpkg::Use-Pty=0 -o Dpkg::Progress-Fancy=0 ./tactus_*_arm64.deb
tactus --version
tactus doctor
echo "doctor: exit $?"
cat >/etc/tactus/config.yaml <<END
version: 1
play: true
tempo: 97.3
link: { start-stop-sync: true }
outputs:
  - port: virtual:Drums
  - port: raw:/dev/ttyAMA0
    profile: generic
END
tactus config check /etc/tactus/config.yaml
systemctl enable tactus
"""

# The machine on USB is one of the kernel's own, behind its USB MIDI driver, as in rig/usb.py; the clock arrives at the
# other end, at a raw port.
SWITCHED_ON = """
until [ "$(systemctl is-active tactus)" = active ]; do sleep 1; done
echo "service: $(systemctl is-active tactus) $(cut -d. -f1 /proc/uptime) s after power on, on $(uname -m)"
tactus status
tactus monitor Drums --seconds 10

modprobe dummy_hcd && modprobe usb_f_midi
until mountpoint -q /sys/kernel/config; do sleep 1; done
gadget=/sys/kernel/config/usb_gadget/machine
mkdir -p $gadget/strings/0x409 $gadget/configs/c.1 $gadget/functions/midi.0
echo 0x0582 >$gadget/idVendor; echo 0x020a >$gadget/idProduct; echo TR-8S >$gadget/strings/0x409/product
echo far >$gadget/functions/midi.0/id
ln -s $gadget/functions/midi.0 $gadget/configs/c.1
ls /sys/class/udc >$gadget/UDC
until tactus status | grep '^TR-8S.*roland-tr-8s'; do sleep 1; done
far=$(readlink /proc/asound/far)
head -c 100 /dev/snd/midiC${far#card}D0 | od -An -v -tx1 -w1 | sort | uniq -c | sed 's/^/usb:/'

tempo() { tactus status | sed -n 's/^tempo *\\([0-9.]*\\).*/\\1/p'; }
transport() { tactus status | sed -n 's/^transport *\\([a-z]*\\).*/\\1/p'; }
echo alone
until [ "$(tempo)" = 100.3 ]; do sleep 1; done
tactus peers
tactus tempo 111
until [ "$(tempo)" = 112 ]; do sleep 1; done
tactus stop
until [ "$(transport)" = playing ]; do sleep 1; done
tactus status
journalctl --unit tactus --output cat
"""


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    for words in ("tuntap add dev board mode tap", f"address add {HOST}/24 dev board",
                  "link set board up"):
        subprocess.run(["ip", *words.split()], check=True)
    return Board(tmp_path_factory.mktemp("board"))


def test_it_is_installed_and_finds_what_a_clock_needs(board):
    (package,) = (PROJECT / ".build/arm64/packages").glob("*.deb")
    board.start(INSTALL, [package])
    said = board.wait()
    assert re.search(r"^ok +sequencer", said, re.M) and not re.search(r"^problem", said, re.M)
    assert "doctor: exit 0\n" in said


def test_it_plays_once_the_board_is_switched_on_and_a_peer_on_another_computer_plays_along(board):
    board.start(SWITCHED_ON)
    until(lambda: "\nalone\n" in board.said or board.process.poll() is not None, "the board plays alone", **SLOWLY)
    assert board.process.poll() is None, board.said
    with LinkHut() as hut:
        hut.press("s")
        hut.enable()
        until(lambda: (hut.now.peers, hut.now.tempo) == (1, 97.3), "LinkHut joins the board's session", **SLOWLY)
        print(hut.now)
        hut.set_tempo(100)
        until(lambda: hut.now.tempo == 111, "LinkHut gets the board's tempo", **SLOWLY)
        # Link starts nobody who joins.
        hut.play()
        until(lambda: hut.now.playing, "LinkHut plays along", **SLOWLY)
        hut.set_tempo(112)
        until(lambda: not hut.now.playing, "the board's stop stops LinkHut", **SLOWLY)
        hut.play()
        said = board.wait()
    assert re.search(r"^service: active \d+ s after power on, on aarch64$", said, re.M)
    assert re.search(r"^ticks +\d+ ticks, 0 lost, 0 doubled", said, re.M)
    assert re.search(r"^usb: +\d+ +f8$", said, re.M)
    assert f"\n{HOST} " in said, "it lists LinkHut among its peers"
    line = board.midi
    print(f"On the serial line: {line.count(0xF8)} ticks, {line.count(0xFA)} Start, {line.count(0xFC)} Stop")
    assert line.count(0xF8) > 100 and 0xFA in line and 0xFC in line
