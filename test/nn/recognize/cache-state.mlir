// RUN: sol-opt %s --nn-cache-state --split-input-file | FileCheck %s

// Attention reads the cache; the past serves for its shape besides.
// CHECK-LABEL: func @pair(
// CHECK-SAME: %[[P:arg[0-9]+]]: !nn.cache<tensor<?x2x?x8xf32, #nn.dims<"b", "2", "p", "8">>> {nn.name = "past"}
// CHECK-SAME: -> (tensor<?x2x?x8xf32, #nn.dims<"b", "2", "s", "8">>, !nn.cache<tensor<?x2x?x8xf32, #nn.dims<"b", "2", "p + s", "8">>> {nn.name = "present", nn.state_of = 0 : i64}, tensor<1xi64>)
func.func @pair(%past: tensor<?x2x?x8xf32, #nn.dims<"b", "2", "p", "8">> {nn.name = "past"}, %k: tensor<?x2x?x8xf32, #nn.dims<"b", "2", "s", "8">>)
    -> (tensor<?x2x?x8xf32, #nn.dims<"b", "2", "s", "8">>, tensor<?x2x?x8xf32, #nn.dims<"b", "2", "p + s", "8">> {nn.name = "present"}, tensor<1xi64>) {
  // CHECK: %[[S:.*]] = nn.cache_shape %[[P]]
  // CHECK: %[[LENGTH:.*]] = "onnx.Slice"(%[[S]]
  // CHECK: %[[C:.*]] = nn.cache_append %[[P]], %arg1
  // CHECK: nn.attention %arg1, %[[C]], %[[C]], %{{.*}} {cached = 1 : i64
  // CHECK: return %{{.*}}, %[[C]], %[[LENGTH]]
  %none = onnx.none : none
  %t = "onnx.Concat"(%past, %k) {axis = -2 : i64} : (tensor<?x2x?x8xf32, #nn.dims<"b", "2", "p", "8">>, tensor<?x2x?x8xf32, #nn.dims<"b", "2", "s", "8">>) -> tensor<?x2x?x8xf32, #nn.dims<"b", "2", "p + s", "8">>
  %n = "onnx.Shape"(%past) {start = 2 : i64, end = 3 : i64} : (tensor<?x2x?x8xf32, #nn.dims<"b", "2", "p", "8">>) -> tensor<1xi64>
  %y = nn.attention %k, %t, %t, %none, %none {scale = 1.0 : f32, softcap = 0.0 : f32, masked_rows = "nan"} : (tensor<?x2x?x8xf32, #nn.dims<"b", "2", "s", "8">>, tensor<?x2x?x8xf32, #nn.dims<"b", "2", "p + s", "8">>, tensor<?x2x?x8xf32, #nn.dims<"b", "2", "p + s", "8">>, none, none) -> tensor<?x2x?x8xf32, #nn.dims<"b", "2", "s", "8">>
  return %y, %t, %n : tensor<?x2x?x8xf32, #nn.dims<"b", "2", "s", "8">>, tensor<?x2x?x8xf32, #nn.dims<"b", "2", "p + s", "8">>, tensor<1xi64>
}

// -----

// Something else reads the present: a copy.
// CHECK-LABEL: func @copy(
func.func @copy(%past: tensor<1x2x?x8xf32, #nn.dims<"1", "2", "p", "8">>, %k: tensor<1x2x3x8xf32>)
    -> (tensor<1x2x?x8xf32, #nn.dims<"1", "2", "p + 3", "8">>, tensor<1x2x?x8xf32, #nn.dims<"1", "2", "p + 3", "8">>) {
  // CHECK: %[[C:.*]] = nn.cache_append %arg0, %arg1
  // CHECK: %[[T:.*]] = nn.cache_read %[[C]]
  // CHECK: "onnx.Neg"(%[[T]])
  %t = "onnx.Concat"(%past, %k) {axis = 2 : i64} : (tensor<1x2x?x8xf32, #nn.dims<"1", "2", "p", "8">>, tensor<1x2x3x8xf32>) -> tensor<1x2x?x8xf32, #nn.dims<"1", "2", "p + 3", "8">>
  %y = "onnx.Neg"(%t) : (tensor<1x2x?x8xf32, #nn.dims<"1", "2", "p + 3", "8">>) -> tensor<1x2x?x8xf32, #nn.dims<"1", "2", "p + 3", "8">>
  return %y, %t : tensor<1x2x?x8xf32, #nn.dims<"1", "2", "p + 3", "8">>, tensor<1x2x?x8xf32, #nn.dims<"1", "2", "p + 3", "8">>
}

// -----

// The past is read by itself; the new part stands in front; another axis grows.
// CHECK-LABEL: func @look_alikes(
// CHECK-NOT: nn.cache
func.func @look_alikes(%a: tensor<1x2x4x8xf32>, %b: tensor<1x2x4x8xf32>, %c: tensor<1x2x4x8xf32>, %k: tensor<1x2x3x8xf32>, %l: tensor<1x2x4x3xf32>)
    -> (tensor<1x2x4x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x4x11xf32>) {
  %n = "onnx.Neg"(%a) : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  %x = "onnx.Concat"(%a, %k) {axis = 2 : i64} : (tensor<1x2x4x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x7x8xf32>
  %y = "onnx.Concat"(%k, %b) {axis = 2 : i64} : (tensor<1x2x3x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x7x8xf32>
  %z = "onnx.Concat"(%c, %l) {axis = 3 : i64} : (tensor<1x2x4x8xf32>, tensor<1x2x4x3xf32>) -> tensor<1x2x4x11xf32>
  return %n, %x, %y, %z : tensor<1x2x4x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x4x11xf32>
}

// -----

// Each row's step begins where its own tokens end.
// CHECK-LABEL: func @group_query(
// CHECK-SAME: %arg1: !nn.cache<tensor<?x1x?x8xf32, #nn.dims<"b", "1", "p", "8">>>
func.func @group_query(%qkv: tensor<?x?x32xf32, #nn.dims<"b", "s", "32">>, %k: tensor<?x1x?x?xf32, #nn.dims<"b", "1", "p", "d">>, %v: tensor<?x1x?x?xf32, #nn.dims<"b", "1", "p", "d">>, %last: tensor<?xi32, #nn.dims<"b">>, %total: tensor<i32>, %cos: tensor<9x4xf32>, %sin: tensor<9x4xf32>)
    -> (tensor<?x?x16xf32, #nn.dims<"b", "s", "16">>, tensor<?x1x?x?xf32, #nn.dims<"b", "1", "t", "d">>, tensor<?x1x?x?xf32, #nn.dims<"b", "1", "t", "d">>) {
  %none = onnx.none : none
  // CHECK: %[[AT:.*]] = "onnx.Where"
  // CHECK: %[[Q:.*]] = nn.rotary
  // CHECK: %[[N:.*]] = nn.rotary
  // CHECK: %[[K:.*]] = nn.cache_append %arg1, %[[N]], %[[AT]]
  // CHECK: %[[V:.*]] = nn.cache_append %arg2, %{{.*}}, %[[AT]]
  // CHECK: nn.attention %[[Q]], %[[K]], %[[V]], %{{.*}}, %{{.*}}, %[[AT]] {cached = 1 : i64, causal, masked_rows = "zero", scale = 2.500000e-01 : f32, softcap = 0.000000e+00 : f32, window = 4 : i64}
  %0:3 = "onnx.microsoft.GroupQueryAttention"(%qkv, %none, %none, %k, %v, %last, %total, %cos, %sin) {do_rotary = 1 : i64, kv_num_heads = 1 : i64, num_heads = 2 : i64, scale = 2.5e-01 : f32, local_window_size = 4 : i64}
    : (tensor<?x?x32xf32, #nn.dims<"b", "s", "32">>, none, none, tensor<?x1x?x?xf32, #nn.dims<"b", "1", "p", "d">>, tensor<?x1x?x?xf32, #nn.dims<"b", "1", "p", "d">>, tensor<?xi32, #nn.dims<"b">>, tensor<i32>, tensor<9x4xf32>, tensor<9x4xf32>)
    -> (tensor<?x?x16xf32, #nn.dims<"b", "s", "16">>, tensor<?x1x?x?xf32, #nn.dims<"b", "1", "t", "d">>, tensor<?x1x?x?xf32, #nn.dims<"b", "1", "t", "d">>)
  return %0#0, %0#1, %0#2 : tensor<?x?x16xf32, #nn.dims<"b", "s", "16">>, tensor<?x1x?x?xf32, #nn.dims<"b", "1", "t", "d">>, tensor<?x1x?x?xf32, #nn.dims<"b", "1", "t", "d">>
}
