// RUN: sol-opt %s --nn-recognize-attention --split-input-file | FileCheck %s

// Half of the scale on each side, shared heads repeated, a mask that chooses
// between 0 and minus infinity, and the guard behind rows without any key.
// CHECK-LABEL: func @shared_heads
func.func @shared_heads(%q: tensor<1x4x3x16xf32>, %k: tensor<1x2x5x16xf32>, %v: tensor<1x2x5x16xf32>, %m: tensor<1x1x3x5xi1>) -> tensor<1x4x3x16xf32> {
  %half = nn.constant dense<5.0e-01> : tensor<f32> : tensor<f32>
  %zero = nn.constant dense<0.0> : tensor<1xf32> : tensor<1xf32>
  %low = nn.constant dense<0xFF800000> : tensor<1xf32> : tensor<1xf32>
  %two = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %wide = nn.constant dense<[1, 2, 2, 5, 16]> : tensor<5xi64> : tensor<5xi64>
  %shape = nn.constant dense<[1, 4, 5, 16]> : tensor<4xi64> : tensor<4xi64>
  %ku = "onnx.Unsqueeze"(%k, %two) : (tensor<1x2x5x16xf32>, tensor<1xi64>) -> tensor<1x2x1x5x16xf32>
  %ke = "onnx.Expand"(%ku, %wide) : (tensor<1x2x1x5x16xf32>, tensor<5xi64>) -> tensor<1x2x2x5x16xf32>
  %kr = "onnx.Reshape"(%ke, %shape) : (tensor<1x2x2x5x16xf32>, tensor<4xi64>) -> tensor<1x4x5x16xf32>
  %vu = "onnx.Unsqueeze"(%v, %two) : (tensor<1x2x5x16xf32>, tensor<1xi64>) -> tensor<1x2x1x5x16xf32>
  %ve = "onnx.Expand"(%vu, %wide) : (tensor<1x2x1x5x16xf32>, tensor<5xi64>) -> tensor<1x2x2x5x16xf32>
  %vr = "onnx.Reshape"(%ve, %shape) : (tensor<1x2x2x5x16xf32>, tensor<4xi64>) -> tensor<1x4x5x16xf32>
  %kt = "onnx.Transpose"(%kr) {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x4x5x16xf32>) -> tensor<1x4x16x5xf32>
  %qs = "onnx.Mul"(%q, %half) : (tensor<1x4x3x16xf32>, tensor<f32>) -> tensor<1x4x3x16xf32>
  %ks = "onnx.Mul"(%kt, %half) : (tensor<1x4x16x5xf32>, tensor<f32>) -> tensor<1x4x16x5xf32>
  %s = "onnx.MatMul"(%qs, %ks) : (tensor<1x4x3x16xf32>, tensor<1x4x16x5xf32>) -> tensor<1x4x3x5xf32>
  %n = "onnx.Where"(%m, %zero, %low) : (tensor<1x1x3x5xi1>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3x5xf32>
  %a = "onnx.Add"(%s, %n) : (tensor<1x4x3x5xf32>, tensor<1x1x3x5xf32>) -> tensor<1x4x3x5xf32>
  %p = "onnx.Softmax"(%a) {axis = -1 : i64} : (tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xf32>
  %i = "onnx.IsNaN"(%p) : (tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xi1>
  %g = "onnx.Where"(%i, %zero, %p) : (tensor<1x4x3x5xi1>, tensor<1xf32>, tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xf32>
  // CHECK: nn.attention %arg0, %arg1, %arg2, %arg3, %{{.*}} {masked_rows = "zero", scale = 2.500000e-01 : f32, softcap = 0.000000e+00 : f32}
  // CHECK-NOT: onnx.MatMul
  %y = "onnx.MatMul"(%g, %vr) : (tensor<1x4x3x5xf32>, tensor<1x4x5x16xf32>) -> tensor<1x4x3x16xf32>
  return %y : tensor<1x4x3x16xf32>
}

// -----

// Soft cap, and numbers to add whose origin is not known.
// CHECK-LABEL: func @softcap
func.func @softcap(%q: tensor<1x2x3x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x8xf32>, %m: tensor<3x5xf32>) -> tensor<1x2x3x8xf32> {
  %scale = nn.constant dense<2.5e-01> : tensor<f32> : tensor<f32>
  %cap = nn.constant dense<30.0> : tensor<f32> : tensor<f32>
  %kt = "onnx.Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x2x5x8xf32>) -> tensor<1x2x8x5xf32>
  %s = "onnx.MatMul"(%q, %kt) : (tensor<1x2x3x8xf32>, tensor<1x2x8x5xf32>) -> tensor<1x2x3x5xf32>
  %t = "onnx.Mul"(%s, %scale) : (tensor<1x2x3x5xf32>, tensor<f32>) -> tensor<1x2x3x5xf32>
  %d = "onnx.Div"(%t, %cap) : (tensor<1x2x3x5xf32>, tensor<f32>) -> tensor<1x2x3x5xf32>
  %h = "onnx.Tanh"(%d) : (tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
  %c = "onnx.Mul"(%h, %cap) : (tensor<1x2x3x5xf32>, tensor<f32>) -> tensor<1x2x3x5xf32>
  %a = "onnx.Add"(%c, %m) : (tensor<1x2x3x5xf32>, tensor<3x5xf32>) -> tensor<1x2x3x5xf32>
  %p = "onnx.Softmax"(%a) : (tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
  // CHECK: nn.attention %arg0, %arg1, %arg2, %arg3, %{{.*}} {masked_rows = "nan", scale = 2.500000e-01 : f32, softcap = 3.000000e+01 : f32}
  %y = "onnx.MatMul"(%p, %v) : (tensor<1x2x3x5xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x3x8xf32>
  return %y : tensor<1x2x3x8xf32>
}

// -----

// A row without any key is set to 0 behind the attention.
// CHECK-LABEL: func @guard_behind
func.func @guard_behind(%q: tensor<1x2x3x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x8xf32>, %m: tensor<1x1x3x5xi1>) -> tensor<1x2x3x8xf32> {
  %low = nn.constant dense<-3.40282347E+38> : tensor<f32> : tensor<f32>
  %zero = nn.constant dense<0.0> : tensor<f32> : tensor<f32>
  %one = nn.constant dense<1.0> : tensor<f32> : tensor<f32>
  %last = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %not = "onnx.Not"(%m) : (tensor<1x1x3x5xi1>) -> tensor<1x1x3x5xi1>
  %f = "onnx.Cast"(%not) {to = 1 : i64} : (tensor<1x1x3x5xi1>) -> tensor<1x1x3x5xf32>
  %n = "onnx.Mul"(%f, %low) : (tensor<1x1x3x5xf32>, tensor<f32>) -> tensor<1x1x3x5xf32>
  %c = "onnx.Cast"(%m) {to = 1 : i64} : (tensor<1x1x3x5xi1>) -> tensor<1x1x3x5xf32>
  %r = "onnx.ReduceSum"(%c, %last) {keepdims = 1 : i64} : (tensor<1x1x3x5xf32>, tensor<1xi64>) -> tensor<1x1x3x1xf32>
  %e = "onnx.Less"(%r, %one) : (tensor<1x1x3x1xf32>, tensor<f32>) -> tensor<1x1x3x1xi1>
  %kt = "onnx.Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x2x5x8xf32>) -> tensor<1x2x8x5xf32>
  %s = "onnx.MatMul"(%q, %kt) : (tensor<1x2x3x8xf32>, tensor<1x2x8x5xf32>) -> tensor<1x2x3x5xf32>
  %a = "onnx.Add"(%s, %n) : (tensor<1x2x3x5xf32>, tensor<1x1x3x5xf32>) -> tensor<1x2x3x5xf32>
  %p = "onnx.Softmax"(%a) : (tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
  %o = "onnx.MatMul"(%p, %v) : (tensor<1x2x3x5xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x3x8xf32>
  // CHECK: %[[Y:.*]] = nn.attention %arg0, %arg1, %arg2, %arg3, %{{.*}} {masked_rows = "zero", scale = 1.0
  // CHECK: return %[[Y]]
  %y = "onnx.Where"(%e, %zero, %o) : (tensor<1x1x3x1xi1>, tensor<f32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  return %y : tensor<1x2x3x8xf32>
}

// -----

// The softmax runs over queries; each head has a scale of its own; the mask is
// added behind the softmax.
// CHECK-LABEL: func @look_alikes
func.func @look_alikes(%q: tensor<1x2x3x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x8xf32>, %m: tensor<3x5xf32>, %h: tensor<1x2x1x1xf32>) -> (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) {
  // CHECK-NOT: nn.attention
  %kt = "onnx.Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x2x5x8xf32>) -> tensor<1x2x8x5xf32>
  %s = "onnx.MatMul"(%q, %kt) : (tensor<1x2x3x8xf32>, tensor<1x2x8x5xf32>) -> tensor<1x2x3x5xf32>
  %p = "onnx.Softmax"(%s) {axis = 2 : i64} : (tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
  %x = "onnx.MatMul"(%p, %v) : (tensor<1x2x3x5xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x3x8xf32>
  %sh = "onnx.Mul"(%s, %h) : (tensor<1x2x3x5xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x5xf32>
  %ph = "onnx.Softmax"(%sh) {axis = 3 : i64} : (tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
  %y = "onnx.MatMul"(%ph, %v) : (tensor<1x2x3x5xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x3x8xf32>
  %pm = "onnx.Softmax"(%s) {axis = -1 : i64} : (tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
  %am = "onnx.Add"(%pm, %m) : (tensor<1x2x3x5xf32>, tensor<3x5xf32>) -> tensor<1x2x3x5xf32>
  %z = "onnx.MatMul"(%am, %v) : (tensor<1x2x3x5xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x3x8xf32>
  // CHECK: return
  return %x, %y, %z : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>
}

// -----

// The operator: causal without a past means the first positions, so another
// number of keys than of queries is not nn.attention's.
// CHECK-LABEL: func @operator
func.func @operator(%q: tensor<1x2x3x8xf32>, %k: tensor<1x2x3x8xf32>, %l: tensor<1x2x5x8xf32>) -> (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) {
  // CHECK: nn.attention %arg0, %arg1, %arg1, %{{.*}}, %{{.*}} {causal, masked_rows = "zero", scale = 0.353553385 : f32
  %x = "onnx.Attention"(%q, %k, %k) {is_causal = 1 : i64} : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  // CHECK: "onnx.Attention"(%arg0, %arg2, %arg2)
  %y = "onnx.Attention"(%q, %l, %l) {is_causal = 1 : i64} : (tensor<1x2x3x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x3x8xf32>
  return %x, %y : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>
}

// -----

// A window to the left counts the query's own position here; a window to the
// right of a causal query hides nothing more; others are not nn.attention's.
// CHECK-LABEL: func @windows
func.func @windows(%q: tensor<1x2x3x8xf32>) -> (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) {
  // CHECK: nn.attention {{.*}} window = 3 : i64}
  %x = "onnx.Attention"(%q, %q, %q) {is_causal = 1 : i64, left_window_size = 2 : i64, right_window_size = 1 : i64} : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  // CHECK: "onnx.Attention"(%arg0, %arg0, %arg0)
  %y = "onnx.Attention"(%q, %q, %q) {left_window_size = 1 : i64, right_window_size = 2 : i64} : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  return %x, %y : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>
}
