// RUN: sol-opt %s --nn-infer-shapes --split-input-file --verify-diagnostics

// All contradictions of a graph are reported, not the first alone.
func.func @several(%x: tensor<1x4xf32>, %y: tensor<3x4xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  // expected-error @below {{multiplies shapes [1, 4] and [3, 4], whose inner sizes 4 and 3 differ}}
  %0 = "onnx.MatMul"(%x, %y) : (tensor<1x4xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  // expected-error @below {{has axis 9, but the axes of an operand of rank 2 are -2 to 1}}
  %1 = "onnx.Softmax"(%x) {axis = 9 : i64} : (tensor<1x4xf32>) -> tensor<*xf32>
  // expected-error @below {{has perm [0, 0], which is no permutation of the 2 axes of its operand of shape [1, 4]}}
  %2 = "onnx.Transpose"(%x) {perm = array<i64: 0, 0>} : (tensor<1x4xf32>) -> tensor<*xf32>
  return %0, %1, %2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

func.func @broadcast(%x: tensor<2x3xf32>, %y: tensor<4xf32>) -> tensor<*xf32> {
  // expected-error @below {{has shapes [2, 3] and [4] that do not broadcast: 3 and 4 on axis 1}}
  %0 = "onnx.Add"(%x, %y) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @reshape(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %target = nn.constant dense<[4, 2]> : tensor<2xi64> : tensor<2xi64>
  // expected-error @below {{gives 6 elements of [2, 3] the shape [4, 2] of 8}}
  %0 = "onnx.Reshape"(%x, %target) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @concat(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) -> tensor<*xf32> {
  // expected-error @below {{sizes of the operands on axis 1 must be equal, got 3 and 4}}
  %0 = "onnx.Concat"(%x, %y) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @declared(%x: tensor<2x3xf32>) -> (tensor<*xf32> {nn.name = "y", nn.declared = tensor<2x4xf32>}) {
  // expected-error @below {{output `y` is declared as 'tensor<2x4xf32>' but is 'tensor<2x3xf32>'}}
  %0 = "onnx.Neg"(%x) : (tensor<2x3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
