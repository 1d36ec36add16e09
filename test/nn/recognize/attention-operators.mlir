// RUN: sol-opt %s --nn-recognize-attention --split-input-file | FileCheck %s

// A sink: one more logit for each head, that carries no value.
// CHECK-LABEL: func @sinks
func.func @sinks(%q: tensor<1x2x3x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x8xf32>, %s: tensor<1x2x1x1xf32>) -> tensor<1x2x3x8xf32> {
  %wide = nn.constant dense<[1, 2, 3, 1]> : tensor<4xi64> : tensor<4xi64>
  %zero = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %last = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %kt = "onnx.Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x2x5x8xf32>) -> tensor<1x2x8x5xf32>
  %d = "onnx.MatMul"(%q, %kt) : (tensor<1x2x3x8xf32>, tensor<1x2x8x5xf32>) -> tensor<1x2x3x5xf32>
  %e = "onnx.Expand"(%s, %wide) : (tensor<1x2x1x1xf32>, tensor<4xi64>) -> tensor<1x2x3x1xf32>
  %c = "onnx.Concat"(%d, %e) {axis = -1 : i64} : (tensor<1x2x3x5xf32>, tensor<1x2x3x1xf32>) -> tensor<1x2x3x6xf32>
  %m = "onnx.ReduceMax"(%c, %last) {keepdims = 1 : i64} : (tensor<1x2x3x6xf32>, tensor<1xi64>) -> tensor<1x2x3x1xf32>
  %n = "onnx.Sub"(%c, %m) : (tensor<1x2x3x6xf32>, tensor<1x2x3x1xf32>) -> tensor<1x2x3x6xf32>
  %p = "onnx.Softmax"(%n) {axis = -1 : i64} : (tensor<1x2x3x6xf32>) -> tensor<1x2x3x6xf32>
  %w = "onnx.Slice"(%p, %zero, %last, %last) : (tensor<1x2x3x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x5xf32>
  // CHECK: %[[S:.*]] = "onnx.Reshape"(%arg3, %{{.*}}) : (tensor<1x2x1x1xf32>, tensor<1xi64>) -> tensor<2xf32>
  // CHECK: nn.attention %arg0, %arg1, %arg2, %{{.*}}, %[[S]] {masked_rows = "nan"
  %y = "onnx.MatMul"(%w, %v) : (tensor<1x2x3x5xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x3x8xf32>
  return %y : tensor<1x2x3x8xf32>
}

// -----

// The first column is cut off: what is left is no softmax beside a sink.
// CHECK-LABEL: func @no_sinks
func.func @no_sinks(%q: tensor<1x2x3x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x8xf32>, %s: tensor<1x2x3x1xf32>) -> tensor<1x2x3x8xf32> {
  %one = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %six = nn.constant dense<6> : tensor<1xi64> : tensor<1xi64>
  %last = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %kt = "onnx.Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x2x5x8xf32>) -> tensor<1x2x8x5xf32>
  %d = "onnx.MatMul"(%q, %kt) : (tensor<1x2x3x8xf32>, tensor<1x2x8x5xf32>) -> tensor<1x2x3x5xf32>
  %c = "onnx.Concat"(%d, %s) {axis = -1 : i64} : (tensor<1x2x3x5xf32>, tensor<1x2x3x1xf32>) -> tensor<1x2x3x6xf32>
  %p = "onnx.Softmax"(%c) {axis = -1 : i64} : (tensor<1x2x3x6xf32>) -> tensor<1x2x3x6xf32>
  %w = "onnx.Slice"(%p, %one, %six, %last) : (tensor<1x2x3x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x5xf32>
  // CHECK-NOT: nn.attention
  %y = "onnx.MatMul"(%w, %v) : (tensor<1x2x3x5xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x3x8xf32>
  return %y : tensor<1x2x3x8xf32>
}

// -----

// One product makes queries, keys and values; the mask counts keys.
// CHECK-LABEL: func @packed
func.func @packed(%x: tensor<2x3x4xf32>, %n: tensor<2xi32>) -> tensor<2x3x4xf32> {
  %w = nn.weight <"w", 0, 192, raw, 0> : tensor<4x12xf32>
  %b = nn.constant dense<1.0> : tensor<12xf32> : tensor<12xf32>
  // CHECK: nn.linear %arg0
  // CHECK: %[[KEPT:.*]] = "onnx.Less"
  // CHECK: "onnx.Where"(%[[KEPT]]
  // CHECK: nn.attention %{{.*}} : (tensor<2x2x3x2xf32>, tensor<2x2x3x2xf32>, tensor<2x2x3x2xf32>, tensor<2x1x1x3xf32>, none)
  %y = "onnx.microsoft.Attention"(%x, %w, %b, %n) {num_heads = 2 : i64} : (tensor<2x3x4xf32>, tensor<4x12xf32>, tensor<12xf32>, tensor<2xi32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// -----

// Grouped queries without a past, whose presents are the step's own.
// CHECK-LABEL: func @group_query
func.func @group_query(%q: tensor<1x3x16xf32>, %k: tensor<1x3x8xf32>, %v: tensor<1x3x8xf32>, %last: tensor<1xi32>, %total: tensor<i32>) -> (tensor<1x3x16xf32>, tensor<1x1x3x8xf32>) {
  %none = onnx.none : none
  // CHECK: %[[K:.*]] = "onnx.Transpose"
  // CHECK: nn.attention %{{.*}}, %[[K]], %{{.*}} {causal, masked_rows = "zero", scale = 0.353553385 : f32, softcap = 5.000000e+01 : f32}
  // CHECK: return %{{.*}}, %[[K]]
  %0:3 = "onnx.microsoft.GroupQueryAttention"(%q, %k, %v, %none, %none, %last, %total) {kv_num_heads = 1 : i64, num_heads = 2 : i64, softcap = 5.0e+01 : f32}
    : (tensor<1x3x16xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>, none, none, tensor<1xi32>, tensor<i32>) -> (tensor<1x3x16xf32>, tensor<1x1x3x8xf32>, tensor<1x1x3x8xf32>)
  return %0#0, %0#1 : tensor<1x3x16xf32>, tensor<1x1x3x8xf32>
}
