"""Takes the pictures of the panel for the documentation: both views in all sizes and both schemes; and its icon's.

    Tests/in-namespace .venv/bin/python Tests/Acceptance/pictures.py FOLDER
"""

import base64
import pathlib
import struct
import sys
import tempfile
import zlib

from rig.browser import Browser, fed_panel
from rig.gateway import PROJECT
from rig.stage import on_stage, play

PANEL = PROJECT / "Sources/ControlServer/Panel"

WEBP = """async (data) => {
    const image = new Image();
    image.src = "data:image/png;base64," + data;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL("image/webp", 0.8).split(",")[1];
}"""

# Red, as a number, of each pixel of the icon.
ICON = """async ([svg, size]) => {
    const image = new Image();
    image.src = "data:image/svg+xml;base64," + btoa(svg);
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: size, height: size });
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0, size, size);
    return [...context.getImageData(0, 0, size, size).data].filter((_, index) => index % 4 === 0);
}"""


def small_icon(page, size=180, shades=16):
    """The icon as a PNG file of few shades between its two colours; Apple's home screens take no SVG."""
    ground, ring = (0x0C, 0x0E, 0x11), (0xFF, 0xB2, 0x24)
    levels = [(red - ground[0]) * (shades - 1) // (ring[0] - ground[0])
              for red in page.evaluate(ICON, [(PANEL / "icon.svg").read_text(), size])]
    rows = [levels[start:start + size] for start in range(0, len(levels), size)]
    pixels = b"".join(b"\0" + bytes(left << 4 | right for left, right in zip(row[::2], row[1::2])) for row in rows)
    palette = bytes(one + (other - one) * level // (shades - 1) for level in range(shades) for one, other in zip(ground, ring))
    parts = {b"IHDR": struct.pack(">IIBBBBB", size, size, 4, 3, 0, 0, 0), b"PLTE": palette,
             b"IDAT": zlib.compress(pixels, 9), b"IEND": b""}
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts.items())


def main():
    folder = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as place, on_stage(pathlib.Path(place), unplugged=()) as gateway, Browser() as browser:
        play(gateway)
        status = gateway.wait_status(lambda status: all(one["lastMinute"] for one in status["outputs"][1:]), "ticks are sent")
        encoder = browser.chromium.new_page()

        def keep(panel, name):
            data = encoder.evaluate(WEBP, base64.b64encode(panel.screenshot()).decode())
            (folder / f"{name}.webp").write_bytes(base64.b64decode(data))

        (PANEL / "icon.png").write_bytes(small_icon(encoder))
        # What is missing or late on the machine that takes the pictures is nobody's concern.
        for output in status["outputs"][1:]:
            output["lastMinute"]["timing"] = "in-time"
        for size in ("phone", "touch-screen", "tablet", "desktop"):
            for scheme in ("dark", "light"):
                with fed_panel(browser, size, scheme) as (panel, push):
                    push({**status, "warnings": []})
                    panel.locator("#warnings").wait_for(state="hidden")
                    keep(panel, f"panel-{size}-{scheme}")
                    panel.keyboard.press("f")
                    panel.locator("#stageView").wait_for()
                    keep(panel, f"stage-{size}-{scheme}")


main()
