"""jack_midi_clock on a dummy JACK server, brought to the sequencer by a2jmidid."""

from candidates import jackd

LABEL = "jack_midi_clock"
ABOUT = ("`jack_midi_clock -B -b TEMPO -T -P` and `a2jmidid -e -u` under `chrt --fifo 60`, on `jackd -R` with the "
         "dummy driver, 64 frames at 48 kHz")
LINK = False


def start(programs, tempo, observer):
    jackd.start(programs)
    programs.start("a2jmidid", "-e", "-u", priority=60)
    programs.start("jack_midi_clock", "-B", "-b", tempo, "-T", "-P", priority=60)
    source, sink = (
        programs.until(lambda: [port for port in programs.run("jack_lsp").splitlines() if name in port], name)
        for name in ("jack_midi_clock:", "Virtual Raw MIDI 0-0 (playback)"))
    programs.run("jack_connect", source[0], sink[0])
    programs.run("jack_transport", input="play\nquit\n")
    return tempo
