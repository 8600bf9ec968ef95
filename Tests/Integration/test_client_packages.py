"""The packages of clients/ as their users get them: what is in them, their types, and that they work when installed."""

import json
import keyword
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile

import pytest
import yaml
from google.protobuf import descriptor_pb2

from harness import IS_LONG, ROOT

CLIENTS = ROOT / "clients"
JS = CLIENTS / "js"
PYTHON_FILES = {"entitled/py.typed", "entitled/v1/entitlement_pb2.pyi", "entitled/services.py", "entitled/tokens.py"}
EXPORTED = re.compile(r"^export (?:declare )?(?:interface|type|class|enum) (\w+)", re.MULTILINE)
BUF = ROOT / ".venv" / "bin" / "buf"


def run(*command, **options):
    """Runs a command; returns its output."""
    result = subprocess.run(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)  # fmt: skip
    assert result.returncode == 0, result.stdout
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    # A copy, because setuptools writes beside the sources.
    source = shutil.copytree(CLIENTS / "python", folder / "source")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, source)
    return next(folder.glob("*.whl"))


def test_the_python_wheel_has_messages_types_and_metadata(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    assert PYTHON_FILES <= names
    assert not [name for name in names if not name.startswith(("entitled/", "entitled_client-"))]
    assert {"Name: entitled-client", "Requires-Python: >=3.10", "License-Expression: Apache-2.0"} <= set(
        metadata.splitlines())  # fmt: skip


def test_the_python_wheel_works_in_an_empty_environment(wheel, tmp_path, service, customer):
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel)
    # The packages that it depends on are those of the tests, so that nothing is downloaded.
    program = (
        "import entitled, sys\n"
        "assert entitled.__file__.startswith(sys.prefix), entitled.__file__\n"
        "import entitled.tokens, entitled.aio\n"
        "with entitled.Client(sys.argv[1], app='ocean-journal') as client:\n"
        "    print(client.check(sys.argv[2], 'pro').reason)"
    )
    dependencies = {**os.environ, "PYTHONPATH": sysconfig.get_path("purelib")}
    output = run(python, "-c", program, service.grpc, customer, env=dependencies, cwd=tmp_path)
    assert output == "NEVER_PURCHASED\n"


def test_the_python_client_and_its_example_pass_strict_type_checks(tmp_path):
    # The sources by their path, as a type checker finds an installed package.
    options = ["--strict", "--python-version", "3.10", "--cache-dir", tmp_path]
    files = [CLIENTS / "python" / "src" / "entitled", CLIENTS / "examples" / "backend.py"]
    environment = {**os.environ, "MYPYPATH": str(CLIENTS / "python" / "src")}
    run(sys.executable, "-m", "mypy", *options, "--explicit-package-bases", *files, env=environment)


def test_the_javascript_client_keeps_its_rules():
    output = run("node", "--test", cwd=JS)
    assert "# pass 11" in output and "# fail 0" in output, output


def test_every_exported_javascript_type_passes_strict_type_checks(tmp_path):
    """Uses each type of the .d.ts files; the example uses its types as an application does."""
    lines = []
    for file in ("entitled", "contract", "tokens"):
        names = EXPORTED.findall((JS / f"{file}.d.ts").read_text())
        assert names
        lines += [f'import type * as {file} from "{JS}/{file}.js";', f"export type All_{file} = ["]
        lines += [*(f"  {file}.{name}," for name in names), "];"]
    everything = tmp_path / "everything.mts"
    everything.write_text("\n".join(lines).replace("import type *", "import *"))
    configuration = tmp_path / "tsconfig.json"
    configuration.write_text(json.dumps({
        "compilerOptions": {
            "strict": True, "noEmit": True, "exactOptionalPropertyTypes": True, "noUncheckedIndexedAccess": True,
            "target": "es2022", "module": "node16", "lib": ["es2022", "dom"], "types": []},
        "files": [str(everything), str(JS / "test" / "types.ts")]}))  # fmt: skip
    run("tsc", "--project", configuration)


def test_the_javascript_package_has_what_it_needs(tmp_path):
    package = json.loads((JS / "package.json").read_text())
    needed = {path[2:] for entry in package["exports"].values() for path in entry.values()}
    for file in package["files"]:
        for module in re.findall(r'from "\./(\w+)\.js"', (JS / file).read_text()):
            needed.add(f"{module}.d.ts" if file.endswith(".d.ts") else f"{module}.js")
    assert needed == set(package["files"])
    if shutil.which("npm") is None:
        pytest.skip("npm does not exist; the files are complete")
    packed = json.loads(run("npm", "pack", "--json", "--offline", "--pack-destination", tmp_path, cwd=JS))[0]
    assert {file["path"] for file in packed["files"]} == set(package["files"]) | {"package.json", "README.md"}
    module = tmp_path / "node_modules" / "entitled-client"
    module.mkdir(parents=True)
    run("tar", "-xzf", tmp_path / packed["filename"], "--strip-components=1", "-C", module)
    program = "import { Client } from 'entitled-client'; import { TokenVerifier } from 'entitled-client/tokens';"
    run("node", "--input-type=module", "-e", program + "new Client('http://localhost', { app: 'a' })", cwd=tmp_path)


# By the part of a plugin's name after `buf.build/`: how buf runs it on this machine.
LOCAL = {
    "protocolbuffers/go": {"local": "protoc-gen-go"}, "grpc/go": {"local": "protoc-gen-go-grpc"},
    "protocolbuffers/java": {"protoc_builtin": "java"}, "grpc/java": {"local": "grpc_java_plugin"},
    "protocolbuffers/kotlin": {"protoc_builtin": "kotlin"}, "grpc/kotlin": {"local": "protoc-gen-grpc-kotlin"},
}  # fmt: skip
GO = pathlib.Path("/usr/share/gocode")
JARS = [pathlib.Path("/usr/share/java", f"{name}.jar") for name in (
    "protobuf", "grpc-api", "grpc-stub", "grpc-protobuf", "guava", "geronimo-annotation-1.3-spec")]  # fmt: skip


def generate(folder, plugins, **environment):
    """Runs `buf generate` with the configuration of docs/other-clients.md, with plugins of this machine."""
    text = (ROOT / "docs" / "other-clients.md").read_text()
    template = yaml.safe_load(re.search(r"```yaml\n(.*?)```", text, re.DOTALL)[1])
    remote = {plugin.pop("remote").removeprefix("buf.build/"): plugin for plugin in template["plugins"]}
    assert remote.keys() == LOCAL.keys()
    template["plugins"] = [LOCAL[name] | remote[name] for name in plugins]
    (folder / "buf.gen.yaml").write_text(yaml.safe_dump(template))
    shutil.copytree(ROOT / "proto", folder / "proto")
    shutil.copy(ROOT / "buf.yaml", folder)
    run(BUF, "generate", cwd=folder, env={**os.environ, **environment})
    return folder / "gen"


def require(packages, *files):
    """Skips the test if a file of these Debian packages is missing."""
    for file in files:
        if not (pathlib.Path(file).exists() or shutil.which(str(file))):
            pytest.skip(f"{file} does not exist; apt-get install {packages}")


def test_buf_generates_messages_for_java_and_kotlin(tmp_path):
    generated = generate(tmp_path, ["protocolbuffers/java", "protocolbuffers/kotlin"])
    assert (generated / "java/entitled/v1/CheckRequest.java").exists()
    assert (generated / "kotlin/entitled/v1/CheckRequestKt.kt").exists()


@pytest.mark.skipif(not IS_LONG, reason="part of `make test-long`: half a minute of compilation")
def test_generated_go_code_compiles(tmp_path):
    packages = "golang-go golang-google-grpc-dev golang-google-protobuf-dev protoc-gen-go-grpc"
    require(packages, "go", "protoc-gen-go-grpc", GO / "src/google.golang.org/grpc")
    path = tmp_path / "go"
    environment = {**os.environ, "GO111MODULE": "off", "GOPATH": f"{GO}:{path}", "GOCACHE": str(tmp_path / "cache")}
    # Debian's own protoc-gen-go is older than `optional`.
    plugin = tmp_path / "bin" / "protoc-gen-go"
    run("go", "build", "-o", plugin, "google.golang.org/protobuf/cmd/protoc-gen-go", env=environment)
    found = f"{plugin.parent}:{os.environ['PATH']}"
    generated = generate(tmp_path, ["protocolbuffers/go", "grpc/go"], PATH=found)
    shutil.copytree(generated / "go" / "entitled", path / "src" / "shop" / "entitled")
    # Not run: the packages of grpc and protobuf in Debian are of different generations.
    run("go", "build", "shop/entitled/v1", env=environment)


@pytest.mark.skipif(not IS_LONG, reason="part of `make test-long`: half a minute of compilation")
def test_generated_java_code_compiles(tmp_path):
    packages = "default-jdk-headless libgrpc-java libprotobuf-java protobuf-compiler-grpc-java-plugin"
    require(packages, "javac", "grpc_java_plugin", *JARS)
    generated = generate(tmp_path, ["protocolbuffers/java", "grpc/java"])
    # Debian has no package of the messages that the contract imports.
    imported = tmp_path / "imported"
    imported.mkdir()
    run("protoc", f"-I{ROOT}/proto", "-I/usr/include", f"--java_out={imported}", "google/rpc/status.proto")
    sources = [*(generated / "java").rglob("*.java"), *imported.rglob("*.java")]
    (tmp_path / "sources").write_text("\n".join(map(str, sources)))
    options = ["-nowarn", "-proc:none", "-cp", ":".join(map(str, JARS)), "-d", tmp_path / "classes"]
    run("javac", *options, f"@{tmp_path / 'sources'}")
    assert (tmp_path / "classes/entitled/v1/EntitlementServiceGrpc.class").exists()


@pytest.fixture(scope="module")
def own_files():
    built = subprocess.run([BUF, "build", "-o", "-#format=binpb"], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    files = descriptor_pb2.FileDescriptorSet.FromString(built.stdout).file
    return [file for file in files if file.package == "entitled.v1"]


def test_the_contract_has_the_options_of_other_languages(own_files):
    assert own_files
    for file in own_files:
        options = file.options
        assert options.go_package and options.java_package and options.java_multiple_files, file.name


def test_no_field_has_the_name_of_a_method_that_java_makes_for_another(own_files):
    """`getDocumentBytes()` is a method of a text `document`, `getDocumentCount()` one of a repeated field."""
    for file in own_files:
        for message in file.message_type:
            names = {field.name for field in message.field}
            for field in message.field:
                suffixes = {field.TYPE_STRING: ["bytes"], field.TYPE_ENUM: ["value"]}.get(field.type, [])
                suffixes += ["count", "list"] if field.label == field.LABEL_REPEATED else []
                taken = {f"{field.name}_{suffix}" for suffix in suffixes} & names
                assert not taken, f"{message.name}: {taken}"


def test_no_field_has_the_name_of_a_reserved_word_of_python(own_files):
    """Its clients would have to write `getattr(request, "from")`."""
    for file in own_files:
        for message in file.message_type:
            reserved = {field.name for field in message.field if keyword.iskeyword(field.name)}
            assert not reserved, f"{message.name}: {reserved}"
