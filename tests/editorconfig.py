#!/usr/bin/env python3
"""Checks that every file of the tree is as .editorconfig says: its characters, ends of lines, blanks at their ends, tabs, and
the length of lines. (The size of an indentation is for clang-format and ruff.)

    tests/editorconfig.py [PROJECT]

Prints each breach as FILE:LINE: reason, and exits 1 if there is one.
"""
import pathlib
import re
import subprocess
import sys

WILDCARDS = {"**": ".*", "*": "[^/]*", "?": "[^/]", "{": "(?:", ",": "|", "}": ")"}


def as_regex(glob):
    """The regular expression for a section's glob: one without a slash holds for the files of every folder."""
    form = re.sub(r"\*\*|.", lambda part: WILDCARDS.get(part[0], re.escape(part[0])), glob)
    return re.compile(form if "/" in glob else "(?:.*/)?" + form)


def read_sections(path):
    """(regular expression, properties) of each section, in their order: later ones win."""
    sections = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            sections.append((as_regex(line[1:-1]), {}))
        elif sections and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            sections[-1][1][name.strip()] = value.strip()
    return sections


def file_breaches(content, rules):
    """(line, reason) of what the rules forbid in a whole file."""
    if rules.get("charset") == "utf-8":
        try:
            content.decode("utf-8")
        except UnicodeDecodeError as error:
            yield content.count(b"\n", 0, error.start) + 1, "not UTF-8"
    if rules.get("insert_final_newline") == "true" and content and not content.endswith(b"\n"):
        yield content.count(b"\n") + 1, "the last line does not end in a newline"


def line_breaches(line, rules):
    """Reasons for which the rules forbid a line."""
    if rules.get("end_of_line") == "lf" and b"\r" in line:
        yield "a carriage return"
    if rules.get("trim_trailing_whitespace") == "true" and line != line.rstrip():
        yield "blanks at the end"
    if rules.get("indent_style") == "space" and re.match(rb" *\t", line):
        yield "indented by a tab"
    longest = rules.get("max_line_length", "off")
    if longest.isdecimal() and len(line.decode("utf-8", "replace")) > int(longest):
        yield f"more than {longest} columns"


def main():
    project = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    sections = read_sections(project / ".editorconfig")
    names = subprocess.run(["bash", "-c", ". tests/tree.sh && tree_files"], cwd=project, check=True, stdout=subprocess.PIPE)
    breaches = files = 0
    for name in sorted(names.stdout.decode().split("\0")[:-1]):
        name = name.removeprefix("./")
        if (project / name).is_symlink():
            continue
        files += 1
        rules = {}
        for regex, properties in sections:
            if regex.fullmatch(name):
                rules |= properties
        content = (project / name).read_bytes()
        found = list(file_breaches(content, rules))
        for number, line in enumerate(content.split(b"\n"), 1):
            found += ((number, reason) for reason in line_breaches(line, rules))
        for number, reason in found:
            print(f"{name}:{number}: {reason}")
        breaches += len(found)
    print(f"figure: files {files}, breaches {breaches}")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
