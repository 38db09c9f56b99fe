#!/usr/bin/env python3
"""Makes the documentation site: all pages of the tree and the manual pages, in build/site. Open build/site/index.html.

    docs/site.py [FOLDER]     # another folder than build/site

Needs mkdocs, and mandoc for the manual pages (Debian: apt-get install mkdocs mandoc). Pages link to each other as they do in
the tree. Files of the tree that pages link to become pages of their text. The site has no scripts, and loads nothing from
elsewhere. The exit status is 1 if a page is in no menu, or a link leads nowhere, and 77 without mkdocs or mandoc.
"""
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(PROJECT / "tests"))
import links  # noqa: E402  (tests/links.py knows where links and headings are)

# Title, page in the tree. The site has each at the place that site_path() gives.
MENU = {
    "Start": [("Overview", "README.md"), ("Install", "docs/install.md"), ("Tutorial", "docs/tutorial.md")],
    "Use": [
        ("Commands", "docs/guide.md"),
        ("Examples", "docs/examples.md"),
        ("Settings", "docs/settings.md"),
        ("Plans", "docs/plans.md"),
        ("Operation", "docs/operation.md"),
        ("Other programs", "docs/interchange.md"),
        ("Service", "docs/service.md"),
        ("Many machines", "docs/cluster.md"),
        ("SQLite", "docs/sqlite.md"),
        ("C", "docs/c.md"),
        ("Python", "python/README.md"),
    ],
    "Trust": [
        ("Guarantees", "docs/guarantees.md"),
        ("Security", "SECURITY.md"),
        ("Benchmarks", "bench/README.md"),
        ("Measurements", "bench/figures.md"),
        ("Attempts", "bench/attempts.md"),
        ("PDQ hashes", "bench/pdq/README.md"),
        ("Tests", "tests/README.md"),
        ("Fuzzing", "tests/fuzz/README.md"),
    ],
    "Format": [
        ("Overview", "format-spec/README.md"),
        ("Store", "format-spec/sstore-format.md"),
        ("Blocks", "format-spec/block-codec.md"),
        ("Smallest store", "format-spec/smallest-store.md"),
        ("Fingerprints of text", "format-spec/fingerprint.md"),
        ("Errata", "format-spec/errata.md"),
        ("Test stores", "format-spec/vectors/README.md"),
        ("Second decoder", "format-spec/decoder/README.md"),
    ],
    "Project": [
        ("Contributing", "CONTRIBUTING.md"),
        ("Where to add something", "docs/adding.md"),
        ("Dependencies and packages", "packaging/README.md"),
        ("Changelog", "CHANGELOG.md"),
    ],
}


def site_path(path):
    """The page of the site for a file of the tree: README.md is the index of its folder. Pictures stay as they are."""
    if path.suffix == ".md":
        return path.with_name("index.md") if path.name == "README.md" else path
    if path.suffix in (".png", ".svg"):
        return path
    if re.fullmatch(r"sstore[a-z-]*\.1", path.name):
        return pathlib.Path("man", path.name + ".md")
    return pathlib.Path("source", str(path) + ".md")


def as_python_markdown(text):
    """GitHub's Markdown as the site's reads it: a list or table begins after a blank line, and code in a table has plain bars."""
    lines, shown = [], links.without_code(text).split("\n")
    for line, outside in zip(text.split("\n"), shown):
        kind = next((kind for kind, form in (("list", r"([-*]|\d+\.) "), ("table", r"\|")) if re.match(form, outside)), "text")
        if kind != "text" and lines and lines[-1].strip() and previous == "text" and not lines[-1].startswith(" "):
            lines.append("")
        if kind == "table":
            line = links.CODE.sub(lambda code: code[0].replace("\\|", "|"), line)
        lines.append(line)
        if not outside.startswith(" "):
            previous = kind
    return "\n".join(lines)


def write_page(pages, path, text):
    target = pages / site_path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def relative(target, page):
    """The link from a page of the site to another one."""
    up = len(page.parent.parts)
    return "../" * up + target.as_posix()


def convert(pages, path):
    """Write a page with its links as the site has them. Returns the other files of the tree that it shows or links to."""
    text = (PROJECT / path).read_text(encoding="utf-8")
    files = set()
    for begin, end in reversed(links.links(text)):
        target, hash_sign, anchor = text[begin:end].partition("#")
        if target and not re.match(r"[a-z]+:", target):
            file = (PROJECT / path.parent / target).resolve().relative_to(PROJECT)
            if file.suffix != ".md":
                files.add(file)
            text = text[:begin] + relative(site_path(file), site_path(path)) + hash_sign + anchor + text[end:]
    write_page(pages, path, as_python_markdown(text))
    return files


def convert_manual(pages, path, names):
    """A manual page as HTML, where the names of the others are links."""
    made = subprocess.run(["mandoc", "-T", "html", "-O", "fragment,man=%N.%S.html", PROJECT / path], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    made = re.sub(r'<a class="Xr" href="([^"]*)\.html">(.*?)</a>', lambda link: link[0] if link[1] in names else link[2], made)
    # A blank line would end the block of HTML within Markdown.
    write_page(pages, path, f"# {path.stem}\n\n<div class=\"manual\">\n" + re.sub(r"\n\s*\n", "\n", made) + "</div>\n")


class Ids(html.parser.HTMLParser):
    """The anchors of a page of the site, and its links."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.add(attributes.get("id"))
        self.links += [attributes[name] for name in ("href", "src") if attributes.get(name)]


def check(site):
    """Print the links of the site that lead nowhere, and everything that it would load from elsewhere."""
    parsed = {page: Ids(page) for page in sorted(site.rglob("*.html"))}
    broken = 0
    for page, ids in parsed.items():
        for link in ids.links:
            target, _, anchor = link.partition("#")
            file = (page.parent / target).resolve() if target else page
            if not re.match(r"[a-z]+:", link) and (not file.is_file() or (anchor and anchor not in parsed[file].ids)):
                print(f"{page.relative_to(site)}: the link {link} leads nowhere", file=sys.stderr)
                broken += 1
        foreign = re.search(r"<script|<(?:img|link|iframe)[^>]*\s(?:src|href)=\"https?:", page.read_text(encoding="utf-8"))
        if foreign:
            print(f"{page.relative_to(site)}: {foreign[0]}", file=sys.stderr)
            broken += 1
    print(f"figure: pages {len(parsed)}, links {sum(len(ids.links) for ids in parsed.values())}, broken {broken}")
    return broken == 0


def main():
    site = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else PROJECT / "build" / "site").resolve()
    for command in ("mkdocs", "mandoc"):
        if shutil.which(command) is None:
            print(f"docs/site.py: there is no {command}; on Debian: apt-get install mkdocs mandoc", file=sys.stderr)
            return 77
    work = site.with_name(site.name + "-pages")
    shutil.rmtree(work, ignore_errors=True)
    pages = work / "docs"
    in_menu = {pathlib.Path(path) for entries in MENU.values() for _, path in entries}
    missing = {page.relative_to(PROJECT) for page in links.markdown_files(PROJECT)} - in_menu
    if missing:
        print("docs/site.py: not in the menu:", *sorted(missing), file=sys.stderr)
        return 1

    files = set().union(*(convert(pages, path) for path in in_menu))
    manuals = sorted((path.relative_to(PROJECT) for path in (PROJECT / "tools" / "man").glob("*.1")), key=lambda path: path.stem)
    for path in manuals:
        convert_manual(pages, path, {manual.name for manual in manuals})
    for path in sorted(files - set(manuals)):
        if site_path(path) == path:
            (pages / path.parent).mkdir(parents=True, exist_ok=True)
            shutil.copy(PROJECT / path, pages / path)
            continue
        text = (PROJECT / path).read_text(encoding="utf-8")
        write_page(pages, path, f"# {path}\n\n~~~~~~~~\n{text}\n~~~~~~~~\n")
    shutil.copy(PROJECT / "docs" / "site" / "style.css", pages)

    menu = {name: [(title, site_path(pathlib.Path(path))) for title, path in entries] for name, entries in MENU.items()}
    menu["Manual"] = [(path.stem, site_path(path)) for path in manuals]
    config = ["site_name: sstore", "docs_dir: docs", f"site_dir: {site}", "use_directory_urls: false", "plugins: []",
              f"theme: {{name: null, custom_dir: {PROJECT / 'docs' / 'site'}}}",
              "markdown_extensions: [tables, fenced_code, sane_lists, {toc: {slugify: !!python/name:links.slug }}]", "nav:"]
    for name, entries in menu.items():
        config += [f"  - {name}:"] + [f"    - {title}: {page}" for title, page in entries]
    (work / "mkdocs.yml").write_text("\n".join(config) + "\n", encoding="utf-8")
    made = subprocess.run(["mkdocs", "build", "--strict", "--clean", "--config-file", work / "mkdocs.yml"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=os.environ | {"PYTHONPATH": str(PROJECT / "tests"), "PYTHONDONTWRITEBYTECODE": "1"})
    if made.returncode != 0:
        print(made.stdout, file=sys.stderr)
        return 1
    return 0 if check(site) else 1


if __name__ == "__main__":
    sys.exit(main())
