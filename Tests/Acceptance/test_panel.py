"""The panel in a real Chromium, with a running gateway and an unmodified official peer: what only a browser can show."""

import json
import re

import pytest

from rig.browser import SIZES, Finger, Panel, drawn, fed_panel
from rig.gateway import Gateway
from rig.joining import become_senior
from rig.peer import Peer
from rig.rawline import CONTINUE, START, STOP
from rig.stage import on_stage, play
from rig.wait import until

pytestmark = pytest.mark.real("browser")


@pytest.fixture
def gateway(peer, start, line):
    """A gateway in the peer's session, with an output whose bytes are recorded."""
    running = start("--output", f"raw:{line.path}")
    running.wait_status(lambda status: status["link"]["peers"] == 1 and round(status["tempo"]) == 130, "joined")
    return running


@pytest.fixture
def panel(browser, gateway):
    with Panel(browser) as opened:
        opened.shows("#tempo", "130.0")
        yield opened


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    """A gateway as on stage: two peers and three machines, one of which is unplugged."""
    folder = tmp_path_factory.mktemp("stage")
    with on_stage(folder) as running:
        play(running)
        yield running


def line_output(status):
    (output,) = [output for output in status["outputs"] if output["port"] and "line" in output["port"]]
    return output


CARD = '#outputs li:has(.name:text("line"))'


# The session

def test_it_joins_and_leaves_the_session_and_plays_with_it(panel, peer, gateway, line):
    panel.shows("#links", "Link \u00b7 1")
    with Peer(130) as another:
        until(lambda: another.peers == 2, "the third has come")
        panel.shows("#links", "Link \u00b7 2")
    panel.shows("#links", "Link \u00b7 1")
    panel.touch("#sync")
    until(lambda: panel.locator("#sync").get_attribute("aria-checked") == "true", "the switch is on")
    panel.touch("#play")
    until(lambda: peer.playing, "the peer plays")
    panel.shows("#transport", "Playing")
    panel.shows("#playWord", "Stop")
    line.wait_playing()
    panel.shows("#barNumber", re.compile("Bar \\d+"))
    peer.stop()
    panel.shows("#transport", "Stopped")
    panel.shows("#playWord", "Play")
    # What waits for its bar can be cancelled.
    panel.locator("#quantum").fill("64")
    panel.keyboard.press("Enter")
    gateway.wait_status(lambda status: status["quantum"] == 64 and 1 < status["phase"] < 40, "the bar is young")
    panel.touch("#play")
    panel.shows("#transport", re.compile("Starts in \\d+"))
    panel.shows("#playWord", "Cancel")
    panel.rest()
    panel.touch("#play")
    panel.shows("#transport", "Stopped")
    panel.touch("#link")
    until(lambda: peer.peers == 0, "the peer sees the gateway leave")
    panel.shows("#mode", "You lead")
    panel.shows("#links", "Link off")
    panel.touch("#link")
    until(lambda: peer.peers == 1, "the peer sees the gateway come")
    panel.shows("#links", "Link \u00b7 1")


def test_tempo_by_steps_typing_taps_and_what_is_held(panel, peer, gateway):
    # Half and double are everybody's, so they are held.
    for button, tempo in (("#halve", 65), ("#double", 260)):
        # A short press, also if it is not so short, on a busy machine.
        panel.evaluate("postponed.add(800)")
        panel.touch(button)
        panel.evaluate("postponed.delete(800)")
        panel.shows("#told", re.compile("Others are in the session: hold to"))
        assert peer.tempo == pytest.approx(130, abs=1e-3)
        x, y = panel.center(panel.query_selector(button))
        panel.mouse.move(x, y)
        panel.mouse.down()
        until(lambda: peer.tempo == pytest.approx(tempo, abs=1e-3), "the peer has the new tempo")
        panel.mouse.up()
        panel.shows("#undo", "Undo: tempo back to 130 BPM")
        panel.touch("#undo")
        panel.shows("#told", "Done: tempo back to 130 BPM.")
        until(lambda: peer.tempo == pytest.approx(130, abs=1e-3), "the peer has the old tempo again")
    width = panel.locator("#tempo").bounding_box()["width"]
    panel.touch("#faster")
    until(lambda: peer.tempo == pytest.approx(131, abs=1e-3), "the peer is a step faster")
    panel.shows("#tempo", "131.0")
    panel.touch("#slower")
    until(lambda: peer.tempo == pytest.approx(130, abs=1e-3), "and a step slower")
    panel.touch("#tempo")
    panel.keyboard.type("101,25")
    panel.keyboard.press("Enter")
    until(lambda: peer.tempo == pytest.approx(101.25, abs=1e-3), "the peer has what was typed")
    panel.shows("#tempo", "101.25")
    assert panel.locator("#tempo").bounding_box()["width"] == width
    panel.touch("#tempo")
    panel.keyboard.type("5")
    panel.keyboard.press("Enter")
    panel.shows("#told", "Not done. A tempo is 20 to 999 BPM.")
    panel.touch("#tap")
    panel.shows("#told", "Tap 1 of 3.")
    # By a clock that no busy machine disturbs.
    for milliseconds in (5000, 5500, 6000):
        gateway.post("tap", {"milliseconds": milliseconds})
    until(lambda: peer.tempo == pytest.approx(120, abs=1e-3), "the peer follows three taps")


def test_an_outputs_settings_and_their_undo(panel, gateway, peer, line):
    def enter(place, text):
        panel.locator(f"{CARD} {place} input").fill(text)
        panel.keyboard.press("Enter")

    def shows(place, text):
        until(lambda: panel.locator(f"{CARD} {place} input").input_value() == text, f"{place} shows {text}")

    panel.touch(f"{CARD} .more")
    panel.touch(f"{CARD} .earlier")
    gateway.wait_status(lambda status: line_output(status)["offsetMilliseconds"] == -0.5, "half a millisecond")
    panel.touch("#later")
    gateway.wait_status(lambda status: line_output(status)["offsetMilliseconds"] == 0.5, "all by a millisecond")
    enter(".offset", "\u221212,5")
    gateway.wait_status(lambda status: line_output(status)["offsetMilliseconds"] == -12.5, "what was typed")
    until(lambda: panel.locator(f"{CARD} .shift").text_content() == "\u221212.5 ms", "the row has it, where there is room")
    for place, text, was, words in (
            (".offset", "-900", "\u221212.5", "An offset is \u2212500 to 500 ms."),
            (".multiply", "17", "1", "Multiply is a whole number from 1 to 16."),
            (".swing", "quick", "50", "Swing is 50 to 75 %."),
            (".highest", "39", "999", "The highest tempo must be at least twice the lowest. Lower the lowest first.")):
        enter(place, text)
        panel.shows("#told", f"Not done. {words}")
        shows(place, was)
    for place, text, change in (
            (".divide", "4", {"divide": 4}), (".swing", "58,5", {"swing": 58.5}), (".highest", "100", {"range": [20, 100]})):
        enter(place, text)
        gateway.wait_status(lambda status: line_output(status).items() >= change.items(), f"{change} is set")
        shows(place, text.replace(",", "."))
        panel.touch("#undo")
        gateway.wait_status(lambda status: not line_output(status).items() >= change.items(), f"{change} is undone")
    panel.touch("#play")
    began = line.wait_playing()
    panel.shows("#transport", "Playing")
    panel.touch(f"{CARD} .realign")
    panel.shows("#told", re.compile("will realign at the next bar"))
    until(lambda: [at for value, at in line.arrivals if value in (CONTINUE, START) and at > began], "it enters again")
    panel.touch(f"{CARD} [role=switch]")
    gateway.wait_status(lambda status: not line_output(status)["enabled"], "the output is off")
    line.wait_for(STOP, since=began)
    panel.shows(f"{CARD} .word", "Off")
    panel.shows(f"{CARD} .doing", "Off")


def test_the_session_card_tells_who_is_there_and_who_changed_what(panel, gateway, peer):
    panel.locator("#sessionMore").focus()
    panel.keyboard.press("Enter")
    assert panel.get_by_role("button", name="Session", expanded=True).count() == 1
    panel.shows("#peers", re.compile(r"127\.0\.0\.1.* on lo .*130 BPM.*since \d\d:\d\d:\d\d .* round trip .* clock error ", re.S))
    peer.set_tempo(97.25)
    panel.shows("#changes li:first-child", re.compile(r"^Tempo 97\.25 (probably )?by 127\.0\.0\.1, \d\d:\d\d:\d\d$"))
    panel.shows("#peers", re.compile("97.25 BPM"))
    panel.touch("#faster")
    panel.shows("#changes li:first-child", re.compile(r"^Tempo 98\.25 by this gateway, "))
    panel.shows("#sessionNewest", re.compile("^Tempo 98.25 by this gateway, "))
    newest = [change["what"] for change in gateway.request("GET", "/api/v1/changes")[1]][::-1]
    assert [text.split()[0].lower() for text in panel.locator("#changes li").all_inner_texts()] == newest
    panel.is_accessible()


CARDS = [{"device": "default", "name": "the system's choice"}, {"device": "hw:CARD=CODEC", "name": "USB Audio CODEC"}]


def report(state, **more):
    return {
        "id": "x1", "output": "line", "name": "line", "device": "hw:CARD=CODEC", "channel": 1, "state": state, "beats": 0,
        "beatsNeeded": 80, "hits": 0, "level": {"decibels": -12.4, "clipped": 0}, **more}


def test_an_output_is_calibrated_by_listening_from_the_level_to_the_saved_offset(browser, start, line, figure):
    start("--no-link", "--output", f"raw:{line.path}")
    found = {
        "offsetMilliseconds": -3.15, "delayMicroseconds": 3150, "uncertaintyMicroseconds": 80, "reference": "beat",
        "spreadMicroseconds": 120, "verdict": "steady: nobody hears that", "used": 47, "rejected": 1, "response": 1.01}
    now, asked = {"report": report("level")}, []

    def answer(route, request):
        asked.append((request.method, request.url.split("/api/v1/")[1], request.post_data))
        if now.get("aborts"):
            return route.abort()
        if request.url.endswith("/measure"):
            now["report"] = report("measuring", beats=20, hits=19)
        elif request.url.endswith("/save"):
            now["report"]["saved"] = {"offsetMilliseconds": -3.15, "profile": "/home/me/line.yaml"}
        return route.fulfill(json=now["report"])

    with Panel(browser) as panel:
        panel.route("**/api/v1/sound-cards", lambda route: route.fulfill(json=CARDS))
        panel.route("**/listening**", answer)
        panel.route("**/listening/**", answer)
        panel.touch('#outputs li:has(.name:text("line")) .more')
        panel.touch('#outputs li:has(.name:text("line")) .calibrate')
        panel.shows("#listenTitle", "Calibrate line by listening")
        until(lambda: panel.locator("#listenDevice option").count() == 2, "the cards there are")
        panel.locator("#listenDevice").select_option("hw:CARD=CODEC")
        panel.locator("#listenAgainst").fill("2")
        panel.touch("#listenGo")
        panel.shows("#listenGo", "Start measuring")
        assert json.loads(asked[0][2]) == {"device": "hw:CARD=CODEC", "channel": 1, "against": 2}
        assert asked[0][0] == "POST" and asked[0][1].endswith("/listening")
        panel.shows("#listenLevel + span", "-12 dB")
        assert panel.locator("#listenLevel").evaluate("e => e.value") == -12.4
        figure("picture", panel.picture("listen-level"))
        panel.is_accessible()
        panel.touch("#listenGo")
        panel.shows("#listenSays", "Listening: 19 hits on 20 beats.")
        assert panel.locator("#listenBeats").evaluate("e => [e.value, e.max]") == [20, 80]
        now["aborts"] = True
        panel.shows("#listenWrong", "No connection to the gateway. Trying again\u2026")
        now["aborts"] = False
        until(lambda: panel.locator("#listenWrong").inner_text() == "", "it asks again")
        now["report"] = report("done", result=found)
        panel.shows("#listenResult", re.compile("Sounds 3.1 ms after the beat .* right offset is \u22123.15 ms", re.S))
        panel.shows("#listenResult", re.compile("includes the sound card.s own latency"))
        figure("picture", panel.picture("listen-result"))
        now["report"] = report("done", result=found, inputLatencyMilliseconds=1.5)
        panel.touch("#listenGo")
        panel.shows("#listenResult", re.compile("Saved: its offset is \u22123.15 ms. The profile is /home/me/line.yaml"))
        assert "latency" not in panel.locator("#listenResult").inner_text()
        panel.touch("#listenEnd")
        assert "DELETE" not in [method for method, *_ in asked], "what is over is not cancelled"
        # Closed before its end, it is; and why there is no result is told.
        now["report"] = report("checking")
        panel.touch('#outputs li:has(.name:text("line")) .calibrate')
        panel.touch("#listenGo")
        panel.shows("#listenSays", re.compile("Checking that the sound follows"))
        now["report"] = report("failed", problem={"kind": "unavailable", "message": "most hits clip on channel 1"})
        panel.shows("#listenWrong", "most hits clip on channel 1")
        panel.shows("#listenGo", "Listen")
        now["report"] = report("waiting")
        panel.touch("#listenGo")
        panel.shows("#listenSays", re.compile("Waiting"))
        panel.keyboard.press("Escape")
        until(lambda: panel.evaluate("1") and ("DELETE", "listening/x1", None) in asked, "it is cancelled")
        # Closed before the answer to the opening has come, it is cancelled when it comes.
        now["report"] = report("level", id="x2")
        held = []
        panel.route("**/outputs/*/listening", lambda route: held.append(route))
        panel.touch('#outputs li:has(.name:text("line")) .calibrate')
        panel.touch("#listenGo")
        until(lambda: panel.evaluate("1") and held, "it is opened")
        panel.keyboard.press("Escape")
        until(lambda: panel.locator("#listen").is_hidden(), "the dialog is closed")
        held[0].fulfill(json=now["report"])
        until(lambda: panel.evaluate("1") and ("DELETE", "listening/x2", None) in asked, "it is cancelled, too")


def test_whom_to_follow(panel, gateway):
    def port(client, name, **more):
        return {"client": client, "port": 0, "clientName": name, "portName": f"{name} MIDI 1", "sends": True, **more}

    # Without a sequencer there are no ports, so this is a made-up list.
    ports = [port(24, "MPC One"), port(28, "TR-8S"), port(32, "TR-8S"), port(36, "Volca", sends=False), port(128, "Tactus")]
    panel.route("**/api/v1/ports", lambda route: route.fulfill(json=ports))
    follow = panel.locator("#follow")
    assert follow.input_value() == "auto"
    until(lambda: follow.locator("option").all_text_contents()[1:] == [
        "Nobody", "MPC One MIDI 1", "TR-8S MIDI 1 (28:0)", "TR-8S MIDI 1 (32:0)"], "the ports there are")
    for choice in ("MPC One MIDI 1", "32:0", "off"):
        follow.select_option(choice)
        gateway.wait_status(lambda status: status["follower"]["choice"] == choice, f"{choice} is chosen")
    gateway.post("follow", {"source": "a machine that is away"})
    until(lambda: follow.input_value() == "a machine that is away", "what was chosen elsewhere is shown")


def test_the_marks_fill_with_the_peers_phase(panel, peer):
    turn = """() => {
        const marks = [...document.getElementById("marks").children];
        const now = marks.findIndex(mark => mark.className === "now");
        return now + +marks[now].style.getPropertyValue("--filled");
    }"""

    def is_where_the_peer_is():
        """Whether the marks were within a quarter of a beat of the peer's phase at some moment while the page was asked."""
        before = peer.now()
        shown = panel.evaluate(turn)
        passed = (peer.now() - before) * 130 / 60e6
        ahead = (shown - peer.phase(before) + 2) % 4 - 2
        return passed < 1 and -0.25 < ahead < passed + 0.25

    for _ in range(5):
        until(is_where_the_peer_is, "the marks are where the peer is")


# Connection, token, keys

def test_a_lost_connection_is_plain_and_heals(panel, gateway, start, line):
    gateway.stop()
    panel.shows("#lost", re.compile("No connection to the gateway"))
    assert panel.locator("#deck").evaluate("deck => deck.inert")
    # A notice does not cover it, in neither view.
    for key in ("", "f"):
        if key:
            panel.keyboard.press(key)
        panel.evaluate("tell => { document.getElementById('told').textContent = tell; }", "Something long enough to be told. " * 2)
        lost, told = (panel.locator(one).bounding_box() for one in ("#lost", "#told"))
        assert lost["y"] + lost["height"] <= told["y"] or told["y"] + told["height"] <= lost["y"], "told over the banner"
    panel.keyboard.press("f")
    panel.picture("lost")
    start("--no-link", "--tempo", 97, "--output", f"raw:{line.path}", name="again")
    panel.shows("#tempo", "97.0")
    assert panel.locator("#lost").is_hidden()
    panel.touch("#faster")
    panel.shows("#tempo", "98.0")


def test_the_keyboard_alone_does_everything(panel, gateway, peer):
    panel.keyboard.press("Space")
    gateway.wait_status(lambda status: status["playing"], "Space plays")
    panel.shows("#playWord", "Stop")
    panel.keyboard.press("Space")
    gateway.wait_status(lambda status: not status["playing"], "Space stops")
    reached = []
    for _ in range(40):
        panel.keyboard.press("Tab")
        reached.append(panel.evaluate("document.activeElement.getAttribute('aria-label') || document.activeElement.id"))
        if reached[-1] == "link" and reached.count("link") == 1:
            panel.keyboard.press("Enter")
    assert {
        "tap", "play", "earlier", "later", "link", "sync", "quantum", "follow", "Tempo down by 1 BPM", "Half tempo", "Realign line",
    } <= set(reached)
    gateway.wait_status(lambda status: not status["link"]["enabled"], "Link was switched off by Enter")


def test_a_token_is_asked_for_once(browser, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("Zm9v+mFy/mF6cX+4\n")
    with Gateway("--no-link", "--tempo", 123, "--http-token-file", secret, folder=tmp_path / "guarded", token="Zm9v+mFy/mF6cX+4"):
        with Panel(browser) as panel:
            panel.locator("#keyText").wait_for()
            panel.picture("token")
            panel.keyboard.type("wrong")
            panel.keyboard.press("Enter")
            panel.shows("#keyWrong", "The token is wrong.")
            panel.keyboard.type("Zm9v+mFy/mF6cX+4")
            panel.keyboard.press("Enter")
            panel.shows("#tempo", "123.0")
            panel.touch("#faster")
            panel.shows("#tempo", "124.0")
            panel.reload()
            panel.shows("#tempo", "124.0")
        with Panel(browser, path="/#token=Zm9v+mFy/mF6cX+4") as panel:
            panel.shows("#tempo", "124.0")
            assert panel.url.endswith("/"), "the token stays in the address"


COPIED = """() => {
    Object.defineProperty(navigator, "clipboard", { value: undefined });
    window.copied = [];
    document.addEventListener("copy", ({ target }) => {
        window.copied.push(target.value.slice(target.selectionStart, target.selectionEnd));
    });
}"""


def test_copy_takes_the_command_of_each_warning_and_keeps_the_focus(browser, start, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("short")
    secret.chmod(0o644)
    # The peer's tempo is outside of the fence. That fix has an apostrophe, but no command.
    with Peer(150):
        become_senior()
        running = start(
            "--session-tempo", "100-110", "--output", f"raw:{tmp_path / 'absent'}", "--http-token-file", secret, token="short")
        running.wait_status(
            lambda status: {"tempo-fence", "weak-token", "output-away"} <= {warning["code"] for warning in status["warnings"]},
            "the warnings")
        with Panel(browser, path="/#token=short") as panel:
            panel.shows("#warningList p", re.compile("bring the session's tempo back inside"))
            # Without a clipboard, as over plain HTTP from another computer.
            panel.evaluate(COPIED)
            expected = {
                "can be guessed": f"head -c 12 /dev/urandom | base64 > {secret}", "can read the token": f"chmod 640 {secret}",
                "is away": None, "which is not within": None}
            for message, command in expected.items():
                item = panel.locator("#warningList li").filter(has_text=message).first
                button = item.locator(".copy")
                assert button.is_visible() == (command is not None), message
                if command is None:
                    continue
                assert button.get_attribute("aria-label") == f"Copy {command}"
                panel.evaluate("() => { copied.length = 0; }")
                button.focus()
                at = panel.evaluate("scrollY")
                panel.keyboard.press("Space")
                until(lambda: panel.evaluate("copied.length") == 1, "it is copied")
                assert panel.evaluate("copied[0]") == command
                assert button.evaluate("e => e === document.activeElement"), "the focus has gone"
                assert panel.evaluate("scrollY") == at, "the page has scrolled"
                panel.keyboard.press("Space")
                until(lambda: panel.evaluate("copied.length") == 2, "it is copied again")
            assert running.status()["transport"] == "stopped", "the space bar has played"


# Fingers

STATE = """() => JSON.stringify([location.hash, [...document.querySelectorAll("dialog")].map(e => e.open),
    [...document.querySelectorAll("input, select")].map(e => [e.value, Boolean(e.offsetParent)]),
    [...document.querySelectorAll("[role=switch]")].map(e => e.getAttribute("aria-checked")),
    [...document.querySelectorAll("[aria-expanded]")].map(e => e.getAttribute("aria-expanded"))])"""

FOCUS = "(element => element.id || element.tagName)(document.activeElement)"


# Unfolds one machine, and the session.
ONE_OF_EACH = "#outputs li:first-child .more, #sessionMore"


def unfold(panel, which="main [aria-expanded=false]"):
    """Opens all details, or those that are chosen."""
    for button in panel.query_selector_all(which):
        button.click()
        until(lambda: button.evaluate("e => e.ariaExpanded === 'true' && e === document.activeElement"), "it is open")
    panel.locator("#peers li").first.wait_for()


KIND = "e => [e.tagName, e.type, e.className, e.getAttribute('role'), e.closest('section')?.id].join()"


def test_a_finger_that_scrolls_presses_nothing_wherever_it_begins(browser, stage):
    """On one control of each kind in each part of the page."""
    with Panel(browser, "phone") as panel:
        panel.shows("#transport", "Playing")
        unfold(panel, ONE_OF_EACH)
        finger, commands = Finger(panel.page), panel.intercept(stage.status())
        controls = {control.evaluate(KIND): (name, control) for name, control in panel.controls()
                    if control.get_attribute("class") != "bend"}.values()  # what is held must act before a finger could scroll
        assert len(controls) > 10
        moved = []
        for name, control in controls:
            x, y = panel.center(control)
            before, focus, at = panel.evaluate(STATE), panel.evaluate(FOCUS), panel.evaluate("scrollY")
            room = panel.evaluate("document.documentElement.scrollHeight - innerHeight - scrollY")
            finger.scroll(x, y, -110 if room > 60 else 110)
            moved.append((name, abs(panel.evaluate("scrollY") - at) > 40))
            assert not commands, f"a finger that scrolled from {name} gave a command"
            assert panel.evaluate(STATE) == before, f"a finger that scrolled from {name} did something"
            # A finger that rests before it moves, on a busy machine, may take the focus away, but gives it to nothing.
            assert panel.evaluate(FOCUS) in (focus, "BODY"), f"a finger that scrolled from {name} moved the focus"
        assert [name for name, scrolled in moved if not scrolled] == []


def test_a_plain_tap_on_every_control_does_its_work(browser, stage):
    typed = "['INPUT', 'SELECT'].includes(document.activeElement.tagName)"
    with Panel(browser, "phone") as panel:
        panel.shows("#transport", "Playing")
        unfold(panel, ONE_OF_EACH)
        finger, commands = Finger(panel.page), panel.intercept(stage.status())
        for name, control in panel.controls():
            if re.search("lock|shared|phrase|bend", control.get_attribute("class") or ""):
                continue  # it would lock the others, is held, or gives no command
            kind = control.evaluate("e => e.id === 'tempo' ? 'INPUT' : e.tagName")
            was = control.get_attribute("aria-expanded")
            finger.tap(*panel.center(control))
            if control.get_attribute("aria-haspopup"):
                until(lambda: panel.locator("dialog[open]").count() == 1, f"{name} opens its dialog")
                panel.keyboard.press("Escape")
                until(lambda: panel.locator("dialog[open]").count() == 0, "and Escape closes it")
                kind = "DIALOG"
            elif control.get_attribute("class") == "copy":
                panel.shows("#told", "Copied.")
                kind = "COPY"
            elif was:
                until(lambda: control.get_attribute("aria-expanded") != was, f"{name} opens or folds its details")
                finger.tap(*panel.center(control))
                until(lambda: control.get_attribute("aria-expanded") == was, f"{name} does so again")
                kind = "DETAILS"
            elif kind == "BUTTON":
                until(lambda: panel.evaluate("1") and commands, f"{name} gives a command")
            elif kind == "A":
                until(lambda: panel.evaluate("location.hash"), f"{name} leads somewhere")
            else:
                until(lambda: panel.evaluate(typed), f"{name} is open for typing")
                panel.keyboard.press("Escape")
                panel.evaluate("document.activeElement.blur()")
            assert len(commands) == (kind == "BUTTON"), name
            commands.clear()


def test_a_tap_counts_from_when_the_finger_came_down_and_a_slide_says_that_nothing_was_done(browser, stage):
    with Panel(browser) as panel:
        panel.shows("#transport", "Playing")
        finger, commands = Finger(panel.page), panel.intercept(stage.status())
        panel.evaluate("""() => {
            window.downs = [];
            addEventListener("pointerdown", event => downs.push(performance.timeOrigin + event.timeStamp), true);
        }""")
        place = panel.center(panel.query_selector("#tap"))

        def is_tapped():
            # A finger that rests for too long, on a busy machine, has not tapped.
            finger.touch("touchStart", place)
            drawn(panel.page)
            finger.touch("touchEnd")
            drawn(panel.page)
            return commands

        until(is_tapped, "the tap is sent")
        assert json.loads(commands[0].split(" ", 2)[2])["milliseconds"] in panel.evaluate("downs")
        commands.clear()
        finger.drag(*panel.center(panel.query_selector("#play")), 25)
        panel.shows("#told", "Not done: the finger moved. Press again.")
        assert commands == []
        # Why something is refused is told in plain words; only a MIDI clock refuses this, so the answer is made up.
        refusal = json.dumps({"error": {"code": "not-leader", "message": "A leader leads"}})
        panel.route("**/api/v1/tempo", lambda route: route.fulfill(status=409, content_type="application/json", body=refusal))
        panel.touch("#faster")
        panel.shows("#told", re.compile("Not done: A MIDI clock leads"))


# What it looks like

COLORS = """() => ["--edge", "--ground", "--card", "--raised"].map(
    name => getComputedStyle(document.documentElement).getPropertyValue(name).trim())"""


def contrast(first, second):
    """The contrast ratio of two colors such as `#39414b`, as WCAG defines it."""
    lights = []
    for color in (first, second):
        parts = [int(color[place:place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)
    return max(lights) / min(lights)


def test_each_screen_is_readable_touchable_and_kept_as_a_picture(browser, stage, figure):
    for size, scheme in (("phone", "dark"), ("phone", "light"), ("touch-screen", "dark"), ("desktop", "light")):
        with Panel(browser, size, scheme) as panel:
            panel.shows("#transport", "Playing")
            panel.shows("#links", "Link \u00b7 2")
            figure("picture", panel.picture(f"{size}-{scheme}", whole=True))
            for selector in ["#links", "#tap", "#play", "#faster", "#tempo"] + ([".output .realign"] if size != "phone" else []):
                box = panel.locator(selector).first.bounding_box()
                assert box["y"] + box["height"] <= SIZES[size][1], f"{selector} is not seen without scrolling at {size}"
            edge, *grounds = panel.evaluate(COLORS)
            assert all(contrast(edge, ground) >= 3 for ground in grounds), "the edges of controls are hard to see"
            is_touchable(panel)
            unfold(panel)
            figure("picture", panel.picture(f"{size}-{scheme}-unfolded", whole=True))
            is_touchable(panel)
            if size == "phone":
                panel.is_accessible()  # the other sizes show the same elements, in the same colors
            # Turned, it stays as it is.
            state = [panel.evaluate(STATE), panel.evaluate(FOCUS)]
            width, height = SIZES[size]
            panel.set_viewport_size({"width": height, "height": width})
            until(lambda: panel.evaluate("innerWidth") == height, "the screen is turned")
            assert [panel.evaluate(STATE), panel.evaluate(FOCUS)] == state
            is_touchable(panel)


def is_touchable(panel):
    """Everything is big enough for a finger, and nothing is beside the screen."""
    small = panel.evaluate("""() => [...document.querySelectorAll("button, input, select, a")].filter(e => e.offsetParent)
        .map(e => [e.id || e.className, e.getBoundingClientRect()])
        .filter(([, box]) => box.width < 48 || box.height < 48).map(([name, box]) => `${name} ${box.width}x${box.height}`)""")
    assert not small, "too small for a finger"
    assert panel.evaluate("document.documentElement.scrollWidth <= innerWidth"), "wider than the screen"


def minute(timing, late=0):
    return {"ticks": 2880, "lateTicks": late, "maxMicroseconds": 1234, "timing": timing}


def test_how_a_machine_is_doing_is_said_in_words_and_passes(browser, stage):
    machine = '#outputs li:has(.name:text("TR-8S"))'
    with fed_panel(browser) as (panel, push):
        status = stage.status()
        status["tempo"] = 128
        output = next(one for one in status["outputs"] if one["name"].endswith("TR-8S"))
        stuck = {"code": "device-stuck", "message": "a", "fix": "b", "output": output["id"]}
        away = {"connected": False, "sentTempo": None, "lastMinute": None, "ticks": 0}
        here = {"connected": True, "enabled": True, "sentTempo": 128, "lastMinute": minute("in-time")}
        other = stuck | {"output": "another"}
        panel.touch(f"{machine} .more")
        for change, warnings, state, words in (
                ({"lastMinute": minute("late", 99)}, [], "late", "Late"),
                ({"lastMinute": minute("loose", 1)}, [], "loose", "Loose"),
                ({"lateTicks": 7}, [other], "in-time", "In time"),
                ({"sentTempo": 64}, [], "in-time", "In time \u00b7 64.0 BPM"),
                ({"sentTempo": 128.04}, [], "in-time", "In time"),
                ({"lastMinute": None}, [], "idle", "Connected"),
                ({}, [stuck], "stuck", "Stuck"),
                ({}, [stuck | {"code": "out-of-step"}], "stuck", "Out of step"),
                (away, [stuck | {"code": "output-away"}], "away", "Not connected"),
                ({"enabled": False}, [stuck], "off", "Off")):
            output |= {**here, "lateTicks": 0, **change}
            push({**status, "warnings": warnings})
            panel.shows(f"{machine} .doing", words)
            assert panel.locator(machine).get_attribute("data-state") == state
            assert panel.locator(f"{machine} .more").get_attribute("aria-expanded") == "true", "a status has folded it"
        output |= {**here, "lastMinute": minute("loose", 3), "ticks": 123456, "lateTicks": 7, "skippedTicks": 5}
        push(status)
        panel.shows(f"{machine} .minute", "2,880 ticks, 3 over 1 ms late, at most 1.2 ms")
        panel.shows(f"{machine} .total", "123,456 ticks, 7 over 1 ms late, 5 left out")
        # What a screen reader says: a heading and a button for each machine.
        button = panel.get_by_role("button", name="TR-8S Loose", exact=True, expanded=True)
        assert button.count() == 1
        assert panel.get_by_role("heading", level=3, name="TR-8S").count() == 1
        assert panel.get_by_role("textbox", name="Swing in percent, 50 is straight, of TR-8S").count() == 1


PLACES = """() => [...document.querySelectorAll("button, input, select, a, svg")].filter(e => e.offsetParent && !e.closest("#warnings"))
    .map(e => { const box = e.getBoundingClientRect(); return [e.className, box.x, box.y + scrollY, box.width, box.height]; })"""


def test_no_status_moves_what_a_finger_is_on(browser, stage):
    for size in ("phone", "desktop"):
        with fed_panel(browser, size) as (panel, push):
            unfold(panel)
            panel.evaluate("scrollTo(0, 0)")
            first = stage.status()
            long = {"connected": True, "ticks": 123456789, "lateTicks": 1234567, "offsetMilliseconds": -499.75, "sentTempo": 999.99}
            lateness = {"p50": 123.0, "p99": 234567.0, "max": 987654.0,
                        "histogram": first["outputs"][0]["latenessMicroseconds"]["histogram"] | {"counts": [9] * 12}}
            changes = [
                long | {"lastMinute": {"ticks": 46080, "lateTicks": 46080, "maxMicroseconds": 987654, "timing": "late"},
                        "latenessMicroseconds": lateness},
                {"connected": False, "lastMinute": None, "latenessMicroseconds": None, "sentTempo": None, "ticks": 0}, {"enabled": False},
                {"multiply": 16, "divide": 96, "swing": 66.6, "range": [123.45, 987.65]}]
            change = {"number": 9, "what": "tempo", "value": 128.55, "previous": None, "session": None, "origin": "peer",
                      "address": "fe80::1234:5678:9abc:def0%wlan0", "node": "0" * 16, "at": "2026-01-02T03:04:05.678Z",
                      "probable": True, "followed": True}
            push({**first, "tempo": 128})
            panel.shows("#tempo", "128.0")
            before = panel.evaluate(PLACES)
            assert len(before) > 50
            for index, made in enumerate(changes, 1):
                outputs = [{**output, **made} for output in first["outputs"]]
                push({**first, "tempo": 128 + index, "outputs": outputs, "link": {**first["link"], "lastChange": change}})
                panel.shows("#tempo", f"{128 + index}.0")
                moved = [(was, now) for was, now in zip(before, panel.evaluate(PLACES), strict=True) if was != now]
                assert not moved, made


def test_after_a_crash_it_asks_whether_to_resume(browser, stage):
    with fed_panel(browser) as (panel, push):
        asks = {"code": "restarted", "message": "Tactus started again at 21:04. Resume at the next bar?", "fix": "", "output": None}
        status = {**stage.status(), "playing": False, "transport": "stopped"}
        commands = panel.intercept(status)
        for view, button, playing in (("panel", "Resume", "true"), ("stage", "Resume", "true"), ("stage", "No", "false")):
            push({**status, "warnings": [asks]})
            if view == "stage" and not panel.locator("#stageView").is_visible():
                panel.keyboard.press("f")
            panel.shows("#askText", "Tactus started again at 21:04. Resume at the next bar?")
            commands.clear()
            panel.touch(f"#ask button:text-is('{button}')")
            until(lambda: panel.evaluate("1") and commands, "it is sent")
            assert commands[0].endswith(f'/transport {{"playing":{playing}}}')
            push({**status, "warnings": []})
            until(lambda: panel.locator("#ask").is_hidden(), "it is answered")



def test_changes_and_peers_of_every_kind_in_words(browser, stage):
    change = {"number": 1, "what": "tempo", "value": 128.5, "previous": None, "session": None, "origin": "peer",
              "address": "192.168.1.7", "node": "0" * 16, "at": "2026-01-02T03:04:05.678Z", "probable": False, "followed": True}
    changes = [
        change, change | {"probable": True}, change | {"origin": "here", "address": None},
        change | {"what": "play", "value": None, "followed": False},
        change | {"what": "joined", "value": 120, "previous": 97.25, "session": "1" * 16},
        change | {"what": "joined", "value": 120, "previous": 97.25, "origin": "unknown", "address": None, "session": "1" * 16}]
    peer = {"node": "0" * 16, "session": "0" * 16, "together": True, "address": "192.168.1.7", "tempo": 128.5, "since": change["at"],
            "interfaces": [{"name": "eth0", "address": "192.168.1.2"}, {"name": None, "address": "10.0.0.2"}],
            "roundTripMicroseconds": 310, "clockErrorMicroseconds": 12, "local": False, "port": None, "program": None}
    peers = [peer, peer | {
        "program": "Live", "together": False, "roundTripMicroseconds": None, "clockErrorMicroseconds": None}]
    with Panel(browser, timezone_id="UTC", locale="en-GB") as panel:
        panel.route("**/api/v1/changes", lambda route: route.fulfill(json=changes))
        panel.route("**/api/v1/peers", lambda route: route.fulfill(json=peers))
        panel.touch("#sessionMore")
        until(lambda: panel.locator("#changes li").all_inner_texts() == [
            "Joined a session whose founder has left, tempo 97.25 to 120, 02/01/2026 03:04:05",
            "Joined the session of 192.168.1.7, tempo 97.25 to 120, 02/01/2026 03:04:05",
            "Play by 192.168.1.7, not followed, 02/01/2026 03:04:05", "Tempo 128.5 by this gateway, 02/01/2026 03:04:05",
            "Tempo 128.5 probably by 192.168.1.7, 02/01/2026 03:04:05", "Tempo 128.5 by 192.168.1.7, 02/01/2026 03:04:05"],
            "the changes, newest first")
        assert [text.split("\n\n") for text in panel.locator("#peers li").all_inner_texts()] == [
            ["192.168.1.7", "on eth0, 10.0.0.2 \u00b7 128.5 BPM",
             "since 02/01/2026 03:04:05 \u00b7 round trip 310 \u00b5s \u00b7 clock error 12 \u00b5s"],
            ["Live", "192.168.1.7 \u00b7 on eth0, 10.0.0.2 \u00b7 128.5 BPM \u00b7 in another session",
             "since 02/01/2026 03:04:05 \u00b7 round trip \u2013 \u00b7 clock error \u2013"]]
        changes.clear()
        peers.clear()
        panel.locator("#noChanges").wait_for()
        panel.locator("#noPeers").wait_for()


COLOR = "e => getComputedStyle(e).backgroundColor"


def test_peers_that_go_are_told_and_none_left_is_red(browser, stage):
    status = stage.status()
    # As it is, this would need a network of its own, and seconds until peers expire; link-lost is a Swift test's.
    with fed_panel(browser) as (panel, push):
        colors = []
        lost = {"code": "link-lost", "message": "Link has lost the network: nobody hears it", "fix": "connect it", "output": None}
        for peers, warnings, text in ((2, [], "Link \u00b7 2"), (0, [lost], "Link \u00b7 0")):
            push({**status, "warnings": warnings, "link": {**status["link"], "peers": peers}})
            panel.shows("#links", text)
            colors.append(panel.locator("#links").evaluate(COLOR))
        assert colors[0] != colors[1]
        panel.shows("#notice", "A Link peer has gone: 0 now.")
        panel.evaluate("due(6000)")
        panel.evaluate("() => new Promise(done => setTimeout(done, 100))")
        panel.keyboard.press("f")
        for _ in range(3):
            panel.evaluate("() => { postponed.delete(6000); due(6000); }")
            push({**status, "warnings": [lost], "link": {**status["link"], "peers": 0}})
        panel.shows("#stageLinks", "Link \u00b7 0")
        panel.shows("#stageSays #notice", "Link has lost the network")
