"""The `com.microsoft` operators of the graphs that need a float64 reference, for onnx's reference evaluator.

Written for reading, in float64 and without regard to speed: quantized weights are dequantized and then multiplied. Covers
what those graphs use; anything else raises, so that no test passes on a guess.
"""
import numpy
from onnx.reference.op_run import OpRun

MICROSOFT = "com.microsoft"


def dequantize_rows(codes, scales, bits: int, block: int, columns: int):
    """[..., rows, columns] in float64 from codes [..., rows, bytes] and scales [..., rows, blocks].

    Two 4-bit codes a byte, the low nibble first; the zero point is half the range.
    """
    if bits == 4:
        codes = numpy.stack([codes & 15, codes >> 4], axis=-1).reshape(*codes.shape[:-1], -1)
    values = codes[..., :columns].astype(numpy.float64) - (1 << (bits - 1))
    per_column = numpy.repeat(scales.astype(numpy.float64), block, axis=-1)[..., :columns]
    return values * per_column


class SimplifiedLayerNormalization(OpRun):
    op_domain = ""

    def _run(self, x, scale, axis=None, epsilon=None, stash_type=None):
        assert axis in (-1, x.ndim - 1)
        return (x / numpy.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * scale,)


class SkipSimplifiedLayerNormalization(OpRun):
    op_domain = MICROSOFT

    def _run(self, x, skip, gamma, bias=None, epsilon=None):
        total = x + skip if bias is None else x + skip + bias
        normal = total / numpy.sqrt((total * total).mean(-1, keepdims=True) + epsilon) * gamma
        # Outputs 1 and 2 (mean, inverse deviation) aren't asked for by these graphs.
        return (normal, numpy.zeros(0), numpy.zeros(0), total)[: max(1, len(self.onnx_node.output))]


class MatMulNBits(OpRun):
    op_domain = MICROSOFT

    def _run(self, a, b, scales, zero_points=None, K=None, N=None, accuracy_level=None, bits=None, block_size=None, **_):
        assert zero_points is None
        blocks = -(-K // block_size)
        weight = dequantize_rows(b.reshape(N, -1), scales.reshape(N, blocks), bits, block_size, K)
        return (a @ weight.T,)


class GroupQueryAttention(OpRun):
    op_domain = MICROSOFT

    def _run(self, query, key, value, past_key, past_value, seqlens_k, total_sequence_length, cos=None, sin=None,
             position_ids=None, attention_bias=None, head_sink=None, num_heads=None, kv_num_heads=None, scale=None,
             local_window_size=None, softcap=None, do_rotary=None, rotary_interleaved=None, **_):
        assert key is None and value is None and position_ids is None and attention_bias is None
        assert not rotary_interleaved
        batch, length, width = query.shape
        size = width // (num_heads + 2 * kv_num_heads)
        heads = query.reshape(batch, length, -1, size).transpose(0, 2, 1, 3)
        q, k, v = numpy.split(heads, [num_heads, num_heads + kv_num_heads], axis=1)
        total = int(total_sequence_length)
        # Row b's new tokens stand at these positions; a first prompt starts at 0 whatever its padding on the right.
        first = numpy.zeros(batch, int) if length == total else seqlens_k.reshape(batch) + 1 - length
        positions = first[:, None] + numpy.arange(length)
        if do_rotary:
            q, k = rotate(q, cos, sin, positions), rotate(k, cos, sin, positions)
        assert past_key.shape[2] + length == total and (positions[:, -1] == total - 1).all(), "unequal rows"
        k, v = numpy.concatenate([past_key, k], 2), numpy.concatenate([past_value, v], 2)
        group = num_heads // kv_num_heads
        scores = q @ numpy.repeat(k, group, 1).swapaxes(-1, -2) * (scale or size**-0.5)
        if softcap:
            scores = softcap * numpy.tanh(scores / softcap)
        at, row = numpy.arange(total), positions[:, None, :, None]
        visible = at <= row
        if local_window_size is not None and local_window_size > 0:
            visible = visible & (at > row - local_window_size)
        scores = numpy.where(visible, scores, -numpy.inf)
        sink = numpy.full((1, num_heads, 1, 1), -numpy.inf) if head_sink is None else head_sink.reshape(1, -1, 1, 1)
        top = numpy.maximum(scores.max(-1, keepdims=True), sink)
        weights = numpy.exp(scores - top)
        weights = weights / (weights.sum(-1, keepdims=True) + numpy.exp(sink - top))
        out = weights @ numpy.repeat(v, group, 1)
        return out.transpose(0, 2, 1, 3).reshape(batch, length, -1), k, v


def rotate(x, cos, sin, positions):
    """Rotary embedding of [B, H, S, D]: the first 2 * cos.shape[1] elements turn, as two halves."""
    half = cos.shape[1]
    c, s = cos[positions][:, None], sin[positions][:, None]
    a, b, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
    return numpy.concatenate([a * c - b * s, b * c + a * s, rest], -1)


class QMoE(OpRun):
    op_domain = MICROSOFT

    def _run(self, x, router, fc1, scales1, bias1, fc2, scales2, bias2, *others, k=None, activation_type=None,
             activation_alpha=None, activation_beta=None, swiglu_fusion=None, swiglu_limit=None, block_size=None,
             expert_weight_bits=None, normalize_routing_weights=None, **_):
        assert activation_type == "swiglu" and swiglu_fusion == 1 and all(other is None for other in others)
        assert normalize_routing_weights == 1
        tokens = x.reshape(-1, x.shape[-1])
        up = dequantize_rows(fc1, scales1, expert_weight_bits, block_size, x.shape[-1])
        down = dequantize_rows(fc2, scales2, expert_weight_bits, block_size, fc2.shape[-1] * 8 // expert_weight_bits)
        out = numpy.zeros_like(tokens)
        limit = numpy.inf if swiglu_limit is None else swiglu_limit
        for token, logits in enumerate(router.reshape(len(tokens), -1)):
            chosen = numpy.argsort(-logits, kind="stable")[:k]
            weights = numpy.exp(logits[chosen] - logits[chosen].max())
            for expert, weight in zip(chosen, weights / weights.sum()):
                hidden = tokens[token] @ up[expert].T + bias1[expert]
                gate, linear = numpy.minimum(hidden[0::2], limit), numpy.clip(hidden[1::2], -limit, limit)
                hidden = gate / (1 + numpy.exp(-activation_alpha * gate)) * (linear + activation_beta)
                out[token] += weight * (hidden @ down[expert].T + bias2[expert])
        return (out.reshape(x.shape),)


ALL = [SimplifiedLayerNormalization, SkipSimplifiedLayerNormalization, MatMulNBits, GroupQueryAttention, QMoE]
