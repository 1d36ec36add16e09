"""An encoder and its decoder in one plan: links, feeding tokens behind an encoded text, and text for a prompt.

The data sets of the two T5 graphs follow one another: the encoder's states are in the decoder's inputs, and each of the
decoder's runs continues the one before.
"""
import ctypes
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_void_p
import json
import shutil

import numpy
import onnx
import pytest

from conftest import MODELS
import program
import runtime_library
import split_decoder
from runtime_library import Failure, Plan, Session, SessionOptions
import tensors

ENCODER, DECODER = MODELS / "t5-optimum-encoder-opset18", MODELS / "t5-optimum-decoder-merged-opset18"
RELATIVE, ABSOLUTE = 1e-4, 1e-5
FAILED_PRECONDITION, UNIMPLEMENTED = 9, 12
UNKNOWN, VOCABULARY = 1, 288
PROMPT = "the red hen"


class Link(ctypes.Structure):
    _fields_ = [(name, c_size_t) for name in ("from_function", "from_output", "to_function", "to_input")]


SIGNATURES = {
    "sol_plan_link_count": (c_size_t, [c_void_p]),
    "sol_plan_link": (Link, [c_void_p, c_size_t]),
    "sol_session_encode": (c_void_p, [c_void_p, POINTER(c_int64), c_size_t]),
    "sol_plan_encode": (c_void_p, [c_void_p, c_char_p, c_size_t, c_int, POINTER(POINTER(c_int64)), POINTER(c_size_t)]),
    "sol_plan_decode": (c_void_p, [c_void_p, POINTER(c_int64), c_size_t, c_int, POINTER(c_char_p)]),
    "sol_tokens_free": (None, [POINTER(c_int64)]),
}


class FunctionSession(Session):
    """A session on one of a plan's functions."""

    def __init__(self, plan: Plan, function: str, threads=1):
        self.library, self.handle = plan.library, c_void_p()
        options = SessionOptions(threads, 0, 0)
        self.library.check(
            self.library.c.sol_session_open(plan.handle, function.encode(), byref(options), byref(self.handle)))

    def encode(self, tokens):
        tokens = [int(token) for token in tokens]
        self.library.check(
            self.library.c.sol_session_encode(self.handle, (c_int64 * len(tokens))(*tokens), len(tokens)))


@pytest.fixture(scope="module")
def library(build_folder):
    opened = runtime_library.Library(build_folder)
    for name, (result, arguments) in SIGNATURES.items():
        function = getattr(opened.c, name)
        function.restype, function.argtypes = result, arguments
    return opened


def byte_characters() -> list:
    """The character that stands for each byte in byte-level vocabularies."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in shown]
    codes = {**{byte: byte for byte in shown}, **{byte: 256 + index for index, byte in enumerate(hidden)}}
    return [chr(codes[byte]) for byte in range(256)]


def tokenizer_json() -> dict:
    """Byte-level BPE with an entry for each of the model's tokens: three special ones, the bytes, pairs of letters."""
    pairs = [left + right for left in "theran" for right in "thersd"][: VOCABULARY - 259]
    words = ["<pad>", "<unk>", "</s>", *byte_characters(), *pairs]
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {"version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [{"id": number, "content": words[number], **special} for number in range(3)],
            "normalizer": None, "pre_tokenizer": byte_level, "post_processor": None, "decoder": byte_level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                      "vocab": {word: number for number, word in enumerate(words)},
                      "merges": [f"{pair[0]} {pair[1]}" for pair in pairs]}}


def compile_pair(tools, folder, *flags, settings=None):
    """One plan of both graphs, with a tokenizer beside them."""
    folder.mkdir(exist_ok=True)
    shutil.copy(ENCODER / "model.onnx", folder / "encoder.onnx")
    shutil.copy(DECODER / "model.onnx", folder / "decoder.onnx")
    shutil.copy(DECODER / "config.json", folder)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer_json()))
    if settings:
        (folder / "generation_config.json").write_text(json.dumps(settings))
    plan = folder / "plan.bin"
    program.succeed([tools / "sol-compile", folder / "encoder.onnx", folder / "decoder.onnx", "-o", plan, *flags])
    return plan


def source_tokens():
    return tensors.load(ENCODER / "test_data_set_0/input_0.pb")[0]


def decoder_steps() -> list:
    """Tokens and logits of each of the decoder's data sets."""
    folders = sorted(DECODER.glob("test_data_set_*"))
    return [(tensors.load(folder / "input_1.pb")[0], tensors.load(folder / "output_0.pb")[0]) for folder in folders]


def greedy(session, source, start: int, steps: int, end: int) -> list:
    session.encode(source)
    token, tokens = start, []
    for _ in range(steps):
        token = int(session.feed([token])[-1].argmax())
        if token == end:
            break
        tokens.append(token)
    return tokens


@pytest.mark.parametrize("flags", [(), ("--no-recognition",)], ids=["recognition", "no-recognition"])
@pytest.mark.parametrize("threads", [1, 2])
def test_logits_of_the_data_sets(flags, threads, library, tools, tmp_path):
    with Plan(library, compile_pair(tools, tmp_path, *flags)) as plan:
        with FunctionSession(plan, "decoder", threads) as session:
            for _ in range(2):  # an encoded text starts anew
                session.encode(source_tokens())
                assert session.length == 0
                for step, (tokens, want) in enumerate(decoder_steps()):
                    fault = tensors.differ(session.feed(tokens), want, RELATIVE, ABSOLUTE)
                    assert not fault, f"step {step}: {fault}"


def test_the_data_sets_follow_one_another():
    steps = sorted(DECODER.glob("test_data_set_*"))
    states = tensors.load(ENCODER / "test_data_set_0/output_0.pb")
    assert len(steps) >= 3
    for folder in steps:
        assert not tensors.differ(tensors.load(folder / "input_2.pb"), states, RELATIVE, ABSOLUTE)


def test_tokens_at_once_and_going_back(library, tools, tmp_path):
    steps = decoder_steps()
    tokens = numpy.concatenate([step[0] for step in steps])
    want = numpy.concatenate([step[1] for step in steps])
    with Plan(library, compile_pair(tools, tmp_path)) as plan, FunctionSession(plan, "decoder") as session:
        session.encode(source_tokens())
        assert not (fault := tensors.differ(session.feed(tokens), want, RELATIVE, ABSOLUTE)), fault
        for kept in (2, 1, 0):
            session.truncate(kept)
            got = session.feed(tokens[kept:])
            assert not (fault := tensors.differ(got, want[kept:], RELATIVE, ABSOLUTE)), f"from {kept}: {fault}"
        session.encode(source_tokens()[:3])
        other = session.feed(tokens)
        assert tensors.differ(other, want, 1e-2, 1e-2), "the decoder must see which text was encoded"


def test_links_are_shown(library, tools, tmp_path):
    path = compile_pair(tools, tmp_path)
    with Plan(library, path) as plan:
        assert library.c.sol_plan_link_count(plan.handle) == 1
        link = library.c.sol_plan_link(plan.handle, 0)
        port = plan.port(library.c.sol_plan_input(plan.handle, link.to_function, link.to_input))
        assert (link.from_function, link.from_output, link.to_function) == (0, 0, 1) and port.role == "encoder_states"
        roles = [plan.port(library.c.sol_plan_input(plan.handle, 1, i)).role for i in range(12)]
        # Two layers, keys and values: a growing cache and a fixed one each.
        assert roles.count("past") == 4 and roles.count("encoder_past") == 4 and roles.count("use_cache") == 1, roles
    described = program.succeed([tools / "sol-run", path, "--describe"]).stdout
    assert "output last_hidden_state of encoder feeds input encoder_hidden_states of decoder\n" in described
    dumped = json.loads(program.succeed([tools / "sol-plan-dump", path, "--json"]).stdout)
    assert dumped["links"] == [{"from_function": 0, "from_output": 0, "to_function": 1, "to_input": 2}]


def compile_three(tools, folder, *flags, settings=None):
    """One plan of the encoder, the decoder for the first tokens and the one that goes on."""
    folder.mkdir(exist_ok=True)
    shutil.copy(ENCODER / "model.onnx", folder / "encoder_model.onnx")
    shutil.copy(DECODER / "config.json", folder)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer_json()))
    if settings:
        (folder / "generation_config.json").write_text(json.dumps(settings))
    first, later = split_decoder.split(DECODER / "model.onnx", folder)
    plan = folder / "plan.bin"
    program.succeed([tools / "sol-compile", folder / "encoder_model.onnx", first, later, "-o", plan, *flags])
    return plan


@pytest.mark.parametrize("flags", [(), ("--no-recognition",)], ids=["recognition", "no-recognition"])
def test_decoder_in_two_files(flags, library, tools, tmp_path):
    """The first tokens go to the one, what it gives is the past of the other."""
    steps = decoder_steps()
    tokens = numpy.concatenate([step[0] for step in steps])
    want = numpy.concatenate([step[1] for step in steps])
    with Plan(library, compile_three(tools, tmp_path, *flags)) as plan:
        # The encoder's states, and keys and values of two layers' two attentions.
        assert library.c.sol_plan_link_count(plan.handle) == 1 + 8
        with FunctionSession(plan, "decoder_with_past_model") as session:
            for _ in range(2):
                session.encode(source_tokens())
                for step, (fed, logits) in enumerate(steps):
                    fault = tensors.differ(session.feed(fed), logits, RELATIVE, ABSOLUTE)
                    assert not fault, f"step {step}: {fault}"
            for kept in (2, 1, 0):
                session.truncate(kept)
                got = session.feed(tokens[kept:])
                assert not (fault := tensors.differ(got, want[kept:], RELATIVE, ABSOLUTE)), f"from {kept}: {fault}"
        with FunctionSession(plan, "decoder_with_past_model") as session:
            assert "`encoder_model`" in refused(lambda: session.feed([0]), FAILED_PRECONDITION)
    alone = tmp_path / "alone.bin"
    program.compile_model(tools, tmp_path / "decoder_with_past_model.onnx", alone, *flags)
    with Plan(library, alone) as plan, FunctionSession(plan, "decoder_with_past_model") as session:
        with pytest.raises(Failure, match="--inputs"):
            session.feed([0])


def test_text_of_two_files_is_that_of_one(tools, tmp_path):
    settings = {"eos_token_id": UNKNOWN}
    merged = compile_pair(tools, tmp_path / "merged", settings=settings)
    split = compile_three(tools, tmp_path / "split", settings=settings)
    assert written(tools, split) == written(tools, merged) != ""
    described = program.succeed([tools / "sol-run", split, "--describe"]).stdout
    assert ("output present.1.encoder.value of decoder_model feeds input past_key_values.1.encoder.value "
            "of decoder_with_past_model\n") in described


def test_explicit_pasts_of_two_files(tools, tmp_path):
    """A caller who keeps the pasts gives them to the second function himself."""
    plan = compile_three(tools, tmp_path)
    for folder in sorted(DECODER.glob("test_data_set_*"))[1:]:
        merged = onnx.load(DECODER / "model.onnx").graph
        given, outputs = tmp_path / folder.name, tmp_path / ("out" + folder.name)
        given.mkdir()
        kept = [port.name for port in onnx.load(tmp_path / "decoder_with_past_model.onnx").graph.input]
        for index, port in enumerate(merged.input):
            if port.name in kept:
                shutil.copy(folder / f"input_{index}.pb", given / f"input_{kept.index(port.name)}.pb")
        program.succeed([tools / "sol-run", plan, "--function", "decoder_with_past_model", "--inputs", given,
                         "--outputs", outputs, "--quiet"])
        grown = [index for index, port in enumerate(merged.output) if ".encoder." not in port.name]
        for index, source in enumerate(grown):
            want = tensors.load(folder / f"output_{source}.pb")
            fault = tensors.differ(tensors.load(outputs / f"output_{index}.pb"), want, RELATIVE, ABSOLUTE)
            assert not fault, f"{folder.name}, output {index}: {fault}"


def test_two_encoders_are_ambiguous(tools, tmp_path):
    """Two outputs that fit alike: no link, and a remark that names both."""
    compile_pair(tools, tmp_path)
    shutil.copy(tmp_path / "encoder.onnx", tmp_path / "other.onnx")
    outcome = program.succeed([tools / "sol-compile", "--remarks", tmp_path / "encoder.onnx", tmp_path / "other.onnx",
                               tmp_path / "decoder.onnx", "-o", tmp_path / "plan.bin"])
    remark = [line for line in outcome.stderr.splitlines() if "linked to no encoder" in line]
    assert len(remark) == 1 and "encoder.last_hidden_state" in remark[0] and "other.last_hidden_state" in remark[0], outcome
    assert "feeds input" not in program.succeed([tools / "sol-run", tmp_path / "plan.bin", "--describe"]).stdout


def refused(call, code: int) -> str:
    with pytest.raises(Failure) as failure:
        call()
    assert failure.value.code == code, str(failure.value)
    return str(failure.value)


def test_wrong_use_is_refused(library, tools, tmp_path):
    with Plan(library, compile_pair(tools, tmp_path)) as plan:
        with FunctionSession(plan, "decoder") as session, FunctionSession(plan, "encoder") as encoder:
            assert "`encoder`" in refused(lambda: session.feed([0]), FAILED_PRECONDITION)
            assert "`encoder`" in refused(lambda: encoder.encode([5]), FAILED_PRECONDITION)
            refused(lambda: session.encode([]), runtime_library.INVALID_ARGUMENT)
            session.encode(source_tokens())
            session.feed([0])
            with pytest.raises(Failure):
                session.encode([1 << 40])
            refused(lambda: session.feed([0]), FAILED_PRECONDITION)
    alone = tmp_path / "alone.bin"
    program.compile_model(tools, tmp_path / "decoder.onnx", alone)
    with Plan(library, alone) as plan, FunctionSession(plan, "decoder") as session:
        assert "`encoder_hidden_states`" in refused(lambda: session.feed([0]), UNIMPLEMENTED)


def encode_text(library, plan, text: str) -> list:
    tokens, count = POINTER(c_int64)(), c_size_t()
    data = text.encode()
    library.check(library.c.sol_plan_encode(plan.handle, data, len(data), 1, byref(tokens), byref(count)))
    result = tokens[: count.value]
    library.c.sol_tokens_free(tokens)
    return result


def decode_text(library, plan, tokens: list) -> str:
    text = c_char_p()
    library.check(
        library.c.sol_plan_decode(plan.handle, (c_int64 * len(tokens))(*tokens), len(tokens), 1, byref(text)))
    return text.value.decode()


def written(tools, path, *flags) -> str:
    outcome = program.succeed([tools / "sol-run", path, "--raw", "--prompt", PROMPT, "--temperature", "0", "--max-tokens", "12",
                               "--quiet", *flags])
    return outcome.stdout.removesuffix("\n")


def test_text(library, tools, tmp_path):
    """The prompt goes to the encoder, the text begins at the model's start token and ends at its end token."""
    # config.json's own end token comes too soon; generation_config.json goes before it.
    path = compile_pair(tools, tmp_path / "plain", settings={"eos_token_id": UNKNOWN})
    with Plan(library, path) as plan, FunctionSession(plan, "decoder") as session:
        source = encode_text(library, plan, PROMPT)
        assert 1 < len(source) < len(PROMPT), "pairs of letters are tokens"
        tokens = greedy(session, source, 0, 12, UNKNOWN)
        want = decode_text(library, plan, tokens)
        other_start = greedy(session, source, 77, 12, UNKNOWN)
        want_other = decode_text(library, plan, other_start)
        first = tokens[: next((i for i, token in enumerate(tokens) if i and token != tokens[0]), len(tokens))]
        want_first = decode_text(library, plan, first)
    assert len(tokens) > 2 and want and want != want_other
    assert written(tools, path) == want
    assert written(tools, path, "--function", "decoder", "--threads", "2") == want

    other = compile_pair(tools, tmp_path / "other", settings={"decoder_start_token_id": 77, "eos_token_id": UNKNOWN})
    assert written(tools, other) == want_other

    if len(first) < len(tokens):
        ended = compile_pair(tools, tmp_path / "ended", settings={"eos_token_id": [UNKNOWN, tokens[len(first)]]})
        assert written(tools, ended) == want_first


def test_a_text_function_is_needed(tools, tmp_path):
    outcome = program.run([tools / "sol-run", compile_pair(tools, tmp_path), "--raw", "--prompt", PROMPT, "--function", "encoder"])
    assert outcome.status == 1 and "error: function `encoder` gives no logits" in outcome.stderr, outcome
