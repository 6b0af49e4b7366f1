"""A program that wants a sound card to itself, as JACK does: it reserves the card on the session's bus."""

import threading

from jeepney import DBusAddress, HeaderFields, MessageType, new_error, new_method_call, new_method_return
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

INTERFACE = "org.freedesktop.ReserveDevice1"
PROPERTIES = "org.freedesktop.DBus.Properties"
REPLACE, DO_NOT_QUEUE = 2, 4


class Program:
    """It never lets go of a card that it has taken, by ALSA's number."""

    def __init__(self, bus, card, name, priority):
        self.connection = open_dbus_connection(bus=bus)
        self.name = f"{INTERFACE}.Audio{card}"
        self.path = f"/org/freedesktop/ReserveDevice1/Audio{card}"
        self.properties = {"Priority": ("i", priority), "ApplicationName": ("s", name)}
        self.asked = []  # with which priorities
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def answer_to(self, message):
        """The answer to a call; others are answered meanwhile."""
        serial = next(self.connection.outgoing_serial)
        self.connection.send(message, serial=serial)
        while (got := self.connection.receive()).header.fields.get(HeaderFields.reply_serial) != serial:
            self.take_message(got)
        return got

    def call(self, message):
        """The values that a call returns."""
        got = self.answer_to(message)
        assert got.header.message_type == MessageType.method_return, got.body
        return got.body

    def of_owner(self, interface, member, signature, *values):
        """What the card's present owner answers; None if there is no owner."""
        (is_owned,) = self.call(message_bus.NameHasOwner(self.name))
        address = DBusAddress(self.path, self.name, interface)
        return self.call(new_method_call(address, member, signature, values))[0] if is_owned else None

    def refusal(self, interface, member, signature, *values):
        """The error with which the card's owner answers; None if there is none."""
        address = DBusAddress(self.path, self.name, interface)
        return self.answer_to(new_method_call(address, member, signature, values)).header.fields.get(
            HeaderFields.error_name)

    def owner(self):
        """What the owner calls itself."""
        return (self.of_owner(PROPERTIES, "Get", "ss", INTERFACE, "ApplicationName") or ("", None))[1]

    def ask(self, priority):
        """Whether the owner lets go."""
        return self.of_owner(INTERFACE, "RequestRelease", "i", priority)

    def take(self):
        """Takes the name, and answers others in the background from now on."""
        (result,) = self.call(message_bus.RequestName(self.name, REPLACE | DO_NOT_QUEUE))
        assert result == 1, "the name has another owner"
        self.thread.start()

    def run(self):
        while not self.stopping.is_set():
            try:
                self.take_message(self.connection.receive(timeout=0.1))
            except TimeoutError:
                pass

    def take_message(self, message):
        member = message.header.fields.get(HeaderFields.member)
        if message.header.message_type != MessageType.method_call:
            return
        if member == "RequestRelease":
            self.asked.append(message.body[0])
            answer = new_method_return(message, "b", (False,))
        elif member == "Get":
            answer = new_method_return(message, "v", (self.properties[message.body[1]],))
        else:
            answer = new_error(message, "org.freedesktop.DBus.Error.UnknownMethod")
        self.connection.send(answer)

    def end(self):
        """Ends as a program does: its name has no owner any more."""
        self.stopping.set()
        if self.thread.is_alive():
            self.thread.join()
        self.connection.close()
