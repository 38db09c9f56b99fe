#!/usr/bin/env python3
"""Compares the binary interface with tests/install/abi.txt: the sonames, the exported symbols with their versions, the prototypes,
the size of each public struct, the offset and size of each field, and the value of each enumerator. A released interface may only
grow: a field goes behind the last one of a struct that has struct_size, never into padding.
    abi.py [--write] LIBSSTORE.SO LIBSSTORE-TEXT.SO
Environment: CC, NM, OBJDUMP"""
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent.parent / "libstore" / "include"
HEADERS = sorted(header.name for header in INCLUDE.glob("*.h"))
EXPECTED = HERE / "abi.txt"


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def fields_of(body):
    """The names of a struct's fields, whose declarations are all of the form TYPE NAME, NAME[N], *NAME."""
    for declaration in body.split(";"):
        for part in declaration.split(","):
            name = re.search(r"(\w+)\s*(\[[^\]]*\])?\s*$", part)
            if name:
                yield name.group(1)


def layout_program(text):
    """A C program that prints the layout of all structs and the values of all enumerators."""
    lines = [f"#include <{header}>" for header in HEADERS] + ["#include <stdio.h>", "int main(void)", "{"]
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", text, flags=re.DOTALL):
        lines.append(f'printf("struct {name} %zu\\n", sizeof({name}));')
        for field in fields_of(body):
            place = f"offsetof({name}, {field}), sizeof((({name} *)0)->{field})"
            lines.append(f'printf("  {field} at %zu, %zu\\n", {place});')
    for body, name in re.findall(r"typedef enum \w+ \{(.*?)\} (\w+);", text, flags=re.DOTALL):
        lines.append(f'printf("enum {name} %zu\\n", sizeof({name}));')
        for value in re.findall(r"(\w+) = ", body):
            lines.append(f'printf("  {value} %d\\n", (int){value});')
    return "\n".join(lines + ["return 0;", "}", ""])


def layouts(text):
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "layout.c"), os.path.join(folder, "layout")
        pathlib.Path(source).write_text(layout_program(text))
        subprocess.run([os.environ.get("CC", "cc"), "-std=c11", f"-I{INCLUDE}", source, "-o", program], check=True)
        return subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout


def prototypes(text):
    """The declarations of all functions and of all types of callbacks, one in a line."""
    functions = re.findall(r"SSTORE_API ([^;]*);", text)
    callbacks = re.findall(r"(typedef int \(\*[^;]*);", text)
    return "".join(" ".join(declaration.split()) + "\n" for declaration in functions + callbacks)


def public_text():
    return without_comments("".join((INCLUDE / header).read_text() for header in HEADERS))


def symbols(library):
    listing = subprocess.run([os.environ.get("NM", "nm"), "-D", "--defined-only", library], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    names = sorted(line.split()[2] for line in listing.splitlines() if " T " in line)
    return "".join(f"{pathlib.Path(library).name.split('.')[0]} {name}\n" for name in names)


def soname(library):
    headers = subprocess.run([os.environ.get("OBJDUMP", "objdump"), "-p", library], check=True, stdout=subprocess.PIPE,
                             text=True).stdout
    return "soname " + re.search(r"SONAME\s+(\S+)", headers).group(1) + "\n"


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    if len(arguments) != 2:
        sys.exit(__doc__)
    text = public_text()
    found = "".join(soname(library) + symbols(library) for library in arguments) + prototypes(text) + layouts(text)
    if "--write" in sys.argv:
        EXPECTED.write_text(found)
        return 0
    expected = EXPECTED.read_text()
    if found == expected:
        print(f"abi: {len(found.splitlines())} lines, as expected")
        return 0
    sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), found.splitlines(True), "abi.txt", "this build"))
    print("The binary interface changed. If it only grew, run abi.py --write, and commit abi.txt with the change.")
    return 1


if __name__ == "__main__":
    sys.exit(main())
