"""The count of what became of every message."""

import pytest
from costs import counted, out_of_order

INTERVAL = 8333.3


def record(places, skipped):
    """Ticks on these places, each a little late, and some in the middle by up to 25 ms."""
    def lateness(place):
        return 25_000 if 100 <= place < 110 else place * 7919 % 3_000
    times = sorted(5e6 + place * INTERVAL + lateness(place) for place in places)
    transport = [("start", times[30]), ("stop", times[90])]
    events = sorted([("clock", at) for at in times] + transport, key=lambda event: event[1])
    return {"events": events, "sent": len(times), "skipped": skipped, "interval": INTERVAL}


@pytest.mark.parametrize("places, skipped, lost, doubled", [
    ([*range(300)], 0, 0, 0),
    ([*range(150), *range(190, 300)], 40, 0, 0),
    ([*range(150), *range(190, 300)], 39, 1, 0),
    ([*range(200), *range(199, 300)], 0, 0, 1)])
def test_every_tick_is_received_or_left_out_after_a_stall_and_counted(places, skipped, lost, doubled):
    found = counted(record(places, skipped))
    assert (found["ticks due"], found["lost"], found["doubled"]) == (300, lost, doubled)
    assert (found["Starts, Continues and Stops"], found["out of order"]) == (2, 0)
    assert found["received"] == found["sent, by the status"] == len(places)


def test_the_longest_gap_is_told():
    events = [("clock", place * 8_000.0) for place in [*range(100), *range(110, 200)]]
    found = counted({"events": events, "sent": 190, "skipped": 10, "interval": 8_000.0})
    assert found["longest gap, ms"] == 88


@pytest.mark.parametrize("messages, wrong", [
    ("start stop", 0), ("position position continue stop position start stop", 0), ("start start", 1),
    ("stop", 1), ("continue", 1), ("start position continue stop", 2)])
def test_the_order_of_messages_is_that_of_a_machine_that_starts_and_stops(messages, wrong):
    assert out_of_order(messages.split()) == wrong
