"""Language models fed with tokens while the session keeps the caches, through include/sol/runtime.h.

A prompt gives the same logits, bit for bit, however it is cut and on any number of threads. Exempt from that, by reason:
  no cache input                     the whole sequence is computed at each feed: nothing is kept that could differ
  DynamicQuantizeLinear              quantizes all tokens of a chunk by one scale: equal bits on any number of threads only
  sinks behind the scores            where attention stays as exported, Softmax sums the sink at an index that depends on the
                                     number of keys; recognised attention adds it apart from them
  an encoder's states as input       feed has no tokens for the encoder
"""
import json

import numpy
import pytest

from conftest import MODELS
import program
import runtime_library
from runtime_library import Failure, Plan, Session
import tensors

RELATIVE, ABSOLUTE = 1e-4, 1e-5
# One unit in the last place of float16 logits.
HALF_RELATIVE, HALF_ABSOLUTE = 2e-3, 2e-3
# Where codes of 8 bits depend on the last bit of a float.
INT8_DISTANCE = 1e-2

NO_CACHE = {"llama-hf-prefill-opset20", "llama-hf-ort-prefill-opset20"}
NO_TOKENS_ALONE = {"t5-optimum-decoder-merged-opset18", "t5-optimum-encoder-opset18"}


def fixture(name: str) -> dict:
    return json.loads((MODELS / name / "fixture.json").read_text())


def is_decoder(name: str) -> bool:
    return any(data["run"] == "prefill" for data in fixture(name)["sets"])


DECODERS = sorted(path.parent.name for path in MODELS.glob("*/fixture.json") if is_decoder(path.parent.name))
STATEFUL = [name for name in DECODERS if name not in NO_CACHE]
MIXES_TOKENS = {name for name in STATEFUL if "DynamicQuantizeLinear" in fixture(name)["ops"]}
SINK_BEHIND_SCORES = {"gpt-oss-dynamo18-bmm-opset18", "gpt-oss-optimum-opset18"}
FLAGS = pytest.mark.parametrize("flags", [(), ("--no-recognition",)], ids=["recognition", "no-recognition"])


def depends_on_chunks(name: str, flags) -> bool:
    return name in MIXES_TOKENS or (name in SINK_BEHIND_SCORES and "--no-recognition" in flags)


@pytest.fixture(scope="module")
def library(build_folder):
    return runtime_library.Library(build_folder)


def prompt_of(name: str):
    """Row 0 of the first data set's tokens: they are int64 of batch x sequence, which no other first input is."""
    tokens = tensors.load(MODELS / name / "test_data_set_0/input_0.pb")
    assert tokens.dtype == numpy.int64 and tokens.ndim == 2
    return tokens[0]


def compile_to(tools, tmp_path, name, *flags):
    plan = tmp_path / "plan.bin"
    program.compile_model(tools, MODELS / name / "model.onnx", plan, *flags)
    return plan


def feed_in_chunks(plan, tokens, chunk: int, threads: int):
    """Logits of all positions that the model gives, and the session's length."""
    with Session(plan, threads) as session:
        rows = [session.feed(tokens[start : start + chunk]) for start in range(0, len(tokens), chunk)]
        assert session.length == len(tokens)
        return rows


def same_bits(got, want) -> bool:
    return got.shape == want.shape and got.tobytes() == want.tobytes()


def explicit_inputs(plan, tokens) -> dict:
    """Inputs for one run on all tokens with empty pasts, made from roles and sizes of the plan's ports."""
    inputs = {}
    for port in plan.inputs:
        kind = runtime_library.TYPES[port.type]
        if port.role == "past":
            sizes = list(port.sizes)
            spare = plan.outputs[port.partner].sizes if port.partner >= 0 else sizes
            known = [int(size) if size.isdigit() else int(other) if other.isdigit() else None
                     for size, other in zip(sizes, spare)]
            inputs[port.name] = numpy.zeros([1, known[1], 0, known[3]], kind)
            continue
        values = {"tokens": tokens, "attention_mask": numpy.ones(len(tokens)), "positions": numpy.arange(len(tokens))}
        if port.role in values:
            inputs[port.name] = numpy.asarray([values[port.role]], kind)
        else:
            assert port.role == "window", f"input `{port.name}` has role `{port.role}`, which a decoder's user can't know"
            inputs[port.name] = None
    return inputs


@FLAGS
@pytest.mark.parametrize("name", STATEFUL)
def test_any_chunks_and_threads(name, flags, library, tools, tmp_path):
    tokens = prompt_of(name)
    with Plan(library, compile_to(tools, tmp_path, name, *flags)) as plan:
        assert [port.role for port in plan.inputs].count("tokens") == 1, [(port.name, port.role) for port in plan.inputs]
        assert any(port.role == "past" for port in plan.inputs)
        whole = feed_in_chunks(plan, tokens, len(tokens), 1)[0]
        every_position = len(whole) == len(tokens)
        assert every_position or len(whole) == 1
        faults = []
        for chunk in (len(tokens), 3, 1):
            one_thread = feed_in_chunks(plan, tokens, chunk, 1)
            if not all(map(same_bits, feed_in_chunks(plan, tokens, chunk, 2), one_thread)):
                faults.append(f"chunks of {chunk} on 2 threads differ from those on 1")
            if depends_on_chunks(name, flags):
                continue
            got = numpy.concatenate(one_thread) if every_position else one_thread[-1]
            if not same_bits(got, whole):
                where = tensors.first_difference(got != whole, got, whole) if got.shape == whole.shape else got.shape
                faults.append(f"chunks of {chunk} differ from the prompt in one: {where}")
        assert not faults, faults

        inputs = explicit_inputs(plan, tokens)
        window = json.loads((MODELS / name / "config.json").read_text()).get("sliding_window")
        inputs = {key: numpy.asarray(window, numpy.int64) if value is None else value for key, value in inputs.items()}
        output = next(port.name for port in plan.outputs if port.role == "logits")
        with Session(plan, 2) as session:
            logits = session.run(inputs)[output][0]
        wide = logits.astype(numpy.float32)[-len(whole):]
        if name in MIXES_TOKENS:
            assert tensors.distance(whole, wide) <= INT8_DISTANCE
        elif logits.dtype == numpy.float16:
            assert not (fault := tensors.differ(whole, wide, HALF_RELATIVE, HALF_ABSOLUTE)), fault
        else:
            assert not (fault := tensors.differ(whole, wide, RELATIVE, ABSOLUTE)), fault


@FLAGS
@pytest.mark.parametrize("name", STATEFUL)
def test_going_back(name, flags, library, tools, tmp_path):
    """Forgotten tokens leave no trace, wherever the cut lies."""
    tokens = prompt_of(name)
    with Plan(library, compile_to(tools, tmp_path, name, *flags)) as plan, Session(plan) as session, Session(plan) as fresh:
        for kept in (len(tokens) - 1, 2, 0):
            session.truncate(0)
            for chunk in (tokens[:kept], tokens[kept:]) if depends_on_chunks(name, flags) and kept else (tokens,):
                session.feed(chunk)
            session.truncate(kept)
            assert session.length == kept
            other = tokens[::-1][: len(tokens) - kept]
            got = session.feed(other)
            fresh.truncate(0)
            if kept:
                fresh.feed(tokens[:kept])
            assert same_bits(got, fresh.feed(other)), f"after going back to {kept} tokens"
        with pytest.raises(Failure) as failure:
            session.truncate(len(tokens) + 1)
        assert failure.value.code == runtime_library.OUT_OF_RANGE and str(len(tokens)) in str(failure.value)


# One of each way to keep a cache; with recognition, as without it a present is a new tensor each time.
STEADY = ["llama-optimum-opset18", "llama-genai-int4-opset22", "llama-dynamo24-opset24", "gpt2-dynamo18-opset18",
          "gemma3-optimum-opset18", "qwen3-moe-optimum-opset18"]


@pytest.mark.parametrize("name", STEADY)
def test_steady_decoding_allocates_nothing(name, library, tools, tmp_path):
    """Beyond growing: buffers that are large enough for a step are large enough for the next but where a capacity ends."""
    tokens = prompt_of(name)
    steps = 24
    with Plan(library, compile_to(tools, tmp_path, name)) as plan, Session(plan, 2) as session:
        session.feed(tokens)
        counts = []
        for step in range(steps):
            session.feed(tokens[step % len(tokens)][None])
            counts.append(session.allocations)
        warm = counts[steps // 3 :]
        # Sizes went up by 16 positions; were a buffer made anew for each step, there would be as many as steps.
        assert warm[-1] - warm[0] <= 2, counts
        session.truncate(len(tokens))
        before = session.allocations
        for step in range(steps):
            session.feed(tokens[step % len(tokens)][None])
        assert session.allocations == before, "sizes that were seen before need no memory"


def test_sessions_of_one_plan_do_not_meet(library, tools, tmp_path):
    tokens = prompt_of("llama-optimum-opset18")
    with Plan(library, compile_to(tools, tmp_path, "llama-optimum-opset18")) as plan:
        alone = [feed_in_chunks(plan, order, 1, 1) for order in (tokens, tokens[::-1])]
        with Session(plan) as first, Session(plan, 2) as second:
            for position in range(len(tokens)):
                assert same_bits(first.feed(tokens[position][None]), alone[0][position])
                assert same_bits(second.feed(tokens[::-1][position][None]), alone[1][position])


def test_an_explicit_run_forgets_what_was_fed(library, tools, tmp_path):
    tokens = prompt_of("llama-optimum-opset18")
    with Plan(library, compile_to(tools, tmp_path, "llama-optimum-opset18")) as plan, Session(plan) as session:
        want = session.feed(tokens)
        session.run(explicit_inputs(plan, tokens))
        assert session.length == 0
        assert same_bits(session.feed(tokens), want)


def wrong_inputs(inputs: dict):
    """Each with the input that a message must name, and what is wrong with the call."""
    missing = dict(inputs)
    del missing["attention_mask"]
    return [
        ("attention_mask", missing),
        ("attention_mas", {**inputs, "attention_mas": inputs["attention_mask"]}),
        ("input_ids", {**inputs, "input_ids": inputs["input_ids"].astype(numpy.int32)}),
        ("input_ids", {**inputs, "input_ids": inputs["input_ids"][0]}),
        ("position_ids", {**inputs, "position_ids": inputs["position_ids"][:, 1:]}),
        ("past_key_values.1.value", {**inputs, "past_key_values.1.value": numpy.zeros([1, 2, 3, 16], numpy.float32)}),
        ("past_key_values.0.key", {**inputs, "past_key_values.0.key": numpy.zeros([1, 2, 0, 8], numpy.float32)}),
    ]


@FLAGS
def test_wrong_inputs_are_named(flags, library, tools, tmp_path):
    tokens = prompt_of("llama-optimum-opset18")
    with Plan(library, compile_to(tools, tmp_path, "llama-optimum-opset18", *flags)) as plan, Session(plan) as session:
        inputs = explicit_inputs(plan, tokens)
        want = session.run(inputs)["logits"]
        for name, wrong in wrong_inputs(inputs):
            with pytest.raises(Failure) as failure:
                session.run(wrong)
            assert f"`{name}`" in str(failure.value), str(failure.value)
            assert failure.value.code in (runtime_library.INVALID_ARGUMENT, runtime_library.NOT_FOUND)
        assert same_bits(session.run(inputs)["logits"], want), "a refused call leaves its mark"


def test_a_failed_feed_changes_nothing(library, tools, tmp_path):
    """An index beyond the vocabulary is found in the middle of a run."""
    tokens = prompt_of("llama-optimum-opset18")
    with Plan(library, compile_to(tools, tmp_path, "llama-optimum-opset18")) as plan, Session(plan) as session:
        session.feed(tokens[:4])
        for wrong in ([tokens[4], 1 << 40], [-(1 << 40)], []):
            with pytest.raises(Failure):
                session.feed(wrong)
            assert session.length == 4
        got = session.feed(tokens[4:])
        session.truncate(0)
        assert same_bits(got[-1], session.feed(tokens)[-1])


def test_every_decoder_has_its_place():
    assert len(STATEFUL) >= 35 and NO_CACHE < set(DECODERS) and not NO_TOKENS_ALONE & set(DECODERS)
