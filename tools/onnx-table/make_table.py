"""Writes the table of operator schemas of the onnx dialect (see README.md)."""
import re
import sys

import onnx
import onnx.defs as defs
from onnxruntime.capi import onnxruntime_pybind11_state as ort

import changes

TYPE_NUMBER = {"float": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "string": 8, "bool": 9,
               "float16": 10, "double": 11, "uint32": 12, "uint64": 13, "complex64": 14, "complex128": 15, "bfloat16": 16,
               "float8e4m3fn": 17, "float8e4m3fnuz": 18, "float8e5m2": 19, "float8e5m2fnuz": 20, "uint4": 21, "int4": 22,
               "float4e2m1": 23, "float8e8m0": 24, "uint2": 25, "int2": 26, "float6e2m3": 27, "float6e3m2": 28}
NOT_A_TENSOR = 31
KINDS = {1: "Float", 2: "Int", 3: "String", 4: "Tensor", 5: "Graph", 6: "Floats", 7: "Ints", 8: "Strings", 9: "Tensors",
         10: "Graphs", 11: "SparseTensor", 12: "SparseTensors", 13: "TypeProto", 14: "TypeProtos"}


def type_bit(text):
    match = re.fullmatch(r"tensor\((\w+)\)", text)
    return TYPE_NUMBER[match.group(1)] if match else NOT_A_TENSOR


def type_mask(texts):
    mask = 0
    for text in texts:
        mask |= 1 << type_bit(text)
    return mask


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def attribute_kind(attribute):
    return int(attribute.type.value if hasattr(attribute.type, "value") else attribute.type)


def attribute_default(attribute):
    value = attribute.default_value if hasattr(attribute, "default_value") else \
        onnx.AttributeProto.FromString(attribute._default_value)
    if not value.type:
        return "nullptr"
    got = onnx.helper.get_attribute_value(value)
    if isinstance(got, bytes):
        got = got.decode()
    if isinstance(got, float):
        got = repr(float(f"{got:.9g}"))
    if isinstance(got, (list, tuple)):
        got = ",".join(str(g.decode() if isinstance(g, bytes) else g) for g in got)
    return quoted(str(got))


class Table:
    """Arrays of the generated file, equal ones shared."""

    def __init__(self):
        self.names = {}
        self.lines = []

    def array(self, kind, letter, items):
        if not items:
            return "{}"
        text = "{" + ", ".join(items) + "}"
        key = (kind, text)
        if key not in self.names:
            self.names[key] = f"{letter}{sum(1 for k, _ in self.names if k == kind)}"
            self.lines.append(f"constexpr {kind} {self.names[key]}[] = {text};")
        return self.names[key]


def values(table, schema, parameters, type_text, min_count):
    items = []
    for index, parameter in enumerate(parameters):
        option = str(parameter.option).split(".")[-1]
        if option == "Variadic" and not getattr(parameter, "is_homogeneous", getattr(parameter, "isHomogeneous", True)):
            option = "Mixed"
        items.append(f"{{{quoted(parameter.name)}, {quoted(type_text(index, parameter))}, Arity::{option}}}")
    return table.array("ValueSchema", "v", items)


def entry(table, schema, domain, name, versions, result_types, type_text_of):
    constraints = {c.type_param_str if hasattr(c, "type_param_str") else c.typeParamStr:
                   type_mask(c.allowed_type_strs if hasattr(c, "allowed_type_strs") else c.allowedTypeStrs)
                   for c in (schema.type_constraints if hasattr(schema, "type_constraints") else schema.typeConstraints)}

    bound = {type_text_of(i) for i in schema.inputs if not str(i.option).endswith("Optional")}

    def literal(text):
        mask = constraints.get(text)
        if mask is None:
            mask = type_mask([text])
        return str(mask.bit_length() - 1) if mask & (mask - 1) == 0 else None

    def input_text(_, parameter):
        text = type_text_of(parameter)
        return text if text in constraints else literal(text)

    def output_text(index, parameter):
        if (name, index) in result_types:
            return result_types[(name, index)]
        text = type_text_of(parameter)
        single = literal(text)
        if single is not None:
            return single
        if text in bound or name in changes.OTHER_RESULTS:
            return text
        raise SystemExit(f"{domain}.{name}: give the type of output {index} ({text}) in changes.py")

    inputs = values(table, schema, schema.inputs, input_text, schema.min_input)
    outputs = values(table, schema, schema.outputs, output_text, schema.min_output)
    attributes = table.array("AttributeSchema", "a", [
        f"{{{quoted(a)}, AttributeKind::{KINDS[attribute_kind(schema.attributes[a])]}, "
        f"{str(schema.attributes[a].required).lower()}, {attribute_default(schema.attributes[a])}}}"
        for a in sorted(schema.attributes)])
    types = table.array("TypeVariable", "t", [f"{{{quoted(v)}, {mask:#x}}}" for v, mask in constraints.items()])
    steps = table.array("VersionStep", "s", [f"{{{v}, {str(changed).lower()}}}" for v, changed in versions])
    pure = str(name not in changes.IMPURE).lower()
    infinite = 2147483647
    clamp = lambda count: 0xffff if count >= infinite else count
    return (f"    {{{quoted(domain)}, {quoted(name)}, {steps}, {inputs}, {outputs}, {attributes}, {types}, "
            f"{schema.min_input}, {clamp(schema.max_input)}, {schema.min_output}, {clamp(schema.max_output)}, {pure}}},")


def additive(old, new):
    """Whether a node of the old schema is one of the new schema with the same meaning, as far as signatures tell."""
    if [i.option for i in old.inputs] != [i.option for i in new.inputs[:len(old.inputs)]]:
        return False
    if any(str(i.option).endswith("Single") for i in new.inputs[len(old.inputs):]):
        return False
    if [o.option for o in old.outputs] != [o.option for o in new.outputs[:len(old.outputs)]]:
        return False
    for name, attribute in old.attributes.items():
        if name not in new.attributes or new.attributes[name].type != attribute.type:
            return False
        if attribute_default(attribute) != attribute_default(new.attributes[name]):
            return False
    return all(name in old.attributes or not a.required for name, a in new.attributes.items())


def version_steps(history):
    steps = [(history[0].since_version, False)]
    for old, new in zip(history, history[1:]):
        version = new.since_version
        changed = version <= 6 or version in changes.CHANGED.get(new.name, [])
        if not changed and not additive(old, new) and (new.name, version) not in changes.HARMLESS:
            raise SystemExit(f"{new.name}: version {version} changes the signature; list it in changes.py")
        steps.append((version, changed))
    return steps


def main(path):
    if onnx.__version__ != "1.23.2":
        raise SystemExit(f"needs onnx 1.23.2, found {onnx.__version__}")
    histories = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == "":
            histories.setdefault(schema.name, []).append(schema)
    table = Table()
    entries = []
    for name in sorted(histories):
        history = sorted(histories[name], key=lambda s: s.since_version)
        if history[-1].deprecated:
            continue
        entries.append(entry(table, history[-1], "", name, version_steps(history), changes.RESULT_TYPES,
                             lambda p: p.type_str))
    contrib = {}
    for schema in ort.get_all_operator_schema():
        if schema.domain == "com.microsoft" or schema.name == "SimplifiedLayerNormalization":
            if schema.name not in contrib or schema.since_version > contrib[schema.name].since_version:
                contrib[schema.name] = schema
    for name in changes.MICROSOFT:
        entries.append(entry(table, contrib[name], "com.microsoft", name, [(1, False)], changes.MICROSOFT_RESULT_TYPES,
                             lambda p: p.typeStr))
    with open(path, "w", encoding="utf-8") as out:
        out.write("//===- OnnxTable.inc - schemas of ONNX operators --------------------------===//\n//\n"
                  "// Written by tools/onnx-table/make_table.py from onnx 1.23.2 and onnxruntime\n"
                  "// 1.32.0; do not edit. The structures are in OnnxSchema.h.\n//\n"
                  "//===----------------------------------------------------------------------===//\n")
        out.write(f"constexpr int newestOpsetVersion = {defs.onnx_opset_version()};\n")
        out.write("\n".join(table.lines))
        out.write("\nconstexpr OpSchema opSchemas[] = {\n" + "\n".join(entries) + "\n};\n")


if __name__ == "__main__":
    main(sys.argv[1])
