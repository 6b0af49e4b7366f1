"""midish, a sequencer for the terminal, recording an empty song with its clock output on; whole tempos only."""

import subprocess

LABEL = "midish"
ABOUT = "`midish -b` under `chrt --fifo 80`, clock output on, recording an empty song; whole tempos only"
LINK = False
SCRIPT = """dnew 0 "{address}" wo
dclktx {{0}}
t {tempo}
r
"""


def start(programs, tempo, observer):
    address = f"{observer.port.client_id}:{observer.port.port_id}"
    process = programs.start("midish", "-b", priority=80, stdin=subprocess.PIPE)
    process.stdin.write(SCRIPT.format(address=address, tempo=round(tempo)).encode())
    process.stdin.flush()
    return round(tempo)
