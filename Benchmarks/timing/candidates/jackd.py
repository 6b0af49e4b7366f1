"""A JACK server without a sound card, for candidates that need one."""

import subprocess

RATE = 48_000


def start(programs):
    programs.start("jackd", "--realtime", "--realtime-priority", 70, "-d", "dummy", "--rate", RATE, "--period", 64,
                   JACK_NO_AUDIO_RESERVATION="1")
    programs.until(lambda: subprocess.run(["jack_wait", "-c"], capture_output=True).stdout.find(b"not") < 0,
                   "a JACK server", 60)
