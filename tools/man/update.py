#!/usr/bin/env python3
"""Keeps the parts of the man pages that say what the tables of the commands say.

    tools/man/update.py SSTORE            prints what differs, and exits 1 if something does
    tools/man/update.py --write SSTORE    writes it into the pages

SSTORE is a built command. `SSTORE COMMAND --help=table` prints the tables (tools/commands/describe.c). In a page, such a
part stands between a line `.\\" [PART]` and a line `.\\" [end]`. An option's part is followed by what the page says
about the option beyond its help; that text stays with its option. All else in a page is written by hand. A command
without a page gets one that has only these parts.
"""

import datetime
import difflib
import pathlib
import re
import subprocess
import sys

NEW_PAGE = """.Dd {date}
.Dt SSTORE-{capitals} 1
.Os
.Sh NAME
.\\" [name]
.\\" [end]
.Sh SYNOPSIS
.\\" [synopsis]
.\\" [end]
.Sh DESCRIPTION
.\\" [description]
.\\" [end]
.Ss Options
.Bl -tag -width Ds
.\\" [options]
.\\" [end options]
.El
.\\" [notes]
.\\" [end]
.Sh EXIT STATUS
As in
.Xr sstore 1 .
.Sh EXAMPLES
.\\" [examples]
.\\" [end]
.Sh SEE ALSO
.Xr sstore 1
"""

FOLDER = pathlib.Path(__file__).resolve().parent
EVERY_COMMAND = {"help", "usage", "version"}  # sstore(1) describes these options
LINE = 118


class Tables:
    """The tables of one command."""

    def __init__(self, sstore, name, summary):
        self.name, self.summary = name, summary
        self.forms, self.options, self.examples, self.notes, self.description = [], [], [], [], ""
        output = subprocess.run([sstore, name, "--help=table"], check=True, capture_output=True, text=True).stdout
        for line in output.splitlines():
            kind, *fields = line.split("\t")
            if kind == "form":
                self.forms.append(fields[0])
            elif kind == "description":
                self.description = fields[0]
            elif kind == "option" and fields[0] not in EVERY_COMMAND:
                self.options.append(dict(zip(("name", "letter", "value", "choices", "help"), fields, strict=True)))
            elif kind == "example":
                self.examples.append(fields)
            elif kind == "note":
                self.notes.append(fields[0])
        words = {option["value"].strip("[]") for option in self.options} | set(re.findall(r"\b[A-Z]+\b", " ".join(self.forms)))
        self.variables = words - {""}


def read_commands(sstore):
    """All commands, in the order of the help, with their summaries."""
    output = subprocess.run([sstore, "--help"], check=True, capture_output=True, text=True).stdout
    return re.findall(r"^  ([a-z]+) {2,}(\S.*)$", output, re.M)


# ----- text as mdoc -----


def macro_of(word, variables, choices, in_list):
    """The macro for a word of a help text and its arguments; None: plain text."""
    if match := re.fullmatch(r"'sstore ([a-z]+)'", word):
        return f"Xr sstore-{match[1]} 1"
    if match := re.fullmatch(r"'(.+)'|(--?)", word):
        return f"Ql {match[1] or match[2]}"
    if match := re.fullmatch(r"-(-[a-z-]+|[a-z])", word):
        return f"Fl {match[1]}"
    if match := re.fullmatch(r"([A-Z]+)(s?)", word):
        if match[1] in variables:
            return f"Ar {match[1].lower()}" + (" Ns s" if match[2] else "")
        if match[1] == "TMPDIR":
            return "Ev TMPDIR"
    return f"Cm {word}" if word in choices and in_list else None


def mdoc(text, variables, choices=()):
    """A help text as lines of mdoc: sentences, each on lines of its own."""
    text = text[0].upper() + text[1:] if text.split()[0].rstrip(",:;") not in choices else text
    text += "" if text.endswith(".") else "."
    lines, current, in_list = [], "", True

    def flush():
        nonlocal current
        if current:
            lines.append(re.sub(r"^([.'])", r"\\&\1", current))
        current = ""

    for token in re.findall(r"\(?'[^']*'[.,:;)]*|\S+", text):
        opening, word, closing = re.fullmatch(r"(\(?)(.*?)([.,:;)]*)", token).groups()
        macro = macro_of(word, variables, choices, in_list)
        in_list = closing[-1:] in (",", ";", ":") or word == "or"
        if macro:
            flush()
            lines.append(" ".join(filter(None, [f".{macro.split()[0]}", opening, *macro.split()[1:], *closing])))
        else:
            if len(current) + len(token) >= LINE:
                flush()
            current += (" " if current else "") + token
            if closing.endswith("."):
                flush()
    flush()
    return lines


# ----- the parts -----


def name_part(tables):
    return [f".Nm sstore-{tables.name}", f".Nd {tables.summary}"]


def synopsis_part(tables):
    lines = []
    for form in tables.forms:
        lines += [f".Nm sstore {tables.name}", ".Op Ar option ..."]
        for word in re.findall(r"\[[^]]*\]|\S+", form):
            option, _, value = word.strip("[]").rpartition("=")
            value = value.lower().replace("...", " ...")
            if value.startswith("--"):
                line = f"Fl {value[1:]}"
            else:
                line = (f"Fl {option[1:]} " if option else "") + f"Ar {value}"
            lines.append(f".Op {line}" if word.startswith("[") else f".{line}")
    return lines


def description_part(tables):
    return mdoc(tables.description, tables.variables)


def option_part(tables, option):
    heading = f"Fl {option['letter']} , " if option["letter"] else ""
    heading += f"Fl -{option['name']}"
    choices = option["choices"].split()
    if choices:
        named = "Cm " + " | ".join(choices)
        heading += f" Ns Op = Ns {named}" if option["value"].startswith("[") else f" {named}"
    elif option["value"].startswith("["):
        heading += f" Ns Op = Ns Ar {option['value'].strip('[]').lower()}"
    elif option["value"]:
        heading += f" Ar {option['value'].lower()}"
    return [f".It {heading}", *mdoc(option["help"], tables.variables, choices)]


def notes_part(tables):
    lines = []
    for note in tables.notes:
        words = {name for name in tables.variables if len(name) > 1}  # K, M, G and T are suffixes there
        lines += [".Pp", *mdoc(note, words)]
    return lines


def examples_part(tables):
    lines = []
    for text, command in tables.examples:
        lines += [*([".Pp"] if lines else []), f"{text[0].upper()}{text[1:]}:", f".Dl $ {command}"]
    return lines


def commands_part(commands):
    lines = []
    for name, summary in commands:
        lines += [f".It Cm {name}", f"{summary}; see", f".Xr sstore-{name} 1"]
    return lines


def see_also_part(commands):
    names = sorted(name for name, _ in commands)
    return [f".Xr sstore-{name} 1" + (" ," if name != names[-1] else "") for name in names]


# ----- pages -----


def marked(part, lines):
    return [f'.\\" [{part}]', *lines, '.\\" [end]']


def options_block(lines, tables, path):
    """The list of options: the part of each, and the text of the page that followed it."""
    texts, current = {}, None
    inside = False
    for line in lines:
        if match := re.fullmatch(r'\.\\" \[option (.*)\]', line):
            current, inside = match[1], True
            texts[current] = []
        elif line == '.\\" [end]' and inside:
            inside = False
        elif not inside and current is None:
            sys.exit(f"{path.name}: a text stands before the first option: {line}")
        elif not inside:
            texts[current].append(line)
    result = []
    for option in tables.options:
        result += marked(f"option {option['name']}", option_part(tables, option)) + texts.pop(option["name"], [])
    if lost := [name for name, text in texts.items() if text]:
        sys.exit(f"{path.name}: these options have a text, but are not options of the command: {' '.join(lost)}")
    return result


def update(page, parts, tables, path):
    """The text of a page with its parts as they must be."""
    result, lines, used = [], iter(page.splitlines()), set()
    for line in lines:
        match = re.fullmatch(r'\.\\" \[(.*)\]', line)
        if not match:
            result.append(line)
            continue
        part = match[1]
        used.add(part)
        end = '.\\" [end options]' if part == "options" else '.\\" [end]'
        block = []
        for inner in lines:
            if inner == end:
                break
            block.append(inner)
        else:
            sys.exit(f"{path.name}: '{line}' has no '{end}'")
        if part == "options":
            result += [line, *options_block(block, tables, path), end]
        elif part in parts:
            result += marked(part, parts[part])
        else:
            sys.exit(f"{path.name}: there is no part '{part}'")
    if missing := [part for part, text in parts.items() if part not in used and text]:
        sys.exit(f"{path.name}: these parts are missing: {' '.join(missing)}")
    return "\n".join(result) + "\n"


def update_all(sstore):
    """Yields (path, text as it is, text as it must be)."""
    commands = read_commands(sstore)
    path = FOLDER / "sstore.1"
    page = path.read_text()
    yield path, page, update(page, {"commands": commands_part(commands), "see also": see_also_part(commands)}, None, path)
    for name, summary in commands:
        tables = Tables(sstore, name, summary)
        parts = {
            "name": name_part(tables),
            "synopsis": synopsis_part(tables),
            "description": description_part(tables),
            "notes": notes_part(tables),
            "examples": examples_part(tables),
        }
        if tables.options:
            parts["options"] = [""]
        path = FOLDER / f"sstore-{name}.1"
        page = path.read_text() if path.exists() else ""
        new = NEW_PAGE.format(date=f"{datetime.date.today():%B %-d, %Y}", capitals=name.upper())
        yield path, page, update(page or new, parts, tables, path)


def main():
    write = sys.argv[1:2] == ["--write"]
    if len(sys.argv) != 2 + write:
        sys.exit(__doc__)
    differs = False
    for path, old, new in update_all(sys.argv[1 + write]):
        if old == new:
            continue
        differs = True
        if write:
            path.write_text(new)
        else:
            sys.stdout.writelines(
                difflib.unified_diff(old.splitlines(True), new.splitlines(True), f"{path.name}", "by the tables")
            )
    return 1 if differs and not write else 0


if __name__ == "__main__":
    sys.exit(main())
