// RUN: sol-opt %s --nn-recognize-linear | FileCheck %s

// A product with a weight, and the vector added behind it.
// CHECK-LABEL: func @bias
func.func @bias(%x: tensor<2x3x4xf32>) -> tensor<2x3x2xf32> {
  // CHECK-DAG: %[[W:.*]] = nn.weight
  // CHECK-DAG: %[[B:.*]] = nn.constant
  %w = nn.weight <"w", 0, 32, raw, 0> : tensor<4x2xf32>
  %b = nn.constant dense<[1.0, 2.0]> : tensor<2xf32> : tensor<2xf32>
  %p = "onnx.MatMul"(%x, %w) : (tensor<2x3x4xf32>, tensor<4x2xf32>) -> tensor<2x3x2xf32>
  // CHECK: nn.linear %arg0, %[[W]], %[[B]] :
  %y = "onnx.Add"(%b, %p) : (tensor<2xf32>, tensor<2x3x2xf32>) -> tensor<2x3x2xf32>
  return %y : tensor<2x3x2xf32>
}

// The embedding table is the output matrix as well: one weight, seen both ways.
// CHECK-LABEL: func @tied
func.func @tied(%ids: tensor<3xi64>) -> tensor<3x16xf32> {
  %w = nn.weight <"w", 0, 256, raw, 0> : tensor<16x4xf32>
  %t = nn.folded : tensor<4x16xf32> {
    %0 = nn.weight <"w", 0, 256, raw, 0> : tensor<16x4xf32>
    %1 = "onnx.Transpose"(%0) {perm = array<i64: 1, 0>} : (tensor<16x4xf32>) -> tensor<4x16xf32>
    nn.yield %1 : tensor<4x16xf32>
  }
  // CHECK: %[[X:.*]] = "onnx.Gather"
  // CHECK-NOT: nn.folded
  %x = "onnx.Gather"(%w, %ids) {axis = 0 : i64} : (tensor<16x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  // CHECK: nn.linear %[[X]], %{{.*}}, %{{.*}} {transposed} : (tensor<3x4xf32>, tensor<16x4xf32>, none)
  %y = "onnx.MatMul"(%x, %t) : (tensor<3x4xf32>, tensor<4x16xf32>) -> tensor<3x16xf32>
  return %y : tensor<3x16xf32>
}

// CHECK-LABEL: func @gemm
func.func @gemm(%x: tensor<3x4xf32>) -> tensor<3x2xf32> {
  %w = nn.weight <"w", 0, 32, raw, 0> : tensor<2x4xf32>
  // CHECK: nn.linear %{{.*}} {transposed}
  %y = "onnx.Gemm"(%x, %w) {transB = 1 : i64} : (tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// Scaled, or with a first operand that is transposed: another operator.
// CHECK-LABEL: func @gemm_look_alikes
func.func @gemm_look_alikes(%x: tensor<4x4xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %w = nn.weight <"w", 0, 32, raw, 0> : tensor<4x2xf32>
  // CHECK-NOT: nn.linear
  %a = "onnx.Gemm"(%x, %w) {alpha = 5.0e-01 : f32} : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %b = "onnx.Gemm"(%x, %w) {transA = 1 : i64} : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %a, %b : tensor<4x2xf32>, tensor<4x2xf32>
}

// The vector runs along rows, not columns, and the other sum is no constant's.
// CHECK-LABEL: func @no_bias
func.func @no_bias(%x: tensor<2x4xf32>, %z: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = nn.weight <"w", 0, 32, raw, 0> : tensor<4x2xf32>
  %b = nn.constant dense<1.0> : tensor<2x1xf32> : tensor<2x1xf32>
  %p = "onnx.MatMul"(%x, %w) : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  // CHECK: %[[P:.*]] = nn.linear
  // CHECK: "onnx.Add"(%[[P]]
  // CHECK: "onnx.Add"(%[[P]]
  %y = "onnx.Add"(%p, %b) : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  %q = "onnx.Add"(%p, %z) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y, %q : tensor<2x2xf32>, tensor<2x2xf32>
}

// Two values of the run: no weight.
// CHECK-LABEL: func @two_values
func.func @two_values(%x: tensor<2x4xf32>, %w: tensor<4x2xf32>) -> tensor<2x2xf32> {
  // CHECK-NOT: nn.linear
  %y = "onnx.MatMul"(%x, %w) : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
