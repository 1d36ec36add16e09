"""Plans as files: equal for equal models, whole or not there, and refused when damaged, whatever the damage.

docs/plan-format.md says how the bytes lie.
"""
import ctypes
import ctypes.util
import json
import os
import random
import shutil
import struct

import pytest

from conftest import MODELS
import program

NAME = "llama-optimum-opset18"
GRAPH = MODELS / NAME / "model.onnx"
DATA_SET = MODELS / NAME / "test_data_set_0"
# A graph with branches and fixed caches beside one of straight steps.
BRANCHES = "t5-optimum-decoder-merged-opset18"

HEADER = struct.Struct("<8sIIQQQQQQ")
FIELDS = ["magic", "version", "byte_order", "description_offset", "description_bytes", "description_hash", "file_bytes",
          "reserved", "header_hash"]
OFFSETS = [0, 8, 12, 16, 24, 32, 40, 48, 56]
FLIPS = 200
MIB = 1 << 20

FLAGS = pytest.mark.parametrize("flags", [(), ("--no-recognition",)], ids=["recognition", "no-recognition"])


def xxh3(data: bytes) -> int:
    library = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
    library.XXH3_64bits.restype = ctypes.c_uint64
    return library.XXH3_64bits(bytes(data), ctypes.c_size_t(len(data)))


def header_of(data) -> dict:
    return dict(zip(FIELDS, HEADER.unpack(data[: HEADER.size])))


def with_header(data, header: dict) -> bytes:
    """The file with that header, hashed as it should be."""
    packed = HEADER.pack(*header.values())[:-8]
    return packed + struct.pack("<Q", xxh3(packed)) + bytes(data[HEADER.size :])


def with_description(data, description: bytes) -> bytes:
    """The file with another description of the same length and the hashes of it: as a forger would make it."""
    header = header_of(data)
    start = header["description_offset"]
    assert len(description) == header["description_bytes"]
    data = bytes(data[:start]) + description + bytes(data[start + len(description) :])
    return with_header(data, {**header, "description_hash": xxh3(description)})


@pytest.fixture(scope="module")
def plans(tools, tmp_path_factory):
    """Bytes of the plans that get damaged. Without machine code: whoever forges what describes it forges a program."""
    folder = tmp_path_factory.mktemp("plans")
    result = {}
    for name in (NAME, BRANCHES):
        program.compile_model(tools, MODELS / name / "model.onnx", folder / name, "--native=none")
        result[name] = (folder / name).read_bytes()
    return result


class Runs:
    """Runs plans that are given as bytes."""

    def __init__(self, tools, scratch, data_set=DATA_SET):
        self.tools, self.plan, self.outputs, self.data_set = tools, scratch / "damaged.bin", scratch / "outputs", data_set
        self.outputs.mkdir()

    def run(self, data: bytes, *flags):
        self.plan.write_bytes(data)
        return program.run([self.tools / "sol-run", self.plan, "--inputs", self.data_set, "--outputs", self.outputs, *flags], 60)

    def refused(self, data: bytes, *mentions, flags=()):
        outcome = self.run(data, *flags)
        assert outcome.status == 1 and "error: " in outcome.stderr and "damaged.bin" in outcome.stderr, outcome
        for mention in mentions:
            assert mention in outcome.stderr, outcome
        assert not list(self.outputs.iterdir()), "outputs of a refused plan"


@pytest.fixture
def runs(tools, tmp_path):
    return Runs(tools, tmp_path)


@FLAGS
def test_compiling_twice_gives_the_same_bytes(flags, tools, tmp_path):
    """From another folder and another working directory too: a plan says nothing about where it was made."""
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(GRAPH.parent, elsewhere, ignore=shutil.ignore_patterns("test_data_set_*"))
    program.compile_model(tools, GRAPH, tmp_path / "first.bin", *flags)
    program.compile_model(tools, GRAPH, tmp_path / "second.bin", *flags)
    program.compile_model(tools, elsewhere / "model.onnx", tmp_path / "third.bin", *flags)
    program.succeed([tools / "sol-compile", "model.onnx", "-o", "../fourth.bin", *flags], cwd=elsewhere)
    first = (tmp_path / "first.bin").read_bytes()
    for other in ("second", "third", "fourth"):
        assert (tmp_path / f"{other}.bin").read_bytes() == first, f"the {other} plan differs"
    assert str(tmp_path).encode() not in first and str(GRAPH.parent).encode() not in first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "first.bin", "fourth.bin", "second.bin", "third.bin"]


def test_header_is_as_documented(plans):
    for data in plans.values():
        header = header_of(data)
        assert header["magic"] == b"SOLPLAN\n" and header["byte_order"] == 0x01020304 and header["reserved"] == 0
        assert header["file_bytes"] == len(data)
        start = header["description_offset"]
        assert header["description_hash"] == xxh3(data[start : start + header["description_bytes"]])
        assert header["header_hash"] == xxh3(data[: HEADER.size - 8])


@pytest.mark.parametrize("field", FIELDS)
def test_a_flipped_header_is_refused(field, plans, runs):
    data = bytearray(plans[NAME])
    data[OFFSETS[FIELDS.index(field)]] ^= 0x40
    runs.refused(data, "is not a plan" if field == "magic" else "header")


@pytest.mark.parametrize("field, value, mention", [
    ("version", 99, "plan format 99"),
    ("byte_order", 0x04030201, "byte order"),
    ("description_offset", 1 << 62, "description"),
    ("description_offset", (1 << 64) - 8, "description"),
    ("description_offset", 4, "description"),
    ("description_bytes", 1 << 62, "description"),
    ("description_bytes", 0, "description"),
    ("description_hash", 1, "description"),
    ("file_bytes", 1 << 62, "bytes"),
    ("file_bytes", 0, "bytes"),
])
def test_a_wrong_header_with_the_right_hash_is_refused(field, value, mention, plans, runs):
    runs.refused(with_header(plans[NAME], {**header_of(plans[NAME]), field: value}), mention)


@pytest.mark.parametrize("part", [0, 1, 63, 64, 4096, 0.3, 0.6, 0.9, -1])
def test_a_cut_plan_is_refused(part, plans, runs):
    data = plans[NAME]
    length = int(len(data) * part) if isinstance(part, float) else part
    runs.refused(data[:length])


def test_a_longer_plan_is_refused(plans, runs):
    runs.refused(plans[NAME] + b"\0", "bytes")


def test_a_flipped_description_is_refused(plans, runs):
    data = plans[NAME]
    header = header_of(data)
    for part in range(8):
        damaged = bytearray(data)
        damaged[header["description_offset"] + part * header["description_bytes"] // 8] ^= 1
        runs.refused(damaged, "description")


def test_flipped_weights_are_data_loss(plans, runs):
    """The weights begin behind the first page; `--no-verify` takes the user's word."""
    damaged = bytearray(plans[NAME])
    damaged[4096 + 1024] ^= 0x01
    runs.refused(damaged, "weights differ from their hash", "byte 4096")
    outcome = runs.run(damaged, "--no-verify")
    assert outcome.status == 0, outcome


def test_a_damaged_plan_can_be_looked_at(plans, tools, tmp_path):
    """What sol-plan-dump and --describe show needs no weights; a damaged description is refused there, too."""
    plan = tmp_path / "damaged.bin"
    header = header_of(plans[NAME])
    for offset, status in ((4096 + 1024, 0), (header["description_offset"] + 100, 1)):
        damaged = bytearray(plans[NAME])
        damaged[offset] ^= 0x01
        plan.write_bytes(damaged)
        for command in ([tools / "sol-run", plan, "--describe"], [tools / "sol-plan-dump", plan]):
            outcome = program.run(command)
            assert outcome.status == status and (status == 0 or "error: " in outcome.stderr), outcome


def test_damaged_machine_code_is_refused(tools, tmp_path, runs):
    """When the plan is opened, also in the image that this processor would not take; a dump refuses it as well."""
    plan = tmp_path / "plan.bin"
    program.compile_model(tools, GRAPH, plan, "--no-recognition")
    data = plan.read_bytes()
    native = json.loads(program.succeed([tools / "sol-plan-dump", plan, "--json"]).stdout)["native"]
    assert len(native["images"]) == 2 and native["loops"]
    assert runs.run(data).status == 0
    runs.outputs = tmp_path / "none"
    runs.outputs.mkdir()
    for image in native["images"]:
        for place in (0, image["bytes"] // 2, image["bytes"] - 1):
            damaged = bytearray(data)
            damaged[image["offset"] + place] ^= 0x10
            runs.refused(damaged, f"machine code for {image['level']} differs from its hash", flags=("--no-verify",))
            assert program.run([tools / "sol-plan-dump", runs.plan]).status == 1


def test_the_dump_shows_what_lies_beside_the_steps(plans, tools, tmp_path):
    plan = tmp_path / "plan.bin"
    plan.write_bytes(plans[NAME])
    text = program.succeed([tools / "sol-plan-dump", plan]).stdout
    config = (GRAPH.parent / "config.json").read_bytes()
    assert f"\nembedded config.json, {len(config)} bytes\n" in text and ", context of 128 tokens\n" in text, text
    dumped = json.loads(program.succeed([tools / "sol-plan-dump", plan, "--json"]).stdout)
    (embedded,) = dumped["resources"]
    start = embedded["offset"]
    assert plans[NAME][start : start + embedded["bytes"]] == config and embedded["hash"] == xxh3(config)


def test_random_flips_never_crash(plans, runs):
    """Anywhere in the file, weights included (where verification finds them, or alignment's padding lies)."""
    chance = random.Random(20)
    for number in range(FLIPS):
        damaged = bytearray(plans[NAME])
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        outcome = runs.run(damaged)
        assert outcome.status in (0, 1), f"flip {number}: {outcome}"
        assert outcome.status == 0 or "error: " in outcome.stderr, f"flip {number}: {outcome}"


@pytest.mark.parametrize("name", [NAME, BRANCHES])
def test_forged_descriptions_never_crash(name, plans, tools, tmp_path):
    """Descriptions with flipped bits and hashes that agree: a reader that believed its file would fall."""
    runs = Runs(tools, tmp_path, MODELS / name / "test_data_set_0")
    data = plans[name]
    header = header_of(data)
    start, length = header["description_offset"], header["description_bytes"]
    chance = random.Random(5)
    refused = 0
    for number in range(FLIPS):
        description = bytearray(data[start : start + length])
        for _ in range(chance.choice((1, 1, 2, 8))):
            description[chance.randrange(length)] ^= 1 << chance.randrange(8)
        outcome = runs.run(with_description(data, bytes(description)), "--threads", "1")
        assert outcome.status in (0, 1) and not outcome.timed_out, f"forgery {number}: {outcome}"
        assert outcome.status == 0 or "error: " in outcome.stderr, f"forgery {number}: {outcome}"
        refused += outcome.status
    assert refused >= FLIPS // 10, "hardly any forgery does anything: the flips don't reach the description"


def test_a_failed_compile_keeps_the_old_plan(tools, tmp_path):
    plan = tmp_path / "plan.bin"
    program.compile_model(tools, GRAPH, plan)
    before = plan.read_bytes()
    (tmp_path / "broken.onnx").write_bytes(GRAPH.read_bytes()[:5000])
    assert program.run([tools / "sol-compile", tmp_path / "broken.onnx", "-o", plan]).status == 1
    assert plan.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.onnx", "plan.bin"]


def clear_failure(outcome, *mentions):
    assert outcome.status == 1 and "error: " in outcome.stderr, outcome
    for mention in mentions:
        assert mention in outcome.stderr, outcome


def test_a_folder_in_the_way_of_the_plan(tools, tmp_path):
    (tmp_path / "plan.bin").mkdir()
    clear_failure(program.run([tools / "sol-compile", GRAPH, "-o", tmp_path / "plan.bin"]), "plan.bin")
    assert [path.name for path in tmp_path.rglob("*")] == ["plan.bin"]


def test_no_folder_for_the_plan(tools, tmp_path):
    clear_failure(program.run([tools / "sol-compile", GRAPH, "-o", tmp_path / "absent/plan.bin"]), "absent/plan.bin")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_can_not_be_written(tools, tmp_path):
    """For root, whom permissions don't stop, the kernel's own folder is such a one."""
    folder = "/proc"
    if os.geteuid() != 0:
        tmp_path.chmod(0o500)
        folder = tmp_path
    clear_failure(program.run([tools / "sol-compile", GRAPH, "-o", f"{folder}/plan.bin"]), f"{folder}/plan.bin")
    assert not list(tmp_path.iterdir())
    tmp_path.chmod(0o700)


def test_a_full_disk_leaves_nothing(tools, tmp_path):
    """The size limit of files acts as a disk that ends in the middle of the weights; the old plan stays."""
    plan = tmp_path / "plan.bin"
    plan.write_bytes(b"old")
    command = f"trap '' XFSZ; ulimit -f 64; exec '{tools / 'sol-compile'}' '{GRAPH}' -o '{plan}'"
    clear_failure(program.run(["bash", "-c", command]), "plan.bin", "too large")
    assert [path.name for path in tmp_path.iterdir()] == ["plan.bin"] and plan.read_bytes() == b"old"
