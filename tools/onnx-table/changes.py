"""What the schemas alone do not say about operators: results' types, changes of meaning, purity."""

# Versions (from 7 on) at which the meaning or the form of an operator changed. The importer has a rewrite for each
# (lib/import/upgrade/) or refuses the older version. Every version up to 6 counts as changed.
CHANGED = {
    "BatchNormalization": [7, 9, 14],
    "Clip": [11],
    "DFT": [20],
    "Dropout": [7, 12],
    "GRU": [7],
    "GridSample": [20],
    "GroupNormalization": [21],
    "Hardmax": [13],
    "LSTM": [7],
    "LogSoftmax": [13],
    "Pad": [11],
    "RNN": [7],
    "Resize": [11, 13],
    "RoiAlign": [16],
    "Scan": [9],
    "Slice": [10],
    "Softmax": [13],
    "Split": [13, 18],
    "Squeeze": [13],
    "TopK": [10],
    "Unsqueeze": [13],
    "ReduceSum": [13],
    **{f"Reduce{kind}": [18] for kind in
       ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare")},
    # Broadcasting by position replaced the attributes `axis` and `broadcast`.
    **{name: [7] for name in ("Add", "And", "Div", "Equal", "Gemm", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor", "PRelu")},
}

# Signature changes that change nothing for an older node.
HARMLESS = {("Constant", 11), ("Gemm", 11), ("GRU", 14), ("OptionalHasElement", 18)}

# Where a result's element type comes from when its type variable is not bound by an input: alternatives, first one
# that is there wins. `@a` is the type number in attribute a, `#a` the type of the tensor in attribute a, a number is a
# type number, anything else a type variable.
RESULT_TYPES = {
    ("Bernoulli", 0): "@dtype|T1",
    ("BitCast", 0): "@to",
    ("BlackmanWindow", 0): "@output_datatype",
    ("Cast", 0): "@to",
    ("ConstantOfShape", 0): "#value|1",
    ("DequantizeLinear", 0): "@output_dtype|T2",
    ("EyeLike", 0): "@dtype|T1",
    ("HammingWindow", 0): "@output_datatype",
    ("HannWindow", 0): "@output_datatype",
    ("LayerNormalization", 1): "@stash_type",
    ("LayerNormalization", 2): "@stash_type",
    ("LinearAttention", 1): "S|T",
    ("MelWeightMatrix", 0): "@output_datatype",
    ("Multinomial", 0): "@dtype",
    ("QuantizeLinear", 0): "T3|@output_dtype|2",
    ("RandomNormal", 0): "@dtype",
    ("RandomNormalLike", 0): "@dtype|T1",
    ("RandomUniform", 0): "@dtype",
    ("RandomUniformLike", 0): "@dtype|T1",
}

# Results whose type the importer takes from the graph in an attribute, or that are no tensors.
OTHER_RESULTS = {"ConcatFromSequence", "Constant", "If", "Loop", "Scan", "Optional", "OptionalGetElement", "SequenceAt",
                 "SequenceConstruct", "SequenceEmpty", "SplitToSequence", "SequenceMap", "SequenceInsert"}

# Operators whose results differ from run to run. (Dropout draws numbers in training mode only, which is refused.)
IMPURE = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}

# Operators of com.microsoft in the table.
MICROSOFT = ["Attention", "BiasGelu", "BiasSplitGelu", "DequantizeLinear", "DynamicQuantizeMatMul",
             "EmbedLayerNormalization", "FastGelu", "FusedGemm", "FusedMatMul", "GatherBlockQuantized", "Gelu",
             "GroupQueryAttention", "MatMulIntegerToFloat", "MatMulNBits", "MoE", "MultiHeadAttention", "QAttention",
             "QMoE", "QuantizeLinear", "QuickGelu", "RotaryEmbedding", "SimplifiedLayerNormalization",
             "SkipLayerNormalization", "SkipSimplifiedLayerNormalization"]
MICROSOFT_RESULT_TYPES = {
    ("GroupQueryAttention", 1): "T_CACHE|T", ("GroupQueryAttention", 2): "T_CACHE|T",
    ("EmbedLayerNormalization", 1): "6",
    ("SkipLayerNormalization", 1): "1", ("SkipLayerNormalization", 2): "1",
    ("SkipSimplifiedLayerNormalization", 1): "1", ("SkipSimplifiedLayerNormalization", 2): "1",
    ("SimplifiedLayerNormalization", 1): "1",
    ("QuantizeLinear", 0): "T2|2",
    ("MatMulNBits", 0): "T1",
    ("MatMulIntegerToFloat", 0): "T3",
    ("QAttention", 0): "T3",
    ("MultiHeadAttention", 3): "T",
}
