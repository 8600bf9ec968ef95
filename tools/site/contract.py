"""The reference of the contract, made from proto/ with its comments: a page for each service with its methods and messages, and
the reasons."""

import pathlib
import sys
import tempfile

from google.protobuf import descriptor_pb2
from grpc_tools import protoc

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools" / "generator"))

import codes  # noqa: E402
from access import Access  # noqa: E402
from method_errors import MethodErrors  # noqa: E402

PACKAGE = ".entitled.v1."
Field = descriptor_pb2.FieldDescriptorProto
SCALARS = {number: name.removeprefix("TYPE_").lower() for name, number in Field.Type.items()}


def descriptor_set():
    google = pathlib.Path(protoc.__file__).parent / "_proto"
    files = sorted(str(path.relative_to(ROOT / "proto")) for path in (ROOT / "proto/entitled/v1").glob("*.proto"))
    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/contract.binpb"
        options = [f"-I{ROOT / 'proto'}", f"-I{google}", "--include_imports", "--include_source_info"]
        assert protoc.main(["protoc", *options, f"--descriptor_set_out={out}", *files]) == 0
        return descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(out).read_bytes())


class Contract:
    """The files of our package, their comments, and the page on which each type is."""

    def __init__(self):
        self.set = descriptor_set()
        self.files = [file for file in self.set.file if file.package == PACKAGE.strip(".")]
        self.comments = {}
        self.places = {}
        for file in self.files:
            for location in file.source_code_info.location:
                self.comments[file.name, tuple(location.path)] = location.leading_comments.strip()
            for kind in (file.message_type, file.enum_type):
                for item in kind:
                    self.place(file, PACKAGE, item)

    def place(self, file, scope, item):
        self.places[scope + item.name] = (page_of(file), anchor(scope + item.name))
        for nested in [*getattr(item, "nested_type", ()), *getattr(item, "enum_type", ())]:
            self.place(file, f"{scope}{item.name}.", nested)

    def comment(self, file, path):
        return self.comments.get((file.name, tuple(path)), "")

    def cell(self, file, path):
        """A comment in one line of a table."""
        return " ".join(self.comment(file, path).split()).replace("|", "\\|").replace("<", "&lt;")

    def linked(self, file, name):
        """A type with the link to its description."""
        short = name.removeprefix(PACKAGE).removeprefix(".")
        if name not in self.places:
            return f"`{short}`"
        page, target = self.places[name]
        return f"[`{short}`]({'' if page == page_of(file) else pathlib.PurePosixPath(page).name}#{target})"

    def type_of(self, file, field, messages):
        if field.type_name:
            entry = messages.get(field.type_name)
            if entry is not None and entry.options.map_entry:
                key, value = entry.field
                return f"map of {SCALARS[key.type]} to {self.type_of(file, value, messages)}"
            text = self.linked(file, field.type_name)
        else:
            text = SCALARS[field.type]
        return f"{text}, repeated" if field.label == Field.LABEL_REPEATED else text


def page_of(file):
    return f"reference/contract/{pathlib.PurePosixPath(file.name).stem.replace('_', '-')}.md"


def anchor(name):
    return name.removeprefix(PACKAGE).replace(".", "-").lower()


def message_lines(contract, file, message, scope, path, messages):
    name = scope + message.name
    if message.options.map_entry:
        return
    yield f"### {name.removeprefix(PACKAGE)} {{ #{anchor(name)} }}"
    yield contract.comment(file, path)
    if message.field:
        rows = ["| field | number | type | meaning |", "|---|---|---|---|"]
        for index, field in enumerate(message.field):
            text = contract.cell(file, [*path, 2, index])
            rows.append(f"| `{field.name}` | {field.number} | {contract.type_of(file, field, messages)} | {text} |")
        yield "\n".join(rows)
    for index, nested in enumerate(message.nested_type):
        yield from message_lines(contract, file, nested, f"{name}.", [*path, 3, index], messages)
    for index, enum in enumerate(message.enum_type):
        yield from enum_lines(contract, file, enum, f"{name}.", [*path, 4, index])


def enum_lines(contract, file, enum, scope, path):
    name = scope + enum.name
    yield f"### {name.removeprefix(PACKAGE)} {{ #{anchor(name)} }}"
    yield contract.comment(file, path)
    rows = ["| value | number | meaning |", "|---|---|---|"]
    rows += [f"| `{value.name}` | {value.number} | {contract.cell(file, [*path, 2, index])} |" for index, value in enumerate(enum.value)]
    yield "\n".join(rows)


def service_lines(contract, file, index, access, errors):
    service = file.service[index]
    yield contract.comment(file, [6, index])
    yield "## Methods"
    for number, method in enumerate(service.method):
        rule = access.of(file, service, method)
        role = "any" if rule.role == "nil" else rule.role.strip(".")
        streams = ["", "stream of "]
        yield f"### {method.name} {{ #{service.name.lower()}-{method.name.lower()} }}"
        yield contract.comment(file, [6, index, 2, number])
        yield (
            f"{streams[method.client_streaming]}{contract.linked(file, method.input_type)} →"
            f" {streams[method.server_streaming]}{contract.linked(file, method.output_type)}."
            f" Role: `{role}`. {'Changes data.' if rule.mutates else 'Changes nothing.'}")  # fmt: skip
        if found := errors.of(method):
            rows = "".join(f"\n| `{code}` | {', '.join(f'`{reason}`' for reason in reasons)} |" for code, reasons in found.items())
            yield f"| status | reasons besides those of [every method](../reasons.md#errors-of-every-method) |\n|---|---|{rows}"


def file_page(contract, file, access, errors, messages):
    title = file.service[0].name if file.service else pathlib.PurePosixPath(file.name).stem.replace("_", " ").capitalize()
    parts = [f"# {title}", f"Generated from [`proto/{file.name}`](../../repository/proto/{file.name}.md)."]
    for index in range(len(file.service)):
        parts += service_lines(contract, file, index, access, errors)
    if file.message_type or file.enum_type:
        parts.append("## Messages")
    for index, message in enumerate(file.message_type):
        parts += message_lines(contract, file, message, PACKAGE, [4, index], messages)
    for index, enum in enumerate(file.enum_type):
        parts += enum_lines(contract, file, enum, PACKAGE, [5, index])
    return "\n\n".join(part for part in parts if part) + "\n"


def all_messages(files):
    found = {}

    def add(scope, message):
        found[scope + message.name] = message
        for nested in message.nested_type:
            add(f"{scope}{message.name}.", nested)

    for file in files:
        for message in file.message_type:
            add(PACKAGE, message)
    return found


def reasons_page(contract, errors):
    """Every reason of an error, with its statuses and the methods that have it."""
    rows = {}
    for file in contract.files:
        for service in file.service:
            for method in service.method:
                link = f"[{method.name}](contract/{pathlib.PurePosixPath(page_of(file)).name}#{service.name.lower()}-{method.name.lower()})"
                for code, reasons in errors.of(method).items():
                    for reason in reasons:
                        statuses, methods = rows.setdefault(reason, (set(), {}))
                        statuses.add(code)
                        methods[link] = True
    lines = [
        "# Reasons",
        "Generated from `proto/entitled/v1`. A reason is stable: programs decide by it, never by a message. Errors have it in"
        " `google.rpc.ErrorInfo`, answers in the field `reason`. One that ends with `*` stands for those that begin with it.",
        "Verdicts about documents are explained in [inspect](../inspect.md), those of migrations in [migration](../migration.md#a-job).",
        "## Reasons of answers", codes.table(codes.REASONS, "reason"),
        "## Errors of every method",
        "\n".join(["| status | reasons |", "|---|---|"] + [
            f"| `{code}` | {', '.join(f'`{reason}`' for reason in reasons)} |" for code, reasons in errors.every().items()]),
        "## Errors of some methods",
        "\n".join(["| reason | status | methods |", "|---|---|---|"] + [
            f"| `{reason}` | {', '.join(f'`{code}`' for code in sorted(statuses))} | {', '.join(methods) if len(methods) < 12 else f'{len(methods)} methods'} |"
            for reason, (statuses, methods) in sorted(rows.items())]),
    ]  # fmt: skip
    return "\n\n".join(lines) + "\n"


def pages():
    """The text of each page by its address."""
    contract = Contract()
    access, errors, messages = Access(contract.set), MethodErrors(contract.set), all_messages(contract.files)
    ordered = sorted(contract.files, key=lambda file: (not file.service, file.name))
    found = {page_of(file): file_page(contract, file, access, errors, messages) for file in ordered}
    return {**found, "reference/reasons.md": reasons_page(contract, errors), "reference/event-types.md": codes.event_types()}
