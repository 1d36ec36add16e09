// RUN: sol-opt %s --nn-recognize-experts | FileCheck %s

// Two of six experts a token, chosen from all probabilities.
// CHECK-LABEL: func @batched
func.func @batched(%x: tensor<3x4xf32>, %l: tensor<3x6xf32>) -> tensor<3x4xf32> {
  %w1 = nn.weight <"w", 0, 960, raw, 0> : tensor<6x10x4xf32>
  %w2 = nn.weight <"w", 960, 480, raw, 0> : tensor<6x4x5xf32>
  %k = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %one = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %last = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %wide = nn.constant dense<[3, 2, 4]> : tensor<3xi64> : tensor<3xi64>
  %rows = nn.constant dense<[-1, 4]> : tensor<2xi64> : tensor<2xi64>
  %p = "onnx.Softmax"(%l) {axis = -1 : i64} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  %top:2 = "onnx.TopK"(%p, %k) {axis = -1 : i64, largest = 1 : i64, sorted = 1 : i64} : (tensor<3x6xf32>, tensor<1xi64>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
  %s = "onnx.ReduceSum"(%top#0, %last) {keepdims = 1 : i64} : (tensor<3x2xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %r = "onnx.Div"(%top#0, %s) : (tensor<3x2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  %u = "onnx.Unsqueeze"(%x, %one) : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<3x1x4xf32>
  %e = "onnx.Expand"(%u, %wide) : (tensor<3x1x4xf32>, tensor<3xi64>) -> tensor<3x2x4xf32>
  %f = "onnx.Reshape"(%e, %rows) : (tensor<3x2x4xf32>, tensor<2xi64>) -> tensor<6x4xf32>
  %i = "onnx.Reshape"(%top#1, %last) : (tensor<3x2xi64>, tensor<1xi64>) -> tensor<6xi64>
  %j = "onnx.Unsqueeze"(%i, %last) : (tensor<6xi64>, tensor<1xi64>) -> tensor<6x1xi64>
  %m1 = "onnx.GatherND"(%w1, %j) {batch_dims = 0 : i64} : (tensor<6x10x4xf32>, tensor<6x1xi64>) -> tensor<6x10x4xf32>
  %c1 = "onnx.Unsqueeze"(%f, %last) : (tensor<6x4xf32>, tensor<1xi64>) -> tensor<6x4x1xf32>
  %d1 = "onnx.MatMul"(%m1, %c1) : (tensor<6x10x4xf32>, tensor<6x4x1xf32>) -> tensor<6x10x1xf32>
  %q1 = "onnx.Squeeze"(%d1, %last) : (tensor<6x10x1xf32>, tensor<1xi64>) -> tensor<6x10xf32>
  %h:2 = "onnx.Split"(%q1) {axis = 1 : i64, num_outputs = 2 : i64} : (tensor<6x10xf32>) -> (tensor<6x5xf32>, tensor<6x5xf32>)
  %g = "onnx.Sigmoid"(%h#0) : (tensor<6x5xf32>) -> tensor<6x5xf32>
  %a = "onnx.Mul"(%h#0, %g) : (tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<6x5xf32>
  %b = "onnx.Mul"(%a, %h#1) : (tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<6x5xf32>
  %m2 = "onnx.GatherND"(%w2, %j) {batch_dims = 0 : i64} : (tensor<6x4x5xf32>, tensor<6x1xi64>) -> tensor<6x4x5xf32>
  %c2 = "onnx.Unsqueeze"(%b, %last) : (tensor<6x5xf32>, tensor<1xi64>) -> tensor<6x5x1xf32>
  %d2 = "onnx.MatMul"(%m2, %c2) : (tensor<6x4x5xf32>, tensor<6x5x1xf32>) -> tensor<6x4x1xf32>
  %q2 = "onnx.Squeeze"(%d2, %last) : (tensor<6x4x1xf32>, tensor<1xi64>) -> tensor<6x4xf32>
  %v = "onnx.Reshape"(%r, %last) : (tensor<3x2xf32>, tensor<1xi64>) -> tensor<6xf32>
  %w = "onnx.Unsqueeze"(%v, %last) : (tensor<6xf32>, tensor<1xi64>) -> tensor<6x1xf32>
  %z = "onnx.Mul"(%q2, %w) : (tensor<6x4xf32>, tensor<6x1xf32>) -> tensor<6x4xf32>
  %t = "onnx.Reshape"(%z, %wide) : (tensor<6x4xf32>, tensor<3xi64>) -> tensor<3x2x4xf32>
  // CHECK: %[[Y:.*]] = "onnx.microsoft.MoE"(%arg0, %arg1, %{{.*}}, %{{.*}}, %{{.*}}) {activation_alpha = 1.000000e+00 : f32, activation_beta = 0.000000e+00 : f32, activation_type = "swiglu", k = 2 : i64, normalize_routing_weights = 1 : i64, swiglu_fusion = 2 : i64}
  // CHECK-NEXT: return %[[Y]]
  %y = "onnx.ReduceSum"(%t, %one) {keepdims = 0 : i64} : (tensor<3x2x4xf32>, tensor<1xi64>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// The least likely experts.
// CHECK-LABEL: func @least_likely
func.func @least_likely(%x: tensor<3x4xf32>, %l: tensor<3x6xf32>) -> tensor<3x4xf32> {
  %w1 = nn.weight <"w", 0, 960, raw, 0> : tensor<6x10x4xf32>
  %w2 = nn.weight <"w", 960, 480, raw, 0> : tensor<6x4x5xf32>
  %k = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %one = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %last = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %wide = nn.constant dense<[3, 2, 4]> : tensor<3xi64> : tensor<3xi64>
  %rows = nn.constant dense<[-1, 4]> : tensor<2xi64> : tensor<2xi64>
  %p = "onnx.Softmax"(%l) {axis = -1 : i64} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  %top:2 = "onnx.TopK"(%p, %k) {axis = -1 : i64, largest = 0 : i64, sorted = 1 : i64} : (tensor<3x6xf32>, tensor<1xi64>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
  %s = "onnx.ReduceSum"(%top#0, %last) {keepdims = 1 : i64} : (tensor<3x2xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %r = "onnx.Div"(%top#0, %s) : (tensor<3x2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  %u = "onnx.Unsqueeze"(%x, %one) : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<3x1x4xf32>
  %e = "onnx.Expand"(%u, %wide) : (tensor<3x1x4xf32>, tensor<3xi64>) -> tensor<3x2x4xf32>
  %f = "onnx.Reshape"(%e, %rows) : (tensor<3x2x4xf32>, tensor<2xi64>) -> tensor<6x4xf32>
  %i = "onnx.Reshape"(%top#1, %last) : (tensor<3x2xi64>, tensor<1xi64>) -> tensor<6xi64>
  %j = "onnx.Unsqueeze"(%i, %last) : (tensor<6xi64>, tensor<1xi64>) -> tensor<6x1xi64>
  %m1 = "onnx.GatherND"(%w1, %j) {batch_dims = 0 : i64} : (tensor<6x10x4xf32>, tensor<6x1xi64>) -> tensor<6x10x4xf32>
  %c1 = "onnx.Unsqueeze"(%f, %last) : (tensor<6x4xf32>, tensor<1xi64>) -> tensor<6x4x1xf32>
  %d1 = "onnx.MatMul"(%m1, %c1) : (tensor<6x10x4xf32>, tensor<6x4x1xf32>) -> tensor<6x10x1xf32>
  %q1 = "onnx.Squeeze"(%d1, %last) : (tensor<6x10x1xf32>, tensor<1xi64>) -> tensor<6x10xf32>
  %h:2 = "onnx.Split"(%q1) {axis = 1 : i64, num_outputs = 2 : i64} : (tensor<6x10xf32>) -> (tensor<6x5xf32>, tensor<6x5xf32>)
  %g = "onnx.Sigmoid"(%h#0) : (tensor<6x5xf32>) -> tensor<6x5xf32>
  %a = "onnx.Mul"(%h#0, %g) : (tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<6x5xf32>
  %b = "onnx.Mul"(%a, %h#1) : (tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<6x5xf32>
  %m2 = "onnx.GatherND"(%w2, %j) {batch_dims = 0 : i64} : (tensor<6x4x5xf32>, tensor<6x1xi64>) -> tensor<6x4x5xf32>
  %c2 = "onnx.Unsqueeze"(%b, %last) : (tensor<6x5xf32>, tensor<1xi64>) -> tensor<6x5x1xf32>
  %d2 = "onnx.MatMul"(%m2, %c2) : (tensor<6x4x5xf32>, tensor<6x5x1xf32>) -> tensor<6x4x1xf32>
  %q2 = "onnx.Squeeze"(%d2, %last) : (tensor<6x4x1xf32>, tensor<1xi64>) -> tensor<6x4xf32>
  %v = "onnx.Reshape"(%r, %last) : (tensor<3x2xf32>, tensor<1xi64>) -> tensor<6xf32>
  %w = "onnx.Unsqueeze"(%v, %last) : (tensor<6xf32>, tensor<1xi64>) -> tensor<6x1xf32>
  %z = "onnx.Mul"(%q2, %w) : (tensor<6x4xf32>, tensor<6x1xf32>) -> tensor<6x4xf32>
  %t = "onnx.Reshape"(%z, %wide) : (tensor<6x4xf32>, tensor<3xi64>) -> tensor<3x2x4xf32>
  // CHECK-NOT: onnx.microsoft.MoE
  // CHECK: return
  %y = "onnx.ReduceSum"(%t, %one) {keepdims = 0 : i64} : (tensor<3x2x4xf32>, tensor<1xi64>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// The sigmoid is the other half's.
// CHECK-LABEL: func @other_gate
func.func @other_gate(%x: tensor<3x4xf32>, %l: tensor<3x6xf32>) -> tensor<3x4xf32> {
  %w1 = nn.weight <"w", 0, 960, raw, 0> : tensor<6x10x4xf32>
  %w2 = nn.weight <"w", 960, 480, raw, 0> : tensor<6x4x5xf32>
  %k = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %one = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %last = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %wide = nn.constant dense<[3, 2, 4]> : tensor<3xi64> : tensor<3xi64>
  %rows = nn.constant dense<[-1, 4]> : tensor<2xi64> : tensor<2xi64>
  %p = "onnx.Softmax"(%l) {axis = -1 : i64} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  %top:2 = "onnx.TopK"(%p, %k) {axis = -1 : i64, largest = 1 : i64, sorted = 1 : i64} : (tensor<3x6xf32>, tensor<1xi64>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
  %s = "onnx.ReduceSum"(%top#0, %last) {keepdims = 1 : i64} : (tensor<3x2xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %r = "onnx.Div"(%top#0, %s) : (tensor<3x2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  %u = "onnx.Unsqueeze"(%x, %one) : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<3x1x4xf32>
  %e = "onnx.Expand"(%u, %wide) : (tensor<3x1x4xf32>, tensor<3xi64>) -> tensor<3x2x4xf32>
  %f = "onnx.Reshape"(%e, %rows) : (tensor<3x2x4xf32>, tensor<2xi64>) -> tensor<6x4xf32>
  %i = "onnx.Reshape"(%top#1, %last) : (tensor<3x2xi64>, tensor<1xi64>) -> tensor<6xi64>
  %j = "onnx.Unsqueeze"(%i, %last) : (tensor<6xi64>, tensor<1xi64>) -> tensor<6x1xi64>
  %m1 = "onnx.GatherND"(%w1, %j) {batch_dims = 0 : i64} : (tensor<6x10x4xf32>, tensor<6x1xi64>) -> tensor<6x10x4xf32>
  %c1 = "onnx.Unsqueeze"(%f, %last) : (tensor<6x4xf32>, tensor<1xi64>) -> tensor<6x4x1xf32>
  %d1 = "onnx.MatMul"(%m1, %c1) : (tensor<6x10x4xf32>, tensor<6x4x1xf32>) -> tensor<6x10x1xf32>
  %q1 = "onnx.Squeeze"(%d1, %last) : (tensor<6x10x1xf32>, tensor<1xi64>) -> tensor<6x10xf32>
  %h:2 = "onnx.Split"(%q1) {axis = 1 : i64, num_outputs = 2 : i64} : (tensor<6x10xf32>) -> (tensor<6x5xf32>, tensor<6x5xf32>)
  %g = "onnx.Sigmoid"(%h#1) : (tensor<6x5xf32>) -> tensor<6x5xf32>
  %a = "onnx.Mul"(%h#0, %g) : (tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<6x5xf32>
  %b = "onnx.Mul"(%a, %h#1) : (tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<6x5xf32>
  %m2 = "onnx.GatherND"(%w2, %j) {batch_dims = 0 : i64} : (tensor<6x4x5xf32>, tensor<6x1xi64>) -> tensor<6x4x5xf32>
  %c2 = "onnx.Unsqueeze"(%b, %last) : (tensor<6x5xf32>, tensor<1xi64>) -> tensor<6x5x1xf32>
  %d2 = "onnx.MatMul"(%m2, %c2) : (tensor<6x4x5xf32>, tensor<6x5x1xf32>) -> tensor<6x4x1xf32>
  %q2 = "onnx.Squeeze"(%d2, %last) : (tensor<6x4x1xf32>, tensor<1xi64>) -> tensor<6x4xf32>
  %v = "onnx.Reshape"(%r, %last) : (tensor<3x2xf32>, tensor<1xi64>) -> tensor<6xf32>
  %w = "onnx.Unsqueeze"(%v, %last) : (tensor<6xf32>, tensor<1xi64>) -> tensor<6x1xf32>
  %z = "onnx.Mul"(%q2, %w) : (tensor<6x4xf32>, tensor<6x1xf32>) -> tensor<6x4xf32>
  %t = "onnx.Reshape"(%z, %wide) : (tensor<6x4xf32>, tensor<3xi64>) -> tensor<3x2x4xf32>
  // CHECK-NOT: onnx.microsoft.MoE
  // CHECK: return
  %y = "onnx.ReduceSum"(%t, %one) {keepdims = 0 : i64} : (tensor<3x2x4xf32>, tensor<1xi64>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// Matrices of other experts than the weights are for.
// CHECK-LABEL: func @other_experts
func.func @other_experts(%x: tensor<3x4xf32>, %l: tensor<3x6xf32>, %other: tensor<3x2xi64>) -> tensor<3x4xf32> {
  %w1 = nn.weight <"w", 0, 960, raw, 0> : tensor<6x10x4xf32>
  %w2 = nn.weight <"w", 960, 480, raw, 0> : tensor<6x4x5xf32>
  %k = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %one = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %last = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %wide = nn.constant dense<[3, 2, 4]> : tensor<3xi64> : tensor<3xi64>
  %rows = nn.constant dense<[-1, 4]> : tensor<2xi64> : tensor<2xi64>
  %p = "onnx.Softmax"(%l) {axis = -1 : i64} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  %top:2 = "onnx.TopK"(%p, %k) {axis = -1 : i64, largest = 1 : i64, sorted = 1 : i64} : (tensor<3x6xf32>, tensor<1xi64>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
  %s = "onnx.ReduceSum"(%top#0, %last) {keepdims = 1 : i64} : (tensor<3x2xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %r = "onnx.Div"(%top#0, %s) : (tensor<3x2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  %u = "onnx.Unsqueeze"(%x, %one) : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<3x1x4xf32>
  %e = "onnx.Expand"(%u, %wide) : (tensor<3x1x4xf32>, tensor<3xi64>) -> tensor<3x2x4xf32>
  %f = "onnx.Reshape"(%e, %rows) : (tensor<3x2x4xf32>, tensor<2xi64>) -> tensor<6x4xf32>
  %i = "onnx.Reshape"(%other, %last) : (tensor<3x2xi64>, tensor<1xi64>) -> tensor<6xi64>
  %j = "onnx.Unsqueeze"(%i, %last) : (tensor<6xi64>, tensor<1xi64>) -> tensor<6x1xi64>
  %m1 = "onnx.GatherND"(%w1, %j) {batch_dims = 0 : i64} : (tensor<6x10x4xf32>, tensor<6x1xi64>) -> tensor<6x10x4xf32>
  %c1 = "onnx.Unsqueeze"(%f, %last) : (tensor<6x4xf32>, tensor<1xi64>) -> tensor<6x4x1xf32>
  %d1 = "onnx.MatMul"(%m1, %c1) : (tensor<6x10x4xf32>, tensor<6x4x1xf32>) -> tensor<6x10x1xf32>
  %q1 = "onnx.Squeeze"(%d1, %last) : (tensor<6x10x1xf32>, tensor<1xi64>) -> tensor<6x10xf32>
  %h:2 = "onnx.Split"(%q1) {axis = 1 : i64, num_outputs = 2 : i64} : (tensor<6x10xf32>) -> (tensor<6x5xf32>, tensor<6x5xf32>)
  %g = "onnx.Sigmoid"(%h#0) : (tensor<6x5xf32>) -> tensor<6x5xf32>
  %a = "onnx.Mul"(%h#0, %g) : (tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<6x5xf32>
  %b = "onnx.Mul"(%a, %h#1) : (tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<6x5xf32>
  %m2 = "onnx.GatherND"(%w2, %j) {batch_dims = 0 : i64} : (tensor<6x4x5xf32>, tensor<6x1xi64>) -> tensor<6x4x5xf32>
  %c2 = "onnx.Unsqueeze"(%b, %last) : (tensor<6x5xf32>, tensor<1xi64>) -> tensor<6x5x1xf32>
  %d2 = "onnx.MatMul"(%m2, %c2) : (tensor<6x4x5xf32>, tensor<6x5x1xf32>) -> tensor<6x4x1xf32>
  %q2 = "onnx.Squeeze"(%d2, %last) : (tensor<6x4x1xf32>, tensor<1xi64>) -> tensor<6x4xf32>
  %v = "onnx.Reshape"(%r, %last) : (tensor<3x2xf32>, tensor<1xi64>) -> tensor<6xf32>
  %w = "onnx.Unsqueeze"(%v, %last) : (tensor<6xf32>, tensor<1xi64>) -> tensor<6x1xf32>
  %z = "onnx.Mul"(%q2, %w) : (tensor<6x4xf32>, tensor<6x1xf32>) -> tensor<6x4xf32>
  %t = "onnx.Reshape"(%z, %wide) : (tensor<6x4xf32>, tensor<3xi64>) -> tensor<3x2x4xf32>
  // CHECK-NOT: onnx.microsoft.MoE
  // CHECK: return
  %y = "onnx.ReduceSum"(%t, %one) {keepdims = 0 : i64} : (tensor<3x2x4xf32>, tensor<1xi64>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}
