// RUN: sol-opt %s --nn-simplify | FileCheck %s

// The code that computes a Reshape's target dies, with allowzero and all.
// CHECK-LABEL: func.func @reshape_target
// CHECK-NEXT: %[[T:.*]] = nn.constant dense<[0, 0, 4, 16]> : tensor<4xi64>
// CHECK-NEXT: %[[R:.*]] = "onnx.Reshape"(%arg0, %[[T]]) :
// CHECK-NEXT: return %[[R]]
func.func @reshape_target(%x: tensor<?x?x64xf32, #nn.dims<"b", "s", "64">>) -> tensor<*xf32> {
  %heads = nn.constant dense<[4, 16]> : tensor<2xi64> : tensor<2xi64>
  %b = "onnx.Shape"(%x) {start = 0 : i64, end = 1 : i64} : (tensor<?x?x64xf32, #nn.dims<"b", "s", "64">>) -> tensor<*xi64>
  %s = "onnx.Shape"(%x) {start = 1 : i64, end = 2 : i64} : (tensor<?x?x64xf32, #nn.dims<"b", "s", "64">>) -> tensor<*xi64>
  %target = "onnx.Concat"(%b, %s, %heads) {axis = 0 : i64} : (tensor<*xi64>, tensor<*xi64>, tensor<2xi64>) -> tensor<*xi64>
  %0 = "onnx.Reshape"(%x, %target) {allowzero = 1 : i64} : (tensor<?x?x64xf32, #nn.dims<"b", "s", "64">>, tensor<*xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// ConstantOfShape * -1, Equal, Where: how expand(-1) arrives. What is left reads
// the sizes of the arguments.
// CHECK-LABEL: func.func @expand_minus_one
// CHECK-NOT: onnx.Where
// CHECK-NOT: onnx.ConstantOfShape
// CHECK: "onnx.Shape"(%arg1) {end = 1 : i64, nn.size_code, start = 0 : i64}
// CHECK-NOT: onnx.Where
// CHECK: "onnx.Expand"{{.*}} -> tensor<?x8xf32, #nn.dims<"n", "8">>
func.func @expand_minus_one(%x: tensor<1x8xf32>, %y: tensor<?x8xf32, #nn.dims<"n", "8">>) -> tensor<*xf32> {
  %two = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %minus = nn.constant dense<-1> : tensor<i64> : tensor<i64>
  %shape = "onnx.Shape"(%y) : (tensor<?x8xf32, #nn.dims<"n", "8">>) -> tensor<*xi64>
  %ones = "onnx.ConstantOfShape"(%two) {value = dense<1> : tensor<1xi64>} : (tensor<1xi64>) -> tensor<*xi64>
  %wild = "onnx.Mul"(%ones, %minus) : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %is = "onnx.Equal"(%shape, %wild) : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi1>
  %target = "onnx.Where"(%is, %ones, %shape) : (tensor<*xi1>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  %0 = "onnx.Expand"(%x, %target) : (tensor<1x8xf32>, tensor<*xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
