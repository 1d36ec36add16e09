// RUN: sol-opt %s --nn-recognize-attention --split-input-file | FileCheck %s

// Side by side, with a bias that is added first, a past, and a mask of keys beside numbers to add.
// CHECK-LABEL: func.func @plain(
// CHECK: %[[BQ:.*]] = "onnx.Slice"(%arg3
// CHECK: %[[Q:.*]] = "onnx.Add"(%arg0, %[[BQ]])
// CHECK: %[[K:.*]] = "onnx.Concat"(%arg6, %{{.*}}) {axis = 2 : i64} : (tensor<2x2x5x4xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x8x4xf32>
// CHECK: %[[V:.*]] = "onnx.Concat"(%arg7, %{{.*}}) {axis = 2 : i64}
// CHECK: %[[KEPT:.*]] = "onnx.Greater"(%arg4,
// CHECK: %[[NUMBERS:.*]] = "onnx.Where"(%[[KEPT]],
// CHECK: %[[MASK:.*]] = "onnx.Add"(%{{.*}}, %arg5) : (tensor<2x1x1x8xf32>, tensor<1x2x3x8xf32>) -> tensor<2x2x3x8xf32>
// CHECK: nn.attention %{{.*}}, %[[K]], %[[V]], %[[MASK]], %{{.*}} {causal, masked_rows = "nan", scale = 3.000000e-01 : f32
// CHECK: return %{{.*}}, %[[K]], %[[V]] :
func.func @plain(%q: tensor<2x3x8xf32>, %k: tensor<2x3x8xf32>, %v: tensor<2x3x8xf32>, %b: tensor<24xf32>, %m: tensor<2x8xi32>, %n: tensor<1x2x3x8xf32>, %pk: tensor<2x2x5x4xf32>, %pv: tensor<2x2x5x4xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x2x8x4xf32>, tensor<2x2x8x4xf32>) {
  %0:3 = "onnx.microsoft.MultiHeadAttention"(%q, %k, %v, %b, %m, %n, %pk, %pv) {num_heads = 2 : i64, unidirectional = 1 : i64, scale = 3.0e-01 : f32}
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<24xf32>, tensor<2x8xi32>, tensor<1x2x3x8xf32>, tensor<2x2x5x4xf32>, tensor<2x2x5x4xf32>) -> (tensor<2x3x8xf32>, tensor<2x2x8x4xf32>, tensor<2x2x8x4xf32>)
  return %0#0, %0#1, %0#2 : tensor<2x3x8xf32>, tensor<2x2x8x4xf32>, tensor<2x2x8x4xf32>
}

// -----

// All three in one operand: batch x length x heads x 3 x size.
// CHECK-LABEL: func.func @packed(
// CHECK: "onnx.Slice"(%arg0
// CHECK: nn.attention
// CHECK-NOT: microsoft
func.func @packed(%q: tensor<2x?x2x3x4xf32, #nn.dims<"2", "s", "2", "3", "4">>) -> tensor<2x?x8xf32, #nn.dims<"2", "s", "8">> {
  %0 = "onnx.microsoft.MultiHeadAttention"(%q) {num_heads = 2 : i64} : (tensor<2x?x2x3x4xf32, #nn.dims<"2", "s", "2", "3", "4">>) -> tensor<2x?x8xf32, #nn.dims<"2", "s", "8">>
  return %0 : tensor<2x?x8xf32, #nn.dims<"2", "s", "8">>
}

// -----

// Keys and values in one operand; split ones, which carry their bias.
// CHECK-LABEL: func.func @keys(
// CHECK: nn.attention
// CHECK: %[[Q:.*]] = "onnx.Add"(%arg0
// CHECK: nn.attention %{{.*}}, %arg2, %arg2,
// CHECK-NOT: microsoft
func.func @keys(%q: tensor<2x3x8xf32>, %k: tensor<2x5x2x2x4xf32>, %s: tensor<2x2x5x4xf32>, %b: tensor<24xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %none = onnx.none : none
  %0 = "onnx.microsoft.MultiHeadAttention"(%q, %k) {num_heads = 2 : i64} : (tensor<2x3x8xf32>, tensor<2x5x2x2x4xf32>) -> tensor<2x3x8xf32>
  %1 = "onnx.microsoft.MultiHeadAttention"(%q, %s, %s, %b) {num_heads = 2 : i64} : (tensor<2x3x8xf32>, tensor<2x2x5x4xf32>, tensor<2x2x5x4xf32>, tensor<24xf32>) -> tensor<2x3x8xf32>
  return %0, %1 : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// -----

// The past of Attention has keys and values in one tensor.
// CHECK-LABEL: func.func @attention(
// CHECK: nn.linear
// CHECK: "onnx.Concat"(%{{.*}}, %{{.*}}) {axis = 2 : i64}
// CHECK: "onnx.Concat"(%{{.*}}, %{{.*}}) {axis = 2 : i64}
// CHECK: %[[PRESENT:.*]] = "onnx.Concat"(%{{.*}}, %{{.*}}) {axis = 0 : i64} : (tensor<1x2x2x8x2xf32>, tensor<1x2x2x8x2xf32>) -> tensor<2x2x2x8x2xf32>
// CHECK: nn.attention %{{.*}} {causal
// CHECK: return %{{.*}}, %[[PRESENT]]
func.func @attention(%x: tensor<2x3x4xf32>, %p: tensor<2x2x2x5x2xf32>) -> (tensor<2x3x4xf32>, tensor<2x2x2x8x2xf32>) {
  %w = nn.weight <"w", 0, 192, raw, 0> : tensor<4x12xf32>
  %none = onnx.none : none
  %0:2 = "onnx.microsoft.Attention"(%x, %w, %none, %none, %p) {num_heads = 2 : i64, unidirectional = 1 : i64} : (tensor<2x3x4xf32>, tensor<4x12xf32>, none, none, tensor<2x2x2x5x2xf32>) -> (tensor<2x3x4xf32>, tensor<2x2x2x8x2xf32>)
  return %0#0, %0#1 : tensor<2x3x4xf32>, tensor<2x2x2x8x2xf32>
}

// -----

// One more summand of 1 in the softmax is a sink of 0 for each head.
// CHECK-LABEL: func.func @smooth(
// CHECK: %[[ZEROS:.*]] = nn.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[ZEROS]] {causal
func.func @smooth(%q: tensor<1x3x16xf32>, %k: tensor<1x3x8xf32>, %v: tensor<1x3x8xf32>, %last: tensor<1xi32>, %total: tensor<i32>) -> tensor<1x3x16xf32> {
  %none = onnx.none : none
  %0:3 = "onnx.microsoft.GroupQueryAttention"(%q, %k, %v, %none, %none, %last, %total) {kv_num_heads = 1 : i64, num_heads = 2 : i64, smooth_softmax = 1 : i64}
    : (tensor<1x3x16xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>, none, none, tensor<1xi32>, tensor<i32>) -> (tensor<1x3x16xf32>, tensor<1x1x3x8xf32>, tensor<1x1x3x8xf32>)
  return %0#0 : tensor<1x3x16xf32>
}

// -----

// Look-alikes: causal over other keys than the queries' own; a mask of another length; a bias of another width; sinks and a
// smoothed softmax at once; a query that sees keys behind it.
// CHECK-LABEL: func.func @look_alikes(
// CHECK-NOT: nn.attention
func.func @look_alikes(%q: tensor<2x3x8xf32>, %k: tensor<2x5x8xf32>, %m: tensor<2x4xi32>, %b: tensor<20xf32>, %s: tensor<2xf32>, %last: tensor<2xi32>, %total: tensor<i32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %none = onnx.none : none
  %0 = "onnx.microsoft.MultiHeadAttention"(%q, %k, %k) {num_heads = 2 : i64, unidirectional = 1 : i64} : (tensor<2x3x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x3x8xf32>
  %1 = "onnx.microsoft.MultiHeadAttention"(%q, %k, %k, %none, %m) {num_heads = 2 : i64} : (tensor<2x3x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, none, tensor<2x4xi32>) -> tensor<2x3x8xf32>
  %2 = "onnx.microsoft.MultiHeadAttention"(%q, %k, %k, %b) {num_heads = 2 : i64} : (tensor<2x3x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<20xf32>) -> tensor<2x3x8xf32>
  %3:3 = "onnx.microsoft.GroupQueryAttention"(%q, %q, %q, %none, %none, %last, %total, %none, %none, %none, %none, %s) {kv_num_heads = 2 : i64, num_heads = 2 : i64, smooth_softmax = 1 : i64}
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, none, none, tensor<2xi32>, tensor<i32>, none, none, none, none, tensor<2xf32>) -> (tensor<2x3x8xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>)
  %4:3 = "onnx.microsoft.GroupQueryAttention"(%q, %q, %q, %none, %none, %last, %total) {kv_num_heads = 2 : i64, num_heads = 2 : i64, causal = 0 : i64}
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, none, none, tensor<2xi32>, tensor<i32>) -> (tensor<2x3x8xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>)
  return %0, %1, %2, %3#0, %4#0 : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
}
