"""deploy/: each file passes its tool's validation, and the files agree with each other and with the program."""

import base64
import fnmatch
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
MANIFESTS = sorted(DEPLOY.glob("kubernetes*/*.yaml"))
# One pod with SQLite, and replicas with PostgreSQL.
KINDS = {"kubernetes": "StatefulSet", "kubernetes-replicas": "Deployment"}


def passes(*command, **variables):
    """Runs a checker, which must succeed; returns its output."""
    command = [str(part) for part in command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=os.environ | variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def manifest(kind, folder="kubernetes"):
    """The only manifest of the given kind in a folder."""
    paths = [path for path in MANIFESTS if path.parent.name == folder]
    (found,) = [m for path in paths for m in yaml.safe_load_all(path.read_text()) if m["kind"] == kind]
    return found


def pod(folder):
    """The template of the pods."""
    return manifest(KINDS[folder], folder)["spec"]["template"]


def container(folder):
    (container,) = pod(folder)["spec"]["containers"]
    return container


def variables(folder):
    """The variables of the container by name."""
    return {variable["name"]: variable for variable in container(folder)["env"]}


def image_environment():
    """The ENTITLED_ variables that the image sets."""
    return dict(re.findall(r"(ENTITLED_\w+)=(\S+)", CONTAINERFILE.read_text()))


def test_hadolint_accepts_the_containerfile():
    passes(TOOLS / "hadolint", CONTAINERFILE)


@pytest.mark.parametrize(
    "path", [path for path in MANIFESTS if path.name != "kustomization.yaml"],
    ids=lambda path: f"{path.parent.name}-{path.stem}")  # fmt: skip
def test_manifests_follow_the_kubernetes_schema(path):
    passes(TOOLS / "kubernetes-validate", "--strict", path)


@pytest.mark.parametrize("folder", KINDS)
def test_the_kustomization_lists_every_manifest(folder):
    resources = yaml.safe_load((DEPLOY / folder / "kustomization.yaml").read_text())["resources"]
    files = [path.name for path in MANIFESTS if path.parent.name == folder]
    assert sorted([*resources, "kustomization.yaml"]) == files


@pytest.mark.parametrize("folder", KINDS)
def test_the_pod_runs_as_the_user_of_the_image(folder):
    security = pod(folder)["spec"]["securityContext"]
    assert f"USER {security['runAsUser']}:{security['runAsGroup']}" in CONTAINERFILE.read_text()
    assert container(folder)["securityContext"]["readOnlyRootFilesystem"] is True


@pytest.mark.parametrize("folder", KINDS)
def test_ports_and_mounts_match_the_image(folder):
    image = image_environment()
    ports = {port["name"]: port["containerPort"] for port in container(folder)["ports"]}
    assert ports == {"grpc": int(image["ENTITLED_GRPC"].split(":")[1]), "http": int(image["ENTITLED_HTTP"].split(":")[1])}
    mounts = {mount["name"]: mount["mountPath"] for mount in container(folder)["volumeMounts"]}
    # The volume belongs to root, so the service creates a folder in it.
    assert mounts["data"] == image["ENTITLED_DATA"]
    assert variables(folder)["ENTITLED_DATA"]["value"] == f"{mounts['data']}/data"
    assert image["ENTITLED_CONFIG"].startswith(mounts["configuration"] + "/")
    assert image["ENTITLED_SANDBOX"] == "off"
    assert container(folder)["readinessProbe"]["grpc"]["port"] == ports["grpc"]


@pytest.mark.parametrize("folder", KINDS)
def test_every_selector_matches_the_pod(folder):
    labels = pod(folder)["metadata"]["labels"].items()
    assert manifest(KINDS[folder], folder)["spec"]["selector"]["matchLabels"].items() <= labels
    services = list(yaml.safe_load_all((DEPLOY / folder / "services.yaml").read_text()))
    assert services and all(service["spec"]["selector"].items() <= labels for service in services)
    assert manifest("PodDisruptionBudget", folder)["spec"]["selector"]["matchLabels"].items() <= labels
    assert manifest("NetworkPolicy", folder)["spec"]["podSelector"]["matchLabels"].items() <= labels


@pytest.mark.parametrize("folder", KINDS)
def test_the_caches_of_all_event_loops_fit_into_the_pod(folder):
    """Otherwise the number of event loops, each with a cache, would be that of the node's cores."""
    assert container(folder)["resources"]["limits"]["memory"] == "2Gi"
    ports, cache = 2, 96 << 20
    assert ports * int(variables(folder)["ENTITLED_THREADS"]["value"]) * cache <= 1 << 30


@pytest.mark.parametrize("folder", KINDS)
def test_the_pod_has_the_variables_of_the_configuration_and_no_others_of_the_secret(folder):
    """Keys that are files must not be variables, too, which every program in the pod can print."""
    assert "envFrom" not in container(folder)
    of_secret = {name: v["valueFrom"]["secretKeyRef"] for name, v in variables(folder).items() if "valueFrom" in v}
    secret = manifest("Secret", folder)
    assert all(ref["name"] == secret["metadata"]["name"] for ref in of_secret.values())
    assert {ref["key"] for ref in of_secret.values()} <= set(secret["stringData"])
    configuration = manifest("ConfigMap", folder)["data"]["entitled.yaml"]
    assert set(of_secret) == set(re.findall(r"variable: (\w+)", configuration))


def test_replicas_have_an_address_each_besides_the_common_one():
    services = yaml.safe_load_all((DEPLOY / "kubernetes-replicas" / "services.yaml").read_text())
    common, replicas = (service["spec"] for service in services)
    assert "clusterIP" not in common and replicas.pop("clusterIP") == "None"
    assert common == replicas


@pytest.mark.parametrize("folder", KINDS)
def test_the_pod_reaches_apple_and_its_ocsp_responder(folder):
    """Responders are called without TLS (RFC 6960): those of Apple's certificates have http URLs."""
    configured = yaml.safe_load(manifest("ConfigMap", folder)["data"]["entitled.yaml"])
    assert {app["online_checks"] for app in configured["apps"].values()} == {"soft"}
    open_to_all = [rule for rule in manifest("NetworkPolicy", folder)["spec"]["egress"] if "to" not in rule]
    assert {80, 443} <= {port["port"] for rule in open_to_all for port in rule["ports"]}


def test_the_autoscaler_scales_the_deployment_and_keeps_a_majority_of_three():
    scaler = manifest("HorizontalPodAutoscaler", "kubernetes-replicas")["spec"]
    deployment = manifest("Deployment", "kubernetes-replicas")
    assert scaler["scaleTargetRef"]["kind"] == "Deployment"
    assert scaler["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
    # Otherwise each apply would undo what the autoscaler did.
    assert "replicas" not in deployment["spec"]
    assert scaler["minReplicas"] >= 3
    assert manifest("PodDisruptionBudget", "kubernetes-replicas")["spec"]["maxUnavailable"] == 1


def test_replicas_and_the_migration_use_the_same_database_and_mounted_files():
    (job,) = manifest("Job", "kubernetes-replicas")["spec"]["template"]["spec"]["containers"]
    replica = container("kubernetes-replicas")
    (address,) = {v["value"] for c in (job, replica) for v in c["env"] if v["name"] == "ENTITLED_STORE"}
    keys = set(manifest("Secret", "kubernetes-replicas")["stringData"])
    named = set(re.findall(r"/run/secrets/entitled/([\w.-]+)", address))
    assert len(named) == 2 and named <= keys
    configured = yaml.safe_load(manifest("ConfigMap", "kubernetes-replicas")["data"]["entitled.yaml"])
    key, listed = configured["erasures"]["key"], configured["erasures"]["list"]
    assert key.removeprefix("/run/secrets/entitled/") in keys
    assert any(listed.startswith(mount["mountPath"] + "/") for mount in replica["volumeMounts"])
    assert job["image"] == replica["image"]


def test_kubernetes_uses_the_configuration_of_this_directory():
    assert manifest("ConfigMap")["data"] == {"entitled.yaml": (DEPLOY / "entitled.yaml").read_text()}
    replicas = (DEPLOY / "replicas.yaml").read_text().replace("/run/secrets/", "/run/secrets/entitled/")
    assert manifest("ConfigMap", "kubernetes-replicas")["data"] == {"entitled.yaml": replicas}


@pytest.mark.parametrize("name", ["entitled.yaml", "replicas.yaml"])
def test_the_program_accepts_the_configuration(tmp_path, name):
    (tmp_path / "installation-key").write_text(base64.b64encode(bytes(32)).decode())
    (tmp_path / "installation-key").chmod(0o600)
    text = (DEPLOY / name).read_text().replace("/run/secrets", str(tmp_path)).replace("/backup", str(tmp_path))
    (tmp_path / name).write_text(text)
    passes(PROGRAM, "config", "check", tmp_path / name, OCEAN_JOURNAL_SHARED_SECRET="not-a-real-one")


def test_no_page_removes_the_installation_key_or_the_list_of_erasures():
    """Without them, a restored copy has the erased customers again (docs/erasure.md)."""
    removed = []
    for page in (DEPLOY / "README.md", *(ROOT / "docs").rglob("*.md")):
        for words in re.findall(r"\brm ([^'`;&\n]+)", page.read_text()):
            removed += [word.rpartition("/")[2] for word in words.split()]
    assert "entitled.sqlite*" in removed
    kept = ("entitled.key", "entitled.erasures")
    assert not [name for name in removed if any(fnmatch.fnmatch(file, name) for file in kept)]


def test_a_missing_secret_is_named():
    check = [PROGRAM, "config", "check", DEPLOY / "entitled.yaml"]
    done = subprocess.run(check, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "the environment variable OCEAN_JOURNAL_SHARED_SECRET, which is not set" in done.stderr


def compose(name):
    """A file of Compose, with its shared parts in place."""
    return yaml.safe_load((DEPLOY / name).read_text())


@pytest.mark.parametrize("name", ["compose.yaml", "compose.replicas.yaml"])
def test_compose_follows_its_specification_and_mounts_existing_files(name):
    compose_spec.PyCompose.from_yaml(yaml.safe_dump(compose(name))).validate()
    services = compose(name)["services"]
    mounts = [volume.split(":")[0] for service in services.values() for volume in service["volumes"]]
    # The operator provides these, see deploy/README.md.
    brought = {"./tls"}
    assert all((DEPLOY / path).exists() for path in mounts if path.startswith("./") and path not in brought)
    built = [service for service in services.values() if "build" in service]
    assert built
    for service in built:
        assert (DEPLOY / service["build"]["context"]).resolve() == ROOT
        assert (ROOT / service["build"]["dockerfile"]).samefile(CONTAINERFILE)


def test_data_directories_in_memory_have_more_than_the_free_space_that_writes_need():
    """With less than 64 MiB free, the services that write are not ready (README.md, "Health and alerts")."""
    data = image_environment()["ENTITLED_DATA"]
    mounts = dict(mount.split(":") for mount in compose("compose.replicas.yaml")["services"]["entitled-1"]["tmpfs"])
    size = re.match(r"size=(\d+)m,", mounts[data])[1]
    (data,) = [volume for volume in pod("kubernetes-replicas")["spec"]["volumes"] if volume["name"] == "data"]
    assert int(size) >= 128 and data["emptyDir"]["sizeLimit"] == "1Gi"


@pytest.mark.parametrize("name", ["compose.yaml", "compose.replicas.yaml"])
def test_no_service_of_compose_is_root(name):
    services = compose(name)["services"]
    assert not [name for name, service in services.items() if service["user"].split(":")[0] in ("0", "root")]


def test_compose_has_three_equal_replicas_a_primary_and_a_synchronous_standby():
    services = compose("compose.replicas.yaml")["services"]
    replicas = [service for name, service in services.items() if name.startswith("entitled-")]
    assert len(replicas) == 3 and replicas[0] == replicas[1] == replicas[2]
    assert "@primary,standby/" in replicas[0]["environment"]["ENTITLED_STORE"]
    scripts = DEPLOY / "postgres"
    primary, setup, standby = ((scripts / f"{name}.sh").read_text() for name in ("primary", "replication", "standby"))
    # The setup of the primary has no standby yet, and a standby that was promoted has none.
    assert "synchronous_standby_names = 'standby'" in setup and "synchronous_standby_names" not in primary
    assert "application_name=standby" in standby and "-c synchronous_standby_names= " in standby
    # A standby refuses to replay for fewer connections than its primary has.
    assert set(re.findall(r"-c \S+=\S+", primary)) < set(re.findall(r"-c \S+=\S+", standby))
    for script in scripts.glob("*.sh"):
        passes("sh", "-n", script)


def test_the_standby_takes_any_password_from_the_environment(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "PG_VERSION").write_text("15")
    secret = tmp_path / "password"
    secret.write_text("a b'c\\d")
    server = tmp_path / "postgres"
    server.write_text("#!/bin/sh\nprintf '%s\\n' \"$PGPASSWORD\" \"$@\"\n")
    server.chmod(0o755)
    script = (DEPLOY / "postgres" / "standby.sh").read_text().replace("/run/secrets/database-password", str(secret))
    path = f"{tmp_path}:{os.environ['PATH']}"
    password, *arguments = passes("sh", "-c", script, PATH=path, PGDATA=str(tmp_path / "data")).splitlines()
    assert password == secret.read_text()
    assert "primary_conninfo=host=primary user=entitled application_name=standby" in arguments
    assert not [argument for argument in arguments if password in argument]


def test_compose_services_own_their_volumes():
    services = compose("compose.yaml")["services"]
    # A new volume gets owner and mode of the directory in the image that starts first.
    (made,) = re.findall(r"install --directory --owner=entitled .* --mode=0700 (.+)", CONTAINERFILE.read_text())
    mounts = dict(volume.split(":")[:2] for volume in services["entitled"]["volumes"])
    for name in compose("compose.yaml")["volumes"]:
        assert mounts[name] in made.split(), name


def test_systemd_accepts_the_unit(tmp_path):
    unit = tmp_path / "entitled.service"
    unit.write_text((DEPLOY / "systemd" / unit.name).read_text().replace("/usr/local/bin/entitled", str(PROGRAM)))
    sockets = [DEPLOY / "systemd" / f"entitled-{name}.socket" for name in ("grpc", "http")]
    for socket in sockets:
        (tmp_path / socket.name).write_text(socket.read_text())
    units = [unit, *(tmp_path / socket.name for socket in sockets)]
    # With the keys of README.md, and with its settings of a replica.
    shown = re.findall(r"^```ini\n(.*?)^```$", (DEPLOY / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert len(shown) == 2 and all("LoadCredential=" in settings for settings in shown)
    (tmp_path / "entitled.service.d").mkdir()
    for settings in shown:
        (tmp_path / "entitled.service.d" / "override.conf").write_text(settings)
        assert passes("systemd-analyze", "verify", "--man=no", *units) == ""
    litestream = tmp_path / "litestream.service"
    litestream.write_text((DEPLOY / "systemd" / litestream.name).read_text().replace("/usr/bin/litestream", str(PROGRAM)))
    assert passes("systemd-analyze", "verify", "--man=no", *units, litestream) == ""
    # The exposure level: 10 is an unrestricted service, 0 a fully confined one.
    report = passes("systemd-analyze", "security", "--no-pager", "--offline=true", unit)
    exposure = float(re.search(r"Overall exposure level for entitled.service: ([\d.]+)", report)[1])
    assert exposure <= 1.5, report
