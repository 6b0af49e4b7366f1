"""The panel in a real Chromium, with a running gateway and an unmodified official peer."""

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


def line_output(status):
    (output,) = [output for output in status["outputs"] if output["port"] and "line" in output["port"]]
    return output


def test_it_shows_the_session_as_link_has_it_said(panel, peer):
    panel.shows("#links", "Link \u00b7 1 peer")
    panel.shows("#mode", "Link leads")
    panel.shows("#reason", "Link is enabled")
    with Peer(130) as another:
        until(lambda: another.peers == 2, "the third has come")
        panel.shows("#links", "Link \u00b7 2 peers")
    panel.shows("#links", "Link \u00b7 1 peer")
    assert panel.title() == "Tactus"


def test_the_link_switch_leaves_the_session_and_joins_it(panel, peer):
    panel.touch("#link")
    until(lambda: peer.peers == 0, "the peer sees the gateway leave")
    panel.shows("#mode", "You lead")
    panel.shows("#links", "Link")
    assert panel.locator("#link").get_attribute("aria-checked") == "false"
    panel.touch("#link")
    until(lambda: peer.peers == 1, "the peer sees the gateway come")
    panel.shows("#links", "Link \u00b7 1 peer")
    assert panel.locator("#link").get_attribute("aria-checked") == "true"


def test_start_stop_sync_shares_play_and_stop_both_ways(panel, peer, line):
    panel.touch("#sync")
    until(lambda: panel.locator("#sync").get_attribute("aria-checked") == "true", "the switch is on")
    panel.touch("#play")
    until(lambda: peer.playing, "the peer plays")
    panel.shows("#transport", "Playing")
    panel.shows("#playWord", "Stop")
    line.wait_playing()
    peer.stop()
    panel.shows("#transport", "Stopped")
    panel.shows("#playWord", "Play")


def test_what_waits_for_its_bar_can_be_cancelled(panel, gateway, line):
    gateway.post("quantum", {"beats": 64})
    gateway.wait_status(lambda status: status["quantum"] == 64 and 1 < status["phase"] < 40, "the bar is young")
    panel.touch("#play")
    panel.shows("#transport", re.compile("Starts in \\d+"))
    panel.shows("#playWord", "Cancel")
    panel.touch("#play")
    panel.shows("#transport", "Stopped")
    panel.shows("#playWord", "Play")
    assert not line.times(START) and not line.times(CONTINUE)


def test_tempo_by_steps_by_typing_and_by_taps(panel, peer, gateway):
    panel.touch("#faster")
    until(lambda: peer.tempo == pytest.approx(131, abs=1e-3), "the peer is a step faster")
    panel.shows("#tempo", "131.0")
    panel.touch("#slower")
    until(lambda: peer.tempo == pytest.approx(130, abs=1e-3), "and a step slower")
    panel.touch("#tempo")
    panel.keyboard.type("101,5")
    panel.keyboard.press("Enter")
    until(lambda: peer.tempo == pytest.approx(101.5, abs=1e-3), "the peer has what was typed")
    panel.shows("#tempo", "101.5")
    panel.touch("#tempo")
    panel.keyboard.type("5")
    panel.keyboard.press("Enter")
    panel.shows("#told", "Not done. A tempo is 20 to 999 BPM.")
    panel.touch("#tap")
    panel.shows("#told", "Tap 1 of 3.")
    # By a clock that no busy machine disturbs.
    for milliseconds in (5000, 5500, 6000):
        assert peer.tempo == pytest.approx(101.5, abs=1e-3)
        gateway.post("tap", {"milliseconds": milliseconds})
    until(lambda: peer.tempo == pytest.approx(120, abs=1e-3), "the peer follows three taps")


def test_half_and_double_tempo_and_undo(panel, peer):
    for button, tempo in (("#halve", 65), ("#double", 260)):
        panel.touch(button)
        until(lambda: peer.tempo == pytest.approx(tempo, abs=1e-3), "the peer has the new tempo")
        until(lambda: panel.locator("#undo").get_attribute("aria-label") == "Undo: tempo back to 130 BPM", "it can be undone")
        panel.touch("#undo")
        panel.shows("#told", "Done: tempo back to 130 BPM.")
        until(lambda: peer.tempo == pytest.approx(130, abs=1e-3), "the peer has the old tempo again")


def test_an_outputs_offset_realignment_and_switch(panel, gateway, peer, line):
    card = '#outputs li:has(.name:text("line"))'
    panel.touch(f"{card} .earlier")
    gateway.wait_status(lambda status: line_output(status)["offsetMilliseconds"] == -0.5, "half a millisecond")
    panel.touch("#later")
    gateway.wait_status(lambda status: line_output(status)["offsetMilliseconds"] == 0.5, "all by a millisecond")
    panel.locator(f"{card} .offset input").fill("\u221212,5")
    panel.keyboard.press("Enter")
    gateway.wait_status(lambda status: line_output(status)["offsetMilliseconds"] == -12.5, "what was typed")
    panel.locator(f"{card} .offset input").fill("-900")
    panel.keyboard.press("Enter")
    panel.shows("#told", "Not done. An offset is \u2212500 to 500 ms.")
    until(lambda: panel.locator(f"{card} .offset input").input_value() == "\u221212.5", "the true offset is back")

    panel.touch("#play")
    began = line.wait_playing()
    panel.shows("#transport", "Playing")
    panel.touch(f"{card} .realign")
    panel.shows("#told", re.compile("will realign at the next bar"))
    until(lambda: [at for value, at in line.arrivals if value in (CONTINUE, START) and at > began], "it enters again")
    panel.touch(f"{card} .more")
    panel.touch(f"{card} [role=switch]")
    gateway.wait_status(lambda status: not line_output(status)["enabled"], "the output is off")
    line.wait_for(STOP, since=began)
    panel.shows(f"{card} .word", "Off")
    panel.shows(f"{card} .doing", "Off")


def settings(status):
    output = line_output(status)
    return {key: output[key] for key in ("multiply", "divide", "swing", "range")}


PLAIN = {"multiply": 1, "divide": 1, "swing": 50, "range": None}


def test_the_fields_in_a_machines_details_and_their_undo(panel, gateway):
    card = '#outputs li:has(.name:text("line"))'
    panel.touch(f"{card} .more")
    panel.shows(f"{card} .profile", "None")

    def enter(place, text):
        panel.locator(f"{card} {place} input").fill(text)
        panel.keyboard.press("Enter")

    def shows(place, text):
        until(lambda: panel.locator(f"{card} {place} input").input_value() == text, f"{place} shows {text}")

    for place, text, change, tempo in (
            (".multiply", "2", {"multiply": 2}, 260), (".divide", "4", {"divide": 4}, 32.5), (".swing", "58,5", {"swing": 58.5}, 130),
            (".highest", "100", {"range": [20, 100]}, 65)):
        shows(place, {".swing": "50", ".highest": "999"}.get(place, "1"))
        enter(place, text)
        gateway.wait_status(lambda status: settings(status) == PLAIN | change, f"{change} is set")
        shows(place, text.replace(",", "."))
        panel.shows(f"{card} .doing", re.compile(f" \u00b7 {tempo:.1f} BPM$" if tempo != 130 else "^(In time|Loose|Late)$"))
        panel.touch("#undo")
        gateway.wait_status(lambda status: settings(status) == PLAIN, f"{change} is undone")
    for place, text, was, words in (
            (".multiply", "17", "1", "Multiply is a whole number from 1 to 16."),
            (".divide", "1.5", "1", "Divide is a whole number from 1 to 96."),
            (".swing", "quick", "50", "Swing is 50 to 75 %."),
            (".lowest", "0", "20", "A tempo of a range is 1 to 999 BPM."),
            (".lowest", "600", "20", "The highest tempo must be at least twice the lowest. Raise the highest first."),
            (".highest", "39", "999", "The highest tempo must be at least twice the lowest. Lower the lowest first.")):
        enter(place, text)
        panel.shows("#told", f"Not done. {words}")
        shows(place, was)
    assert settings(gateway.status()) == PLAIN


def test_three_panels_show_the_same_after_a_change_in_any(browser, gateway, peer):
    card = '#outputs li:has(.name:text("line"))'
    shown = """() => [...document.querySelectorAll("#outputs input")].map(e => e.value).concat(
        [...document.querySelectorAll("#outputs [role=switch], #link, #sync")].map(e => e.getAttribute("aria-checked")),
        ["#tempo", "#undo", "#sessionNewest"].map(e => document.querySelector(e).ariaLabel + document.querySelector(e).textContent))"""
    with Panel(browser, "phone") as phone, Panel(browser, "tablet") as tablet, Panel(browser, "desktop") as desktop:
        panels = [phone, tablet, desktop]
        for panel in panels:
            panel.shows("#tempo", "130.0")
            panel.touch(f"{card} .more")
        phone.touch(f"{card} .later")
        tablet.locator(f"{card} .swing input").fill("60")
        tablet.keyboard.press("Enter")
        desktop.locator(f"{card} .divide input").fill("2")
        desktop.keyboard.press("Enter")
        phone.touch("#faster")
        tablet.touch(f"{card} [role=switch]")
        gateway.wait_status(
            lambda status: (line_output(status)["offsetMilliseconds"], line_output(status)["swing"], line_output(status)["divide"],
                            line_output(status)["enabled"], round(status["tempo"])) == (0.5, 60, 2, False, 131), "all changes")
        for panel in panels:
            panel.shows(f"{card} .word", "Off")
            panel.shows("#tempo", "131.0")
            panel.shows("#sessionNewest", re.compile("^Tempo 131 by this gateway, "))
            until(lambda: panel.locator(f"{card} .divide input").input_value() == "2", "the newest settings")
        until(lambda: len({json.dumps(panel.evaluate(shown)) for panel in panels}) == 1, "all show the same")


def test_the_session_card_tells_who_is_there_and_who_changed_what(browser, panel, gateway, peer):
    asked = []
    panel.page.on("request", lambda request: asked.append(request.url.split("/api/v1/")[-1]))

    def wait_for(path):
        with panel.page.expect_request(f"**/api/v1/{path}"):
            pass

    wait_for("ports")
    assert not {"peers", "changes"} & set(asked), "nobody has opened it"
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
    # While the page is hidden or the card is folded, it asks for neither. The ports are asked for every 3 s.
    panel.touch("#sessionMore")
    wait_for("ports")
    asked.clear()
    wait_for("ports")
    assert not {"peers", "changes"} & set(asked), "the card is folded"
    with panel.page.expect_request("**/api/v1/peers"):
        panel.touch("#sessionMore")
    wait_for("peers")
    with Panel(browser) as clock:
        panel.evaluate("""() => {
            Object.defineProperty(document, "hidden", { value: true, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }""")
        with clock.page.expect_request("**/api/v1/ports"):
            pass
        asked.clear()
        with clock.page.expect_request("**/api/v1/ports"):
            pass
        assert not asked, "the page is hidden"
    with panel.page.expect_request("**/api/v1/peers"):
        panel.evaluate("() => { delete document.hidden; document.dispatchEvent(new Event('visibilitychange')); }")


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


def test_a_dialog_that_is_closed_frees_the_sound_card(browser, start, line):
    gateway = start("--no-link", "--output", f"raw:{line.path}")
    opening = {"device": "null"}
    with Panel(browser) as panel:
        panel.route("**/api/v1/sound-cards", lambda route: route.fulfill(json=[{"device": "null", "name": "Silence"}]))
        panel.touch('#outputs li:has(.name:text("line")) .more')
        panel.touch('#outputs li:has(.name:text("line")) .calibrate')
        panel.shows("#listenGo", "Listen")
        panel.touch("#listenGo")
        panel.shows("#listenLevel + span", "silence")
        (output,) = [output for output in gateway.status()["outputs"] if "line" in output["name"]]
        path = f"/api/v1/outputs/{output['id']}/listening"
        assert gateway.request("POST", path, opening)[0] == 409
        panel.touch("#listenEnd")
        panel.shows("#told", "Stopped. The clock has been put back.")
        assert gateway.request("POST", path, opening)[0] == 200


def test_the_quantum_and_whom_to_follow(panel, gateway):
    panel.locator("#quantum").fill("3")
    panel.keyboard.press("Enter")
    gateway.wait_status(lambda status: status["quantum"] == 3, "bars of three beats")
    panel.shows("#place", re.compile("/ 3"))
    panel.locator("#quantum").fill("65")
    panel.keyboard.press("Enter")
    panel.shows("#told", "Not done. beats: 0 to 64")
    until(lambda: panel.locator("#quantum").input_value() == "3", "the true quantum is back")

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


def test_the_hand_turns_with_the_peers_phase(panel, peer):
    turn = "() => +document.getElementById('hand').getAttribute('transform').match(/rotate\\(([-\\d.]+)/)[1] / 360 * 4"

    def is_where_the_peer_is():
        """Whether the hand was within a quarter of a beat of the peer's phase at some moment while the page was asked."""
        before = peer.now()
        shown = panel.evaluate(turn)
        passed = (peer.now() - before) * 130 / 60e6
        ahead = (shown - peer.phase(before) + 2) % 4 - 2
        return passed < 1 and -0.25 < ahead < passed + 0.25

    for _ in range(5):
        until(is_where_the_peer_is, "the hand is where the peer is")


def test_a_lost_connection_is_plain_and_heals(panel, gateway, start, line):
    gateway.stop()
    panel.shows("#lost", re.compile("No connection to the gateway"))
    assert panel.locator("#deck").evaluate("deck => deck.inert")
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
        "tap", "play", "earlier", "later", "link", "sync", "quantum", "follow", "Tempo down by 1 BPM", "Realign line",
    } <= set(reached)
    gateway.wait_status(lambda status: not status["link"]["enabled"], "Link was switched off by Enter")


def test_a_nudge_past_the_limit_says_what_is_possible(browser, start, line):
    gateway = start("--no-link", "--output", f"raw:{line.path}")
    card = '#outputs li:has(.name:text("line"))'

    def offsets():
        return [output["offsetMilliseconds"] for output in gateway.status()["outputs"]]

    with Panel(browser) as panel:
        panel.locator(f"{card} .offset input").fill("500")
        panel.keyboard.press("Enter")
        gateway.wait_status(lambda status: line_output(status)["offsetMilliseconds"] == 500, "at its limit")
        before = offsets()
        panel.touch("#later")
        panel.shows("#told", re.compile(
            "^Nothing was moved: an offset is -500 to 500 ms, and .*line is at 500; a nudge can be -500 to 0 ms now"))
        assert offsets() == before
        panel.touch(f"{card} .later")
        panel.shows("#told", re.compile("-1000 to 0 ms now"))
        assert offsets() == before
        panel.touch(f"{card} .earlier")
        gateway.wait_status(lambda status: line_output(status)["offsetMilliseconds"] == 499.5, "the other way it goes")


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


@pytest.mark.parametrize("reach", ["clipboard", "selection"])
def test_copy_takes_the_command_of_each_warning_and_keeps_the_focus(browser, start, tmp_path, reach):
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
            if reach == "selection":
                panel.evaluate(COPIED)
            else:
                panel.evaluate("""() => {
                    window.copied = [];
                    Object.defineProperty(navigator, "clipboard", { value: { writeText: async text => window.copied.push(text) } });
                }""")
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


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    """A gateway as on stage: two peers and three machines, one of which is unplugged."""
    folder = tmp_path_factory.mktemp("stage")
    with on_stage(folder) as running:
        for name, offset in (("TR-8S", -2.5), ("Volca Beats", 3.25)):
            (output,) = [output for output in running.status()["outputs"] if output["name"].endswith(name)]
            running.request("PATCH", f"/api/v1/outputs/{output['id']}", {"offsetMilliseconds": offset})
        play(running)
        yield running


STATE = """() => JSON.stringify([location.hash, [...document.querySelectorAll("dialog")].map(e => e.open),
    [...document.querySelectorAll("input, select")].map(e => [e.value, Boolean(e.offsetParent)]),
    [...document.querySelectorAll("[role=switch]")].map(e => e.getAttribute("aria-checked")),
    [...document.querySelectorAll("[aria-expanded]")].map(e => e.getAttribute("aria-expanded"))])"""

FOCUS = "(element => element.id || element.tagName)(document.activeElement)"


# Unfolds one machine, and the session.
ONE_OF_EACH = "#outputs li:first-child .more, #sessionMore"


def unfold(panel, which="[aria-expanded]"):
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
        controls = {control.evaluate(KIND): (name, control) for name, control in panel.controls()}.values()
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
            if control.get_attribute("class") == "lock":
                continue  # it would lock the others; test_stage.py is about it
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


def test_a_tap_counts_from_when_the_finger_came_down(browser, stage):
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


def test_a_press_that_slides_away_says_that_nothing_was_done(browser, stage):
    with Panel(browser) as panel:
        panel.shows("#transport", "Playing")
        finger, commands = Finger(panel.page), panel.intercept(stage.status())
        finger.drag(*panel.center(panel.query_selector("#play")), 25)
        panel.shows("#told", "Not done: the finger moved. Press again.")
        assert commands == []


def test_less_motion_where_it_is_asked_for(browser, stage):
    with Panel(browser, reduced_motion="reduce") as panel:
        panel.shows("#tempo", "128.0")
        assert not panel.locator("#hand").is_visible()
        until(lambda: panel.locator("#beats path.now").count() == 1, "the beat is shown all the same")


def test_a_refusal_is_told_in_plain_words(browser, stage):
    # Only a MIDI clock leader causes this refusal, and there is none without a sequencer, so the answer is made up.
    refusal = json.dumps({"error": {"code": "not-leader", "message": "A leader leads"}})
    with Panel(browser) as panel:
        panel.shows("#tempo", "128.0")
        panel.route("**/api/v1/tempo", lambda route: route.fulfill(status=409, content_type="application/json", body=refusal))
        panel.touch("#faster")
        panel.shows("#told", re.compile("Not done: A MIDI clock leads"))
        panel.shows("#tempo", "128.0")


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


@pytest.mark.parametrize("size", SIZES)
def test_every_size_is_readable_touchable_and_kept_as_a_picture(browser, stage, size, figure):
    for scheme in ("dark", "light"):
        is_fit(browser, size, scheme, figure)


def is_fit(browser, size, scheme, figure):
    with Panel(browser, size, scheme) as panel:
        panel.shows("#transport", "Playing")
        panel.shows("#links", "Link \u00b7 2 peers")
        figure("picture", panel.picture(f"{size}-{scheme}", whole=True))
        if size != "tablet":
            hurried = ["#tap", "#play", "#faster", "#tempo"] + ([".output .earlier", ".output .realign"] if size != "phone" else [])
            for selector in hurried:
                box = panel.locator(selector).first.bounding_box()
                assert box["y"] + box["height"] <= SIZES[size][1], f"{selector} is not seen without scrolling"
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
        away = {"connected": False, "sentTempo": None, "lastMinute": None}
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


@pytest.mark.parametrize("size", ["phone", "touch-screen", "desktop"])
def test_no_status_moves_what_a_finger_is_on(browser, stage, size):
    with fed_panel(browser, size) as (panel, push):
        unfold(panel)
        first = stage.status()
        long = {"ticks": 123456789, "lateTicks": 1234567, "offsetMilliseconds": -499.75, "sentTempo": 999.99}
        lateness = {"p50": 123.0, "p99": 234567.0, "max": 987654.0,
                    "histogram": first["outputs"][0]["latenessMicroseconds"]["histogram"] | {"counts": [9] * 12}}
        changes = [
            long | {"lastMinute": {"ticks": 46080, "lateTicks": 46080, "maxMicroseconds": 987654, "timing": "late"},
                    "latenessMicroseconds": lateness},
            {"connected": False, "lastMinute": None, "latenessMicroseconds": None, "sentTempo": None}, {"enabled": False},
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


def test_machines_come_first_and_the_general_port_last_and_folded(browser, stage):
    with Panel(browser) as panel:
        panel.locator("#outputs .name").nth(3).wait_for()
        names = [name.split("\n")[0] for name in panel.locator("#outputs .name").all_inner_texts()]
        assert names == ["TR-8S", "Volca Beats", "Digitakt", "Clock"]
        assert stage.status()["outputs"][0]["name"] == "Clock"
        places = panel.evaluate("""["#tap", "#outputs", "#link", "#follow", "#sessionMore"].map(
            e => document.querySelector(e).getBoundingClientRect().y)""")
        assert places == sorted(places)
        clock = '#outputs li:has(.name:text("Clock"))'
        for control in ("earlier", "realign", "calibrate"):
            assert panel.locator(f'#outputs li:has(.name:text("TR-8S")) .{control}').is_visible() == (control != "calibrate")
            assert not panel.locator(f"{clock} .{control}").is_visible()
        # By the keyboard alone.
        panel.locator(f"{clock} .more").focus()
        panel.keyboard.press("Space")
        for control in ("earlier", "realign", "calibrate"):
            assert panel.locator(f"{clock} .{control}").is_visible()
        panel.keyboard.press("Tab")
        assert panel.evaluate("document.activeElement.getAttribute('aria-label')") == "Clock earlier by 0.5 ms"
        panel.keyboard.press("Shift+Tab")
        panel.keyboard.press("Enter")
        assert not panel.locator(f"{clock} .earlier").is_visible()
        assert stage.status()["transport"] == "playing", "the space bar has stopped it"


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
