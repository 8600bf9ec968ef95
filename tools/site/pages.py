"""Where the repository's files are on the site, and the links and lists of their Markdown as the site needs them.

GitHub and the site read the same files. Links that lead out of docs/ lead to pages of the site as well: documents are included, sources and
folders become pages that show them.
"""

import pathlib
import posixpath
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Documents outside docs/ that are pages. README.md is for GitHub; the site starts with docs/index.md.
INCLUDED = [
    "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "clients/js/README.md", "clients/python/README.md",
    "conformance/README.md", "deploy/README.md", "deploy/runbook.md"]  # fmt: skip
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s#]+)")
ITEM = re.compile(r"( *)([-*]|\d+\.)( +)")
FENCE = re.compile(r" *(`{3,}|~{3,})")
LANGUAGES = {".proto": "protobuf", ".py": "python", ".js": "js", ".mjs": "js", ".yaml": "yaml", ".yml": "yaml", ".json": "json",
             ".swift": "swift", ".service": "ini", ".socket": "ini", ".conf": "nginx"}  # fmt: skip


def address(path):
    """The address on the site of a file or folder, whose path is given from the root of the repository."""
    if path == "README.md":
        return "index.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if (ROOT / path).is_dir():
        return f"repository/{path}/index.md"
    return f"repository/{path}" if path in INCLUDED else f"repository/{path}.md"


def source(uri):
    """The path in the repository of a document of the site, the inverse of `address` for documents."""
    return uri.removeprefix("repository/") if uri.startswith("repository/") else f"docs/{uri}"


def targets(path, text):
    """The paths in the repository that a document links to."""
    return {posixpath.normpath(posixpath.join(posixpath.dirname(path), link)) for link in LINK.findall(without_code(text))}


def without_code(text):
    return re.sub(r"^( *)(`{3,})\w*\n.*?^\1\2$|`[^`\n]+`", "", text, flags=re.MULTILINE | re.DOTALL)


def relinked(path, text):
    """The text of a document with the links that its page needs."""
    here = posixpath.dirname(address(path))

    def replaced(link):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link[0]))
        return posixpath.relpath(address(target), here or ".")

    return outside_fences(text, lambda line: LINK.sub(replaced, line))


def outside_fences(text, change):
    lines, end = [], None
    for line in text.split("\n"):
        fence = FENCE.match(line)
        if end is None:
            end = fence[1] if fence else None
            line = line if fence else change(line)
        elif fence and fence[1] == end:
            end = None
        lines.append(line)
    return "\n".join(lines)


def indented(text):
    """The text with lists as Python-Markdown reads them: four columns for each level, and an empty line before a list."""
    lines, levels, end, parts = [], [], None, False
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        previous = lines[-1] if lines else ""
        if end:
            lines.append(shifted(line, levels))
            end = None if FENCE.match(line) and FENCE.match(line)[1] == end else end
            continue
        if not line.strip():
            parts = bool(levels)
            lines.append(line)
            continue
        item = ITEM.match(line)
        if item or not previous.strip() or line.startswith("#"):
            while levels and indent < levels[-1]:
                levels.pop()
        # Also before the next item if an item has several paragraphs.
        if item and previous.strip() and not previous.startswith("#") and (parts or not levels and not lists(previous)):
            lines.append("")
        if item:
            lines.append(" " * (4 * len(levels)) + line.lstrip())
            levels.append(item.end())
        else:
            lines.append(shifted(line, levels))
            fence = FENCE.match(line)
            end = fence[1] if fence else None
    return "\n".join(lines)


def lists(line):
    """Whether a line belongs to a list."""
    return bool(ITEM.match(line)) or line.startswith("  ")


def shifted(line, levels):
    if not levels or not line.strip():
        return line
    indent = len(line) - len(line.lstrip())
    return " " * (4 * len(levels) + max(0, indent - levels[-1])) + line.lstrip()


def shown(path):
    """The Markdown of a page that shows a source file or a folder of the repository."""
    place = ROOT / path
    top = f"---\nsearch:\n  exclude: true\n---\n# {path}\n\n"
    if place.is_dir():
        names = sorted(child.name for child in place.iterdir() if child.is_file())
        return top + "\n".join(f"- [{name}]({name}.md)" for name in names) + "\n"
    text = place.read_text(encoding="utf-8")
    return f"{top}`````{LANGUAGES.get(place.suffix, 'text')}\n{text}\n`````\n"
