// RUN: sol-opt %s --nn-recognize-experts | FileCheck %s

// One of two experts a token; a block for each expert adds its results.
// CHECK-LABEL: func @blocks(
func.func @blocks(%x: tensor<3x4xf32>, %l: tensor<3x2xf32>) -> tensor<3x4xf32> {
  %g0 = nn.weight <"w", 0, 80, raw, 0> : tensor<4x5xf32>
  %u0 = nn.weight <"w", 80, 80, raw, 0> : tensor<4x5xf32>
  %d0 = nn.weight <"w", 160, 80, raw, 0> : tensor<5x4xf32>
  %g1 = nn.weight <"w", 240, 80, raw, 0> : tensor<4x5xf32>
  %u1 = nn.weight <"w", 320, 80, raw, 0> : tensor<4x5xf32>
  %d1 = nn.weight <"w", 400, 80, raw, 0> : tensor<5x4xf32>
  %none = "onnx.none"() : () -> none
  %e0 = nn.constant dense<0> : tensor<i64> : tensor<i64>
  %e1 = nn.constant dense<1> : tensor<i64> : tensor<i64>
  %one = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %count = nn.constant dense<1> : tensor<i64> : tensor<i64>
  %values = nn.constant dense<[0, 1]> : tensor<2xi64> : tensor<2xi64>
  %depth = nn.constant dense<2> : tensor<i64> : tensor<i64>
  %flat = nn.constant dense<[-1, 1]> : tensor<2xi64> : tensor<2xi64>
  %zero = nn.constant dense<0.0> : tensor<3x4xf32> : tensor<3x4xf32>
  %p = "onnx.Softmax"(%l) {axis = 1 : i64} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %top:2 = "onnx.TopK"(%p, %one) {axis = -1 : i64, largest = 1 : i64, sorted = 1 : i64} : (tensor<3x2xf32>, tensor<1xi64>) -> (tensor<3x1xf32>, tensor<3x1xi64>)
  %hot = "onnx.OneHot"(%top#1, %depth, %values) {axis = -1 : i64} : (tensor<3x1xi64>, tensor<i64>, tensor<2xi64>) -> tensor<3x1x2xi64>
  %mask = "onnx.Transpose"(%hot) {perm = array<i64: 2, 1, 0>} : (tensor<3x1x2xi64>) -> tensor<2x1x3xi64>
  %column = "onnx.Reshape"(%top#0, %flat) : (tensor<3x1xf32>, tensor<2xi64>) -> tensor<3x1xf32>
  %a0 = "onnx.Gather"(%mask, %e0) {axis = 0 : i64} : (tensor<2x1x3xi64>, tensor<i64>) -> tensor<1x3xi64>
  %b0 = "onnx.Cast"(%a0) {to = 9 : i64} : (tensor<1x3xi64>) -> tensor<1x3xi1>
  %nz0 = "onnx.NonZero"(%b0) : (tensor<1x3xi1>) -> tensor<2x?xi64, #nn.dims<"2", "n0">>
  %c0 = "onnx.Gather"(%nz0, %e0) {axis = 0 : i64} : (tensor<2x?xi64, #nn.dims<"2", "n0">>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n0">>
  %t0 = "onnx.Gather"(%nz0, %e1) {axis = 0 : i64} : (tensor<2x?xi64, #nn.dims<"2", "n0">>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n0">>
  %r0 = "onnx.Gather"(%x, %t0) {axis = 0 : i64} : (tensor<3x4xf32>, tensor<?xi64, #nn.dims<"n0">>) -> tensor<?x4xf32, #nn.dims<"n0", "4">>
  %y0 = nn.linear %r0, %g0, %none : (tensor<?x4xf32, #nn.dims<"n0", "4">>, tensor<4x5xf32>, none) -> tensor<?x5xf32, #nn.dims<"n0", "5">>
  %z0 = nn.linear %r0, %u0, %none : (tensor<?x4xf32, #nn.dims<"n0", "4">>, tensor<4x5xf32>, none) -> tensor<?x5xf32, #nn.dims<"n0", "5">>
  %s0 = "onnx.Sigmoid"(%y0) : (tensor<?x5xf32, #nn.dims<"n0", "5">>) -> tensor<?x5xf32, #nn.dims<"n0", "5">>
  %h0 = "onnx.Mul"(%y0, %s0) : (tensor<?x5xf32, #nn.dims<"n0", "5">>, tensor<?x5xf32, #nn.dims<"n0", "5">>) -> tensor<?x5xf32, #nn.dims<"n0", "5">>
  %i0 = "onnx.Mul"(%h0, %z0) : (tensor<?x5xf32, #nn.dims<"n0", "5">>, tensor<?x5xf32, #nn.dims<"n0", "5">>) -> tensor<?x5xf32, #nn.dims<"n0", "5">>
  %o0 = nn.linear %i0, %d0, %none : (tensor<?x5xf32, #nn.dims<"n0", "5">>, tensor<5x4xf32>, none) -> tensor<?x4xf32, #nn.dims<"n0", "4">>
  %j0 = "onnx.Mul"(%t0, %count) : (tensor<?xi64, #nn.dims<"n0">>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n0">>
  %k0 = "onnx.Add"(%c0, %j0) : (tensor<?xi64, #nn.dims<"n0">>, tensor<?xi64, #nn.dims<"n0">>) -> tensor<?xi64, #nn.dims<"n0">>
  %w0 = "onnx.Gather"(%column, %k0) {axis = 0 : i64} : (tensor<3x1xf32>, tensor<?xi64, #nn.dims<"n0">>) -> tensor<?x1xf32, #nn.dims<"n0", "1">>
  %m0 = "onnx.Mul"(%o0, %w0) : (tensor<?x4xf32, #nn.dims<"n0", "4">>, tensor<?x1xf32, #nn.dims<"n0", "1">>) -> tensor<?x4xf32, #nn.dims<"n0", "4">>
  %q0 = "onnx.Unsqueeze"(%t0, %one) : (tensor<?xi64, #nn.dims<"n0">>, tensor<1xi64>) -> tensor<?x1xi64, #nn.dims<"n0", "1">>
  %ms0 = "onnx.Shape"(%m0) : (tensor<?x4xf32, #nn.dims<"n0", "4">>) -> tensor<2xi64>
  %f0 = "onnx.Expand"(%q0, %ms0) : (tensor<?x1xi64, #nn.dims<"n0", "1">>, tensor<2xi64>) -> tensor<?x4xi64, #nn.dims<"n0", "4">>
  %sc0 = "onnx.ScatterElements"(%zero, %f0, %m0) {axis = 0 : i64} : (tensor<3x4xf32>, tensor<?x4xi64, #nn.dims<"n0", "4">>, tensor<?x4xf32, #nn.dims<"n0", "4">>) -> tensor<3x4xf32>
  %acc0 = "onnx.Add"(%zero, %sc0) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %a1 = "onnx.Gather"(%mask, %e1) {axis = 0 : i64} : (tensor<2x1x3xi64>, tensor<i64>) -> tensor<1x3xi64>
  %b1 = "onnx.Cast"(%a1) {to = 9 : i64} : (tensor<1x3xi64>) -> tensor<1x3xi1>
  %nz1 = "onnx.NonZero"(%b1) : (tensor<1x3xi1>) -> tensor<2x?xi64, #nn.dims<"2", "n1">>
  %c1 = "onnx.Gather"(%nz1, %e0) {axis = 0 : i64} : (tensor<2x?xi64, #nn.dims<"2", "n1">>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n1">>
  %t1 = "onnx.Gather"(%nz1, %e1) {axis = 0 : i64} : (tensor<2x?xi64, #nn.dims<"2", "n1">>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n1">>
  %r1 = "onnx.Gather"(%x, %t1) {axis = 0 : i64} : (tensor<3x4xf32>, tensor<?xi64, #nn.dims<"n1">>) -> tensor<?x4xf32, #nn.dims<"n1", "4">>
  %y1 = nn.linear %r1, %g1, %none : (tensor<?x4xf32, #nn.dims<"n1", "4">>, tensor<4x5xf32>, none) -> tensor<?x5xf32, #nn.dims<"n1", "5">>
  %z1 = nn.linear %r1, %u1, %none : (tensor<?x4xf32, #nn.dims<"n1", "4">>, tensor<4x5xf32>, none) -> tensor<?x5xf32, #nn.dims<"n1", "5">>
  %s1 = "onnx.Sigmoid"(%y1) : (tensor<?x5xf32, #nn.dims<"n1", "5">>) -> tensor<?x5xf32, #nn.dims<"n1", "5">>
  %h1 = "onnx.Mul"(%y1, %s1) : (tensor<?x5xf32, #nn.dims<"n1", "5">>, tensor<?x5xf32, #nn.dims<"n1", "5">>) -> tensor<?x5xf32, #nn.dims<"n1", "5">>
  %i1 = "onnx.Mul"(%h1, %z1) : (tensor<?x5xf32, #nn.dims<"n1", "5">>, tensor<?x5xf32, #nn.dims<"n1", "5">>) -> tensor<?x5xf32, #nn.dims<"n1", "5">>
  %o1 = nn.linear %i1, %d1, %none : (tensor<?x5xf32, #nn.dims<"n1", "5">>, tensor<5x4xf32>, none) -> tensor<?x4xf32, #nn.dims<"n1", "4">>
  %j1 = "onnx.Mul"(%t1, %count) : (tensor<?xi64, #nn.dims<"n1">>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n1">>
  %k1 = "onnx.Add"(%c1, %j1) : (tensor<?xi64, #nn.dims<"n1">>, tensor<?xi64, #nn.dims<"n1">>) -> tensor<?xi64, #nn.dims<"n1">>
  %w1 = "onnx.Gather"(%column, %k1) {axis = 0 : i64} : (tensor<3x1xf32>, tensor<?xi64, #nn.dims<"n1">>) -> tensor<?x1xf32, #nn.dims<"n1", "1">>
  %m1 = "onnx.Mul"(%o1, %w1) : (tensor<?x4xf32, #nn.dims<"n1", "4">>, tensor<?x1xf32, #nn.dims<"n1", "1">>) -> tensor<?x4xf32, #nn.dims<"n1", "4">>
  %q1 = "onnx.Unsqueeze"(%t1, %one) : (tensor<?xi64, #nn.dims<"n1">>, tensor<1xi64>) -> tensor<?x1xi64, #nn.dims<"n1", "1">>
  %ms1 = "onnx.Shape"(%m1) : (tensor<?x4xf32, #nn.dims<"n1", "4">>) -> tensor<2xi64>
  %f1 = "onnx.Expand"(%q1, %ms1) : (tensor<?x1xi64, #nn.dims<"n1", "1">>, tensor<2xi64>) -> tensor<?x4xi64, #nn.dims<"n1", "4">>
  %sc1 = "onnx.ScatterElements"(%zero, %f1, %m1) {axis = 0 : i64} : (tensor<3x4xf32>, tensor<?x4xi64, #nn.dims<"n1", "4">>, tensor<?x4xf32, #nn.dims<"n1", "4">>) -> tensor<3x4xf32>
  // CHECK: %[[Y:.*]] = "onnx.microsoft.MoE"(%arg0, %arg1, %[[G:.*]], %{{.*}}, %[[D:.*]], %{{.*}}, %[[U:.*]]) {activation_alpha = 1.000000e+00 : f32, activation_beta = 0.000000e+00 : f32, activation_type = "swiglu", k = 1 : i64, normalize_routing_weights = 0 : i64, swiglu_fusion = 0 : i64} : (tensor<3x4xf32>, tensor<3x2xf32>, tensor<2x5x4xf32>, none, tensor<2x4x5xf32>, none, tensor<2x5x4xf32>)
  // CHECK-NEXT: return %[[Y]]
  %acc1 = "onnx.Add"(%acc0, %sc1) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %acc1 : tensor<3x4xf32>
}

// The second expert gives nothing.
// CHECK-LABEL: func @a_block_is_missing(
func.func @a_block_is_missing(%x: tensor<3x4xf32>, %l: tensor<3x2xf32>) -> tensor<3x4xf32> {
  %g0 = nn.weight <"w", 0, 80, raw, 0> : tensor<4x5xf32>
  %u0 = nn.weight <"w", 80, 80, raw, 0> : tensor<4x5xf32>
  %d0 = nn.weight <"w", 160, 80, raw, 0> : tensor<5x4xf32>
  %g1 = nn.weight <"w", 240, 80, raw, 0> : tensor<4x5xf32>
  %u1 = nn.weight <"w", 320, 80, raw, 0> : tensor<4x5xf32>
  %d1 = nn.weight <"w", 400, 80, raw, 0> : tensor<5x4xf32>
  %none = "onnx.none"() : () -> none
  %e0 = nn.constant dense<0> : tensor<i64> : tensor<i64>
  %e1 = nn.constant dense<1> : tensor<i64> : tensor<i64>
  %one = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %count = nn.constant dense<1> : tensor<i64> : tensor<i64>
  %values = nn.constant dense<[0, 1]> : tensor<2xi64> : tensor<2xi64>
  %depth = nn.constant dense<2> : tensor<i64> : tensor<i64>
  %flat = nn.constant dense<[-1, 1]> : tensor<2xi64> : tensor<2xi64>
  %zero = nn.constant dense<0.0> : tensor<3x4xf32> : tensor<3x4xf32>
  %p = "onnx.Softmax"(%l) {axis = 1 : i64} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %top:2 = "onnx.TopK"(%p, %one) {axis = -1 : i64, largest = 1 : i64, sorted = 1 : i64} : (tensor<3x2xf32>, tensor<1xi64>) -> (tensor<3x1xf32>, tensor<3x1xi64>)
  %hot = "onnx.OneHot"(%top#1, %depth, %values) {axis = -1 : i64} : (tensor<3x1xi64>, tensor<i64>, tensor<2xi64>) -> tensor<3x1x2xi64>
  %mask = "onnx.Transpose"(%hot) {perm = array<i64: 2, 1, 0>} : (tensor<3x1x2xi64>) -> tensor<2x1x3xi64>
  %column = "onnx.Reshape"(%top#0, %flat) : (tensor<3x1xf32>, tensor<2xi64>) -> tensor<3x1xf32>
  %a0 = "onnx.Gather"(%mask, %e0) {axis = 0 : i64} : (tensor<2x1x3xi64>, tensor<i64>) -> tensor<1x3xi64>
  %b0 = "onnx.Cast"(%a0) {to = 9 : i64} : (tensor<1x3xi64>) -> tensor<1x3xi1>
  %nz0 = "onnx.NonZero"(%b0) : (tensor<1x3xi1>) -> tensor<2x?xi64, #nn.dims<"2", "n0">>
  %c0 = "onnx.Gather"(%nz0, %e0) {axis = 0 : i64} : (tensor<2x?xi64, #nn.dims<"2", "n0">>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n0">>
  %t0 = "onnx.Gather"(%nz0, %e1) {axis = 0 : i64} : (tensor<2x?xi64, #nn.dims<"2", "n0">>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n0">>
  %r0 = "onnx.Gather"(%x, %t0) {axis = 0 : i64} : (tensor<3x4xf32>, tensor<?xi64, #nn.dims<"n0">>) -> tensor<?x4xf32, #nn.dims<"n0", "4">>
  %y0 = nn.linear %r0, %g0, %none : (tensor<?x4xf32, #nn.dims<"n0", "4">>, tensor<4x5xf32>, none) -> tensor<?x5xf32, #nn.dims<"n0", "5">>
  %z0 = nn.linear %r0, %u0, %none : (tensor<?x4xf32, #nn.dims<"n0", "4">>, tensor<4x5xf32>, none) -> tensor<?x5xf32, #nn.dims<"n0", "5">>
  %s0 = "onnx.Sigmoid"(%y0) : (tensor<?x5xf32, #nn.dims<"n0", "5">>) -> tensor<?x5xf32, #nn.dims<"n0", "5">>
  %h0 = "onnx.Mul"(%y0, %s0) : (tensor<?x5xf32, #nn.dims<"n0", "5">>, tensor<?x5xf32, #nn.dims<"n0", "5">>) -> tensor<?x5xf32, #nn.dims<"n0", "5">>
  %i0 = "onnx.Mul"(%h0, %z0) : (tensor<?x5xf32, #nn.dims<"n0", "5">>, tensor<?x5xf32, #nn.dims<"n0", "5">>) -> tensor<?x5xf32, #nn.dims<"n0", "5">>
  %o0 = nn.linear %i0, %d0, %none : (tensor<?x5xf32, #nn.dims<"n0", "5">>, tensor<5x4xf32>, none) -> tensor<?x4xf32, #nn.dims<"n0", "4">>
  %j0 = "onnx.Mul"(%t0, %count) : (tensor<?xi64, #nn.dims<"n0">>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n0">>
  %k0 = "onnx.Add"(%c0, %j0) : (tensor<?xi64, #nn.dims<"n0">>, tensor<?xi64, #nn.dims<"n0">>) -> tensor<?xi64, #nn.dims<"n0">>
  %w0 = "onnx.Gather"(%column, %k0) {axis = 0 : i64} : (tensor<3x1xf32>, tensor<?xi64, #nn.dims<"n0">>) -> tensor<?x1xf32, #nn.dims<"n0", "1">>
  %m0 = "onnx.Mul"(%o0, %w0) : (tensor<?x4xf32, #nn.dims<"n0", "4">>, tensor<?x1xf32, #nn.dims<"n0", "1">>) -> tensor<?x4xf32, #nn.dims<"n0", "4">>
  %q0 = "onnx.Unsqueeze"(%t0, %one) : (tensor<?xi64, #nn.dims<"n0">>, tensor<1xi64>) -> tensor<?x1xi64, #nn.dims<"n0", "1">>
  %ms0 = "onnx.Shape"(%m0) : (tensor<?x4xf32, #nn.dims<"n0", "4">>) -> tensor<2xi64>
  %f0 = "onnx.Expand"(%q0, %ms0) : (tensor<?x1xi64, #nn.dims<"n0", "1">>, tensor<2xi64>) -> tensor<?x4xi64, #nn.dims<"n0", "4">>
  %sc0 = "onnx.ScatterElements"(%zero, %f0, %m0) {axis = 0 : i64} : (tensor<3x4xf32>, tensor<?x4xi64, #nn.dims<"n0", "4">>, tensor<?x4xf32, #nn.dims<"n0", "4">>) -> tensor<3x4xf32>
  // CHECK-NOT: onnx.microsoft.MoE
  // CHECK: return
  %acc0 = "onnx.Add"(%zero, %sc0) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %acc0 : tensor<3x4xf32>
}

// The first expert is added twice, the second never.
// CHECK-LABEL: func @one_block_twice(
func.func @one_block_twice(%x: tensor<3x4xf32>, %l: tensor<3x2xf32>) -> tensor<3x4xf32> {
  %g0 = nn.weight <"w", 0, 80, raw, 0> : tensor<4x5xf32>
  %u0 = nn.weight <"w", 80, 80, raw, 0> : tensor<4x5xf32>
  %d0 = nn.weight <"w", 160, 80, raw, 0> : tensor<5x4xf32>
  %g1 = nn.weight <"w", 240, 80, raw, 0> : tensor<4x5xf32>
  %u1 = nn.weight <"w", 320, 80, raw, 0> : tensor<4x5xf32>
  %d1 = nn.weight <"w", 400, 80, raw, 0> : tensor<5x4xf32>
  %none = "onnx.none"() : () -> none
  %e0 = nn.constant dense<0> : tensor<i64> : tensor<i64>
  %e1 = nn.constant dense<1> : tensor<i64> : tensor<i64>
  %one = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %count = nn.constant dense<1> : tensor<i64> : tensor<i64>
  %values = nn.constant dense<[0, 1]> : tensor<2xi64> : tensor<2xi64>
  %depth = nn.constant dense<2> : tensor<i64> : tensor<i64>
  %flat = nn.constant dense<[-1, 1]> : tensor<2xi64> : tensor<2xi64>
  %zero = nn.constant dense<0.0> : tensor<3x4xf32> : tensor<3x4xf32>
  %p = "onnx.Softmax"(%l) {axis = 1 : i64} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %top:2 = "onnx.TopK"(%p, %one) {axis = -1 : i64, largest = 1 : i64, sorted = 1 : i64} : (tensor<3x2xf32>, tensor<1xi64>) -> (tensor<3x1xf32>, tensor<3x1xi64>)
  %hot = "onnx.OneHot"(%top#1, %depth, %values) {axis = -1 : i64} : (tensor<3x1xi64>, tensor<i64>, tensor<2xi64>) -> tensor<3x1x2xi64>
  %mask = "onnx.Transpose"(%hot) {perm = array<i64: 2, 1, 0>} : (tensor<3x1x2xi64>) -> tensor<2x1x3xi64>
  %column = "onnx.Reshape"(%top#0, %flat) : (tensor<3x1xf32>, tensor<2xi64>) -> tensor<3x1xf32>
  %a0 = "onnx.Gather"(%mask, %e0) {axis = 0 : i64} : (tensor<2x1x3xi64>, tensor<i64>) -> tensor<1x3xi64>
  %b0 = "onnx.Cast"(%a0) {to = 9 : i64} : (tensor<1x3xi64>) -> tensor<1x3xi1>
  %nz0 = "onnx.NonZero"(%b0) : (tensor<1x3xi1>) -> tensor<2x?xi64, #nn.dims<"2", "n0">>
  %c0 = "onnx.Gather"(%nz0, %e0) {axis = 0 : i64} : (tensor<2x?xi64, #nn.dims<"2", "n0">>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n0">>
  %t0 = "onnx.Gather"(%nz0, %e1) {axis = 0 : i64} : (tensor<2x?xi64, #nn.dims<"2", "n0">>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n0">>
  %r0 = "onnx.Gather"(%x, %t0) {axis = 0 : i64} : (tensor<3x4xf32>, tensor<?xi64, #nn.dims<"n0">>) -> tensor<?x4xf32, #nn.dims<"n0", "4">>
  %y0 = nn.linear %r0, %g0, %none : (tensor<?x4xf32, #nn.dims<"n0", "4">>, tensor<4x5xf32>, none) -> tensor<?x5xf32, #nn.dims<"n0", "5">>
  %z0 = nn.linear %r0, %u0, %none : (tensor<?x4xf32, #nn.dims<"n0", "4">>, tensor<4x5xf32>, none) -> tensor<?x5xf32, #nn.dims<"n0", "5">>
  %s0 = "onnx.Sigmoid"(%y0) : (tensor<?x5xf32, #nn.dims<"n0", "5">>) -> tensor<?x5xf32, #nn.dims<"n0", "5">>
  %h0 = "onnx.Mul"(%y0, %s0) : (tensor<?x5xf32, #nn.dims<"n0", "5">>, tensor<?x5xf32, #nn.dims<"n0", "5">>) -> tensor<?x5xf32, #nn.dims<"n0", "5">>
  %i0 = "onnx.Mul"(%h0, %z0) : (tensor<?x5xf32, #nn.dims<"n0", "5">>, tensor<?x5xf32, #nn.dims<"n0", "5">>) -> tensor<?x5xf32, #nn.dims<"n0", "5">>
  %o0 = nn.linear %i0, %d0, %none : (tensor<?x5xf32, #nn.dims<"n0", "5">>, tensor<5x4xf32>, none) -> tensor<?x4xf32, #nn.dims<"n0", "4">>
  %j0 = "onnx.Mul"(%t0, %count) : (tensor<?xi64, #nn.dims<"n0">>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n0">>
  %k0 = "onnx.Add"(%c0, %j0) : (tensor<?xi64, #nn.dims<"n0">>, tensor<?xi64, #nn.dims<"n0">>) -> tensor<?xi64, #nn.dims<"n0">>
  %w0 = "onnx.Gather"(%column, %k0) {axis = 0 : i64} : (tensor<3x1xf32>, tensor<?xi64, #nn.dims<"n0">>) -> tensor<?x1xf32, #nn.dims<"n0", "1">>
  %m0 = "onnx.Mul"(%o0, %w0) : (tensor<?x4xf32, #nn.dims<"n0", "4">>, tensor<?x1xf32, #nn.dims<"n0", "1">>) -> tensor<?x4xf32, #nn.dims<"n0", "4">>
  %q0 = "onnx.Unsqueeze"(%t0, %one) : (tensor<?xi64, #nn.dims<"n0">>, tensor<1xi64>) -> tensor<?x1xi64, #nn.dims<"n0", "1">>
  %ms0 = "onnx.Shape"(%m0) : (tensor<?x4xf32, #nn.dims<"n0", "4">>) -> tensor<2xi64>
  %f0 = "onnx.Expand"(%q0, %ms0) : (tensor<?x1xi64, #nn.dims<"n0", "1">>, tensor<2xi64>) -> tensor<?x4xi64, #nn.dims<"n0", "4">>
  %sc0 = "onnx.ScatterElements"(%zero, %f0, %m0) {axis = 0 : i64} : (tensor<3x4xf32>, tensor<?x4xi64, #nn.dims<"n0", "4">>, tensor<?x4xf32, #nn.dims<"n0", "4">>) -> tensor<3x4xf32>
  %acc0 = "onnx.Add"(%zero, %sc0) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %a1 = "onnx.Gather"(%mask, %e0) {axis = 0 : i64} : (tensor<2x1x3xi64>, tensor<i64>) -> tensor<1x3xi64>
  %b1 = "onnx.Cast"(%a1) {to = 9 : i64} : (tensor<1x3xi64>) -> tensor<1x3xi1>
  %nz1 = "onnx.NonZero"(%b1) : (tensor<1x3xi1>) -> tensor<2x?xi64, #nn.dims<"2", "n1">>
  %c1 = "onnx.Gather"(%nz1, %e0) {axis = 0 : i64} : (tensor<2x?xi64, #nn.dims<"2", "n1">>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n1">>
  %t1 = "onnx.Gather"(%nz1, %e1) {axis = 0 : i64} : (tensor<2x?xi64, #nn.dims<"2", "n1">>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n1">>
  %r1 = "onnx.Gather"(%x, %t1) {axis = 0 : i64} : (tensor<3x4xf32>, tensor<?xi64, #nn.dims<"n1">>) -> tensor<?x4xf32, #nn.dims<"n1", "4">>
  %y1 = nn.linear %r1, %g0, %none : (tensor<?x4xf32, #nn.dims<"n1", "4">>, tensor<4x5xf32>, none) -> tensor<?x5xf32, #nn.dims<"n1", "5">>
  %z1 = nn.linear %r1, %u0, %none : (tensor<?x4xf32, #nn.dims<"n1", "4">>, tensor<4x5xf32>, none) -> tensor<?x5xf32, #nn.dims<"n1", "5">>
  %s1 = "onnx.Sigmoid"(%y1) : (tensor<?x5xf32, #nn.dims<"n1", "5">>) -> tensor<?x5xf32, #nn.dims<"n1", "5">>
  %h1 = "onnx.Mul"(%y1, %s1) : (tensor<?x5xf32, #nn.dims<"n1", "5">>, tensor<?x5xf32, #nn.dims<"n1", "5">>) -> tensor<?x5xf32, #nn.dims<"n1", "5">>
  %i1 = "onnx.Mul"(%h1, %z1) : (tensor<?x5xf32, #nn.dims<"n1", "5">>, tensor<?x5xf32, #nn.dims<"n1", "5">>) -> tensor<?x5xf32, #nn.dims<"n1", "5">>
  %o1 = nn.linear %i1, %d0, %none : (tensor<?x5xf32, #nn.dims<"n1", "5">>, tensor<5x4xf32>, none) -> tensor<?x4xf32, #nn.dims<"n1", "4">>
  %j1 = "onnx.Mul"(%t1, %count) : (tensor<?xi64, #nn.dims<"n1">>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n1">>
  %k1 = "onnx.Add"(%c1, %j1) : (tensor<?xi64, #nn.dims<"n1">>, tensor<?xi64, #nn.dims<"n1">>) -> tensor<?xi64, #nn.dims<"n1">>
  %w1 = "onnx.Gather"(%column, %k1) {axis = 0 : i64} : (tensor<3x1xf32>, tensor<?xi64, #nn.dims<"n1">>) -> tensor<?x1xf32, #nn.dims<"n1", "1">>
  %m1 = "onnx.Mul"(%o1, %w1) : (tensor<?x4xf32, #nn.dims<"n1", "4">>, tensor<?x1xf32, #nn.dims<"n1", "1">>) -> tensor<?x4xf32, #nn.dims<"n1", "4">>
  %q1 = "onnx.Unsqueeze"(%t1, %one) : (tensor<?xi64, #nn.dims<"n1">>, tensor<1xi64>) -> tensor<?x1xi64, #nn.dims<"n1", "1">>
  %ms1 = "onnx.Shape"(%m1) : (tensor<?x4xf32, #nn.dims<"n1", "4">>) -> tensor<2xi64>
  %f1 = "onnx.Expand"(%q1, %ms1) : (tensor<?x1xi64, #nn.dims<"n1", "1">>, tensor<2xi64>) -> tensor<?x4xi64, #nn.dims<"n1", "4">>
  %sc1 = "onnx.ScatterElements"(%zero, %f1, %m1) {axis = 0 : i64} : (tensor<3x4xf32>, tensor<?x4xi64, #nn.dims<"n1", "4">>, tensor<?x4xf32, #nn.dims<"n1", "4">>) -> tensor<3x4xf32>
  // CHECK-NOT: onnx.microsoft.MoE
  // CHECK: return
  %acc1 = "onnx.Add"(%acc0, %sc1) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %acc1 : tensor<3x4xf32>
}
