"""The HTTP interface against its description: schemathesis makes up requests, and checks the answers."""

import pathlib
import re
import subprocess
import sys

import pytest
import yaml

from rig.gateway import PORT
from rig.wait import PATIENCE

pytestmark = pytest.mark.real("network")

TOKEN = "Zm9vYmFyYmF6cXV4"
METHODS = {"get", "head", "post", "put", "patch", "delete", "options", "trace"}
SEED = 1
MOST_EXAMPLES = 8  # of one operation, in each phase
CHECKS = [
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "negative_data_rejection", "positive_data_acceptance", "unsupported_method",
    "allow_header_conformance"]


@pytest.fixture
def gateway(start, line, tmp_path):
    """A gateway with a token, an output that is connected, and one that is not."""
    secret = tmp_path / "secret"
    secret.write_text(TOKEN)
    secret.chmod(0o600)
    return start(
        "--no-link", "--http-token-file", secret, "--output", f"raw:{line.path}", "--output", "virtual:Drums",
        token=TOKEN)


@pytest.fixture
def document(gateway, tmp_path):
    """A file with the document that the gateway serves."""
    code, text = gateway.request("GET", "/api/v1/openapi.yaml")
    assert code == 200
    path = tmp_path / "openapi.yaml"
    path.write_bytes(text)
    return path


def operations(document):
    """The method, path and description of each operation."""
    return [
        (method.upper(), path, described) for path, item in yaml.safe_load(document.read_text())["paths"].items()
        for method, described in item.items() if method in METHODS]


def test_requests_and_answers_are_as_described(gateway, document, tmp_path):
    """Tries values at and beyond every limit, random ones, and sequences of requests that belong together.

    Schemathesis gets a file, since it would leave out the operation from which it got the document.
    """
    wanted = len(operations(document))
    ran = subprocess.run(
        [sys.executable, "-m", "schemathesis.cli", "--config-file", pathlib.Path(__file__).with_name("schemathesis.toml"),
         "run", document, "--url", f"http://127.0.0.1:{PORT}", "--header", f"Authorization: Bearer {TOKEN}",
         # A connection that is idle for ten seconds is closed, maybe just when the next request is on its way.
         "--header", "Connection: close",
         "--generation-with-security-parameters", "false", "--checks", ",".join(CHECKS), "--seed", str(SEED),
         "--max-examples", str(MOST_EXAMPLES), "--generation-database", "none", "--request-timeout", f"{PATIENCE:g}",
         "--suppress-health-check", "all", "--continue-on-failure", "--no-color"],
        cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=10 * PATIENCE)
    assert ran.returncode == 0, ran.stdout
    count = re.search(r"(\d+) generated", ran.stdout)
    assert re.search(rf"Tested: {wanted}\b", ran.stdout), ran.stdout
    assert int(count[1]) > 8 * wanted, ran.stdout
    assert gateway.status()["version"]
