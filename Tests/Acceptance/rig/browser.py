"""Opens the gateway's panel in the system's Chromium, and checks for errors and requests to other hosts."""

import contextlib
import os
import re
import shutil
import urllib.parse

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from rig.gateway import PORT, PROJECT
from rig.wait import PATIENCE, until

# Kept after the run for inspection.
PICTURES = PROJECT / ".build/panel"
# Every kind of element that a finger can press, including kinds that the panel does not use yet.
CONTROLS = "button, input, select, textarea, summary, a[href], [role=button], [role=switch], [role=slider], [tabindex='0']"
SIZES = {
    "phone": (390, 844), "phone-turned": (844, 390), "touch-screen": (800, 480), "tablet": (820, 1180), "desktop": (1280, 800),
    "wide": (1920, 1080)}


# Timers of a page that wait until a test lets them fire by `due`, so that no stall of a busy machine makes them: the page
# would count a silent stream as lost, or take back what it has told, before that is judged. No command is given up.
POSTPONED = """() => {
    const [later, never, timeout] = [window.setTimeout, window.clearTimeout, AbortSignal.timeout.bind(AbortSignal)];
    const waiting = new Map();
    let count = 0;
    window.postponed = new Set([1500, 3000, 6000]);
    window.setTimeout = (act, delay, ...more) => {
        if (!postponed.has(delay)) return later(act, delay, ...more);
        count -= 1;
        waiting.set(count, { act, delay });
        return count;
    };
    window.clearTimeout = (number) => { waiting.delete(number); never(number); };
    window.due = (delay) => {
        for (const [number, timer] of [...waiting]) if (timer.delay === delay && waiting.delete(number)) timer.act();
    };
    AbortSignal.timeout = () => timeout(60000);
}"""


class Browser:
    """One Chromium process for many pages."""

    def __init__(self):
        self.driver = sync_playwright().start()
        # Chromium's sandbox does not work for root. Only our own pages are shown, so it is not needed.
        self.chromium = self.driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"] if os.geteuid() == 0 else [])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.chromium.close()
        self.driver.stop()


def drawn(page):
    """Waits for two frames: by then the page has ended, and been told of, what was done to it before."""
    page.evaluate("""async () => {
        for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
    }""")


class Finger:
    """Fingers on the screen, simulated as touch events."""

    def __init__(self, page):
        self.page = page
        self.session = page.context.new_cdp_session(page)

    def touch(self, kind, *places):
        self.session.send("Input.dispatchTouchEvent", {
            "type": kind, "touchPoints": [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(places)]})

    def lift_second(self, x, y):
        """Ends the touch at the second of two places, while the first goes on."""
        self.session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": [{"x": x, "y": y, "id": 1}]})

    def tap(self, x, y):
        """Taps as one command, since a finger that rests for long, on a busy machine, makes no click."""
        self.page.touchscreen.tap(x, y)

    def drag(self, x, y, by):
        """Moves down, or up if `by` is negative."""
        self.touch("touchStart", (x, y))
        for step in range(1, 7):
            self.touch("touchMove", (x, y + by * step / 6))
        self.touch("touchEnd")

    def scroll(self, x, y, by):
        """Drags the page, and returns when it has stopped."""
        drawn(self.page)  # What was scrolled into view before has ended.
        self.page.evaluate("""() => {
            window.scrolled = new Promise(resume => {
                addEventListener("scrollend", resume, { once: true });
                // A page that does not scroll is the test's to judge.
                setTimeout(resume, 60000);
            });
        }""")
        self.drag(x, y, by)
        self.page.evaluate("async () => { await scrolled; }")


class Panel:
    """The panel in its own window. On closing, checks that there were no errors or requests to other hosts."""

    def __init__(self, browser, size="phone", scheme="dark", path="/", host="127.0.0.1", port=PORT, **options):
        self.server = f"{host}:{port}"
        width, height = SIZES[size]
        self.context = browser.chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, has_touch=size not in ("desktop", "wide"), **options)
        self.context.add_init_script(f"({POSTPONED})()")
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE * 1000)
        self.said = []
        self.elsewhere = []
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", self.note)
        self.page.goto(f"http://{self.server}{path}")

    def note(self, request):
        if not request.url.startswith("data:") and urllib.parse.urlsplit(request.url).netloc != self.server:
            self.elsewhere.append(request.url)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.context.close()
        if kind is None:
            assert not self.elsewhere, "the page asked others"
            # The browser always logs an unreachable gateway and refused requests, so these lines are ignored.
            said = [line for line in self.said if not re.search(r"Failed to load resource: (net::ERR_|the server resp)", line)]
            assert not said, f"the page complained: {said}"

    def __getattr__(self, name):
        return getattr(self.page, name)

    def shows(self, selector, text):
        """Waits until an element shows a text, given in full or as a pattern."""
        element = self.page.locator(selector)
        try:
            element.filter(has_text=text if hasattr(text, "search") else re.compile(f"^\\s*{re.escape(text)}\\s*$")).first.wait_for(
                timeout=PATIENCE * 1000)
        except Exception as error:
            raise AssertionError(f"{selector} shows {element.all_inner_texts()!r}, not {text!r}") from error

    def touch(self, selector):
        """Presses with a finger, or with a mouse if there is no touch screen."""
        self.page.locator(selector).first.click()

    def rest(self):
        """Lets the time pass in which another press on Play would count as the same one."""
        self.page.evaluate("() => new Promise(resume => setTimeout(resume, 150))")

    def controls(self):
        """All elements that a finger can press now, with their labels."""
        name = "e => e.getAttribute('aria-label') || e.id || e.textContent.trim()"
        found = self.page.query_selector_all(CONTROLS)
        return [(one.evaluate(name), one) for one in found if one.is_visible() and one.is_enabled()]

    def center(self, control):
        """Scrolls a control to the middle of the screen, if possible, and returns its place."""
        control.evaluate("e => e.scrollIntoView({ block: 'center', behavior: 'instant' })")
        box = control.bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def intercept(self, status):
        """Answers commands with a status instead of sending them; returns a list to which each command is added."""
        commands = []

        def answer(route, request):
            if request.method == "GET":
                return route.continue_()
            commands.append(f"{request.method} {request.url} {request.post_data}")
            return route.fulfill(json=status)

        self.page.route("**/api/v1/**", answer)
        return commands

    def is_accessible(self):
        """Fails if axe finds what keeps somebody from using what is shown, once nothing fades or moves any more."""
        self.page.locator("body:not(.away)").wait_for()
        until(lambda: self.page.evaluate("document.getAnimations().length") == 0, "the page is at rest")
        findings = Axe().run(self.page)
        assert findings.violations_count == 0, findings.generate_report()

    def picture(self, name, whole=False):
        PICTURES.mkdir(parents=True, exist_ok=True)
        path = PICTURES / f"{name}.png"
        self.page.screenshot(path=path, full_page=whole)
        return path


# Stands in for the stream of statuses: the page shows those that a test pushes, and no others.
FEED = """() => {
    const ask = window.fetch, encoder = new TextEncoder();
    window.fetch = (url, options) => {
        if (!url.endsWith("/events")) return ask(url, options);
        const start = (stream) => {
            window.push = (status) => stream.enqueue(encoder.encode(`event: status\\ndata: ${JSON.stringify(status)}\\n\\n`));
            ask("api/v1/status").then((answer) => answer.json()).then(window.push);
        };
        return Promise.resolve(new Response(new ReadableStream({ start })));
    };
}"""


@contextlib.contextmanager
def fed_panel(browser, size="phone", scheme="dark"):
    """A panel that shows only the statuses given to the function that comes with it, and its first status."""
    with Panel(browser, size, scheme) as panel:
        panel.page.add_init_script(f"({FEED})()")
        panel.reload()
        panel.locator(".output").first.wait_for()
        yield panel, lambda status: panel.evaluate("status => push(status)", status)
