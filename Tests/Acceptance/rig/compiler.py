"""Compiles C with the Swift toolchain's compiler, so that no other compiler is needed."""

import os
import pathlib
import shutil
import subprocess


def compile_c(source, target, *options):
    """Compiles one C file into `target`."""
    swift = os.path.realpath(shutil.which("swift"))
    compiler = shutil.which("clang") or str(pathlib.Path(swift).with_name("clang"))
    subprocess.run([compiler, *options, "-Wall", "-Werror", "-o", target, source], check=True, timeout=60)
