"""Programs that reserve a sound card on the session's bus, as sound servers and JACK do."""

import subprocess
import threading

from jeepney import DBusAddress, HeaderFields, MatchRule, MessageType, new_error, new_method_call, new_method_return
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

from rig.wait import until

INTERFACE = "org.freedesktop.ReserveDevice1"
PROPERTIES = "org.freedesktop.DBus.Properties"
ALLOW_REPLACEMENT, REPLACE, DO_NOT_QUEUE = 1, 2, 4
FORMAT = ["-t", "raw", "-f", "S16_LE", "-c", "2", "-r", "48000"]


class Program:
    """A program that plays silence on a card while it has it; it lets go when one of higher priority asks."""

    def __init__(self, bus, card, device, name, priority):
        self.connection = open_dbus_connection(bus=bus)
        self.name = f"{INTERFACE}.Audio{card}"
        self.path = f"/org/freedesktop/ReserveDevice1/Audio{card}"
        self.device = device
        self.priority = priority
        self.properties = {"Priority": ("i", priority), "ApplicationName": ("s", name)}
        self.asked = []  # with which priorities
        self.player = self.thread = None
        self.waits = False
        self.stopping = threading.Event()

    def call(self, message):
        """The values that a call returns; others are answered meanwhile."""
        serial = next(self.connection.outgoing_serial)
        self.connection.send(message, serial=serial)
        while (got := self.connection.receive()).header.fields.get(HeaderFields.reply_serial) != serial:
            self.take_message(got)
        assert got.header.message_type == MessageType.method_return, got.body
        return got.body

    def of_owner(self, interface, member, signature, *values):
        """What the card's present owner answers."""
        address = DBusAddress(self.path, self.name, interface)
        return self.call(new_method_call(address, member, signature, values))[0]

    def ask(self, priority):
        """Whether the owner lets go."""
        return self.of_owner(INTERFACE, "RequestRelease", "i", priority)

    def take(self):
        """Takes the name and the card."""
        (result,) = self.call(message_bus.RequestName(self.name, ALLOW_REPLACEMENT | REPLACE | DO_NOT_QUEUE))
        assert result == 1, "the name has another owner"
        self.play()

    def play(self):
        self.player = subprocess.Popen(["aplay", "-q", "-D", self.device, *FORMAT, "/dev/zero"])

    @property
    def is_playing(self):
        return self.player is not None and self.player.poll() is None

    def serve(self):
        """Answers from now on."""
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def take_back(self):
        """Waits in the background for a card without owner, and takes it."""
        self.waits = True
        rule = MatchRule(type="signal", interface="org.freedesktop.DBus", member="NameOwnerChanged")
        rule.add_arg_condition(0, self.name)
        self.call(message_bus.AddMatch(rule))
        self.serve()

    def run(self):
        while not self.stopping.is_set():
            try:
                self.take_message(self.connection.receive(timeout=0.1))
            except TimeoutError:
                pass

    def take_message(self, message):
        fields = message.header.fields
        member = fields.get(HeaderFields.member)
        if message.header.message_type == MessageType.signal and member == "NameOwnerChanged" and self.waits:
            if message.body[2] == "":
                self.waits = False
                self.take()
        elif message.header.message_type != MessageType.method_call:
            pass
        elif member == "RequestRelease":
            (priority,) = message.body
            self.asked.append(priority)
            lets_go = priority > self.priority
            if lets_go:
                self.stop_playing()
            self.connection.send(new_method_return(message, "b", (lets_go,)))
            if lets_go:
                self.connection.send(message_bus.ReleaseName(self.name))
        elif member == "Get":
            self.connection.send(new_method_return(message, "v", (self.properties[message.body[1]],)))
        else:
            self.connection.send(new_error(message, "org.freedesktop.DBus.Error.UnknownMethod"))

    def stop_playing(self):
        if self.player is not None:
            self.player.kill()
            self.player.wait()

    def end(self):
        """Ends as a program does: its card is closed, and its name has no owner any more."""
        self.stopping.set()
        if self.thread is not None:
            self.thread.join()
        self.stop_playing()
        self.connection.close()

    def wait_played(self, parameters):
        """Waits until its sound is played; `parameters` is the kernel's file that tells."""
        until(lambda: self.is_playing and "rate:" in parameters.read_text(), "the card is played on")
