"""The panel on stage, in a real Chromium: the stage view, the lock, notices, its address as a code, and its manifest."""

import base64
import contextlib
import json
import os
import re
import subprocess

import numpy
import pytest
import zxingcpp

from rig.browser import SIZES, Finger, Panel, drawn, fed_panel
from rig.gateway import Gateway
from rig.rawline import RawLine
from rig.stage import on_stage, play
from rig.wait import until

pytestmark = pytest.mark.real("browser")

TOKEN = "Zm9v+mFy/mF6cX+4"


@pytest.fixture
def show(tmp_path):
    """A gateway with two machines, a third one that is unplugged, and another peer in the session."""
    folder = tmp_path / "show"
    folder.mkdir()
    with on_stage(folder, peers=1) as running:
        yield running


@pytest.fixture
def playing(show):
    """The show while it plays."""
    play(show)
    return show


def settled(panel, expression, what):
    """Waits until an expression is true in the page; its policy forbids Playwright's own way of waiting."""
    return until(lambda: panel.evaluate(expression), what, every=0.005)


# The stage view

def test_the_stage_view_opens_by_touch_and_by_key_and_is_left_by_both(browser, playing, figure):
    with Panel(browser) as panel:
        panel.shows("#transport", "Playing")
        panel.touch("#stageOpen")
        view = panel.locator("#stageView")
        view.wait_for()
        settled(panel, "document.fullscreenElement === document.documentElement", "it fills the screen")
        settled(panel, "document.activeElement.id === 'stagePlay'", "play is at hand")
        tree = view.aria_snapshot()
        for part in ('dialog "Stage view"', 'button "Lock the controls"', 'button "Leave the stage view"', 'button "Stop"',
                     'list "Machines"', "Digitakt Not connected", "128.0", "Playing", "Link · 1", 'button "Large Tap"'):
            assert part in tree, f"{part} is not in {tree}"
        for machine in ("TR-8S", "Volca Beats"):
            assert re.search(f"{machine} (In time|Loose|Late|Connected)", tree), f"{machine} is not in {tree}"
        reached = set()
        for _ in range(9):
            panel.keyboard.press("Tab")
            reached.add(panel.evaluate("document.activeElement.closest('dialog')?.id ?? document.activeElement.tagName"))
        assert reached <= {"stageView", "BODY"}, "the page behind is reached"
        # Of this press nothing is left for what is behind, such as the button that opens it.
        Finger(panel.page).tap(*panel.center(panel.query_selector("#stageLeave")))
        view.wait_for(state="hidden")
        settled(panel, "!document.fullscreenElement && document.activeElement.id === 'stageOpen'", "it is as before")
        drawn(panel)
        assert not view.is_visible()
        for leave in ("f", "Escape"):
            panel.keyboard.press("F")
            view.wait_for()
            settled(panel, "document.fullscreenElement === document.documentElement", "it fills the screen")
            panel.keyboard.press(leave)
            view.wait_for(state="hidden")
            settled(panel, "!document.fullscreenElement", "the full screen is left")


def test_play_stop_and_tap_act_when_the_finger_comes_down_though_it_slides(browser, show):
    show.post("transport", {"playing": False})
    with Panel(browser) as panel:
        panel.shows("#transport", "Stopped")
        panel.touch("#stageOpen")
        for word, before, after in (("Play", "Stopped", "Playing"), ("Stop", "Playing", "Stopped")):
            panel.shows("#stageTransport", before)
            panel.shows("#stageWord", word)
            panel.rest()
            panel.evaluate("""() => {
                window.seen = [];
                const ask = window.fetch;
                window.fetch = (url, ...more) => { if (url.endsWith("transport")) seen.push("sent"); return ask(url, ...more); };
                addEventListener("pointerup", () => seen.push("up"), { once: true });
                addEventListener("pointercancel", () => seen.push("up"), { once: true });
            }""")
            finger = Finger(panel.page)
            finger.drag(*panel.center(panel.query_selector("#stagePlay")), 40)
            panel.shows("#stageTransport", after)
            assert panel.evaluate("seen")[0] == "sent"
        panel.keyboard.press("Space")
        panel.shows("#stageTransport", "Playing")
        panel.evaluate("document.activeElement.blur()")
        panel.keyboard.press("Space")
        panel.shows("#stageTransport", "Stopped")
        # A plain press acts once, and so does a key.
        commands = panel.intercept(show.status())
        finger.tap(*panel.center(panel.query_selector("#stagePlay")))
        until(lambda: panel.evaluate("1") and commands, "a press acts")
        panel.evaluate("() => new Promise(done => setTimeout(done, 300))")
        assert len(commands) == 1
        panel.locator("#stagePlay").focus()
        panel.keyboard.press("Enter")
        until(lambda: panel.evaluate("1") and len(commands) == 2, "a key acts")
        # A large Tap is there for those who want it, in this browser.
        assert panel.locator("#stageTap").is_hidden()
        panel.touch("#stageTaps")
        x, y = panel.center(panel.query_selector("#stageTap"))
        finger.touch("touchStart", (x, y))
        until(lambda: panel.evaluate("1") and len(commands) == 3, "it taps before the finger is lifted")
        finger.touch("touchEnd")
        assert "/tap" in commands[2]
        panel.reload()
        panel.shows("#transport", "Stopped")
        panel.keyboard.press("f")
        panel.locator("#stageTap").wait_for()


# Presses a button at a time of the page's clock, in milliseconds.
PRESS_AT = """([selector, kind, time]) => {
    const event = new PointerEvent(kind, { bubbles: true, cancelable: true, detail: 1, pointerType: "touch" });
    Object.defineProperty(event, "timeStamp", { value: time });
    document.querySelector(selector).dispatchEvent(event);
}"""


def test_two_touches_that_are_one_press_play_and_do_not_stop(browser, show):
    show.post("transport", {"playing": False})
    with Panel(browser) as panel:
        panel.evaluate("""() => {
            window.sent = [];
            const ask = window.fetch;
            window.fetch = (url, ...more) => { if (url.endsWith("transport")) sent.push(more[0].body); return ask(url, ...more); };
        }""")
        for selector, kind, shown in (("#play", "click", "#transport"), ("#stagePlay", "pointerdown", "#stageTransport")):
            panel.shows(shown, "Stopped")
            panel.rest()
            time = panel.evaluate("performance.now()")
            panel.evaluate(PRESS_AT, [selector, kind, time])
            panel.shows(shown, "Playing")
            panel.evaluate(PRESS_AT, [selector, kind, time + 80])
            # One that is meant acts at once.
            panel.evaluate(PRESS_AT, [selector, kind, time + 150])
            panel.shows(shown, "Stopped")
            assert [json.loads(body)["playing"] for body in panel.evaluate("sent")] == [True, False]
            panel.evaluate("sent.length = 0")
            panel.keyboard.press("f")


ROWS = """() => [...document.querySelectorAll("#outputs li, #stageMachines li")]
    .filter(e => e.checkVisibility({ visibilityProperty: true })).map(e => {
    const [box, style] = [e.getBoundingClientRect(), getComputedStyle(e)];
    const name = e.querySelector(".name, b"), [red, green] = style.backgroundColor.match(/\\d+/g);
    const size = parseFloat(getComputedStyle(name).fontSize);
    return { name: name.textContent, state: e.dataset.state, redness: red - green, size, y: box.y, x: box.x };
})"""


def test_a_machine_that_vanishes_in_a_song_is_first_and_loudest(browser, tmp_path):
    with contextlib.ExitStack() as lines, on_stage(tmp_path, peers=1, lines=lines) as running:
        play(running)
        running.wait_status(lambda status: all(output["ticks"] for output in status["outputs"][1:]), "all get ticks")
        with Panel(browser) as panel:
            panel.shows("#transport", "Playing")
            until(lambda: [row["name"] for row in panel.evaluate(ROWS)] == ["TR-8S", "Volca Beats", "Digitakt", "Clock"], "as configured")
            lines.close()  # the last of them is unplugged
            panel.shows("#outputs li:first-child .doing", re.compile("^Gone since \\d\\d:\\d\\d$"))
            panel.shows("#notice", "Digitakt disconnected.")
            panel.keyboard.press("Escape")
            for view in ("panel", "stage"):
                if view == "stage":
                    panel.keyboard.press("f")
                    panel.locator("#stageView").wait_for()
                first, *others = panel.evaluate(ROWS)
                assert (first["name"], first["state"]) == ("Digitakt", "gone")
                for other in others:
                    assert first["redness"] > other["redness"] + 80 and first["size"] > other["size"]
                    assert (first["y"], first["x"]) < (other["y"], other["x"])
                panel.picture(f"gone-{view}")
                panel.is_accessible()
            running.post("transport", {"playing": False})
            panel.shows("#stageTransport", "Stopped")
            assert panel.evaluate(ROWS)[0]["redness"] < 80, "nothing is missing from a song"


VIEWPORTS = {name: size for name, size in SIZES.items() if name != "phone-turned"} | {"small phone": (320, 568)}
OUTSIDE = """() => [...document.querySelectorAll("#stageView *")].filter(e => {
    const box = e.getBoundingClientRect();
    return e.checkVisibility() && !e.closest("li span, svg") && box.width > 1
        && (box.left < 0 || box.top < 0 || box.right > innerWidth + 0.5 || box.bottom > innerHeight + 0.5);
}).map(e => e.id || e.className)"""
SQUEEZED = """() => {
    const all = ["count", "bpm", "top", "line", "says", "places", "foot", "machines"]
        .map(one => document.querySelector(`#stageView .${one}`).getBoundingClientRect());
    const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top + 0.5 || b.bottom <= a.top + 0.5;
    return all.flatMap((a, i) => all.slice(i + 1).filter(b => !apart(a, b)).map(b => [a.top, a.bottom, b.top, b.bottom]));
}"""
DIGITS = """() => ["#stageCount", "#stageTempo"].map(one => parseFloat(getComputedStyle(document.querySelector(one)).fontSize))"""


def test_the_stage_view_fits_every_screen_in_both_orientations(browser, playing, figure):
    with fed_panel(browser) as (panel, push):
        status = playing.status()
        many = [{**status["outputs"][1], "id": f"machine-{number}", "name": f"Machine {number}"} for number in range(15)]
        push(status)
        panel.keyboard.press("f")
        for name, (width, height) in VIEWPORTS.items():
            for turned in (False, True):
                # The view stays open while the screen is turned.
                size = (height, width) if turned else (width, height)
                panel.set_viewport_size({"width": size[0], "height": size[1]})
                settled(panel, f"innerWidth === {size[0]} && innerHeight === {size[1]}", "the screen has this size")
                push(status)
                panel.shows("#stageTempo", "128.0")
                assert panel.evaluate(OUTSIDE) == [], f"outside of {name} {size}"
                assert panel.evaluate(SQUEEZED) == [], f"on top of each other at {name} {size}"
                count, tempo = panel.evaluate(DIGITS)
                # A phone is 65 mm wide: there, digits are 25 mm and 10 mm high or more, enough for three metres.
                assert count >= 0.42 * min(size) and tempo >= min(0.15 * min(size), 120), f"digits of {count} and {tempo} at {size}"
                small = panel.evaluate("""() => [...document.querySelectorAll("#stageView button")].filter(e => e.checkVisibility())
                    .map(e => e.getBoundingClientRect()).filter(box => box.width < 48 || box.height < 48).length""")
                assert not small, "too small for a finger"
                figure("picture", panel.picture(f"stage-{name.replace(' ', '-')}{'-turned' if turned else ''}"))
                # A tempo of more digits has the same place; many machines may scroll within themselves, nothing else does.
                place = {side: round(value) for side, value in panel.locator("#stageTempo").bounding_box().items()}
                push({**status, "tempo": 128.25, "quantum": 15.5})
                panel.shows("#stageTempo", "128.25")
                assert panel.locator("#stageTempo").bounding_box() == pytest.approx(place, abs=0.6), "the tempo has jumped"
                push({**status, "tempo": 888.88, "outputs": many})
                panel.shows("#stageTempo", "888.88")
                assert panel.evaluate(OUTSIDE.replace("li span, svg", "li, svg")) == []
                assert panel.evaluate(SQUEEZED) == []


# Machines as players

CHIP = '#stageMachines li:has(.name:text-is("{}"))'
ROW = '#outputs li:has(.name:text-is("{}"))'


def with_outputs(status, **changes):
    """A status in which machines, by name, are changed, without what depends on the machine that runs the test."""
    outputs = [{**output, **changes.get(output["name"].split("/")[-1].split()[0].replace("-", ""), {})} for output in status["outputs"]]
    for output in outputs[1:]:
        output["lastMinute"] = {"ticks": 2880, "lateTicks": 0, "maxMicroseconds": 12, "timing": "in-time"}
    return {**status, "warnings": [], "outputs": outputs}


def test_a_press_on_a_chip_mutes_its_machine_at_the_bar_and_another_lets_it_enter(browser, playing):
    def machine(status):
        return status["outputs"][1]

    with Panel(browser) as panel:
        panel.shows("#transport", "Playing")
        panel.keyboard.press("f")
        chip, finger = CHIP.format("TR-8S"), Finger(panel.page)
        press = f"{chip} .mute"
        # Before a bar that is far away, a second press takes the first one back.
        playing.post("quantum", {"beats": 64})
        playing.wait_status(lambda status: status["quantum"] == 64 and 1 < status["phase"] < 40, "the bar is young")
        finger.tap(*panel.center(panel.query_selector(press)))
        panel.shows(f"{chip} .doing", "Stops at a bar")
        assert panel.locator(press).get_attribute("aria-pressed") == "true"
        panel.is_accessible()
        finger.tap(*panel.center(panel.query_selector(press)))
        panel.shows(f"{chip} .doing", re.compile("In time|Loose|Late|Connected"))
        playing.wait_status(lambda status: not machine(status)["muted"], "it plays on")
        playing.post("quantum", {"beats": 4})
        panel.locator(press).focus()
        panel.keyboard.press("Enter")
        panel.shows(f"{chip} .doing", "Muted")
        playing.wait_status(lambda status: machine(status)["muted"], "it is muted")
        assert panel.get_by_role("button", name="TR-8S Muted", pressed=True).count() == 1
        panel.keyboard.press("Space")
        playing.wait_status(lambda status: not machine(status)["muted"] and machine(status)["changesAtBeat"] is None, "it has entered")
        panel.shows(f"{chip} .doing", re.compile("In time|Loose|Late|Connected"))


def test_a_muted_machine_can_be_let_in_after_some_bars(browser, playing):
    with Panel(browser) as panel:
        panel.shows("#transport", "Playing")
        panel.keyboard.press("f")
        chip = CHIP.format("TR-8S")
        panel.touch(f"{chip} .others")
        assert panel.locator(f"{chip} .realign").is_visible() and not panel.locator(f"{chip} .enter").is_visible()
        machine = playing.status()["outputs"][1]["id"]
        playing.post(f"outputs/{machine}/mute", {"muted": True})
        enter = panel.get_by_role("button", name="TR-8S: Enter in 4 bars", exact=True)
        enter.wait_for()
        assert not panel.locator(f"{chip} .realign").is_visible(), "what is muted cannot be realigned"
        box = enter.bounding_box()
        assert box["width"] >= 48 and box["height"] >= 48 and panel.evaluate(OUTSIDE) == []
        playing.wait_status(lambda status: status["outputs"][1]["changesAtBeat"] is None, "it has stopped")
        commands = panel.intercept(playing.status())
        enter.click()
        panel.shows("#told", "TR-8S will enter after 4 bars.")
        assert len(commands) == 1 and commands[0].endswith(f'/outputs/{machine}/mute {{"muted":false,"afterBars":4}}')


def test_a_chip_has_the_others_of_its_buttons_at_hand_and_they_go_by_themselves(browser, playing, figure):
    with Panel(browser) as panel:
        panel.evaluate("postponed.add(10000)")
        panel.evaluate("localStorage.setItem('awakeNoted', '1')")
        panel.shows("#transport", "Playing")
        panel.keyboard.press("f")
        more = [f"{CHIP.format(name)} .others" for name in ("TR-8S", "Volca Beats")]
        opened = [f"{CHIP.format(name)} .details" for name in ("TR-8S", "Volca Beats")]
        panel.touch(more[0])
        for name in ("Realign TR-8S", "TR-8S slower while held", "TR-8S faster while held"):
            box = panel.get_by_role("button", name=name, exact=True).last.bounding_box()
            assert box["width"] >= 48 and box["height"] >= 48
        assert panel.evaluate(OUTSIDE) == []
        panel.is_accessible()
        figure("picture", panel.picture("chip"))
        panel.touch(f"{opened[0]} .realign")
        panel.shows("#told", "TR-8S will realign at the next bar.")
        panel.touch(more[1])
        assert [panel.locator(one).is_visible() for one in opened] == [False, True], "one at a time"
        panel.touch(more[1])
        assert not panel.locator(opened[1]).is_visible()
        # It goes by itself, unless the keyboard is in it.
        panel.touch(more[0])
        panel.evaluate("due(10000)")
        assert not panel.locator(opened[0]).is_visible()
        panel.locator(more[0]).focus()
        panel.keyboard.press("Enter")
        panel.keyboard.press("Tab")
        assert panel.evaluate("document.activeElement.ariaLabel") == "Realign TR-8S"
        panel.evaluate("due(10000)")
        assert panel.locator(opened[0]).is_visible()
        assert panel.locator(more[0]).get_attribute("aria-expanded") == "true"


# Has the repeats of what is held wait for a test that calls `again`, so that no stall of a busy machine makes them; and
# counts the requests for bends of which the page has not taken the answer yet.
REPEATS = """() => {
    const [every, never] = [window.setInterval, window.clearInterval];
    const waiting = new Map();
    window.setInterval = (act, delay) => {
        if (delay !== 300) return every(act, delay);
        waiting.set(-waiting.size - 1, act);
        return -waiting.size;
    };
    window.clearInterval = (number) => { waiting.set(number, () => {}); never(number); };
    window.again = () => { for (const act of waiting.values()) act(); };
    const ask = window.fetch;
    window.unanswered = 0;
    window.fetch = async (url, options) => {
        const answer = ask(url, options);
        if (!url.endsWith("/bend")) return answer;
        unanswered += 1;
        const read = (await answer).json.bind(await answer);
        (await answer).json = () => read().finally(() => setTimeout(() => { unanswered -= 1; }));
        return answer;
    };
}"""


class Bends:
    """What a page asks of the endpoint for bends, which is answered with a status."""

    def __init__(self, panel, status):
        self.panel, self.status, self.asked = panel, status, []
        panel.evaluate(REPEATS)
        panel.route("**/bend", self.answer)

    def answer(self, route, request):
        self.asked.append((request.url.rsplit("/", 2)[1], json.loads(request.post_data)["percent"]))
        route.fulfill(json=self.status)

    def wait(self, *percents):
        """Waits until this was asked since the last time, and nothing else; and is answered."""
        until(lambda: self.panel.evaluate("1") and len(self.asked) >= len(percents), f"{percents} is asked")
        drawn(self.panel)
        settled(self.panel, "unanswered === 0", "it is answered")
        assert [percent for _, percent in self.asked] == list(percents)
        self.asked.clear()

    def again(self):
        """What the page does after another 300 ms."""
        self.panel.evaluate("again()")


def test_a_button_that_is_held_bends_until_it_is_let_go_in_whatever_way(browser, playing):
    with Panel(browser) as panel:
        panel.shows("#transport", "Playing")
        bends, finger = Bends(panel, playing.status()), Finger(panel.page)
        ends = {
            "lifted": lambda: finger.touch("touchEnd"), "cancelled": lambda: finger.touch("touchCancel"),
            "capture is lost": lambda: (panel.evaluate("document.querySelector('.held').releasePointerCapture(finger)"),
                                        finger.touch("touchMove", (2, 2))),  # of which only the next event tells
            "blurred": lambda: panel.evaluate("dispatchEvent(new Event('blur'))"),
            "hidden": lambda: panel.evaluate("document.dispatchEvent(new Event('visibilitychange'))")}
        panel.evaluate("addEventListener('pointerdown', ({ pointerId }) => { window.finger = pointerId; }, true)")
        for view, place, tried in (("panel", ROW.format("TR-8S"), ends), ("stage", CHIP.format("TR-8S"), ["lifted"])):
            if view == "stage":
                panel.keyboard.press("f")
            panel.touch(f"{place} [aria-expanded]")
            slower, faster = panel.query_selector_all(f"{place} .bend")
            for end in tried:
                x, y = panel.center(faster)
                finger.touch("touchStart", (x, y))
                bends.wait(4)
                bends.again()
                bends.wait(4)
                # It slides, far away from the button.
                for step in range(1, 6):
                    finger.touch("touchMove", (x - 30 * step, y - 50 * step))
                bends.again()
                bends.wait(4)
                ends[end]()
                bends.wait(0)
                bends.again()
                bends.wait()
                assert not panel.locator(".held").count(), end
                if end not in ("lifted", "cancelled"):
                    finger.touch("touchEnd")
                    bends.wait()
            for key in (" ", "Enter"):
                slower.focus()
                panel.keyboard.down(key)
                panel.keyboard.down(key)  # as the system repeats a held key
                bends.wait(-4)
                bends.again()
                bends.wait(-4)
                panel.keyboard.up(key)
                bends.wait(0)
            panel.keyboard.down("Enter")
            bends.wait(-4)
            panel.keyboard.press("Tab")
            bends.wait(0)
            panel.keyboard.up("Enter")
            # Assistive technology only clicks: that is a bend of a second, which the gateway ends.
            faster.evaluate("e => e.click()")
            bends.wait(4)
            assert panel.evaluate("document.getElementById('told').textContent") == "", "it complains of a finger that moved"
        assert playing.status()["transport"] == "playing", "the space bar has stopped it"


def test_how_far_a_machine_is_from_its_place_is_shown_while_it_is_bent(browser, playing):
    with fed_panel(browser) as (panel, push):
        status = playing.status()
        for view, place in (("panel", ROW.format("TR-8S")), ("stage", CHIP.format("TR-8S"))):
            if view == "stage":
                panel.keyboard.press("f")
            for bend, words in (({"percent": 4, "milliseconds": 35.4}, "+35 ms"), ({"percent": -4, "milliseconds": -7.6}, "\u22128 ms"),
                                ({"percent": 0, "milliseconds": 0.2}, "0 ms"), (None, "In time")):
                push(with_outputs(status, TR8S={"bend": bend, "sentTempo": status["tempo"]}))
                panel.shows(f"{place} .doing", words)
                assert panel.locator(place).get_attribute("data-state") == ("bent" if bend else "in-time")


def test_a_group_is_a_player_of_its_own(browser, playing, figure):
    drums = {"groups": ["Drums"], "connected": True}
    with fed_panel(browser) as (panel, push):
        status = with_outputs(playing.status(), TR8S=drums, Volca={"groups": ["drums", "Synths & pads"]}, Digitakt={"connected": True})
        bends, commands = Bends(panel, status), panel.intercept(status)
        bends.panel.route("**/bend", bends.answer)
        push(status)
        for view, place, rows in (("panel", ROW, ["drums", "Synths & pads", "TR-8S", "Volca Beats", "Digitakt", "Clock"]),
                                  ("stage", CHIP, ["drums", "Synths & pads", "TR-8S", "Volca Beats", "Digitakt"])):
            if view == "stage":
                panel.keyboard.press("f")
            until(lambda: [row["name"] for row in panel.evaluate(ROWS)] == rows, "each group once, before the machines")
            group, pads = place.format("drums"), place.format("Synths & pads")
            panel.touch(f"{group} [aria-expanded]")
            panel.touch(f"{group} .mute")
            panel.touch(f"{group} .realign")
            panel.touch(f"{pads} .mute")
            until(lambda: panel.evaluate("1") and len(commands) == 3, "all are sent")
            assert [command.split("/api/v1/")[1] for command in commands] == [
                "outputs/drums/mute {}", "outputs/drums/realign {}", "outputs/Synths%20%26%20pads/mute {}"]
            commands.clear()
            panel.locator(f"{group} .bend").first.focus()
            panel.keyboard.down("Enter")
            until(lambda: panel.evaluate("1") and bends.asked, "it is bent")
            assert bends.asked == [("drums", -4)]
            # Else it is let go twice, the second time after the answer.
            settled(panel, "unanswered === 0", "it is answered")
            panel.keyboard.up("Enter")
            until(lambda: panel.evaluate("1") and bends.asked[-1] == ("drums", 0), "it is let go")
            bends.asked.clear()
            for one, other, words in (
                    ({}, {}, "Group of 2"), ({"muted": True}, {}, "1 of 2 muted"), ({"muted": True}, {"muted": True}, "Muted"),
                    ({"muted": True, "changesAtBeat": 8}, {"muted": True}, "Stops at a bar"),
                    ({"changesAtBeat": 8}, {"muted": True}, "Enters at a bar"),
                    ({}, {"bend": {"percent": 4, "milliseconds": 12}}, "+12 ms")):
                push(with_outputs(status, TR8S={**drums, **one}, Volca={"groups": ["drums"], **other}))
                panel.shows(f"{group} .doing", words)
                assert panel.locator(f"{group} .mute").get_attribute("aria-pressed") == f"{words in ('Muted', 'Stops at a bar')}".lower()
            figure("picture", panel.picture(f"groups-{view}"))
            panel.is_accessible()
            # Trouble comes before groups, and a group without machines has gone.
            stuck = {"code": "device-stuck", "message": "a", "fix": "b", "output": status["outputs"][1]["id"]}
            push({**with_outputs(status, TR8S=drums), "warnings": [stuck]})
            until(lambda: [row["name"] for row in panel.evaluate(ROWS)][:2] == ["TR-8S", "drums"], "trouble comes first")
            push(with_outputs(status, TR8S={"groups": []}, Volca={"groups": []}))
            until(lambda: [row["name"] for row in panel.evaluate(ROWS)][:2] == ["TR-8S", "Volca Beats"], "no group")
            push(status)


def test_names_of_sixteen_letters_are_whole_on_a_phone(browser, playing):
    with fed_panel(browser) as (panel, push):
        status = with_outputs(playing.status())
        for output, name in zip(status["outputs"][1:], ("Bassstation12345", "Volca Beats", "MWMWMWMWMWMWMWMW")):
            output["name"] = name
        push(status)
        panel.shows("#outputs li:nth-child(3) .name", "MWMWMWMWMWMWMWMW")
        cut = "[...document.querySelectorAll('{} .name')].filter(e => e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight + 2)"
        assert panel.evaluate(f"{cut.format('#outputs')}.length") == 0
        assert panel.evaluate("document.documentElement.scrollWidth <= innerWidth")
        panel.keyboard.press("f")
        assert panel.evaluate(f"{cut.format('#stageMachines')}.length") == 0


def test_in_the_stage_view_each_finger_acts_for_itself(browser, playing):
    with Panel(browser) as panel:
        panel.evaluate("localStorage.setItem('stageTap', '1')")
        panel.reload()
        panel.shows("#transport", "Playing")
        panel.keyboard.press("f")
        bends = Bends(panel, playing.status())
        commands, finger = panel.intercept(playing.status()), Finger(panel.page)
        panel.route("**/bend", bends.answer)
        panel.touch(f"{CHIP.format('TR-8S')} .others")
        hold = panel.center(panel.query_selector(f"{CHIP.format('TR-8S')} .bend"))
        finger.touch("touchStart", hold)
        bends.wait(-4)
        # While one finger holds, others tap, mute and stop; and each press counts once.
        for selector, path in (("#stageTap", "tap"), (f"{CHIP.format('Volca Beats')} .mute", "mute"), ("#stagePlay", "transport")):
            place = panel.center(panel.query_selector(selector))
            finger.touch("touchStart", hold, place)
            if path == "tap":
                place = place[0] + 60, place[1]
                finger.touch("touchMove", hold, place)
            finger.lift_second(*place)
            until(lambda: panel.evaluate("1") and commands, f"{path} acts")
            drawn(panel)
            assert [command.split()[1].rsplit("/", 1)[1] for command in commands] == [path]
            commands.clear()
        bends.again()
        bends.wait(-4)
        finger.touch("touchEnd")
        bends.wait(0)
        # The first finger acts, too, when another one has come and gone meanwhile.
        places = [panel.center(panel.query_selector(f"{CHIP.format(name)} .mute")) for name in ("Volca Beats", "TR-8S")]
        finger.touch("touchStart", places[0])
        finger.touch("touchStart", *places)
        finger.lift_second(*places[1])
        finger.touch("touchEnd", places[0])
        until(lambda: panel.evaluate("1") and len(commands) > 1, "both act")
        drawn(panel)
        assert [re.search("tr-8s|volca", command)[0] for command in commands] == ["tr-8s", "volca"]


LIGHT = """() => {
    // Luminance as WCAG defines it: of the ground, and of the weak flash on it.
    const style = getComputedStyle(document.documentElement);
    const color = name => style.getPropertyValue(name).trim().match(/[0-9a-f]{2}/g).map(two => parseInt(two, 16));
    const light = parts => parts.map(part => part / 255).map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
    const [ground, pulse] = [color("--play-ground"), color("--pulse")];
    const mixed = share => light(ground.map((part, index) => part + (pulse[index] - part) * share));
    return [mixed(0), mixed(+style.getPropertyValue("--weak")), mixed(+style.getPropertyValue("--strong")), light(color("--ink"))];
}"""


def is_safe(panel):
    ground, weak, strong, ink = panel.evaluate(LIGHT)
    assert 0.03 < abs(weak - ground) < 0.1, "WCAG 2.3.1 counts changes of luminance from 0.1 on as flashes"
    assert abs(strong - ground) > 1.5 * abs(weak - ground)
    for behind in (ground, weak, strong):
        assert (max(ink, behind) + 0.05) / (min(ink, behind) + 0.05) >= 3, "large digits need a contrast of 3"


def test_the_flash_is_safe_and_the_digits_stay_readable(browser, start):
    gateway = start("--no-link", "--tempo", 400)
    gateway.post("transport", {"playing": True})
    for scheme in ("light", "dark"):
        with Panel(browser, "phone", scheme) as panel:
            panel.shows("#tempo", "400.0")
            is_safe(panel)
    with Panel(browser) as panel:
        panel.shows("#transport", "Playing")
        # With bars of two beats there would be more than three strong flashes a second.
        gateway.post("quantum", {"beats": 2})
        panel.keyboard.press("f")
        settled(panel, "document.querySelectorAll('#stageMarks i').length === 2", "two beats")
        assert panel.evaluate("""() => new Promise(resolve => {
            const numbers = [];
            const note = () => {
                const [number, flash] = [document.getElementById("stageCount").textContent, document.getElementById("stageFlash")];
                if (numbers.at(-1) !== number) numbers.push(number);
                if (flash.classList.contains("strong")) resolve(false);
                if (numbers.length > 8) resolve(true); else requestAnimationFrame(note);
            };
            note();
        })"""), "a strong flash"


def test_the_beats_until_the_start_are_counted_down(browser, start):
    gateway = start("--no-link")
    with fed_panel(browser) as (panel, push):
        panel.keyboard.press("f")
        # So slow that the page itself hardly moves on.
        status = {**gateway.status(), "tempo": 0.001, "playing": True, "transport": "pending"}
        for beats in (3, 2, 1):
            push({**status, "beat": -beats + 0.5, "phase": 4.5 - beats, "startsInBeats": beats - 0.5})
            panel.shows("#stageCount", f"{beats}")
            panel.shows("#stageTransport", "Starts at the bar")
            panel.shows("#stageWord", "Cancel")
        push({**status, "beat": 0.5, "phase": 0.5, "startsInBeats": None, "transport": "playing"})
        panel.shows("#stageTransport", "Playing")
        panel.shows("#stageCount", "1")
        # The bar of the song, and its place in a phrase of four, eight or sixteen bars.
        push({**status, "beat": 66.5, "phase": 2.5, "songBeats": 38.5, "startsInBeats": None, "transport": "playing"})
        panel.shows("#stageBar", "Bar 10")
        bars = "[...document.querySelectorAll('#stagePhrase i')].map(e => e.className || '-').join(' ')"
        settled(panel, f"{bars} === 'done now - -'", "the second of four bars")
        panel.keyboard.press("f")
        panel.touch("#phrase")
        assert panel.locator("#phrase").get_attribute("aria-label") == "Phrase of 8 bars, change it"
        settled(panel, f"{bars.replace('#stagePhrase', '#phrase')} === 'done now - - - - - -'", "the second of eight")


def test_less_motion_is_a_plain_number_and_a_steady_mark(browser, playing):
    with Panel(browser, "phone", reduced_motion="reduce") as panel:
        panel.shows("#transport", "Playing")
        panel.keyboard.press("f")
        settled(panel, "document.querySelectorAll('#stageMarks .now').length === 1", "the mark shows the beat")
        fades = panel.evaluate("""() => new Promise(resolve => {
            const [seen, numbers] = [new Set(), new Set()];
            const note = () => {
                numbers.add(document.getElementById("stageCount").textContent);
                seen.add(getComputedStyle(document.getElementById("stageFlash")).opacity);
                if (numbers.size === 4) resolve([...seen]); else requestAnimationFrame(note);
            };
            note();
        })""")
        assert fades == ["0"]
        panel.is_accessible()


AWAKE = """() => {
    window.awake = [];
    Object.defineProperty(navigator, "wakeLock", { value: { request: async (kind) => {
        awake.push(kind);
        return { release: () => awake.push("released") };
    } } });
}"""


def test_the_screen_stays_awake_or_a_line_says_how_until_it_is_dismissed(browser, playing):
    with Panel(browser) as panel:
        panel.shows("#transport", "Playing")
        panel.evaluate(AWAKE)
        panel.keyboard.press("f")
        settled(panel, "awake.length === 1", "the screen stays on")
        assert panel.locator("#stageAwake").is_hidden()
        # The browser takes it back from a hidden page, so it is asked for again.
        panel.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        settled(panel, "awake.join() === 'screen,screen,released'", "it is asked for again, once")
        panel.keyboard.press("f")
        settled(panel, "awake.join() === 'screen,screen,released,released'", "it may go dark again")
    with Panel(browser) as panel:
        for is_told in (True, False):
            panel.shows("#transport", "Playing")
            panel.evaluate("Object.defineProperty(navigator, 'wakeLock', { value: undefined })")
            panel.keyboard.press("f")
            if is_told:
                panel.shows("#stageAwake span", "The screen may go dark. Set this device to keep it on.")
                assert panel.evaluate(OUTSIDE) == []
                panel.touch("#stageAwakeDone")
            settled(panel, "document.getElementById('stageAwake').hidden", "it is not told")
            panel.reload()


# The lock

LOCKED = [
    "#slower", "#tap", "#faster", "#play", "#earlier", "#later", "#halve", "#double", "#tempo", "#link", "#sync", "#quantum", "#follow",
    "#outputs .earlier", "#outputs .later", "#outputs .mute", "#outputs .realign", "#outputs .bend", "#outputs [role=switch]", "#outputs .calibrate", "#outputs input"]


def test_the_lock_keeps_fingers_and_keys_from_what_spoils_a_show(browser, playing, figure):
    with Panel(browser) as panel:
        panel.shows("#transport", "Playing")
        panel.touch("header .lock")
        settled(panel, "document.querySelector('#outputs .realign').ariaDisabled === 'true'", "it is locked")
        figure("picture", panel.picture("locked", whole=True))
        # Looking is not locked.
        panel.touch("#outputs .more")
        panel.locator("#outputs .calibrate").first.wait_for()
        finger, commands = Finger(panel.page), panel.intercept(playing.status())
        kept = panel.evaluate("[...document.querySelectorAll('input, select')].map(e => e.value)")
        for selector in LOCKED:
            control = panel.query_selector(selector)
            assert control.get_attribute("aria-disabled") == "true", selector
            panel.evaluate("document.getElementById('told').textContent = ''")
            finger.tap(*panel.center(control))
            panel.shows("#told", "Locked: hold the lock button to unlock.")
            panel.evaluate("document.getElementById('told').textContent = ''")
            control.focus()
            panel.keyboard.press("7" if selector.endswith(("input", "quantum")) else "ArrowDown" if selector == "#follow" else "Enter")
            if not selector.endswith(("input", "quantum")):
                panel.shows("#told", "Locked: hold the lock button to unlock.")
        panel.evaluate("document.activeElement.blur()")
        for key in ("t", "Space"):
            panel.evaluate("document.getElementById('told').textContent = ''")
            panel.keyboard.press(key)
            panel.shows("#told", "Locked: hold the lock button to unlock.")
        assert panel.locator("#bpm").is_hidden() and not panel.locator("dialog[open]").count()
        assert panel.evaluate("[...document.querySelectorAll('input, select')].map(e => e.value)") == kept
        assert commands == []
        # The stage view is locked with it, and its play button stands out from the flash all the same.
        panel.keyboard.press("f")
        panel.touch("#stageMachines .others")
        for selector in ("#stagePlay", "#stageMachines .mute", "#stageMachines .realign", "#stageMachines .bend"):
            panel.evaluate("document.getElementById('told').textContent = ''")
            finger.tap(*panel.center(panel.query_selector(selector)))
            panel.shows("#told", "Locked: hold the lock button to unlock.")
        assert commands == []


def test_while_locked_a_press_starts_but_does_not_stop(browser, show):
    show.post("transport", {"playing": False})
    with Panel(browser) as panel:
        panel.shows("#transport", "Stopped")
        panel.touch("header .lock")
        settled(panel, "document.body.classList.contains('locked')", "it is locked")
        assert panel.locator("#play").get_attribute("aria-disabled") is None
        panel.touch("#play")
        panel.shows("#transport", "Playing")
        settled(panel, "document.getElementById('play').ariaDisabled === 'true'", "it is locked now")
        panel.keyboard.press("Escape")
        Finger(panel.page).tap(*panel.center(panel.query_selector("#play")))
        panel.shows("#told", "Locked: hold the lock button to unlock.")
        assert show.status()["transport"] == "playing"


HELD = """(selector) => {
    const [button, begin] = [document.querySelector(selector), (event) => {
        if (!event.repeat && !window.held.begun) window.held.begun = event.timeStamp;
    }];
    window.held = { begun: 0, over: 0, widths: [] };
    button.addEventListener("pointerdown", begin);
    button.addEventListener("keydown", begin);
    const note = () => {
        if (button.classList.contains("holding")) held.widths.push(button.querySelector("i").getBoundingClientRect().width);
        if (document.body.classList.contains("locked")) requestAnimationFrame(note); else held.over = performance.now();
    };
    requestAnimationFrame(note);
}"""


def test_a_long_press_unlocks(browser, playing):
    for where, by in (("header", "Enter"), ("#stageView", "finger")):
        with Panel(browser) as panel:
            panel.shows("#transport", "Playing")
            if where != "header":
                panel.keyboard.press("f")
            lock = panel.locator(f"{where} .lock")
            assert lock.get_attribute("aria-label") == "Lock the controls"
            lock.focus()
            panel.keyboard.press("Enter")
            settled(panel, "document.body.classList.contains('locked')", "it is locked")
            assert lock.get_attribute("aria-label") == "Locked, hold to unlock"
            panel.reload()
            settled(panel, "document.body.classList.contains('locked')", "it stays locked in this browser")
            panel.shows("#transport", "Playing")
            if where != "header":
                panel.keyboard.press("f")
            finger, place = Finger(panel.page), panel.center(lock.element_handle())
            # A short press only says how, also if it is not so short, on a busy machine.
            panel.evaluate("postponed.add(800)")
            if by == "finger":
                finger.tap(*place)
                panel.shows("#told", "Locked: hold the lock button to unlock.")
            else:
                lock.focus()
                panel.keyboard.press(by)
            panel.evaluate("postponed.delete(800)")
            panel.evaluate(HELD, f"{where} .lock")
            if by == "finger":
                finger.touch("touchStart", place)
            else:
                panel.keyboard.down(by)
            settled(panel, "held.over > 0", "it is unlocked")
            panel.shows("#told", "Unlocked.")
            # It is held on, for longer than a click after the release is waited for.
            panel.evaluate("() => new Promise(done => setTimeout(done, 500))")
            if by == "finger":
                finger.touch("touchEnd")
            else:
                panel.keyboard.down(by)  # as the system repeats a held key
                panel.keyboard.up(by)
            held = panel.evaluate("held")
            assert held["over"] - held["begun"] >= 800
            # Of a busy machine's few frames, the last ones may all show the end.
            assert len(set(held["widths"])) >= min(3, len(held["widths"]) - 1), "no progress is seen"
            panel.evaluate("() => new Promise(requestAnimationFrame)")
            assert lock.get_attribute("aria-label") == "Lock the controls", "the release has locked it again"
            assert panel.locator("#link").get_attribute("aria-disabled") is None


def test_a_press_that_is_let_go_or_slides_away_does_not_unlock(browser, playing):
    with Panel(browser) as panel:
        panel.shows("#transport", "Playing")
        panel.touch("header .lock")
        settled(panel, "document.body.classList.contains('locked')", "it is locked")
        finger, place = Finger(panel.page), panel.center(panel.query_selector("header .lock"))
        panel.evaluate("postponed.add(800)")
        for move in (finger.tap, lambda x, y: finger.drag(x, y, 200)):
            move(*place)
            drawn(panel.page)
            panel.evaluate("due(800)")  # what would unlock after a long press
        assert panel.evaluate("document.body.classList.contains('locked') && !document.querySelector('.holding')")
        # Who cannot hold asks twice, as assistive technology does: by a click without a press.
        for told in ("Locked: press again to unlock.", "Unlocked."):
            panel.evaluate("document.querySelector('header .lock').click()")
            panel.shows("#told", told)
        assert not panel.evaluate("document.body.classList.contains('locked')")
        panel.touch("header .lock")
        settled(panel, "document.body.classList.contains('locked')", "it is locked again")
        # Another window of this browser locks and unlocks as well.
        with contextlib.closing(panel.context.new_page()) as other:
            other.goto(panel.url)
            other.evaluate("localStorage.setItem('locked', '')")
            settled(panel, "!document.body.classList.contains('locked')", "the other window has unlocked")


# Notices

NOTICED = """() => {
    window.noticed = [];
    const notice = document.getElementById("notice");
    new MutationObserver(() => { if (notice.textContent) noticed.push(notice.textContent); })
        .observe(notice, { childList: true, characterData: true, subtree: true });
}"""
PLACES = """() => [...document.querySelectorAll("button, input, select, a")]
    .filter(e => e.checkVisibility({ visibilityProperty: true }))
    .map(e => { const box = e.getBoundingClientRect(); return [e.id || e.className, box.x, box.y, box.width, box.height]; })"""


def noticed(panel, pattern):
    """Waits for a notice, and returns it."""
    try:
        return until(
            lambda: next((text for text in panel.evaluate("noticed") if re.fullmatch(pattern, text)), None), pattern)
    except AssertionError as error:
        raise AssertionError(f"{error}; noticed: {panel.evaluate('noticed')}") from None


def test_what_others_do_is_told_in_a_place_of_its_own_and_goes_by_itself(browser, peer, start, line, figure):
    gateway = start("--output", f"raw:{line.path}")
    gateway.wait_status(lambda status: status["link"]["peers"] == 1 and round(status["tempo"]) == 130, "joined")
    gateway.post("start-stop-sync", {"enabled": True})
    for view, tempo in (("panel", 130), ("stage", 140)):
        with Panel(browser) as panel:
            panel.shows("#tempo", f"{tempo}.0")
            if view == "stage":
                panel.evaluate("localStorage.setItem('awakeNoted', '1')")
                panel.keyboard.press("f")
            panel.evaluate(NOTICED)
            settled(panel, "!document.getElementById('notice').textContent", "no notice is shown")
            before = panel.evaluate(PLACES)
            peer.set_tempo(tempo + 10)
            noticed(panel, f"Tempo {tempo + 10} BPM, (probably )?by 127\\.0\\.0\\.1")
            assert panel.evaluate(PLACES) == before, "something has moved"
            box = panel.locator("#notice").bounding_box()
            for name, x, y, width, height in before:
                apart = x >= box["x"] + box["width"] or box["x"] >= x + width or y >= box["y"] + box["height"] or box["y"] >= y + height
                assert apart, f"the notice covers {name}"
            assert panel.locator("#notice").get_attribute("role") == "status"
            panel.is_accessible()
            figure("picture", panel.picture(f"notice-{view}"))
            panel.evaluate("() => { postponed.delete(6000); due(6000); }")
            settled(panel, "!document.getElementById('notice').textContent", "it goes by itself")
            peer.play()
            noticed(panel, "Play, (probably )?by 127\\.0\\.0\\.1")
            peer.stop()
            noticed(panel, "Stop, (probably )?by 127\\.0\\.0\\.1")


def test_what_this_page_does_is_not_told_but_what_other_controls_do_is(browser, start, line):
    gateway = start("--no-link", "--tempo", 120, "--output", f"raw:{line.path}")
    with Panel(browser) as panel:
        panel.shows("#tempo", "120.0")
        panel.evaluate(NOTICED)
        panel.touch("#faster")
        panel.shows("#tempo", "121.0")
        panel.touch("#play")
        panel.shows("#transport", "Playing")
        panel.touch("#link")
        panel.shows("#links", "Link \u00b7 0")
        panel.touch("#link")
        panel.shows("#mode", "You lead")
        panel.rest()
        panel.touch("#play")
        panel.shows("#transport", "Stopped")
        tempos = iter(range(90, 999))
        # For a second after a command of its own, the page is quiet.
        until(lambda: gateway.post("tempo", {"bpm": next(tempos)}) and panel.evaluate("noticed.length"), "a notice", every=0.6)
        noticed(panel, "Tempo \\d+ BPM, by another control of this gateway")
        gateway.post("transport", {"playing": True})
        noticed(panel, "Play, by another control of this gateway")
        gateway.post("link", {"enabled": True})
        noticed(panel, "Link leads now\\.")
        gateway.post("link", {"enabled": False})
        noticed(panel, "No other clock leads now\\.")
        assert not [text for text in panel.evaluate("noticed") if "121" in text or "Stop" in text]


@contextlib.contextmanager
def wire(name, address):
    """Another network, until the end of the block."""
    for words in (f"link add {name} type veth peer name {name}far", f"address add {address}/24 dev {name}",
                  f"link set {name} up", f"link set {name}far up"):
        subprocess.run(["ip", *words.split()], check=True)
    yield
    subprocess.run(["ip", "link", "delete", name], check=True)


def test_machines_and_networks_that_go_and_return(browser, start, tmp_path):
    with contextlib.ExitStack() as stack:
        lines = {name: stack.enter_context(contextlib.ExitStack()) for name in ("TR-8S", "Volca", "Rytm", "Digitakt", "MPC")}
        for name, its in lines.items():
            its.enter_context(RawLine(tmp_path / name))
        start(*[word for name in lines for word in ("--output", f"raw:{tmp_path / name}")])
        with Panel(browser) as panel:
            panel.shows("#tempo", re.compile("\\d"))
            settled(panel, "document.querySelectorAll('#outputs li:not([data-state=away])').length === 5", "all are there")
            panel.evaluate(NOTICED)
            lines["TR-8S"].close()
            noticed(panel, "TR-8S disconnected\\.")
            os.unlink(tmp_path / "TR-8S")
            lines["TR-8S"].enter_context(RawLine(tmp_path / "TR-8S"))
            noticed(panel, "TR-8S connected\\.")
            for its in lines.values():
                its.close()
            # Several at once are one notice.
            noticed(panel, "[\\w-]+, [\\w-]+ and 3 others disconnected\\.")
            assert len(set(panel.evaluate("noticed"))) < 10
            with wire("wire0", "10.9.0.1"):
                noticed(panel, "Link now uses this gateway's address 10\\.9\\.0\\.1\\.")
                with wire("wire2", "10.9.2.1"):
                    noticed(panel, "Link now uses this gateway's address 10\\.9\\.2\\.1\\.")
                noticed(panel, "Link lost this gateway's address 10\\.9\\.2\\.1\\.")
            # Losing the last one is no notice of some seconds: it stays, in red.
            noticed(panel, "Link has lost the network")
            panel.evaluate("() => { postponed.delete(6000); due(6000); }")
            panel.shows("#notice", "Link has lost the network")
            panel.shows("#warningList", re.compile("Link has lost the network"))
            assert panel.locator("#links").get_attribute("data-state") == "lost"
            with wire("wire0", "10.9.0.1"):
                settled(panel, "document.getElementById('links').dataset.state !== 'lost'", "it is back")


# The address as a code

PIXELS = """async (data) => {
    const image = new Image();
    image.src = data;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    canvas.getContext("2d").drawImage(image, 0, 0);
    const { data: pixels } = canvas.getContext("2d").getImageData(0, 0, image.width, image.height);
    let reds = "";
    for (let index = 0; index < pixels.length; index += 4) reds += String.fromCharCode(pixels[index]);
    return [image.width, btoa(reds)];
}"""


def read_codes(panel):
    """What the codes on a picture of the page say."""
    picture = base64.b64encode(panel.screenshot()).decode()
    with contextlib.closing(panel.context.new_page()) as blank:
        width, reds = blank.evaluate(PIXELS, f"data:image/png;base64,{picture}")
    found = zxingcpp.read_barcodes(numpy.frombuffer(base64.b64decode(reds), dtype=numpy.uint8).reshape(-1, width))
    return [code.text for code in found]


def test_a_code_opens_the_panel_on_a_phone_with_its_token(browser, tmp_path, reached, figure):
    secret = tmp_path / "secret"
    secret.write_text(TOKEN)
    secret.chmod(0o600)
    with Gateway("--no-link", "--http", "0.0.0.0:8808", "--http-token-file", secret, folder=tmp_path / "open", token=TOKEN):
        with Panel(browser, "phone", "dark", path="/#token=Zm9v+mFy/mF6cX+4", host=reached) as panel:
            panel.shows("#tempo", re.compile("\\d"))
            asked = []
            panel.on("request", lambda request: asked.append(request.url))
            panel.locator("#share").focus()
            panel.keyboard.press("Enter")
            panel.locator("#shareCode").wait_for()
            (address,) = read_codes(panel)
            assert address == f"http://{reached}:8808/#token=Zm9v%2BmFy%2FmF6cX%2B4"
            assert f"http://{reached}:8808/api/v1/qr" in asked
            assert not [url for url in asked if "Zm9v" in url], "the token is in an address"
            assert TOKEN not in panel.locator("#shareView").inner_text(), "the token is shown"
            assert "The code contains the access token" in panel.locator("#shareText").inner_text()
            tree = panel.locator("#shareView").aria_snapshot()
            assert f'img "QR code of http://{reached}:8808/"' in tree and 'button "Close"' in tree
            panel.is_accessible()
            figure("picture", panel.picture("share"))
            panel.keyboard.press("Escape")
            panel.locator("#shareView").wait_for(state="hidden")
            panel.evaluate("localStorage.setItem('token', '')")
        with Panel(browser, host=reached, path=address.removeprefix(f"http://{reached}:8808")) as phone:
            phone.shows("#tempo", re.compile("\\d"))


# Installing it

def test_the_browser_takes_manifest_and_icon_and_says_how_others_open_it(browser, playing):
    with Panel(browser) as panel:
        panel.shows("#transport", "Playing")
        session = panel.context.new_cdp_session(panel.page)
        manifest = session.send("Page.getAppManifest")
        assert manifest["errors"] == [] and manifest["url"].endswith("/manifest.webmanifest")
        assert json.loads(manifest["data"])["display"] == "standalone"
        errors = session.send("Page.getInstallabilityErrors")["installabilityErrors"]
        # A window without a profile on disk installs nothing.
        assert [error["errorId"] for error in errors if error["errorId"] != "in-incognito"] == []
        grounds = panel.evaluate("""() => [...document.querySelectorAll("meta[name=theme-color]")].filter(e => matchMedia(e.media).matches)
            .map(e => [e.content, getComputedStyle(document.documentElement).getPropertyValue("--ground").trim()])""")
        assert len(grounds) == 1 and grounds[0][0] == grounds[0][1]
        assert panel.evaluate("fetch('icon.svg').then(answer => answer.headers.get('Content-Type'))") == "image/svg+xml"
        # Apple's home screens take no SVG.
        assert panel.evaluate("""async () => {
            const image = new Image();
            image.src = document.querySelector("link[rel=apple-touch-icon]").href;
            await image.decode();
            return [image.naturalWidth, image.naturalHeight];
        }""") == [180, 180]
        panel.touch("#share")
        panel.shows("#shareText", re.compile("Other devices cannot open 127.0.0.1:8808.*--http 0.0.0.0:8808 --http-token-file FILE", re.S))
        assert panel.locator("#shareCode").is_hidden()
        panel.touch("#shareView button")
        panel.locator("#shareView").wait_for(state="hidden")
