// RUN: sol-opt %s --pass-pipeline='builtin.module(func.func(native-fuse-loops))' --split-input-file | FileCheck %s

// Two elementwise operators; a bias is repeated along the leading axis.
// CHECK-LABEL: func.func @chain
// CHECK:         %[[R:.+]] = cpu.native "Mul+Add"(%arg0, %arg1, %arg2)
// CHECK-NEXT:    ^bb0(%[[X:.+]]: tensor<?x64xf32>, %[[Y:.+]]: tensor<?x64xf32>, %[[Z:.+]]: tensor<64xf32>):
// CHECK:           linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[X]], %[[Y]]
// CHECK:             arith.mulf
// CHECK:           %[[SUM:.+]] = linalg.generic {{.*}} ins(%{{.+}}, %[[Z]]
// CHECK:             arith.addf
// CHECK:           cpu.yield %[[SUM]] : tensor<?x64xf32>
// CHECK:         return %[[R]]
func.func @chain(%a: tensor<?x64xf32, #nn.dims<"s", "64">>, %b: tensor<?x64xf32, #nn.dims<"s", "64">>,
                 %bias: tensor<64xf32>) -> tensor<?x64xf32, #nn.dims<"s", "64">> {
  %0 = "onnx.Mul"(%a, %b) : (tensor<?x64xf32, #nn.dims<"s", "64">>, tensor<?x64xf32, #nn.dims<"s", "64">>) -> tensor<?x64xf32, #nn.dims<"s", "64">>
  %1 = "onnx.Add"(%0, %bias) : (tensor<?x64xf32, #nn.dims<"s", "64">>, tensor<64xf32>) -> tensor<?x64xf32, #nn.dims<"s", "64">>
  return %1 : tensor<?x64xf32, #nn.dims<"s", "64">>
}

// -----

// A norm as exporters write it: elements, a mean of each row, and what is
// computed once for each row are one loop. Known exponents are held by it.
// CHECK-LABEL: func.func @norm
// CHECK:         cpu.native "Pow+ReduceMean+Add+Sqrt+Div"(%arg0)
// CHECK:           linalg.generic {{.*}}["parallel", "reduction"]
// CHECK:           linalg.generic {{.*}}["parallel"]}
// CHECK:             math.sqrt
// CHECK:           linalg.generic {{.*}}["parallel", "parallel"]
// CHECK:             arith.divf
// CHECK-NOT:     onnx.
func.func @norm(%x: tensor<?x64xf32, #nn.dims<"s", "64">>) -> tensor<?x64xf32, #nn.dims<"s", "64">> {
  %two = nn.constant dense<2.0> : tensor<f32> : tensor<f32>
  %axes = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %small = nn.constant dense<1.0e-5> : tensor<f32> : tensor<f32>
  %0 = "onnx.Pow"(%x, %two) : (tensor<?x64xf32, #nn.dims<"s", "64">>, tensor<f32>) -> tensor<?x64xf32, #nn.dims<"s", "64">>
  %1 = "onnx.ReduceMean"(%0, %axes) {keepdims = 1 : i64} : (tensor<?x64xf32, #nn.dims<"s", "64">>, tensor<1xi64>) -> tensor<?x1xf32, #nn.dims<"s", "1">>
  %2 = "onnx.Add"(%1, %small) : (tensor<?x1xf32, #nn.dims<"s", "1">>, tensor<f32>) -> tensor<?x1xf32, #nn.dims<"s", "1">>
  %3 = "onnx.Sqrt"(%2) : (tensor<?x1xf32, #nn.dims<"s", "1">>) -> tensor<?x1xf32, #nn.dims<"s", "1">>
  %4 = "onnx.Div"(%x, %3) : (tensor<?x64xf32, #nn.dims<"s", "64">>, tensor<?x1xf32, #nn.dims<"s", "1">>) -> tensor<?x64xf32, #nn.dims<"s", "64">>
  return %4 : tensor<?x64xf32, #nn.dims<"s", "64">>
}

// -----

// One operator along rows is worth a loop, and what is used elsewhere leaves it.
// CHECK-LABEL: func.func @softmax
// CHECK:         %[[R:.+]]:2 = cpu.native "Add+Softmax"(%arg0)
// CHECK:           cpu.yield %{{.+}}, %{{.+}} : tensor<8x?xf32>, tensor<8x?xf32>
// CHECK:         return %[[R]]#0, %[[R]]#1
func.func @softmax(%x: tensor<8x?xf32, #nn.dims<"8", "t">>) -> (tensor<8x?xf32, #nn.dims<"8", "t">>, tensor<8x?xf32, #nn.dims<"8", "t">>) {
  %0 = "onnx.Add"(%x, %x) : (tensor<8x?xf32, #nn.dims<"8", "t">>, tensor<8x?xf32, #nn.dims<"8", "t">>) -> tensor<8x?xf32, #nn.dims<"8", "t">>
  %1 = "onnx.Softmax"(%0) {axis = 1 : i64} : (tensor<8x?xf32, #nn.dims<"8", "t">>) -> tensor<8x?xf32, #nn.dims<"8", "t">>
  return %0, %1 : tensor<8x?xf32, #nn.dims<"8", "t">>, tensor<8x?xf32, #nn.dims<"8", "t">>
}

// -----

// A path out of the group and back into it: the matrix product needs the first
// result, and the sum needs the matrix product. One loop can't hold both.
// CHECK-LABEL: func.func @not_convex
// CHECK-NOT:     cpu.native
func.func @not_convex(%x: tensor<64x64xf32>, %shape: tensor<2xi64>) -> tensor<64x64xf32> {
  %0 = "onnx.Mul"(%x, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = "onnx.MatMul"(%0, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = "onnx.Add"(%0, %1) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}

// -----

// Another use in between moves behind the loop.
// CHECK-LABEL: func.func @use_in_between
// CHECK:         %[[R:.+]]:2 = cpu.native "Mul+Add"
// CHECK:         "onnx.MatMul"(%[[R]]#0
func.func @use_in_between(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %0 = "onnx.Mul"(%x, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = "onnx.MatMul"(%0, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = "onnx.Add"(%0, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %1, %2 : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// Sizes that may differ at run time: one of them may be 1, which broadcasts.
// CHECK-LABEL: func.func @unknown_broadcast
// CHECK-NOT:     cpu.native
func.func @unknown_broadcast(%a: tensor<?x64xf32, #nn.dims<"s", "64">>, %b: tensor<?x64xf32, #nn.dims<"t", "64">>) -> tensor<?x64xf32> {
  %0 = "onnx.Mul"(%a, %b) : (tensor<?x64xf32, #nn.dims<"s", "64">>, tensor<?x64xf32, #nn.dims<"t", "64">>) -> tensor<?x64xf32>
  %1 = "onnx.Add"(%0, %0) : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}

// -----

// A sum along another axis than the last, and one that drops the axis, stay.
// CHECK-LABEL: func.func @other_axis
// CHECK-NOT:     cpu.native
func.func @other_axis(%x: tensor<64x64xf32>) -> (tensor<1x64xf32>, tensor<64xf32>) {
  %first = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %last = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %0 = "onnx.ReduceSum"(%x, %first) {keepdims = 1 : i64} : (tensor<64x64xf32>, tensor<1xi64>) -> tensor<1x64xf32>
  %1 = "onnx.ReduceSum"(%x, %last) {keepdims = 0 : i64} : (tensor<64x64xf32>, tensor<1xi64>) -> tensor<64xf32>
  return %0, %1 : tensor<1x64xf32>, tensor<64xf32>
}

// -----

// Arithmetic of shapes, float64, integer division (which may fail) and powers
// that are no product stay with their kernels.
// CHECK-LABEL: func.func @others
// CHECK-NOT:     cpu.native
func.func @others(%shape: tensor<4xi64>, %d: tensor<64xf64>, %i: tensor<64xi64>, %f: tensor<64xf32>) -> (tensor<4xi64>, tensor<64xf64>, tensor<64xi64>, tensor<64xf32>) {
  %half = nn.constant dense<0.5> : tensor<f32> : tensor<f32>
  %0 = "onnx.Add"(%shape, %shape) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %1 = "onnx.Mul"(%0, %0) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %2 = "onnx.Add"(%d, %d) : (tensor<64xf64>, tensor<64xf64>) -> tensor<64xf64>
  %3 = "onnx.Mul"(%2, %2) : (tensor<64xf64>, tensor<64xf64>) -> tensor<64xf64>
  %4 = "onnx.Div"(%i, %i) : (tensor<64xi64>, tensor<64xi64>) -> tensor<64xi64>
  %5 = "onnx.Div"(%4, %i) : (tensor<64xi64>, tensor<64xi64>) -> tensor<64xi64>
  %6 = "onnx.Pow"(%f, %half) : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %7 = "onnx.Pow"(%6, %half) : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  return %1, %3, %5, %7 : tensor<4xi64>, tensor<64xf64>, tensor<64xi64>, tensor<64xf32>
}
