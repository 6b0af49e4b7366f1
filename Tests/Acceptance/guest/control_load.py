"""In the lab: sixteen outputs at 999 BPM, alternately without and with load on the control server.

    control_load.py RESULT.json

The record is judged on the host, by test_control_load.py. All times are microseconds of Link's host time.
"""

import json
import os
import pathlib
import re
import select
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from alsa_midi import SequencerClient  # noqa: E402

from rig.clocks import raw_microseconds  # noqa: E402
from rig.framed import FramedLine  # noqa: E402
from rig.gateway import PORT, Gateway  # noqa: E402
from rig.guest import preload  # noqa: E402

TEMPO = 999
DEVICES = 4
OTHERS = 11  # besides the `Clock` port
STREAMS = 50
ASKED = 200  # requests a second
BLOCK = 1  # second
BLOCKS = ["quiet", "loaded", "quiet", "loaded"]
ANSWER = b"HTTP/1.1 "
HEADERS = f"HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\n\r\n".encode()


def crowd():
    """Reads 50 event streams and sends 200 requests a second until stdin ends; prints the counts once all are answered."""
    poll = select.poll()
    poll.register(0, select.POLLIN)
    read = {}
    streams = [socket.create_connection(("127.0.0.1", PORT)) for _ in range(STREAMS)]
    for stream in streams:
        stream.sendall(b"GET /api/v1/events " + HEADERS)
        poll.register(stream, select.POLLIN)
        read[stream.fileno()] = 0
    asking = socket.create_connection(("127.0.0.1", PORT))
    poll.register(asking, select.POLLIN)
    paths = [b"/api/v1/status", b"/metrics", b"/healthz", b"/"]
    began, asked, answered, rest, is_over = time.monotonic(), 0, 0, b"", False
    print("here", flush=True)
    while not is_over or answered < asked:
        due = began + asked / ASKED
        for descriptor, _ in poll.poll(None if is_over else max(0, (due - time.monotonic()) * 1000)):
            if descriptor == 0:
                is_over, seconds = True, time.monotonic() - began
                poll.unregister(0)
            elif descriptor == asking.fileno():
                rest += asking.recv(1 << 20)
                answered += rest.count(ANSWER)
                rest = rest[-len(ANSWER) + 1:]
            else:
                read[descriptor] += os.read(descriptor, 1 << 20).count(b"\nevent: ")
        if time.monotonic() >= due and not is_over:
            asking.sendall(b"GET " + paths[asked % len(paths)] + b" " + HEADERS)
            asked += 1
    print(json.dumps({"seconds": seconds, "asked": asked, "answered": answered, "events": list(read.values())}))


def memory(process):
    """Resident memory of a process, in bytes."""
    with open(f"/proc/{process}/statm", encoding="utf-8") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def connect_others():
    """Connects the outputs without a device to `Midi Through`, so that every tick has a receiver."""
    client = SequencerClient("Patch bay")
    ports = client.list_ports()
    (through,) = [port for port in ports if port.client_name == "Midi Through"]
    for port in ports:
        if port.client_name == "Tactus" and re.fullmatch(r"Clock|V\d+", port.name.strip()):
            client.subscribe_port(port, through)
    client.close()


def record():
    lines = [FramedLine(number) for number in range(DEVICES)]
    outputs = [f"VirMIDI 0-{number}" for number in range(DEVICES)] + [f"virtual:V{number}" for number in range(OTHERS)]
    marks, crowds, kept = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        options = [word for output in outputs for word in ("--output", output)]
        gateway = Gateway("--no-link", "--tempo", TEMPO, *options, folder=folder)
        try:
            gateway.wait_ready()
            connect_others()
            # Use every path once before measuring, so that nothing is loaded for the first time later.
            for path in ("/api/v1/status", "/metrics", "/healthz", "/"):
                assert gateway.request("GET", path)[0] == 200
            preload(gateway.process.pid, "self")
            time.sleep(1)
            for kind in BLOCKS:
                people = None
                if kind == "loaded":
                    people = subprocess.Popen(
                        [sys.executable, __file__, "crowd"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                    people.stdout.readline()
                    time.sleep(0.3)
                began = raw_microseconds()
                time.sleep(BLOCK)
                marks.append([kind, began, raw_microseconds()])
                if people:
                    kept.append(memory(gateway.process.pid))
                    crowds.append(json.loads(people.communicate("over")[0]))
                for line in lines:
                    line.read()
            status = gateway.status()
            gateway.stop()
        finally:
            gateway.kill()
    return {
        "blocks": marks, "crowds": crowds, "memory": kept, "status": status, "interval": round(60e6 / TEMPO) / 24,
        "ticks": [[at for name, at in line.events if name == "clock"] for line in lines],
    }


if __name__ == "__main__":
    if sys.argv[1] == "crowd":
        crowd()
    else:
        pathlib.Path(sys.argv[1]).write_text(json.dumps(record()))
