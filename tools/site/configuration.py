"""The reference of the configuration: a table for each part of docs/configuration.schema.json."""

import json
import pathlib

SCHEMA = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "configuration.schema.json"


def described(schema):
    """What a value may be, in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{value if isinstance(value, str) else json.dumps(value)}`" for value in schema["enum"])
    for choice in ("oneOf", "anyOf"):
        if choice in schema:
            return " or ".join(described(part) for part in schema[choice])
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {described(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"by name: {described(schema['additionalProperties'])}"
    bounds = [f"{word} {schema[key]}" for key, word in (("minimum", "from"), ("maximum", "to")) if key in schema]
    pattern = f"`{schema['pattern']}`" if "pattern" in schema else ""
    names = ", ".join(f"`{name}`" for name in schema.get("properties", ()))
    kind = kind if isinstance(kind, str) else " or ".join(kind)
    return " ".join(filter(None, [kind, *bounds, pattern])) + (f": {names}" if names else "")


def section(title, schema):
    lines = [f"## {title}"]
    if schema.get("description"):
        lines.append(schema["description"])
    if schema.get("properties"):
        required = schema.get("required", ())
        rows = ["| key | value | required | |", "|---|---|---|---|"]
        for name, value in schema["properties"].items():
            text = value.get("description", "").replace("|", "\\|")
            rows.append(f"| `{name}` | {described(value)} | {'yes' if name in required else ''} | {text} |")
        lines.append("\n".join(rows))
    else:
        lines.append(described(schema) + ".")
    return "\n\n".join(lines)


def pages():
    schema = json.loads(SCHEMA.read_text("utf-8"))
    parts = [
        "# Configuration schema",
        "Generated from [configuration.schema.json](../configuration.schema.json), which editors read for completion."
        " [Configuration](../configuration.md) explains each name.",
        section("At the top", {**schema, "description": ""}),
        *(section(name, part) for name, part in schema["$defs"].items()),
    ]
    return {"reference/configuration.md": "\n\n".join(parts) + "\n"}
