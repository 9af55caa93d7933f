# SPDX-License-Identifier: BSD-2-Clause
# conf.py - the book: docs/, and the page of each protocol and driver, by Sphinx with MyST.  Called by docs/book/build.
import os

project = "xkvp"
author = "The xkvp authors"
copyright = "2026, The xkvp authors"
version = release = os.environ.get("XKVP_VERSION", "")
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
root_doc = "docs/book/index"
html_theme = "alabaster"
html_theme_options = {
    "description": "protocol graphs on virtual processors",
    "page_width": "1280px",
    "body_max_width": "auto",
    "code_font_size": "0.8em",
    "sidebar_width": "260px",
    "fixed_sidebar": True,
}
html_sidebars = {"**": ["about.html", "navigation.html", "searchbox.html"]}
highlight_language = "none"
html_static_path = ["docs/book/book.css"]
html_css_files = ["book.css"]
html_show_sourcelink = False
man_pages = [("docs/book/language", "xkvp-graph", "the language of xkvp's graph files", author, 5)]
man_show_urls = True
