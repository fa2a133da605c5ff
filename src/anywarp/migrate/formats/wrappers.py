"""Programs that start another: `sudo -u USER timeout -k 5 10 nvidia-smi`. One table of them and their options, for who reads commands and who changes them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORDS = "exec nohup eval builtin then do else if while until ! command time setsid unbuffer catchsegv"
"""Programs, and words of the shell's own, that take no option with a value of their own here, `time` and `exec` apart."""

_OPENMPI = (
    "-n -np -c -N -npernode --npernode -H -host --host -hostfile --hostfile -machinefile --machinefile -x -wdir --wdir -map-by --map-by "
    "-bind-to --bind-to -rank-by --rank-by -ppn -f -hosts -prefix --prefix -output-filename --output-filename"
)
_TAKING: dict[str, frozenset[str]] = {
    name: frozenset(options.split())
    for name, options in {
        **dict.fromkeys(_WORDS.split(), ""),
        "exec": "-a",
        "time": "-f -o --format --output",
        "sudo": "-u -g -h -p -C -D -R -T -U -r -t --user --group --host --prompt --chdir --chroot --other-user --role --type",
        "doas": "-u -C",
        "runuser": "-u -g -G -w --user --group",
        "env": "-u -C --unset --chdir",
        "nice": "-n --adjustment",
        "ionice": "-c -n -p --class --classdata",
        "chrt": "-T -P -D --sched-runtime --sched-period --sched-deadline",
        "stdbuf": "-i -o -e --input --output --error",
        "watch": "-n --interval",
        "xargs": "-n -P -I -L -d -a -s -E --max-args --max-procs --max-lines --max-chars --delimiter --arg-file",
        "timeout": "-k -s --kill-after --signal",
        "chroot": "",
        "taskset": "",
        "numactl": "-N -m -C -i -p -P --cpunodebind --membind --physcpubind --interleave --preferred",
        "nsenter": "-t -S -G --target --setuid --setgid",
        "flock": "-w -E --timeout --conflict-exit-code",
        "mpirun": _OPENMPI,
        "mpiexec": _OPENMPI,
        "srun": "-N -n -p -A -t -c -J -o -e -w -x -D -q -G -C -d -i -m -r --nodes --ntasks --partition --account --time --cpus-per-task --mem --job-name "
        "--output --error --jobid --gpus --gres --nodelist --exclude --chdir --qos --constraint --dependency --input --distribution --relative "
        "--ntasks-per-node --gpus-per-node --gpus-per-task --mem-per-cpu --mem-per-gpu --container-image --container-mounts --mpi --export",
    }.items()
}  # fmt: skip
"""What starts another program, with its options that take the next word (sudo(8), coreutils, util-linux, findutils, srun(1), mpirun(1))."""

_TWO = frozenset("-mca --mca -env -genv -gmca --gmca".split())
"""Options of mpirun that take two words."""
_FIRST = {"timeout": 1, "chroot": 1, "taskset": 1, "chrt": 1, "flock": 1}
"""Words that such a program takes before the command."""
ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\+?=)(.*)", re.DOTALL)


def started(words: Sequence[str], launchers: bool = True) -> tuple[list[int], int]:
    """Return which words are assignments before the program, and which is the program: their number where there is none.

    `command -v` asks for a program and starts none: it is the program itself. Without `launchers` srun is one, too.
    """
    assignments: list[int] = []
    starter, first, place = "", 0, 0
    while place < len(words):
        word = words[place].lstrip("@") or "@"  # make does not echo what begins so
        following = words[place + 1] if place + 1 < len(words) else ""
        if word.startswith("-") or word == "@":
            place += takes(starter, word)
        elif first:
            first -= 1
        elif ASSIGNED.fullmatch(word):
            assignments.append(place)
        elif (word == "command" and re.fullmatch(r"-\w*[vV]\w*", following)) or (word == "srun" and not launchers):
            break
        elif (name := word.rsplit("/", 1)[-1]) in _TAKING:
            starter, first = name, _FIRST.get(name, 0)
        else:
            break
        place += 1
    return assignments, min(place, len(words))


def takes(starter: str, option: str) -> int:
    """Return how many words after an option belong to it; `-Eu` is `-E -u`."""
    taking = _TAKING.get(starter, frozenset())
    if starter in ("mpirun", "mpiexec"):
        return 2 if option in _TWO else int(option in taking)
    bundle = re.fullmatch(r"-[A-Za-z0-9]{2,}", option) is not None and "-" + option[1] not in taking
    return int(option in taking or (bundle and "-" + option[-1] in taking))


def command_of(starter: str, words: Sequence[tuple[str, int]], at: int) -> int:
    """Return which word begins the command behind the options of one that starts another and stands at a place."""
    place = at + 1
    while place < len(words) and words[place][0].startswith("-"):
        place += 1 + takes(starter, words[place][0])
    return min(place, len(words))
