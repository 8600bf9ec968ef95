"""The access rules of the contract: the option `(access)` that every rpc of the package `entitled.v1` has."""

import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

OPTION = "entitled.v1.access"
OWN_PACKAGE = "entitled.v1"


class Rule:
    """The access rule of a method and how the server runs it, as Swift literals."""

    def __init__(self, role=None, mutates=False, on_event_loop=False, may_defer=False, any_role=False,
                 limits_apps=False, shows_customers=False):
        self.role = f".{role.removeprefix('ROLE_').lower()}" if role else "nil"
        self.mutates = mutates
        self.on_event_loop = on_event_loop
        self.may_defer = may_defer
        self.any_role = any_role
        self.limits_apps = limits_apps
        self.shows_customers = shows_customers


class Access:
    """Reads the option. The declaration of the option is in the descriptor set itself."""

    def __init__(self, descriptor_set):
        pool = descriptor_pool.DescriptorPool()
        for file in descriptor_set.file:
            pool.Add(file)
        self.option = pool.FindExtensionByName(OPTION)
        self.options = message_factory.GetMessageClass(pool.FindMessageTypeByName("google.protobuf.MethodOptions"))

    def of(self, file, service, method):
        """The rule of a method. The services of other packages (health, reflection) are open to every caller."""
        if file.package != OWN_PACKAGE:
            return Rule()
        options = self.options.FromString(method.options.SerializeToString())
        rule = options.Extensions[self.option] if options.HasExtension(self.option) else None
        role = rule and self.option.message_type.fields_by_name["role"].enum_type.values_by_number[rule.role].name
        if rule and rule.any_role and rule.role == 0:
            role = None
        elif role in (None, "ROLE_UNSPECIFIED") or rule.any_role:
            sys.exit(f"{file.name}: {service.name}.{method.name} has no option (access) with one role or any_role")
        if rule.on_event_loop and (method.client_streaming or method.server_streaming):
            sys.exit(f"{file.name}: {service.name}.{method.name} is streaming and cannot run on the event loop")
        has_no_side_effects = method.options.idempotency_level == method.options.NO_SIDE_EFFECTS
        if has_no_side_effects == rule.mutates:
            sys.exit(f"{file.name}: {service.name}.{method.name} has the idempotency_level NO_SIDE_EFFECTS"
                     " if and only if it does not mutate")
        if rule.may_defer and not rule.on_event_loop:
            sys.exit(f"{file.name}: {service.name}.{method.name} runs as a task, so it has nothing to defer")
        return Rule(role, rule.mutates, rule.on_event_loop, rule.may_defer, rule.any_role, rule.limits_apps,
                    rule.shows_customers)


def smallest(descriptor_set):
    """The files that reflection serves, without JSON names, since clients derive the same ones, and with the comments
    of the package `entitled.v1` only."""
    smaller = descriptor_pb2.FileDescriptorSet()
    for file in descriptor_set.file:
        copy = smaller.file.add()
        copy.CopyFrom(file)
        for message in copy.message_type:
            strip_json_names(message)
        for extension in copy.extension:
            extension.ClearField("json_name")
        copy.ClearField("source_code_info")
        if file.package == OWN_PACKAGE:
            keep_comments(file, copy)
    return smaller


def keep_comments(file, copy):
    """Adds the leading comments, without the positions, which would change with every line."""
    for location in file.source_code_info.location:
        if location.leading_comments:
            # Readers require three or four numbers.
            copy.source_code_info.location.add(
                path=location.path, span=[0, 0, 0], leading_comments=location.leading_comments)


def strip_json_names(message):
    for field in message.field:
        field.ClearField("json_name")
    for nested in message.nested_type:
        strip_json_names(nested)
