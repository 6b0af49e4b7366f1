"""The system's Chromium with the gateway's panel in it, watched for whatever it should not do."""

import os
import re
import shutil
import urllib.parse

from playwright.sync_api import sync_playwright

from rig.gateway import PORT, PROJECT

# Kept after the run, to be looked at.
PICTURES = PROJECT / ".build/panel"
SIZES = {"phone": (390, 844), "touch-screen": (800, 480), "tablet": (820, 1180), "desktop": (1440, 900)}


class Browser:
    """One Chromium for many pages."""

    def __init__(self):
        self.driver = sync_playwright().start()
        # Its own sandbox wants a user that is not root; what it shows here is ours alone.
        self.chromium = self.driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"] if os.geteuid() == 0 else [])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.chromium.close()
        self.driver.stop()


class Panel:
    """The panel in a window of its own; when it closes, it must have been quiet, and have talked to its gateway only."""

    def __init__(self, browser, size="phone", scheme="dark", path="/", port=PORT, **options):
        self.port = port
        width, height = SIZES[size]
        self.context = browser.chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, has_touch=size != "desktop", **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(5000)
        self.said = []
        self.elsewhere = []
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", self.note)
        self.page.goto(f"http://127.0.0.1:{port}{path}")

    def note(self, request):
        if not request.url.startswith("data:") and urllib.parse.urlsplit(request.url).netloc != f"127.0.0.1:{self.port}":
            self.elsewhere.append(request.url)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.context.close()
        if kind is None:
            assert not self.elsewhere, "the page asked others"
            # A gateway that is away, and a refusal, are told by the browser itself; nobody can keep it from that.
            said = [line for line in self.said if not re.search(r"Failed to load resource: (net::ERR_|the server resp)", line)]
            assert not said, "the page complained"

    def __getattr__(self, name):
        return getattr(self.page, name)

    def shows(self, selector, text, within=3.0):
        """Waits for an element to show a text: the whole, or a pattern."""
        element = self.page.locator(selector)
        try:
            element.filter(has_text=text if hasattr(text, "search") else re.compile(f"^\\s*{re.escape(text)}\\s*$")).first.wait_for(
                timeout=within * 1000)
        except Exception as error:
            raise AssertionError(f"{selector} shows {element.all_inner_texts()!r}, not {text!r}") from error

    def touch(self, selector):
        """As a finger does, or a mouse where there is no touch screen."""
        self.page.locator(selector).first.click()

    def picture(self, name, whole=False):
        PICTURES.mkdir(parents=True, exist_ok=True)
        path = PICTURES / f"{name}.png"
        self.page.screenshot(path=path, full_page=whole)
        return path
