"""The reasons of errors of each method: its option `(errors)`, with the groups that it includes, those of the fields of
its request, and those that every method has."""

from google.protobuf import descriptor_pool, message_factory

import c_tables
from access import OWN_PACKAGE

EVERY = "METHOD"
HEADER = f"""// {c_tables.COMMAND}
// swift-format-ignore-file

"""


class MethodErrors:
    """Reads the options. Their declarations are in the descriptor set itself."""

    def __init__(self, descriptor_set):
        pool = descriptor_pool.DescriptorPool()
        for file in descriptor_set.file:
            pool.Add(file)
        self.pool = pool
        self.errors = pool.FindExtensionByName(f"{OWN_PACKAGE}.errors")
        groups = pool.FindExtensionByName(f"{OWN_PACKAGE}.error_group")
        options = self._options("FileOptions")
        self.groups = {
            group.name: group.errors for file in descriptor_set.file
            for group in options.FromString(file.options.SerializeToString()).Extensions[groups]
        }

    def _options(self, name):
        return message_factory.GetMessageClass(self.pool.FindMessageTypeByName(f"google.protobuf.{name}"))

    def every(self):
        """The reasons that every method has, by the name of their code."""
        return self._expanded([self.groups[EVERY]])

    def of(self, method):
        """The other reasons of a method (a MethodDescriptorProto), by the name of their code."""
        options = self._options("MethodOptions").FromString(method.options.SerializeToString())
        fields = self.pool.FindMessageTypeByName(method.input_type.strip(".")).fields_by_name
        named = [self.groups[f"field {name}"] for name in fields if f"field {name}" in self.groups]
        return self._expanded([options.Extensions[self.errors], *named])

    def _expanded(self, parts):
        """The reasons of all parts and of the groups that they include, each code's sorted."""
        parts = [*parts, *(self.groups[name] for part in parts for name in part.include)]
        found = {}
        for part in parts:
            for field, reasons in part.ListFields():
                if field.name != "include":
                    found.setdefault(field.name.upper(), set()).update(reasons)
        return {code: sorted(reasons) for code, reasons in sorted(found.items())}


def lines(descriptor_set):
    """A line for each method and code: the path (`*` is every method), the code, and the reasons."""
    errors = MethodErrors(descriptor_set)
    paths = {
        f"/{file.package}.{service.name}/{method.name}": errors.of(method)
        for file in descriptor_set.file if file.package == OWN_PACKAGE
        for service in file.service for method in service.method
    }
    for path, codes in {"*": errors.every(), **paths}.items():
        for code, reasons in codes.items():
            yield f"{path} {code} {' '.join(reasons)}"


def sources(descriptor_set):
    table = "\n".join(f"    {line}" for line in lines(descriptor_set))
    yield "MethodErrorTable.swift", (
        HEADER + "/// The reasons of errors, as the contract lists them: a line for each method and code, with the path (`*` is every\n"
        "/// method), the code, and the reasons. A reason that ends with `*` stands for those that begin with it.\n"
        f'enum MethodErrorTable {{\n  static let text = """\n{table}\n    """\n}}\n')
