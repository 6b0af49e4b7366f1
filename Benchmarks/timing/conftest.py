import lab_paths  # noqa: F401 - makes the shared rig importable
