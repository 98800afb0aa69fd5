"""Pictures of the README and the site: the data of each are stored, and the picture carries their hash."""

import contextlib
import hashlib
import importlib.util
import os
import re
from pathlib import Path

import decoders_by_kind
import numpy as np
import stored
from matplotlib.figure import Figure
from PIL import Image
from PIL.PngImagePlugin import PngInfo

ROOT = Path(__file__).parents[2]
KEY = "maxmargin-data"  # of the picture's text
MAX_STORED_VALUES, DIGITS, N_COLOURS = 400, 6, 96
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page_blocks(page, folder):
    """Run the Python blocks of a page in a folder."""
    source = "\n".join(BLOCK.findall((ROOT / page).read_text(encoding="utf-8")))
    before = Path.cwd()
    os.chdir(folder)
    try:
        exec(compile(source, page, "exec"), {"__name__": "page"})
    finally:
        os.chdir(before)


def script(path, picture):
    """Call the ``main`` of a script with the file to write."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(picture)


DISPLAYS = ("cv-path.png", "budget-path.png", "gap.png", "margin.png", "code.png")
PICTURES = {  # what draws them, and the files
    "few-support-vectors": (
        lambda: script("examples/few_support_vectors.py", ROOT / "docs" / "few-support-vectors.png"),
        ["docs/few-support-vectors.png"],
    ),
    "displays": (
        lambda: page_blocks("docs/guide/displays.md", ROOT / "docs" / "guide"),
        [f"docs/guide/{file}" for file in DISPLAYS],
    ),
    "decoders-figure": (
        lambda: decoders_by_kind.draw(ROOT / "docs" / "theory" / "decoders.png"),
        ["docs/theory/decoders.png"],
    ),
    "formulations": (
        lambda: script("examples/formulations.py", ROOT / "docs" / "theory" / "formulations.png"),
        ["docs/theory/formulations.png"],
    ),
}


def numbers(values):
    """Few values as they are, many as their shape and hash; rounded, so that last digits do not matter."""
    rounded = np.asarray(values, dtype=np.float64).round(DIGITS) + 0.0
    if rounded.size <= MAX_STORED_VALUES:
        return rounded.tolist()
    return {"shape": rounded.shape, "sha256": hashlib.sha256(rounded.tobytes()).hexdigest()[:16]}


def drawn(figure):
    """The data of a figure: lines, points, pictures, words."""
    return [
        {
            "title": ax.get_title(),
            "lines": [numbers(line.get_xydata()) for line in ax.lines],
            "points": [numbers(c.get_offsets()) for c in ax.collections if len(c.get_offsets())],
            "images": [numbers(image.get_array()) for image in ax.images],
            "words": [text.get_text() for text in ax.texts],
        }
        for ax in figure.axes
    ]


@contextlib.contextmanager
def capturing(found):
    """Every saved figure's data go into the dict by file name, and their hash into the picture."""
    saved = Figure.savefig

    def savefig(figure, path, **options):
        data = drawn(figure)
        found[Path(path).name] = data
        saved(figure, path, **options)
        text = PngInfo()
        text.add_text(KEY, stored.fingerprint({"values": data}))
        with Image.open(path) as picture:
            few = picture.convert("RGB").quantize(N_COLOURS)
        few.save(path, optimize=True, pnginfo=text)

    Figure.savefig = savefig
    try:
        yield
    finally:
        Figure.savefig = saved


def draw(name):
    """Measure and draw again, and store the data."""
    found = {}
    with capturing(found):
        PICTURES[name][0]()
    stored.store(name, found)


def mark_of(path):
    """The hash that a picture carries, or None."""
    if not path.is_file():
        return None
    with Image.open(path) as picture:
        return picture.info.get(KEY)


def wrong():
    """Pictures that are not drawn from the stored data, in words."""
    said = []
    for name, (_, files) in PICTURES.items():
        record = stored.load(name)
        for file in files:
            data = record and record["values"].get(Path(file).name)
            mark = mark_of(ROOT / file)
            if data is None or mark != stored.fingerprint({"values": data}):
                said.append(
                    f"{file}: not drawn from stored data; python benchmarks/evidence --measure {name}"
                )
    return said
