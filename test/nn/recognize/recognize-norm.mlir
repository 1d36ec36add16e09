// RUN: sol-opt %s --nn-recognize-norm | FileCheck %s

// The form with a quotient, no-op casts around it, and the scale in front.
// CHECK-LABEL: func @quotient_form
func.func @quotient_form(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %two = nn.constant dense<2.0> : tensor<f32> : tensor<f32>
  %one = nn.constant dense<1.0> : tensor<f32> : tensor<f32>
  %eps = nn.constant dense<1.0e-05> : tensor<f32> : tensor<f32>
  %axes = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  // CHECK: %[[W:.*]] = nn.constant dense<3.0
  %w = nn.constant dense<3.0> : tensor<8xf32> : tensor<8xf32>
  %c = "onnx.Cast"(%x) {to = 1 : i64} : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %p = "onnx.Pow"(%c, %two) : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3x8xf32>
  %m = "onnx.ReduceMean"(%p, %axes) {keepdims = 1 : i64} : (tensor<2x3x8xf32>, tensor<1xi64>) -> tensor<2x3x1xf32>
  %a = "onnx.Add"(%m, %eps) : (tensor<2x3x1xf32>, tensor<f32>) -> tensor<2x3x1xf32>
  %s = "onnx.Sqrt"(%a) : (tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  %r = "onnx.Div"(%one, %s) : (tensor<f32>, tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  %n = "onnx.Mul"(%c, %r) : (tensor<2x3x8xf32>, tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
  %y = "onnx.Mul"(%w, %n) : (tensor<8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  // CHECK: %[[Y:.*]] = nn.rms_norm %{{.*}}, %[[W]] {epsilon = 9.99999974E-6 : f32}
  // CHECK-NOT: onnx.
  // CHECK: return %[[Y]]
  return %y : tensor<2x3x8xf32>
}

// The mean is over the second axis: no norm of entries.
// CHECK-LABEL: func @other_axis
func.func @other_axis(%x: tensor<2x8x8xf32>) -> tensor<2x8x8xf32> {
  %eps = nn.constant dense<1.0e-05> : tensor<f32> : tensor<f32>
  %axes = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %p = "onnx.Mul"(%x, %x) : (tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %m = "onnx.ReduceMean"(%p, %axes) {keepdims = 1 : i64} : (tensor<2x8x8xf32>, tensor<1xi64>) -> tensor<2x1x8xf32>
  %a = "onnx.Add"(%m, %eps) : (tensor<2x1x8xf32>, tensor<f32>) -> tensor<2x1x8xf32>
  %s = "onnx.Sqrt"(%a) : (tensor<2x1x8xf32>) -> tensor<2x1x8xf32>
  // CHECK-NOT: nn.rms_norm
  %y = "onnx.Div"(%x, %s) : (tensor<2x8x8xf32>, tensor<2x1x8xf32>) -> tensor<2x8x8xf32>
  return %y : tensor<2x8x8xf32>
}

// Normalised is another value than the one whose mean was taken.
// CHECK-LABEL: func @other_value
func.func @other_value(%x: tensor<2x8xf32>, %z: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %eps = nn.constant dense<1.0e-05> : tensor<f32> : tensor<f32>
  %axes = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %p = "onnx.Mul"(%x, %x) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %m = "onnx.ReduceMean"(%p, %axes) : (tensor<2x8xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  %a = "onnx.Add"(%m, %eps) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %s = "onnx.Sqrt"(%a) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %r = "onnx.Reciprocal"(%s) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  // CHECK-NOT: nn.rms_norm
  %y = "onnx.Mul"(%z, %r) : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// A scale of rank 2 broadcasts: the norm is taken without it.
// CHECK-LABEL: func @scale_of_rank_two
func.func @scale_of_rank_two(%x: tensor<3x8xf32>, %w: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %eps = nn.constant dense<1.0e-05> : tensor<f32> : tensor<f32>
  %axes = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %p = "onnx.Mul"(%x, %x) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  %m = "onnx.ReduceMean"(%p, %axes) : (tensor<3x8xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %a = "onnx.Add"(%m, %eps) : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %s = "onnx.Sqrt"(%a) : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %n = "onnx.Div"(%x, %s) : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  // CHECK: %[[NONE:.*]] = onnx.none
  // CHECK: %[[N:.*]] = nn.rms_norm %{{.*}}, %[[NONE]]
  // CHECK: "onnx.Mul"(%[[N]], %{{.*}})
  %y = "onnx.Mul"(%n, %w) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// Centred first: a layer norm with scale and shift.
// CHECK-LABEL: func @layer_norm
func.func @layer_norm(%x: tensor<2x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x8xf32> {
  %two = nn.constant dense<2.0> : tensor<f32> : tensor<f32>
  %eps = nn.constant dense<1.0e-12> : tensor<f32> : tensor<f32>
  %axes = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %mu = "onnx.ReduceMean"(%x, %axes) : (tensor<2x8xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  %c = "onnx.Sub"(%x, %mu) : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %p = "onnx.Pow"(%c, %two) : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %m = "onnx.ReduceMean"(%p, %axes) : (tensor<2x8xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  %a = "onnx.Add"(%m, %eps) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %s = "onnx.Sqrt"(%a) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %n = "onnx.Div"(%c, %s) : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %g = "onnx.Mul"(%n, %w) : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  // CHECK: %[[Y:.*]] = "onnx.LayerNormalization"(%{{.*}}, %{{.*}}, %{{.*}}) {axis = -1 : i64, epsilon = 9.99999996E-13 : f32}
  // CHECK-NEXT: return %[[Y]]
  %y = "onnx.Add"(%g, %b) : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// Norm and sum are both wanted.
// CHECK-LABEL: func @skip
func.func @skip(%x: tensor<1x3x8xf32>, %s: tensor<1x3x8xf32>, %w: tensor<8xf32>) -> (tensor<1x3x8xf32>, tensor<1x3x8xf32>) {
  // CHECK: %[[SUM:.*]] = "onnx.Add"(%arg0, %arg1)
  // CHECK: %[[NORM:.*]] = nn.rms_norm %[[SUM]], %arg2
  // CHECK: return %[[NORM]], %[[SUM]]
  %0:4 = "onnx.microsoft.SkipSimplifiedLayerNormalization"(%x, %s, %w) {epsilon = 1.0e-06 : f32} : (tensor<1x3x8xf32>, tensor<1x3x8xf32>, tensor<8xf32>) -> (tensor<1x3x8xf32>, none, none, tensor<1x3x8xf32>)
  return %0#0, %0#3 : tensor<1x3x8xf32>, tensor<1x3x8xf32>
}
