"""The software bill of materials: SPDX 2.3 from the resolved Swift packages and the Debian libraries of the program."""

import datetime
import json
import os
import re
import subprocess
import uuid

LICENSES = (("Apache License", "Apache-2.0"), ("MIT License", "MIT"), ("Permission is hereby granted, free of charge", "MIT"))


def _license(checkout):
    """The SPDX id of a package's license; NOASSERTION for a text that is not recognized."""
    for file in sorted(checkout.glob("LICEN[CS]E*")):
        text = file.read_text(errors="replace")[:3_000]
        for phrase, name in LICENSES:
            if phrase in text:
                return name
    return "NOASSERTION"


def _id(*parts):
    return "SPDXRef-" + "-".join(re.sub(r"[^A-Za-z0-9.]+", "-", part).strip("-") for part in parts)


def swift_packages(root):
    """The pinned packages of Package.resolved as SPDX packages."""
    pins = json.loads((root / "Package.resolved").read_text())["pins"]
    checkouts = root / ".build" / "checkouts"
    if not checkouts.is_dir():
        raise SystemExit(f"{checkouts}, which has the licenses of the packages, is missing; run 'swift package resolve'")
    for pin in pins:
        name, state = pin["identity"], pin["state"]
        # The folder has the case of the repository's name.
        folder = next((f for f in checkouts.iterdir() if f.name.lower() == name.lower()), None)
        version = state.get("version", state["revision"])
        location = pin["location"].removesuffix(".git")
        yield {
            "SPDXID": _id("swift", name), "name": name, "versionInfo": version,
            "downloadLocation": f"git+{location}@{state['revision']}", "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION", "licenseDeclared": _license(folder) if folder else "NOASSERTION",
            "copyrightText": "NOASSERTION",
            "externalRefs": [{
                "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                "referenceLocator": f"pkg:swift/{location.removeprefix('https://')}@{version}"}],
        }  # fmt: skip


def libraries(program):
    """The Debian packages whose libraries the program loads directly: name to version."""
    needed = subprocess.run(["objdump", "-p", program], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^\s+NEEDED\s+(\S+)", needed, re.M)
    loaded = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    paths = [path for name, path in re.findall(r"^\s+(\S+) => (\S+)", loaded, re.M) if name in names]
    # Debian merged /lib into /usr/lib, and dpkg may have the file under either name. It reads all its lists at each call.
    candidates = {other for path in paths for other in (os.path.realpath(path), path, path.removeprefix("/usr"), "/usr" + path)}
    owners = subprocess.run(["dpkg-query", "--search", *sorted(candidates)], capture_output=True, text=True).stdout
    packages = {line.split(":")[0] for line in owners.splitlines()}
    query = ["dpkg-query", "--show", "--showformat=${Package} ${Version}\\n", *sorted(packages)]
    versions = subprocess.run(query, capture_output=True, text=True, check=True).stdout
    # A package that is installed for several architectures has several lines.
    found = dict(line.split() for line in versions.splitlines())
    return found


def document(root, programs, version, epoch):
    """The document of the programs, by name, as JSON text. `epoch` is its time in seconds since 1970: the same input has the
    same bytes."""
    created = datetime.datetime.fromtimestamp(epoch, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    own = [
        {
            "SPDXID": _id("program", name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
            "copyrightText": "NOASSERTION", "primaryPackagePurpose": "APPLICATION",
        }
        for name in programs
    ]  # fmt: skip
    loaded = {name: libraries(program) for name, program in programs.items()}
    swift = list(swift_packages(root))
    debian = [
        {
            "SPDXID": _id("debian", name), "name": name, "versionInfo": number, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
            "copyrightText": "NOASSERTION",
            "externalRefs": [{
                "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                "referenceLocator": f"pkg:deb/debian/{name}@{number}"}],
        }
        for name, number in sorted({pair for found in loaded.values() for pair in found.items()})
    ]  # fmt: skip
    contents = json.dumps([swift, debian], sort_keys=True)
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", package["SPDXID"]) for package in own]
    for package in own:
        relations += [(package["SPDXID"], "DEPENDS_ON", part["SPDXID"]) for part in swift]
        relations += [
            (package["SPDXID"], "DYNAMIC_LINK", part["SPDXID"]) for part in debian if part["name"] in loaded[package["name"]]
        ]
    return json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"entitled-{version}",
        "documentNamespace": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'entitled-{version}-{contents}')}",
        "creationInfo": {"created": created, "creators": ["Tool: entitled-release"]},
        "packages": [*own, *swift, *debian],
        "relationships": [
            {"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations
        ],
    }, indent=2) + "\n"  # fmt: skip


def problems(file):
    """What SPDX's own tools find wrong with a document."""
    from spdx_tools.spdx.parser.parse_anything import parse_file
    from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

    return [message.validation_message for message in validate_full_spdx_document(parse_file(str(file)))]
