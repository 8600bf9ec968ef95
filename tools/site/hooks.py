"""MkDocs' hooks: pages outside docs/, the generated reference, and Markdown as Python-Markdown reads it."""

import pathlib
import sys

from mkdocs.structure.files import File
from pymdownx.slugs import slugify

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

import command_line  # noqa: E402
import configuration  # noqa: E402
import contract  # noqa: E402
import pages  # noqa: E402


def on_config(config):
    # Headings have the same anchors as on GitHub.
    config.mdx_configs.setdefault("toc", {})["slugify"] = slugify(case="lower")
    return config


def on_files(files, config):
    generated = {**contract.pages(), **configuration.pages(), **command_line.pages()}
    for uri, text in generated.items():
        files.append(File.generated(config, uri, content=text))
    for section in config.nav:
        for entry in section.get("Reference", []):
            if "The contract" in entry:
                entry["The contract"] = [uri for uri in generated if uri.startswith("reference/contract/")]
    add_unlisted(config.nav, files)
    for name in ("iframe-worker.js", "site.css"):
        files.append(File.generated(config, f"assets/{name}", abs_src_path=str(FOLDER / name)))
    for path in pages.INCLUDED:
        files.append(File.generated(config, pages.address(path), abs_src_path=str(pages.ROOT / path)))
    add_shown(files, config)
    return files


def add_unlisted(nav, files):
    """Lists the pages of docs/ that mkdocs.yml does not place, so that every page can be reached."""
    unlisted = sorted({file.src_uri for file in files.documentation_pages() if file.generated_by is None} - set(listed(nav)))
    guides = next(section["Guides"] for section in nav if "Guides" in section)
    guides += [{"More": unlisted}] if unlisted else []


def listed(nav):
    """The addresses in a part of the navigation."""
    if isinstance(nav, str):
        yield nav
    else:
        for part in nav.values() if isinstance(nav, dict) else nav:
            yield from listed(part)


def add_shown(files, config):
    """Adds a page for each source file and folder that a document links to."""
    documents = [pages.source(file.src_uri) for file in files.documentation_pages()]
    documents = [path for path in documents if (pages.ROOT / path).is_file()]
    wanted = set().union(*(pages.targets(path, (pages.ROOT / path).read_text("utf-8")) for path in documents))
    folders = {path for path in wanted if (pages.ROOT / path).is_dir()}
    wanted |= {f"{folder}/{child.name}" for folder in folders for child in (pages.ROOT / folder).iterdir() if child.is_file()}
    for path in sorted(wanted):
        uri = pages.address(path)
        if uri.startswith("repository/") and (pages.ROOT / path).exists() and files.get_file_from_path(uri) is None:
            file = File.generated(config, uri, content=pages.shown(path))
            file.inclusion = file.inclusion.NOT_IN_NAV
            files.append(file)


def on_page_markdown(markdown, page, config, files):
    path = pages.source(page.file.src_uri)
    if (pages.ROOT / path).is_file() and path.endswith(".md"):
        markdown = pages.relinked(path, markdown)
    return pages.indented(markdown)
