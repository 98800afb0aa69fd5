"""Commands that write to a disk that fills up: the error names the file, and old files stay as they were.

    python tests/soak/full_disk.py

Each run has a file system of its own, of a few KiB, in a private mount namespace (``unshare``, Linux). Where
that is not permitted, the size of files is limited instead.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.command_line import write_flowers

from maxmargin import io

KIBIBYTES = (8, 24, 400)
COMMANDS = {
    "train": "train {data} --target flower --budget 5 --checkpoint-every 0 --out {disk}/out",
    "train --model auto": "train {data} --target flower --model auto --checkpoint-every 0 --out {disk}/out",
    "train --stream": "train {data} --target flower --budget 5 --stream --block-rows 30 --out {disk}/out",
    "predict": "predict {model} {data} --scores --probabilities --out {disk}/out",
    "report": "report {model} {data} --out {disk}/out",
    "path --plot": "path {data} --target flower --budget 5 --plot {disk}/out.svg",
}
# The arguments: size, disk, command. An old file lies there already.
MOUNTED = """
mount -t tmpfs -o size=$1k none "$2" || exit 99
echo old > "$2/out"; cp "$2/out" "$2/out.svg"; shift; disk="$1"; shift
"$@"; code=$?
ls -A "$disk" >&2; cat "$disk"/out* | head -c 8 >&2
exit $code
"""


def run(command: list[str], n_kibibytes: int, disk: Path) -> subprocess.CompletedProcess[str]:
    """The command, on a disk of that size."""
    call = ["unshare", "-rm", "bash", "-c", MOUNTED, "bash", str(n_kibibytes), str(disk), *command]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    if done.returncode != 99 and "unshare" not in done.stderr:
        return done
    for name in ("out", "out.svg"):
        (disk / name).write_text("old\n")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_kibibytes << 10, n_kibibytes << 10))

    return subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limit)


def faults(done: subprocess.CompletedProcess[str], disk: Path) -> list[str]:
    """What is not as it should be."""
    found = []
    if done.returncode not in (0, 1):
        found.append(f"exit code {done.returncode}")
    if "Traceback" in done.stderr or ".part" in done.stderr.split("error:")[-1]:
        found.append("a traceback, or a part of a file was left")
    errors = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    if done.returncode == 1 and not (errors and f"{disk}/out" in errors[0]):
        found.append(f"the error does not name the file: {errors}")
    if done.returncode == 1 and "old" not in done.stderr.splitlines()[-1] and done.stderr.count("old") == 0:
        found.append("the old file is gone")
    return found


def main() -> int:
    """0 if all is well."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (disk := place / "disk").mkdir()
        names = {"data": write_flowers(place / "flowers.csv"), "model": place / "model.mm", "disk": disk}
        maxmargin = [sys.executable, "-m", "maxmargin"]
        made = COMMANDS["train"].replace("{disk}/out", "{model}").format(**names).split()
        subprocess.run([*maxmargin, *made], check=True, capture_output=True)
        io.load(names["model"])
        for title, command in COMMANDS.items():
            for size in KIBIBYTES:
                done = run([*maxmargin, *command.format(**names).split()], size, disk)
                wrong = faults(done, disk)
                counts["wrong" if wrong else "written" if done.returncode == 0 else "refused by name"] += 1
                if wrong:
                    print(f"  maxmargin {title}, {size} KiB: {'; '.join(wrong)}\n{done.stderr[-800:]}")
    for what, count in sorted(counts.items()):
        print(f"{count:6} {what}")
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
