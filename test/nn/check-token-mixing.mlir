// RUN: sol-opt %s --nn-check-token-mixing --verify-diagnostics

// One scale for all tokens of a run: one warning a function, at the first.
func.func @whole_tensor(%x: tensor<?x4xf32>) {
  // expected-warning @below {{takes one scale from all tokens of a run, as 2 operators of `whole_tensor` do}}
  %0:3 = "onnx.DynamicQuantizeLinear"(%x) : (tensor<?x4xf32>) -> (tensor<?x4xui8>, tensor<f32>, tensor<ui8>)
  %1:3 = "onnx.DynamicQuantizeLinear"(%x) : (tensor<?x4xf32>) -> (tensor<?x4xui8>, tensor<f32>, tensor<ui8>)
  return
}

// The same tensor in every run: nothing to warn of.
func.func @fixed_size(%x: tensor<2x4xf32>) {
  %0:3 = "onnx.DynamicQuantizeLinear"(%x) : (tensor<2x4xf32>) -> (tensor<2x4xui8>, tensor<f32>, tensor<ui8>)
  return
}
