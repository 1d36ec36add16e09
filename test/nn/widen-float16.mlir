// RUN: sol-opt %s --nn-widen-float16 --split-input-file | FileCheck %s

// What is computed keeps float32; the argument and the result are float16.
// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<4x8xf16>, %y: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // CHECK-DAG: %[[Y:.*]] = "onnx.Cast"(%arg1) {to = 1 : i64}
  // CHECK-DAG: %[[X:.*]] = "onnx.Cast"(%arg0) {to = 1 : i64}
  // CHECK: %[[ADD:.*]] = "onnx.Add"(%[[X]], %[[Y]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %[[MUL:.*]] = "onnx.Mul"(%[[ADD]], %[[X]])
  // CHECK: %[[OUT:.*]] = "onnx.Cast"(%[[MUL]]) {to = 10 : i64}
  // CHECK: return %[[OUT]]
  %0 = "onnx.Add"(%x, %y) : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  %1 = "onnx.Mul"(%0, %x) : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  return %1 : tensor<4x8xf16>
}

// -----

// bfloat16 too, and a symbolic shape stays what it was.
// CHECK-LABEL: func.func @brain
func.func @brain(%x: tensor<?xbf16, #nn.dims<"n">>) -> tensor<?xbf16, #nn.dims<"n">> {
  // CHECK: "onnx.Exp"({{.*}}) : (tensor<?xf32, #nn.dims<"n">>) -> tensor<?xf32, #nn.dims<"n">>
  // CHECK: "onnx.Cast"({{.*}}) {to = 16 : i64}
  %0 = "onnx.Exp"(%x) : (tensor<?xbf16, #nn.dims<"n">>) -> tensor<?xbf16, #nn.dims<"n">>
  return %0 : tensor<?xbf16, #nn.dims<"n">>
}

// -----

// The graph's own conversion rounds; the one back to float32 is no second copy.
// CHECK-LABEL: func.func @own_cast
func.func @own_cast(%x: tensor<8xf32>, %w: tensor<8xf16>) -> tensor<8xf32> {
  // CHECK: %[[W:.*]] = "onnx.Cast"(%arg1) {to = 1 : i64}
  // CHECK: %[[ROUNDED:.*]] = "onnx.Cast"(%arg0) {to = 10 : i64} : (tensor<8xf32>) -> tensor<8xf16>
  // CHECK: %[[WIDE:.*]] = "onnx.Cast"(%[[ROUNDED]]) {to = 1 : i64}
  // CHECK: %[[MUL:.*]] = "onnx.Mul"(%[[WIDE]], %[[W]])
  // CHECK: "onnx.Add"(%[[WIDE]], %[[MUL]])
  %0 = "onnx.Cast"(%x) {to = 10 : i64} : (tensor<8xf32>) -> tensor<8xf16>
  %1 = "onnx.Mul"(%0, %w) : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  %2 = "onnx.Cast"(%0) {to = 1 : i64} : (tensor<8xf16>) -> tensor<8xf32>
  %3 = "onnx.Cast"(%1) {to = 1 : i64} : (tensor<8xf16>) -> tensor<8xf32>
  %4 = "onnx.Add"(%2, %3) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// -----

// Given out in float32 by the graph's own conversion: nothing is rounded.
// CHECK-LABEL: func.func @given_wide
func.func @given_wide(%x: tensor<8xf16>) -> tensor<8xf32> {
  // CHECK: %[[EXP:.*]] = "onnx.Exp"{{.*}} -> tensor<8xf32>
  // CHECK-NEXT: return %[[EXP]]
  %0 = "onnx.Exp"(%x) : (tensor<8xf16>) -> tensor<8xf16>
  %1 = "onnx.Cast"(%0) {to = 1 : i64} : (tensor<8xf16>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// Comparisons, questions about infinity and conversions to integers are about
// float16 values; a look at the shape or for NaN is not.
// CHECK-LABEL: func.func @means_float16
func.func @means_float16(%x: tensor<8xf16>) -> (tensor<8xi1>, tensor<8xi1>, tensor<8xi64>, tensor<8xi1>, tensor<1xi64>) {
  // CHECK: %[[NEG:.*]] = "onnx.Neg"({{.*}}) : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: %[[ROUNDED:.*]] = "onnx.Cast"(%[[NEG]]) {to = 10 : i64}
  // CHECK: "onnx.Less"(%[[ROUNDED]], %arg0)
  // CHECK: "onnx.IsInf"(%[[ROUNDED]])
  // CHECK: "onnx.Cast"(%[[ROUNDED]]) {to = 7 : i64}
  // CHECK: "onnx.IsNaN"(%[[NEG]])
  // CHECK: "onnx.Shape"(%[[NEG]])
  %0 = "onnx.Neg"(%x) : (tensor<8xf16>) -> tensor<8xf16>
  %1 = "onnx.Less"(%0, %x) : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xi1>
  %2 = "onnx.IsInf"(%0) : (tensor<8xf16>) -> tensor<8xi1>
  %3 = "onnx.Cast"(%0) {to = 7 : i64} : (tensor<8xf16>) -> tensor<8xi64>
  %4 = "onnx.IsNaN"(%0) : (tensor<8xf16>) -> tensor<8xi1>
  %5 = "onnx.Shape"(%0) : (tensor<8xf16>) -> tensor<1xi64>
  return %1, %2, %3, %4, %5 : tensor<8xi1>, tensor<8xi1>, tensor<8xi64>, tensor<8xi1>, tensor<1xi64>
}

// -----

// A tensor cache: what is put behind the past is rounded as the next run will
// find it, and the same bits are read in this run.
// CHECK-LABEL: func.func @present
func.func @present(%past: tensor<1x2x4xf16>, %x: tensor<1x1x4xf16>, %q: tensor<1x1x4xf32>) -> (tensor<1x3x4xf16>, tensor<1x1x3xf32>) {
  // CHECK: %[[EXP:.*]] = "onnx.Exp"
  // CHECK: %[[STEP:.*]] = "onnx.Cast"(%[[EXP]]) {to = 10 : i64}
  // CHECK: %[[RESHAPED:.*]] = "onnx.Unsqueeze"(%[[STEP]]
  // CHECK: %[[SQUEEZED:.*]] = "onnx.Squeeze"(%[[RESHAPED]]
  // CHECK: %[[PRESENT:.*]] = "onnx.Concat"(%arg0, %[[SQUEEZED]]) {{.*}} -> tensor<1x3x4xf16>
  // CHECK: %[[KEYS:.*]] = "onnx.Transpose"(%[[PRESENT]]) {{.*}} -> tensor<1x4x3xf16>
  // CHECK: %[[WIDE:.*]] = "onnx.Cast"(%[[KEYS]]) {to = 1 : i64}
  // CHECK: "onnx.MatMul"(%arg2, %[[WIDE]])
  // CHECK: return %[[PRESENT]]
  %axis = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %0 = "onnx.Exp"(%x) : (tensor<1x1x4xf16>) -> tensor<1x1x4xf16>
  %1 = "onnx.Unsqueeze"(%0, %axis) : (tensor<1x1x4xf16>, tensor<1xi64>) -> tensor<1x1x1x4xf16>
  %2 = "onnx.Squeeze"(%1, %axis) : (tensor<1x1x1x4xf16>, tensor<1xi64>) -> tensor<1x1x4xf16>
  %3 = "onnx.Concat"(%past, %2) {axis = 1 : i64} : (tensor<1x2x4xf16>, tensor<1x1x4xf16>) -> tensor<1x3x4xf16>
  %4 = "onnx.Transpose"(%3) {perm = array<i64: 0, 2, 1>} : (tensor<1x3x4xf16>) -> tensor<1x4x3xf16>
  %5 = "onnx.Cast"(%4) {to = 1 : i64} : (tensor<1x4x3xf16>) -> tensor<1x4x3xf32>
  %6 = "onnx.MatMul"(%q, %5) : (tensor<1x1x4xf32>, tensor<1x4x3xf32>) -> tensor<1x1x3xf32>
  return %3, %6 : tensor<1x3x4xf16>, tensor<1x1x3xf32>
}

// -----

// The step of a cache is rounded, queries are not; keys and values are read in
// 16 bits.
// CHECK-LABEL: func.func @cache
func.func @cache(%c: !nn.cache<tensor<1x2x?x4xf16, #nn.dims<"1", "2", "p", "4">>>, %x: tensor<1x2x1x4xf16>, %v: tensor<1x2x?x4xf16, #nn.dims<"1", "2", "p + 1", "4">>)
    -> (!nn.cache<tensor<1x2x?x4xf16, #nn.dims<"1", "2", "p", "4">>>, tensor<1x2x1x4xf16>) {
  // CHECK: %[[EXP:.*]] = "onnx.Exp"{{.*}} -> tensor<1x2x1x4xf32>
  // CHECK: %[[STEP:.*]] = "onnx.Cast"(%[[EXP]]) {to = 10 : i64}
  // CHECK: %[[NEG:.*]] = "onnx.Neg"{{.*}} -> tensor<1x2x1x4xf32>
  // CHECK: nn.cache_append %arg0, %[[STEP]]
  // CHECK: nn.attention %[[NEG]], %arg2, %arg2, {{.*}} : (tensor<1x2x1x4xf32>, tensor<1x2x?x4xf16, {{.*}}) -> tensor<1x2x1x4xf32>
  %none = onnx.none : none
  %0 = "onnx.Exp"(%x) : (tensor<1x2x1x4xf16>) -> tensor<1x2x1x4xf16>
  %1 = "onnx.Neg"(%x) : (tensor<1x2x1x4xf16>) -> tensor<1x2x1x4xf16>
  %2 = nn.cache_append %c, %0 : (!nn.cache<tensor<1x2x?x4xf16, #nn.dims<"1", "2", "p", "4">>>, tensor<1x2x1x4xf16>) -> !nn.cache<tensor<1x2x?x4xf16, #nn.dims<"1", "2", "p", "4">>>
  %3 = nn.attention %1, %v, %v, %none, %none {scale = 0.5 : f32, softcap = 0.0 : f32, masked_rows = "zero"} : (tensor<1x2x1x4xf16>, tensor<1x2x?x4xf16, #nn.dims<"1", "2", "p + 1", "4">>, tensor<1x2x?x4xf16, #nn.dims<"1", "2", "p + 1", "4">>, none, none) -> tensor<1x2x1x4xf16>
  return %2, %3 : !nn.cache<tensor<1x2x?x4xf16, #nn.dims<"1", "2", "p", "4">>>, tensor<1x2x1x4xf16>
}

// -----

// Matrices of recognised products stay 16 bits; small constants are widened
// before the run, large ones in it.
// CHECK-LABEL: func.func @constants
func.func @constants(%x: tensor<4x256xf16>, %ids: tensor<4xi64>) -> tensor<4x256xf16> {
  // CHECK-DAG: %[[SCALE:.*]] = nn.constant dense<5.000000e-01> : tensor<f32>
  // CHECK-DAG: %[[LARGE:.*]] = nn.weight <"a.bin", 0, 131072, raw, 0>
  // CHECK-DAG: %[[SMALL:.*]] = nn.folded : tensor<256xf32> {
  // CHECK: %[[ROW:.*]] = nn.weight <"a.bin", 131072, 512, raw, 0>
  // CHECK: %[[WIDE_ROW:.*]] = "onnx.Cast"(%[[ROW]]) {to = 1 : i64}
  // CHECK: nn.yield %[[WIDE_ROW]] : tensor<256xf32>
  // CHECK: %[[ROWS:.*]] = "onnx.Gather"(%[[LARGE]], %arg1) {{.*}} -> tensor<4x256xf16>
  // CHECK: %[[WIDE_ROWS:.*]] = "onnx.Cast"(%[[ROWS]]) {to = 1 : i64}
  // CHECK: %[[LINEAR:.*]] = nn.linear %[[WIDE_ROWS]], %[[LARGE]], {{.*}} -> tensor<4x256xf32>
  // CHECK: %[[SCALED:.*]] = "onnx.Mul"(%[[LINEAR]], %[[SCALE]])
  // CHECK: %[[SHIFTED:.*]] = "onnx.Add"(%[[SCALED]], %[[SMALL]])
  // CHECK: %[[WIDE:.*]] = "onnx.Cast"(%[[LARGE]]) {to = 1 : i64} : (tensor<256x256xf16>) -> tensor<256x256xf32>
  // CHECK: "onnx.MatMul"(%[[SHIFTED]], %[[WIDE]])
  %none = onnx.none : none
  %scale = nn.constant dense<0.5> : tensor<f16> : tensor<f16>
  %large = nn.weight <"a.bin", 0, 131072, raw, 0> : tensor<256x256xf16>
  %small = nn.weight <"a.bin", 131072, 512, raw, 0> : tensor<256xf16>
  %0 = "onnx.Gather"(%large, %ids) {axis = 0 : i64} : (tensor<256x256xf16>, tensor<4xi64>) -> tensor<4x256xf16>
  %1 = nn.linear %0, %large, %none : (tensor<4x256xf16>, tensor<256x256xf16>, none) -> tensor<4x256xf16>
  %2 = "onnx.Mul"(%1, %scale) : (tensor<4x256xf16>, tensor<f16>) -> tensor<4x256xf16>
  %3 = "onnx.Add"(%2, %small) : (tensor<4x256xf16>, tensor<256xf16>) -> tensor<4x256xf16>
  %4 = "onnx.MatMul"(%3, %large) : (tensor<4x256xf16>, tensor<256x256xf16>) -> tensor<4x256xf16>
  return %4 : tensor<4x256xf16>
}

// -----

// Branches give what their types say, and what is in them is widened too.
// CHECK-LABEL: func.func @branches
func.func @branches(%c: tensor<i1>, %x: tensor<8xf16>) -> tensor<8xi1> {
  // CHECK: %[[NEG:.*]] = "onnx.Neg"{{.*}} -> tensor<8xf32>
  // CHECK: %[[IF:.*]] = "onnx.If"
  // CHECK: %[[EXP:.*]] = "onnx.Exp"(%[[NEG]]) : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: %[[THEN:.*]] = "onnx.Cast"(%[[EXP]]) {to = 10 : i64}
  // CHECK: onnx.yield %[[THEN]] : tensor<8xf16>
  // CHECK: onnx.yield %arg1 : tensor<8xf16>
  // CHECK: %[[WIDE:.*]] = "onnx.Cast"(%[[IF]]) {to = 1 : i64}
  // CHECK: "onnx.Add"(%[[WIDE]], %[[NEG]])
  %0 = "onnx.Neg"(%x) : (tensor<8xf16>) -> tensor<8xf16>
  %1 = "onnx.If"(%c) ({
    %3 = "onnx.Exp"(%0) : (tensor<8xf16>) -> tensor<8xf16>
    onnx.yield %3 : tensor<8xf16>
  }, {
    onnx.yield %x : tensor<8xf16>
  }) : (tensor<i1>) -> tensor<8xf16>
  %2 = "onnx.Add"(%1, %0) : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  %3 = "onnx.IsNaN"(%2) : (tensor<8xf16>) -> tensor<8xi1>
  return %3 : tensor<8xi1>
}

// -----

// Quantized products and attention with a past keep float16; sums that a
// scatter makes are computed, what it only moves is not.
// CHECK-LABEL: func.func @kept
func.func @kept(%x: tensor<4x32xf16>, %q: tensor<16x1x16xui8>, %s: tensor<16xf16>, %i: tensor<4x1xi64>) -> tensor<4x16xf16> {
  // CHECK: %[[NEG:.*]] = "onnx.Neg"{{.*}} -> tensor<4x32xf32>
  // CHECK: %[[ROUNDED:.*]] = "onnx.Cast"(%[[NEG]]) {to = 10 : i64}
  // CHECK: %[[PRODUCT:.*]] = "onnx.microsoft.MatMulNBits"(%[[ROUNDED]], %arg1, %arg2) {{.*}} -> tensor<4x16xf16>
  // CHECK: %[[MOVED:.*]] = "onnx.ScatterND"(%[[PRODUCT]], %arg3, %[[PRODUCT]]) {{.*}} -> tensor<4x16xf16>
  // CHECK: %[[WIDE:.*]] = "onnx.Cast"(%[[MOVED]]) {to = 1 : i64}
  // CHECK: "onnx.ScatterND"(%[[WIDE]], %arg3, %[[WIDE]]) {reduction = "add"} {{.*}} -> tensor<4x16xf32>
  %0 = "onnx.Neg"(%x) : (tensor<4x32xf16>) -> tensor<4x32xf16>
  %1 = "onnx.microsoft.MatMulNBits"(%0, %q, %s) {K = 32 : i64, N = 16 : i64, bits = 4 : i64, block_size = 32 : i64} : (tensor<4x32xf16>, tensor<16x1x16xui8>, tensor<16xf16>) -> tensor<4x16xf16>
  %2 = "onnx.ScatterND"(%1, %i, %1) {reduction = "none"} : (tensor<4x16xf16>, tensor<4x1xi64>, tensor<4x16xf16>) -> tensor<4x16xf16>
  %3 = "onnx.ScatterND"(%2, %i, %2) {reduction = "add"} : (tensor<4x16xf16>, tensor<4x1xi64>, tensor<4x16xf16>) -> tensor<4x16xf16>
  return %3 : tensor<4x16xf16>
}

// -----

// What nothing computes is left for verify-nn to refuse, in the model's types.
// CHECK-LABEL: func.func @uncomputed
func.func @uncomputed(%x: tensor<3x3xf16>) -> tensor<f16> {
  // CHECK: %[[ROUNDED:.*]] = "onnx.Cast"({{.*}}) {to = 10 : i64}
  // CHECK: "onnx.Det"(%[[ROUNDED]]) : (tensor<3x3xf16>) -> tensor<f16>
  %0 = "onnx.Neg"(%x) : (tensor<3x3xf16>) -> tensor<3x3xf16>
  %1 = "onnx.Det"(%0) : (tensor<3x3xf16>) -> tensor<f16>
  return %1 : tensor<f16>
}
