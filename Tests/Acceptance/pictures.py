"""Takes the pictures of the panel for the documentation: both views in all sizes and both schemes.

    Tests/in-namespace .venv/bin/python Tests/Acceptance/pictures.py FOLDER

On a busy machine they show that ticks are late.
"""

import base64
import contextlib
import pathlib
import re
import sys
import tempfile

from rig.browser import SIZES, Browser, Panel
from rig.gateway import Gateway
from rig.peer import Peer
from rig.rawline import RawLine

MACHINES = {"TR-8S": "roland-tr-8s", "Volca Beats": "korg-volca", "Digitakt": "elektron-digitakt"}

# What is missing on the machine that takes the pictures is nobody's concern.
WITHOUT_WARNINGS = """
    const fetched = window.fetch;
    window.fetch = async (...asked) => {
        const answer = await fetched(...asked);
        if (!String(asked[0]).endsWith("events")) return answer;
        let text = "";
        const without = new TransformStream({ transform(chunk, events) {
            const whole = (text + chunk).split("\\n\\n");
            text = whole.pop();
            for (const event of whole) {
                events.enqueue(event.replace(/^data: (.*)$/m, (_, data) => (
                    `data: ${JSON.stringify({ ...JSON.parse(data), warnings: [] })}`)) + "\\n\\n");
            }
        } });
        const body = answer.body.pipeThrough(new TextDecoderStream()).pipeThrough(without).pipeThrough(new TextEncoderStream());
        return new Response(body, answer);
    };"""

WEBP = """async (data) => {
    const image = new Image();
    image.src = "data:image/png;base64," + data;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL("image/webp", 0.8).split(",")[1];
}"""


@contextlib.contextmanager
def show(folder):
    """A gateway that plays with three machines and two other peers."""
    outputs = [word for name, profile in MACHINES.items() for word in ("--output", f"raw:{folder / name}={profile}")]
    with contextlib.ExitStack() as stack:
        for name in MACHINES:
            stack.enter_context(RawLine(folder / name))
        for _ in range(2):
            stack.enter_context(Peer(128))
        running = stack.enter_context(Gateway(*outputs, "--tempo", 128, folder=folder / "gateway"))
        running.wait_status(lambda status: status["link"]["peers"] == 2, "two peers")
        running.post("transport", {"playing": True})
        running.wait_status(
            lambda status: status["transport"] == "playing" and all(one["lastMinute"] for one in status["outputs"][1:]), "it plays")
        yield


def main():
    folder = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as place, show(pathlib.Path(place)), Browser() as browser:
        encoder = browser.chromium.new_page()

        def keep(panel, name):
            data = encoder.evaluate(WEBP, base64.b64encode(panel.screenshot()).decode())
            (folder / f"{name}.webp").write_bytes(base64.b64decode(data))

        for size in SIZES:
            for scheme in ("dark", "light"):
                with Panel(browser, size, scheme) as panel:
                    panel.context.add_init_script(WITHOUT_WARNINGS)
                    panel.reload()
                    panel.shows("#links", re.compile("2 peers"))
                    panel.locator("#warnings").wait_for(state="hidden")
                    keep(panel, f"panel-{size}-{scheme}")
                    panel.keyboard.press("f")
                    panel.locator("#stageView").wait_for()
                    keep(panel, f"stage-{size}-{scheme}")


main()
