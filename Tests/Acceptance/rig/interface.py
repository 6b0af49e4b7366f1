"""The program's commands, as its argument parser describes them."""

import json

from rig.gateway import run_tactus


def described_commands():
    """Pairs of a command's words, such as `("tactus", "link")`, and its description; all commands but `help`."""

    def below(command, path):
        path = (*path, command["commandName"])
        yield path, command
        for sub in command.get("subcommands") or []:
            if sub["commandName"] != "help":
                yield from below(sub, path)

    yield from below(json.loads(run_tactus("--experimental-dump-help").stdout)["command"], ())
