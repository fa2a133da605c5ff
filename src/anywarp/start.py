"""How a Python of ours begins that other programs start: `python -S -E anywarp/start.py MODULE ARGUMENTS`.

Such a process is found by programs of all kinds, whose PYTHONPATH and working directory hold modules of their own: a `numpy.py` there
must not become ours. So the environment's variables for Python do not count, and places are searched in this order: the standard
library, the folder that this package lies in (`pip install --target`, a checkout), the interpreter's own packages, and last those
folders of PYTHONPATH into which packages were installed, where modules of clusters keep dependencies and plugins.
"""

import sys

_PACKAGE = __file__.rpartition("/")[0]
if sys.flags.no_site and sys.path[:1] == [_PACKAGE]:
    del sys.path[0]  # Python puts the folder of the script there: before anything else is imported

import os  # noqa: E402
import runpy  # noqa: E402


def _installed_into(folder: str) -> bool:
    """Tell whether packages were installed into a folder, which a program's own modules lie beside in no case of ours."""
    try:
        return os.path.isabs(folder) and any(name.endswith(".dist-info") for name in os.listdir(folder))
    except OSError:
        return False


def put_programs_folders_last() -> None:
    """Have modules of a program, which PYTHONPATH names, shadow none that a command of ours still imports."""
    named = os.environ.get("PYTHONPATH", "").split(":")
    moved = [place for place in sys.path if place in named and not _installed_into(place)]
    sys.path[:] = [place for place in sys.path if place not in moved] + moved


def main() -> None:
    """Set the module path and become the module that the command line names."""
    if sys.flags.no_site:
        sys.path.append(os.path.dirname(os.path.abspath(_PACKAGE)))
        import site

        site.main()
    others = [folder for folder in os.environ.get("PYTHONPATH", "").split(":") if _installed_into(folder)]
    sys.path += [folder for folder in others if folder not in sys.path]
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
