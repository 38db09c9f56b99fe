#!/usr/bin/env python3
"""Checks the links of all Markdown files of the tree: each relative link leads to a file or folder of the tree, and each
anchor to a heading, named as GitHub names it.

    tests/links.py [PROJECT]

Prints each broken link as FILE:LINE: reason, and exits 1 if there is one. Addresses of other sites are not fetched.
docs/site.py makes the links of the documentation site with the same functions.
"""
import os
import pathlib
import re
import sys
import urllib.parse

SKIPPED_FOLDERS = {".git", "build", "node_modules", "__pycache__", ".pytest_cache", ".venv", "env"}
LINK = re.compile(r"(?<!\\)\[(?:[^\[\]\\]|\\.|\[[^\[\]]*\])*\]\(([^()\s]+)\)")
CODE = re.compile(r"(`+)(?:(?!\1).)+?\1")


def markdown_files(project):
    for folder, folders, files in os.walk(project):
        folders[:] = sorted(set(folders) - SKIPPED_FOLDERS)
        for name in sorted(files):
            if name.endswith(".md"):
                yield pathlib.Path(folder, name)


def without_code(text):
    """The text of a page, where fenced blocks are blank and code in a line is x."""
    fence, lines = None, []
    for line in text.split("\n"):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if fence is None and not mark:
            lines.append(CODE.sub(lambda code: "x" * len(code[0]), line))
            continue
        lines.append(" " * len(line))
        if fence is None:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = None
    return "\n".join(lines)


def links(text):
    """(offset, end) of the target of each link and picture of a page."""
    return [link.span(1) for link in LINK.finditer(without_code(text))]


def slug(heading, separator="-"):
    """The anchor of a heading without markup, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def anchors(text):
    """The anchors of a page's headings."""
    found = set()
    shown = without_code(text).split("\n")
    for line, original in zip(shown, text.split("\n")):
        if re.match(r"#{1,6}\s", line):
            base = slug(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", original.strip("# ")))
            name, count = base, 0
            while name in found:
                count += 1
                name = f"{base}-{count}"
            found.add(name)
    return found


def check(project):
    broken = count = 0
    for page in markdown_files(project):
        text = page.read_text(encoding="utf-8")
        for begin, end in links(text):
            link = text[begin:end]
            if re.match(r"[a-z][a-z0-9+.-]*:", link):
                continue
            count += 1
            path, _, anchor = urllib.parse.unquote(link).partition("#")
            target = page if path == "" else page.parent / path
            reason = None
            if path.startswith("/") or not target.resolve().is_relative_to(project.resolve()):
                reason = "leads out of the tree"
            elif not target.exists():
                reason = "leads to nothing"
            elif anchor and (target.suffix != ".md" or anchor not in anchors(target.read_text(encoding="utf-8"))):
                reason = "leads to no heading"
            if reason:
                number = text.count("\n", 0, begin) + 1
                print(f"{page.relative_to(project)}:{number}: the link {link} {reason}")
                broken += 1
    print(f"figure: links {count}, broken {broken}")
    return 1 if broken or count == 0 else 0


if __name__ == "__main__":
    sys.exit(check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent))
