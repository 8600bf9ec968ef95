"""deploy/: each file passes its tool's validation, and the files agree with each other and with the program."""

import os
import pathlib
import re
import subprocess
import sys

import compose_spec
import pytest
import yaml

from harness import PROGRAM, ROOT

DEPLOY = ROOT / "deploy"
TOOLS = pathlib.Path(sys.executable).parent
CONTAINERFILE = DEPLOY / "container" / "Containerfile"
MANIFESTS = sorted(DEPLOY.glob("kubernetes/*.yaml"))


def passes(*command, **variables):
    """Runs a checker, which must succeed; returns its output."""
    command = [str(part) for part in command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=os.environ | variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def manifest(kind):
    """The only manifest of a kind."""
    (found,) = [m for path in MANIFESTS for m in yaml.safe_load_all(path.read_text()) if m["kind"] == kind]
    return found


def container():
    (container,) = manifest("StatefulSet")["spec"]["template"]["spec"]["containers"]
    return container


def image_environment():
    """The ENTITLED_ variables that the image sets."""
    return dict(re.findall(r"(ENTITLED_\w+)=(\S+)", CONTAINERFILE.read_text()))


def test_hadolint_accepts_the_containerfile():
    passes(TOOLS / "hadolint", CONTAINERFILE)


@pytest.mark.parametrize(
    "path", [path for path in MANIFESTS if path.name != "kustomization.yaml"], ids=lambda path: path.stem
)
def test_manifests_follow_the_kubernetes_schema(path):
    passes(TOOLS / "kubernetes-validate", "--strict", path)


def test_the_kustomization_lists_every_manifest():
    resources = yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text())["resources"]
    assert sorted([*resources, "kustomization.yaml"]) == [path.name for path in MANIFESTS]


def test_the_pod_runs_as_the_user_of_the_image():
    pod = manifest("StatefulSet")["spec"]["template"]["spec"]
    user = pod["securityContext"]["runAsUser"]
    assert f"USER {user}:{pod['securityContext']['runAsGroup']}" in CONTAINERFILE.read_text()
    assert container()["securityContext"]["readOnlyRootFilesystem"] is True


def test_ports_and_mounts_match_the_image():
    image = image_environment()
    ports = {port["name"]: port["containerPort"] for port in container()["ports"]}
    assert ports == {"grpc": int(image["ENTITLED_GRPC"].split(":")[1]), "http": int(image["ENTITLED_HTTP"].split(":")[1])}
    mounts = {mount["name"]: mount["mountPath"] for mount in container()["volumeMounts"]}
    assert mounts["data"] == image["ENTITLED_DATA"]
    assert image["ENTITLED_CONFIG"].startswith(mounts["configuration"] + "/")
    assert image["ENTITLED_SANDBOX"] == "off"
    assert container()["readinessProbe"]["grpc"]["port"] == ports["grpc"]


def test_every_selector_matches_the_pod():
    labels = manifest("StatefulSet")["spec"]["template"]["metadata"]["labels"].items()
    assert manifest("StatefulSet")["spec"]["selector"]["matchLabels"].items() <= labels
    assert manifest("Service")["spec"]["selector"].items() <= labels
    assert manifest("PodDisruptionBudget")["spec"]["selector"]["matchLabels"].items() <= labels
    assert manifest("NetworkPolicy")["spec"]["podSelector"]["matchLabels"].items() <= labels


def test_kubernetes_uses_the_configuration_of_this_directory():
    assert manifest("ConfigMap")["data"] == {"entitled.yaml": (DEPLOY / "entitled.yaml").read_text()}


def test_the_program_accepts_the_configuration():
    passes(PROGRAM, "config", "check", DEPLOY / "entitled.yaml", OCEAN_JOURNAL_SHARED_SECRET="not-a-real-one")


def test_a_missing_secret_is_named():
    check = [PROGRAM, "config", "check", DEPLOY / "entitled.yaml"]
    done = subprocess.run(check, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "the environment variable OCEAN_JOURNAL_SHARED_SECRET, which is not set" in done.stderr


def test_compose_follows_its_specification_and_mounts_existing_files():
    text = (DEPLOY / "compose.yaml").read_text()
    compose_spec.PyCompose.from_yaml(text).validate()
    services = yaml.safe_load(text)["services"]
    mounts = [volume.split(":")[0] for service in services.values() for volume in service["volumes"]]
    # The operator provides these, see deploy/README.md.
    brought = {"./tls"}
    assert all((DEPLOY / path).exists() for path in mounts if path.startswith("./") and path not in brought)
    assert (DEPLOY / services["entitled"]["build"]["context"]).resolve() == ROOT
    assert (ROOT / services["entitled"]["build"]["dockerfile"]).samefile(CONTAINERFILE)


def test_compose_services_are_not_root_and_own_their_volumes():
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    assert not [name for name, service in services.items() if service["user"].split(":")[0] in ("0", "root")]
    # A new volume gets owner and mode of the directory in the image that starts first.
    (made,) = re.findall(r"install --directory --owner=entitled .* --mode=0700 (.+)", CONTAINERFILE.read_text())
    mounts = dict(volume.split(":")[:2] for volume in services["entitled"]["volumes"])
    for name in yaml.safe_load((DEPLOY / "compose.yaml").read_text())["volumes"]:
        assert mounts[name] in made.split(), name


def test_systemd_accepts_the_unit(tmp_path):
    unit = tmp_path / "entitled.service"
    unit.write_text((DEPLOY / "systemd" / unit.name).read_text().replace("/usr/local/bin/entitled", str(PROGRAM)))
    sockets = [DEPLOY / "systemd" / f"entitled-{name}.socket" for name in ("grpc", "http")]
    for socket in sockets:
        (tmp_path / socket.name).write_text(socket.read_text())
    units = [unit, *(tmp_path / socket.name for socket in sockets)]
    assert passes("systemd-analyze", "verify", "--man=no", *units) == ""
    # The exposure level: 10 is an unrestricted service, 0 a fully confined one.
    report = passes("systemd-analyze", "security", "--no-pager", "--offline=true", unit)
    exposure = float(re.search(r"Overall exposure level for entitled.service: ([\d.]+)", report)[1])
    assert exposure <= 1.5, report
