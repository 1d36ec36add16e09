// RUN: sol-opt %s --nn-recognize-mlp | FileCheck %s

// CHECK-LABEL: func @silu_gate
func.func @silu_gate(%g: tensor<2x4xf32>, %u: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %s = "onnx.Sigmoid"(%g) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %a = "onnx.Mul"(%g, %s) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: nn.gate %arg0, %arg1 {activation = "silu"}
  // CHECK-NEXT: return
  %y = "onnx.Mul"(%a, %u) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// The sigmoid is the other branch's; the other branch broadcasts.
// CHECK-LABEL: func @no_gate
func.func @no_gate(%g: tensor<2x4xf32>, %u: tensor<2x4xf32>, %n: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK-NOT: nn.gate
  %s = "onnx.Sigmoid"(%u) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %a = "onnx.Mul"(%g, %s) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = "onnx.Mul"(%a, %g) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = "onnx.Relu"(%g) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %z = "onnx.Mul"(%r, %n) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %y, %z : tensor<2x4xf32>, tensor<2x4xf32>
}

// The value inside the erf is needed elsewhere as well.
// CHECK-LABEL: func @gelu_erf
func.func @gelu_erf(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %root = nn.constant dense<1.41421354> : tensor<f32> : tensor<f32>
  %one = nn.constant dense<1.0> : tensor<f32> : tensor<f32>
  %half = nn.constant dense<5.0e-01> : tensor<f32> : tensor<f32>
  %d = "onnx.Div"(%x, %root) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  // CHECK: %[[E:.*]] = "onnx.Erf"
  %e = "onnx.Erf"(%d) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %a = "onnx.Add"(%e, %one) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %m = "onnx.Mul"(%x, %a) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: %[[Y:.*]] = "onnx.Gelu"(%arg0) {approximate = "none"}
  // CHECK: return %[[Y]], %[[E]]
  %y = "onnx.Mul"(%m, %half) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %y, %e : tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: func @gelu_tanh
func.func @gelu_tanh(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %three = nn.constant dense<3.0> : tensor<f32> : tensor<f32>
  %c = nn.constant dense<4.471500e-02> : tensor<f32> : tensor<f32>
  %k = nn.constant dense<0.797884583> : tensor<f32> : tensor<f32>
  %one = nn.constant dense<1.0> : tensor<f32> : tensor<f32>
  %half = nn.constant dense<5.0e-01> : tensor<f32> : tensor<f32>
  %h = "onnx.Mul"(%x, %half) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %p = "onnx.Pow"(%x, %three) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %q = "onnx.Mul"(%p, %c) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %s = "onnx.Add"(%x, %q) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %t = "onnx.Mul"(%s, %k) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %u = "onnx.Tanh"(%t) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %v = "onnx.Add"(%u, %one) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  // CHECK: "onnx.Gelu"(%arg0) {approximate = "tanh"}
  %y = "onnx.Mul"(%h, %v) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// Another constant inside: no GELU.
// CHECK-LABEL: func @no_gelu
func.func @no_gelu(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %root = nn.constant dense<1.5> : tensor<f32> : tensor<f32>
  %one = nn.constant dense<1.0> : tensor<f32> : tensor<f32>
  %half = nn.constant dense<5.0e-01> : tensor<f32> : tensor<f32>
  // CHECK-NOT: onnx.Gelu
  %d = "onnx.Div"(%x, %root) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %e = "onnx.Erf"(%d) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %a = "onnx.Add"(%e, %one) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %m = "onnx.Mul"(%x, %a) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = "onnx.Mul"(%m, %half) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
