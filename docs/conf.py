"""The site: Sphinx reads the tree that docs/stage.py writes. Nothing is loaded from elsewhere."""

from __future__ import annotations

import re

import maxmargin

project = "maxmargin"
author = "The maxmargin developers"
release = version = maxmargin.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
]

# Pages are Markdown that also reads well on a code host: no directives but ```math.
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_heading_anchors = 4
myst_fence_as_directive = ["math"]
myst_links_external_new_tab = False
suppress_warnings = ["myst.header", "misc.highlighting_failure"]

# The formulas are set by a copy of MathJax that a package brings; docs/stage.py puts it beside the pages.
mathjax_path = "mathjax/tex-chtml.js"

autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
add_module_names = False
toc_object_entries = False

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,  # its page loads scripts from elsewhere
    "min_reported_time": 10**9,
    "abort_on_example_error": True,
    "doc_module": ("maxmargin",),
    "reference_url": {"maxmargin": None},
    "image_scrapers": ("matplotlib",),
    "reset_modules": ("matplotlib",),
    "remove_config_comments": True,
    "plot_gallery": "True",
}

html_theme = "pydata_sphinx_theme"
html_title = "maxmargin"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "maxmargin"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "about": [], "changes": [], "results": []}
copyright = "the maxmargin developers, BSD-3-Clause"  # noqa: A001 - the name that Sphinx wants


def formulas(app: object, what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """Indented lines of a docstring's opening are formulas: shown as they are."""
    lines[:] = [re.sub(r"(shape \(.*\w)_(?=[,)])", r"\1\\_", line) for line in lines]  # not a link
    for k in range(2, len(lines)):
        if set(lines[k]) == {"-"} and lines[k - 1].strip():  # the first section
            return
        begins = lines[k].startswith("    ") and not lines[k - 1].strip()
        before = lines[k - 2]
        if begins and before.strip() and not before.startswith("    ") and not before.endswith("::"):
            lines[k - 2] = before + " ::"


def setup(app: object) -> None:
    """Before numpydoc reads the docstrings."""
    app.connect("autodoc-process-docstring", formulas, priority=100)  # type: ignore[attr-defined]
