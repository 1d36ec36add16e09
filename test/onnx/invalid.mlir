// RUN: sol-opt %s --split-input-file --verify-diagnostics

func.func @too_few(%x: tensor<4xf32>) {
  // expected-error @below {{has 1 input, needs 2}}
  %0 = "onnx.Add"(%x) : (tensor<4xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @types_differ(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error @below {{input `B` has element type 'f16', but input `A` has 'f32' and both must be the same}}
  %0 = "onnx.Add"(%x, %y) : (tensor<4xf32>, tensor<4xf16>) -> tensor<*xf32>
  return
}

// -----

func.func @result_type(%x: tensor<4xf32>) {
  // expected-error @below {{result `Y` has element type 'f16', but input `X` has 'f32'}}
  %0 = "onnx.Relu"(%x) : (tensor<4xf32>) -> tensor<*xf16>
  return
}

// -----

func.func @type_not_allowed(%x: tensor<4xi1>) {
  // expected-error @below {{input `input` has element type 'i1'; allowed are float32, float16, float64, bfloat16}}
  %0 = "onnx.Softmax"(%x) : (tensor<4xi1>) -> tensor<*xi1>
  return
}

// -----

func.func @missing_attribute(%x: tensor<4xf32>) {
  // expected-error @below {{lacks the attribute `to` (an integer)}}
  %0 = "onnx.Cast"(%x) : (tensor<4xf32>) -> tensor<*xf16>
  return
}

// -----

func.func @attribute_kind(%x: tensor<4xf32>) {
  // expected-error @below {{attribute `axis` must be an integer, got 1.000000e+00 : f32}}
  %0 = "onnx.Softmax"(%x) {axis = 1.0 : f32} : (tensor<4xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @unknown_attribute(%x: tensor<4xf32>) {
  // expected-error @below {{has an attribute `alpha` that `Relu` does not know}}
  %0 = "onnx.Relu"(%x) {alpha = 1.0 : f32} : (tensor<4xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @missing_operand(%x: tensor<4xf32>) {
  %none = onnx.none : none
  // expected-error @below {{input `B` is missing}}
  %0 = "onnx.Add"(%x, %none) : (tensor<4xf32>, none) -> tensor<*xf32>
  return
}

// -----

func.func @regions(%c: tensor<i1>) {
  // expected-error @below {{has 0 regions, needs 2}}
  %0 = "onnx.If"(%c) : (tensor<i1>) -> tensor<*xf32>
  return
}
