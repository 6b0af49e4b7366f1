"""Takes the pictures of the panel for the documentation: both views in all sizes and both schemes.

    Tests/in-namespace .venv/bin/python Tests/Acceptance/pictures.py FOLDER

On a busy machine they show that ticks are late.
"""

import base64
import pathlib
import sys
import tempfile

from rig.browser import SIZES, Browser, fed_panel
from rig.stage import on_stage, play

WEBP = """async (data) => {
    const image = new Image();
    image.src = "data:image/png;base64," + data;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL("image/webp", 0.8).split(",")[1];
}"""


def main():
    folder = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as place, on_stage(pathlib.Path(place), unplugged=()) as gateway, Browser() as browser:
        play(gateway)
        status = gateway.wait_status(lambda status: all(one["lastMinute"] for one in status["outputs"][1:]), "ticks are sent")
        encoder = browser.chromium.new_page()

        def keep(panel, name):
            data = encoder.evaluate(WEBP, base64.b64encode(panel.screenshot()).decode())
            (folder / f"{name}.webp").write_bytes(base64.b64decode(data))

        for size in SIZES:
            for scheme in ("dark", "light"):
                with fed_panel(browser, size, scheme) as (panel, push):
                    # What is missing on the machine that takes the pictures is nobody's concern.
                    push({**status, "warnings": []})
                    panel.locator("#warnings").wait_for(state="hidden")
                    keep(panel, f"panel-{size}-{scheme}")
                    panel.keyboard.press("f")
                    panel.locator("#stageView").wait_for()
                    keep(panel, f"stage-{size}-{scheme}")


main()
