"""Makes the acceptance tests' rig importable: the lab, the observer and the official peer are shared with it."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
sys.path.insert(0, str(PROJECT / "Tests/Acceptance"))
