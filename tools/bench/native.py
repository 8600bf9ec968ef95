"""Compiles the programs of the benchmarks into .build/bench if their sources are newer."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OUTPUT = ROOT / ".build" / "bench"
SOURCES = ROOT / "tools" / "bench"
PROTO = ROOT / "proto"
PYTHON = ROOT / ".venv" / "bin" / "python"
COMPILER = ["g++", "-std=c++17", "-O2", "-Wall"]


def load_generator():
    """Path of the load generator (tools/bench/load)."""
    folder = SOURCES / "load"
    sources = sorted(folder.glob("*.cpp"))
    program = OUTPUT / "load-generator"
    if _is_stale(program, [*sources, *folder.glob("*.h")]):
        _run([*COMPILER, "-o", program, *sources, "-lnghttp2"], building=program)
    return program


def grpc_peer():
    """Path of the bare gRPC C++ server (tools/bench/peers/grpc_check.cpp)."""
    source = SOURCES / "peers" / "grpc_check.cpp"
    contract = _with_imports("entitled/v1/entitlement_service.proto")
    program = OUTPUT / "grpc_check"
    if _is_stale(program, [source, *(PROTO / name for name in contract)]):
        generated = OUTPUT / "grpc_check.gen"
        generated.mkdir(parents=True, exist_ok=True)
        plugin = subprocess.check_output(["which", "grpc_cpp_plugin"], text=True).strip()
        arguments = [f"--cpp_out={generated}", f"--grpc_out={generated}", f"--plugin=protoc-gen-grpc={plugin}"]
        _run(["protoc", f"--proto_path={PROTO}", *arguments, *contract], building=program)
        code = [generated / name.replace(".proto", ".pb.cc") for name in contract]
        code.append(generated / contract[0].replace(".proto", ".grpc.pb.cc"))
        flags = subprocess.check_output(["pkg-config", "--cflags", "--libs", "grpc++", "protobuf"], text=True).split()
        _run([*COMPILER, f"-I{generated}", "-o", program, source, *code, *flags], building=program)
    return program


def grpcio_peer():
    """The bare Python server (tools/bench/peers/grpcio_check.py), as the prefix of a command."""
    contract = _with_imports("entitled/v1/entitlement_service.proto")
    generated = OUTPUT / "grpcio_check.gen"
    made = generated / "entitled" / "v1" / "entitlement_service_pb2.py"
    if _is_stale(made, [PROTO / name for name in contract]):
        # Google's messages are in Python packages.
        ours = [name for name in contract if name.startswith("entitled/")]
        arguments = [f"--python_out={generated}", f"--grpc_python_out={generated}"]
        generated.mkdir(parents=True, exist_ok=True)
        _run([PYTHON, "-m", "grpc_tools.protoc", f"-I{PROTO}", *arguments, *ours], building=made)
    return [PYTHON, SOURCES / "peers" / "grpcio_check.py", generated]


def _with_imports(name):
    """The file and, after it, those files of proto/ that it imports, directly or not."""
    found = [name]
    for file in found:
        for imported in re.findall(r'^import (?:public )?"([^"]+)"', (PROTO / file).read_text(), re.M):
            if imported not in found and (PROTO / imported).exists():
                found.append(imported)
    return found


def _is_stale(program, sources):
    return not program.exists() or any(s.stat().st_mtime > program.stat().st_mtime for s in sources)


def _run(command, building):
    print(f"compiling {building.relative_to(ROOT)}", file=sys.stderr)
    building.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([str(part) for part in command], check=True)
