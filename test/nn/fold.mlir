// RUN: sol-opt %s --nn-fold | FileCheck %s

// CHECK-LABEL: func.func @small_constants
// CHECK-NEXT: %[[C:.*]] = nn.constant dense<[4.000000e+00, 6.000000e+00]> : tensor<2xf32>
// CHECK-NEXT: return %[[C]]
func.func @small_constants() -> tensor<2xf32> {
  %a = nn.constant dense<[1.0, 2.0]> : tensor<2xf32> : tensor<2xf32>
  %b = nn.constant dense<[3.0, 4.0]> : tensor<2xf32> : tensor<2xf32>
  %0 = "onnx.Add"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// A chain over weights becomes one expression; the weights are not read.
// CHECK-LABEL: func.func @weights
// CHECK: %[[F:.*]] = nn.folded : tensor<64x128xf32> {
// CHECK-DAG: nn.weight <"w.bin", 0
// CHECK-DAG: nn.weight <"w.bin", 32768
// CHECK: "onnx.Concat"
// CHECK: "onnx.Transpose"
// CHECK: nn.yield
// CHECK: return %[[F]]
func.func @weights() -> tensor<*xf32> {
  %a = nn.weight <"w.bin", 0, 16384, raw, 0> : tensor<64x64xf32>
  %b = nn.weight <"w.bin", 32768, 16384, raw, 0> : tensor<64x64xf32>
  %0 = "onnx.Concat"(%a, %b) {axis = 0 : i64} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<*xf32>
  %1 = "onnx.Transpose"(%0) : (tensor<*xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// 4 TiB from 16 bytes stay what they are.
// CHECK-LABEL: func.func @bomb
// CHECK: "onnx.ConstantOfShape"
// CHECK-NOT: nn.folded
// CHECK: return
func.func @bomb(%x: tensor<1xf32>) -> tensor<*xf32> {
  %shape = nn.constant dense<[1048576, 1048576]> : tensor<2xi64> : tensor<2xi64>
  %0 = "onnx.ConstantOfShape"(%shape) : (tensor<2xi64>) -> tensor<*xf32>
  %1 = "onnx.Add"(%0, %x) : (tensor<*xf32>, tensor<1xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// CHECK-LABEL: func.func @decided
// CHECK-NOT: onnx.If
// CHECK: %[[N:.*]] = "onnx.Neg"
// CHECK: return %[[N]]
func.func @decided(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = nn.constant dense<false> : tensor<i1> : tensor<i1>
  %0 = "onnx.If"(%c) ({
    onnx.yield %x : tensor<2xf32>
  }, {
    %1 = "onnx.Neg"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.yield %1 : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -0 + 0 is 0, so only -0 may be dropped; times 1 changes nothing.
// CHECK-LABEL: func.func @neutral
// CHECK-NEXT: %[[ZERO:.*]] = nn.constant dense<0.000000e+00>
// CHECK-NEXT: %[[SUM:.*]] = "onnx.Add"(%arg0, %[[ZERO]])
// CHECK-NEXT: return %[[SUM]], %arg0, %arg0
func.func @neutral(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %zero = nn.constant dense<0.0> : tensor<f32> : tensor<f32>
  %minus = nn.constant dense<-0.0> : tensor<f32> : tensor<f32>
  %one = nn.constant dense<1.0> : tensor<f32> : tensor<f32>
  %0 = "onnx.Add"(%x, %zero) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = "onnx.Add"(%x, %minus) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = "onnx.Mul"(%x, %one) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// A rounding to fewer bits and back is no identity.
// CHECK-LABEL: func.func @casts
// CHECK-COUNT-2: "onnx.Cast"
// CHECK: return
func.func @casts(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "onnx.Cast"(%x) {to = 10 : i64} : (tensor<2xf32>) -> tensor<2xf16>
  %1 = "onnx.Cast"(%0) {to = 1 : i64} : (tensor<2xf16>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: func.func @keys_in_3d
// CHECK-NEXT: %[[T:.*]] = "onnx.Transpose"(%arg0) {perm = array<i64: 0, 1, 3, 2>}
// CHECK-NEXT: return %[[T]]
func.func @keys_in_3d(%k: tensor<?x4x?x16xf32, #nn.dims<"b", "4", "t", "16">>) -> tensor<*xf32> {
  %s = "onnx.Shape"(%k) : (tensor<?x4x?x16xf32, #nn.dims<"b", "4", "t", "16">>) -> tensor<4xi64>
  %flat = nn.constant dense<[-1, 0, 16]> : tensor<3xi64> : tensor<3xi64>
  %i = nn.constant dense<[0, 1, 3, 2]> : tensor<4xi64> : tensor<4xi64>
  %j = nn.constant dense<[2, 3]> : tensor<2xi64> : tensor<2xi64>
  %open = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %tail = "onnx.Gather"(%s, %j) : (tensor<4xi64>, tensor<2xi64>) -> tensor<2xi64>
  %target = "onnx.Concat"(%open, %tail) {axis = 0 : i64} : (tensor<1xi64>, tensor<2xi64>) -> tensor<3xi64>
  %0 = "onnx.Reshape"(%k, %target) : (tensor<?x4x?x16xf32, #nn.dims<"b", "4", "t", "16">>, tensor<3xi64>) -> tensor<*xf32>
  %1 = "onnx.Transpose"(%0) {perm = array<i64: 0, 2, 1>} : (tensor<*xf32>) -> tensor<*xf32>
  %back = "onnx.Gather"(%s, %i) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %2 = "onnx.Reshape"(%1, %back) : (tensor<*xf32>, tensor<4xi64>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// The second operand is read from its end along axis 1, and the stacked result gets its axis there.
// CHECK-LABEL: func.func @scan
// CHECK: %[[L:.*]]:2 = "onnx.Loop"(%{{.*}}, %{{.*}}, %arg0)
// CHECK-NEXT: ^bb0(%[[I:.*]]: tensor<i64>, %[[C:.*]]: tensor<i1>, %[[S:.*]]: tensor<2xf32>):
// CHECK: %[[N:.*]] = "onnx.BitwiseNot"(%[[I]])
// CHECK: %[[P:.*]] = "onnx.Gather"(%arg1, %[[N]]) {axis = 1 : i64}
// CHECK: "onnx.Add"(%[[S]], %[[P]])
// CHECK: onnx.yield %[[C]],
// CHECK: "onnx.Transpose"(%[[L]]#1) {perm = array<i64: 1, 0>}
func.func @scan(%s: tensor<2xf32>, %x: tensor<2x5xf32>) -> (tensor<2xf32>, tensor<2x5xf32>) {
  %0:2 = "onnx.Scan"(%s, %x) ({
  ^bb0(%state: tensor<2xf32>, %piece: tensor<2xf32>):
    %sum = "onnx.Add"(%state, %piece) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "onnx.yield"(%sum, %sum) : (tensor<2xf32>, tensor<2xf32>) -> ()
  }) {num_scan_inputs = 1 : i64, scan_input_axes = array<i64: 1>, scan_input_directions = array<i64: 1>, scan_output_axes = array<i64: 1>} : (tensor<2xf32>, tensor<2x5xf32>) -> (tensor<2xf32>, tensor<2x5xf32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2x5xf32>
}
