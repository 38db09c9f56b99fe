#!/usr/bin/env python3
"""Checks that the recipes of packaging/ fit this tree: version, dependencies, options, installed files, licence, syntax.

  check_recipes.py PROJECT [BUILD]     BUILD, if it is there, is installed to compare the files that recipes name
Prints each breach, and exits 1 if there is one.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
BUILD = sys.argv[2] if len(sys.argv) > 2 else None
PACKAGING = ROOT / "packaging"
RECIPES = {
    "debian": PACKAGING / "debian/control",
    "homebrew": PACKAGING / "homebrew/sstore.rb",
    "vcpkg": PACKAGING / "vcpkg/vcpkg.json",
    "conda": PACKAGING / "conda/recipe.yaml",
}
# What CMakeLists.txt asks pkg-config for, and its name in Debian, Homebrew, vcpkg (the library alone) and conda-forge.
NAMES = {
    "lmdb": ("liblmdb-dev", "lmdb", "lmdb", "lmdb"),
    "libxxhash": ("libxxhash-dev", "xxhash", "xxhash", "xxhash"),
    "libutf8proc": ("libutf8proc-dev", "utf8proc", "utf8proc", "libutf8proc"),
    "zlib": ("zlib1g-dev", "zlib", None, "zlib"),
    "libzstd": ("libzstd-dev", "zstd", None, "zstd"),
    "sqlite3": ("libsqlite3-dev", "sqlite", None, "libsqlite"),
    "icu-uc": ("libicu-dev", None, None, None),  # the others build without it
    "libmicrohttpd": ("libmicrohttpd-dev", "libmicrohttpd", None, "libmicrohttpd"),
}
# What else a recipe needs to build.
BUILD_TOOLS = {
    "debian": {"debhelper-compat", "cmake", "ninja-build", "pkg-config", "libcmocka-dev"},
    "homebrew": {"cmake", "ninja", "pkgconf"},
    "vcpkg": {"vcpkg-cmake", "vcpkg-cmake-config"},
    "conda": {"cmake", "ninja", "pkg-config"},
}
breaches = 0


def breach(path, reason):
    global breaches
    breaches += 1
    print(f"{path.relative_to(ROOT)}: {reason}")


def expect(path, what, found, wanted):
    if found != wanted:
        breach(path, f"{what} is {found!r}, but should be {wanted!r}")


def find(path, pattern):
    found = re.search(pattern, path.read_text(), re.M)
    return found.group(1) if found else None


def block(path, begin, end):
    """The text between two patterns."""
    return re.search(f"{begin}(.*?){end}", path.read_text(), re.S | re.M).group(1)


def check_versions():
    version = find(ROOT / "libstore/include/sstore.h", r'^#define SSTORE_VERSION_STRING "(.*)"')
    for path, pattern in (
        (PACKAGING / "debian/changelog", r"^sstore \((.*?)\)"),
        (RECIPES["homebrew"], r"/sstore-([0-9.]+)\.tar\.gz"),
        (RECIPES["vcpkg"], r'"version": "(.*)"'),
        (RECIPES["conda"], r'^  version: "(.*)"'),
    ):
        expect(path, "the version", find(path, pattern), version)
    soname = find(ROOT / "libstore/CMakeLists.txt", r"set\(abi_version (\d+)\)")
    for name in (f"Package: libsstore{soname}\n", f" libsstore{soname} (= ${{binary:Version}})"):
        if name not in RECIPES["debian"].read_text():
            breach(RECIPES["debian"], f"there is no '{name.strip()}'")
    symbols = PACKAGING / f"debian/libsstore{soname}.symbols"
    for library in ("sstore", "sstore-text"):
        nodes = re.findall(r"^(SSTORE_\w+) \{", (ROOT / f"libstore/src/{library}.map").read_text(), re.M)
        text = block(symbols, rf"^lib{library}\.so\.{soname} ", r"(?=^lib|\Z)")
        expect(symbols, f"the versions of {library}'s symbols", re.findall(r"\(symver\)(\w+)", text), nodes)


def dependencies():
    """What each recipe depends on."""
    control = block(RECIPES["debian"], "^Build-Depends:\n", r"^\S")
    formula = re.findall(r'depends_on "(.*?)"', RECIPES["homebrew"].read_text())
    port = [d if isinstance(d, str) else d["name"] for d in json.loads(RECIPES["vcpkg"].read_text())["dependencies"]]
    recipe = re.findall(r"^    - ([\w-]+)$", block(RECIPES["conda"], "^requirements:\n", "^tests:"), re.M)
    return {
        "debian": re.findall(r"^ ([\w-]+)", control, re.M),
        "homebrew": formula,
        "vcpkg": port,
        "conda": recipe,
    }


def check_dependencies():
    cmake = (ROOT / "CMakeLists.txt").read_text()
    modules = re.findall(r"pkg_check_modules\([^)]*?([\w-]+)(?:>=[\d.]+)?\)", cmake)
    for module in modules:
        if module not in NAMES:
            breach(ROOT / "CMakeLists.txt", f"{module} has no row in tests/install/check_recipes.py")
    for column, (kind, found) in enumerate(dependencies().items()):
        wanted = {NAMES[m][column] for m in modules if m in NAMES and NAMES[m][column]} | BUILD_TOOLS[kind]
        expect(RECIPES[kind], "the set of dependencies", sorted(found), sorted(wanted))
    for module, minimum in re.findall(r"([\w-]+)>=([\d.]+)\)", cmake):
        name = NAMES.get(module, [module])[0]
        if name != "libsqlite3-dev" and f" {name} (>= {minimum})" not in RECIPES["debian"].read_text():
            breach(RECIPES["debian"], f"{name} is not required from {minimum} on")
    helper = ROOT / "tests/packages.sh"
    for module in modules:
        if module in NAMES and f"need_module {module} {NAMES[module][0]}\n" not in helper.read_text():
            breach(helper, f"need_libraries lacks {module}")


def check_options():
    cmake = (ROOT / "CMakeLists.txt").read_text()
    known = set(re.findall(r"(?:option|set)\((SSTORE_\w+) ", cmake))
    for path in PACKAGING.rglob("*"):
        if path.is_file():
            for name in re.findall(r"-D(SSTORE_\w+)", path.read_text()):
                if name not in known:
                    breach(path, f"CMakeLists.txt has no option {name}")


def check_files():
    """Installs the build, and looks for what Debian's lists and conda's tests name."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cmake", "--install", BUILD, "--prefix", folder], check=True, stdout=subprocess.DEVNULL)
        root = pathlib.Path(folder)
        files = {str(p.relative_to(root)) for p in root.rglob("*") if not p.is_dir()}
    listed = set()
    for path in (PACKAGING / "debian").glob("*.install"):
        if path.name == "sstore-doc.install":
            continue
        for pattern in (line.split()[0] for line in path.read_text().splitlines()):
            if pattern.startswith("packaging/"):  # of the tree itself
                if not any(ROOT.glob(pattern)):
                    breach(path, f"there is no {pattern}")
                continue
            regex = re.compile(pattern.removeprefix("usr/").replace(".", r"\.").replace("lib/*/", r"lib/([^/]+/)?").replace("*", "[^/]*") + "(/.*)?")
            found = {f for f in files if regex.fullmatch(f)}
            if not found:
                breach(path, f"nothing is installed as {pattern}")
            listed |= found
    for name in sorted(files - listed):
        breach(PACKAGING / "debian", f"no package has {name}")
    contents = block(RECIPES["conda"], "package_contents:\n", r"^  - script")
    for name in re.findall(r"^        - (.*)$", contents, re.M):
        wanted = (name, f"include/{name}", f"bin/{name}", f"lib/lib{name}.so")
        if not any(re.sub(r"^lib/[^/]*-linux-gnu/", "lib/", f) in wanted for f in files):
            breach(RECIPES["conda"], f"nothing is installed as {name}")


def check_licence():
    text = re.sub(r"\s+", " ", (ROOT / "LICENSE").read_text().split("\n\n", 2)[2]).strip()
    copyright_file = PACKAGING / "debian/copyright"
    lines = copyright_file.read_text().partition("License: Expat\n")[2]
    expect(copyright_file, "the licence", re.sub(r"\s+", " ", re.sub(r"(?m)^ \.$", "", lines)).strip(), text)
    holder = find(ROOT / "LICENSE", r"^Copyright \(c\) (.*)$")
    expect(copyright_file, "the holder", find(copyright_file, r"^Copyright: (.*)$"), holder)


def check_syntax():
    if shutil.which("ruby"):
        done = subprocess.run(["ruby", "-c", RECIPES["homebrew"]], capture_output=True, text=True)
        if done.returncode != 0:
            breach(RECIPES["homebrew"], done.stderr)
    else:
        print("not tried: the formula's syntax, since there is no ruby")
    try:
        import rattler_build  # pip install py-rattler-build
    except ImportError:
        print("not tried: rendering the recipe, since there is no rattler_build")
    else:
        compilers = "c_compiler: [gcc]\nc_stdlib: [sysroot]\nc_stdlib_version: ['2.17']\n"
        recipe = rattler_build.Stage0Recipe.from_yaml(RECIPES["conda"].read_text())
        rendered = recipe.render(
            rattler_build.VariantConfig.from_yaml(compilers),
            rattler_build.RenderConfig(platform=rattler_build.PlatformConfig(target_platform="linux-64")),
        )
        expect(RECIPES["conda"], "the number of packages", len(rendered), 1)


check_versions()
check_dependencies()
check_options()
if BUILD:
    check_files()
check_licence()
check_syntax()
print(f"{breaches} breaches")
sys.exit(breaches > 0)
