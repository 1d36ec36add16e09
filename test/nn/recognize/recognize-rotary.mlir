// RUN: sol-opt %s --nn-recognize-rotary | FileCheck %s

// x * cos + concat(-second, first) * sin; cosines repeat their first half.
// CHECK-LABEL: func @halves
func.func @halves(%x: tensor<1x2x3x8xf32>, %f: tensor<1x1x3x4xf32>) -> tensor<1x2x3x8xf32> {
  %zero = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %four = nn.constant dense<4> : tensor<1xi64> : tensor<1xi64>
  %end = nn.constant dense<9223372036854775807> : tensor<1xi64> : tensor<1xi64>
  %axis = nn.constant dense<3> : tensor<1xi64> : tensor<1xi64>
  %ff = "onnx.Concat"(%f, %f) {axis = -1 : i64} : (tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x1x3x8xf32>
  %cos = "onnx.Cos"(%ff) : (tensor<1x1x3x8xf32>) -> tensor<1x1x3x8xf32>
  %sin = "onnx.Sin"(%ff) : (tensor<1x1x3x8xf32>) -> tensor<1x1x3x8xf32>
  %a = "onnx.Slice"(%x, %zero, %four, %axis) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %b = "onnx.Slice"(%x, %four, %end, %axis) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %nb = "onnx.Neg"(%b) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %t = "onnx.Concat"(%nb, %a) {axis = -1 : i64} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x8xf32>
  %p = "onnx.Mul"(%x, %cos) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %q = "onnx.Mul"(%t, %sin) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  // CHECK: nn.rotary %arg0, %{{.*}}, %{{.*}} : (tensor<1x2x3x8xf32>, tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>)
  %y = "onnx.Add"(%p, %q) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  return %y : tensor<1x2x3x8xf32>
}

// The signs are on the other half; cosines of unrelated halves; a cosine for
// each head.
// CHECK-LABEL: func @look_alikes
func.func @look_alikes(%x: tensor<1x2x3x8xf32>, %f: tensor<1x1x3x4xf32>, %c: tensor<1x1x3x8xf32>, %h: tensor<1x2x3x4xf32>) -> (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) {
  %zero = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %four = nn.constant dense<4> : tensor<1xi64> : tensor<1xi64>
  %eight = nn.constant dense<8> : tensor<1xi64> : tensor<1xi64>
  %axis = nn.constant dense<3> : tensor<1xi64> : tensor<1xi64>
  %ff = "onnx.Concat"(%f, %f) {axis = -1 : i64} : (tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x1x3x8xf32>
  %cos = "onnx.Cos"(%ff) : (tensor<1x1x3x8xf32>) -> tensor<1x1x3x8xf32>
  %a = "onnx.Slice"(%x, %zero, %four, %axis) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %b = "onnx.Slice"(%x, %four, %eight, %axis) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %p = "onnx.Mul"(%x, %cos) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  // CHECK-NOT: nn.rotary
  %na = "onnx.Neg"(%a) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %t = "onnx.Concat"(%na, %b) {axis = -1 : i64} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x8xf32>
  %q = "onnx.Mul"(%t, %cos) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %y = "onnx.Add"(%p, %q) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %nb = "onnx.Neg"(%b) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %u = "onnx.Concat"(%nb, %a) {axis = -1 : i64} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x8xf32>
  %r = "onnx.Mul"(%u, %c) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %z = "onnx.Add"(%p, %r) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %hh = "onnx.Concat"(%h, %h) {axis = -1 : i64} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x8xf32>
  %v = "onnx.Mul"(%u, %hh) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %w = "onnx.Add"(%p, %v) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  // CHECK: return
  return %y, %z, %w : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>
}

// concat(a cos - b sin, b cos + a sin), and two entries that pass by.
// CHECK-LABEL: func @partial
func.func @partial(%x: tensor<1x2x3x10xf32>, %cos: tensor<1x1x3x4xf32>, %sin: tensor<1x1x3x4xf32>) -> tensor<1x2x3x10xf32> {
  %zero = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %four = nn.constant dense<4> : tensor<1xi64> : tensor<1xi64>
  %eight = nn.constant dense<8> : tensor<1xi64> : tensor<1xi64>
  %end = nn.constant dense<9223372036854775807> : tensor<1xi64> : tensor<1xi64>
  %axis = nn.constant dense<3> : tensor<1xi64> : tensor<1xi64>
  %front = "onnx.Slice"(%x, %zero, %eight, %axis) : (tensor<1x2x3x10xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x8xf32>
  %rest = "onnx.Slice"(%x, %eight, %end, %axis) : (tensor<1x2x3x10xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x2xf32>
  %a = "onnx.Slice"(%front, %zero, %four, %axis) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %b = "onnx.Slice"(%front, %four, %end, %axis) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %ac = "onnx.Mul"(%a, %cos) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %bs = "onnx.Mul"(%b, %sin) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %d = "onnx.Sub"(%ac, %bs) : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %bc = "onnx.Mul"(%b, %cos) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %as = "onnx.Mul"(%a, %sin) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %e = "onnx.Add"(%bc, %as) : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %r = "onnx.Concat"(%d, %e) {axis = -1 : i64} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x8xf32>
  // CHECK: %[[Y:.*]] = nn.rotary %arg0, %arg1, %arg2
  // CHECK-NEXT: return %[[Y]]
  %y = "onnx.Concat"(%r, %rest) {axis = -1 : i64} : (tensor<1x2x3x8xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x10xf32>
  return %y : tensor<1x2x3x10xf32>
}

// com.microsoft's operator on heads side by side, with positions.
// CHECK-LABEL: func @operator
func.func @operator(%x: tensor<1x3x16xf32>, %at: tensor<1x3xi64>, %cos: tensor<9x4xf32>, %sin: tensor<9x4xf32>) -> tensor<1x3x16xf32> {
  // CHECK: %[[C:.*]] = "onnx.Gather"(%arg2, %arg1)
  // CHECK: nn.rotary %{{.*}} {interleaved} : (tensor<1x2x3x8xf32>, tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>)
  %y = "onnx.microsoft.RotaryEmbedding"(%x, %at, %cos, %sin) {interleaved = 1 : i64, num_heads = 2 : i64} : (tensor<1x3x16xf32>, tensor<1x3xi64>, tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<1x3x16xf32>
  return %y : tensor<1x3x16xf32>
}
