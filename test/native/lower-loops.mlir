// RUN: sol-opt %s --pass-pipeline='builtin.module(func.func(native-fuse-loops),native-lower-loops)' --split-input-file | FileCheck %s

// Elements in any split: the first and the last row may be cut. Eight at a time,
// then what is left of the row under a mask.
// CHECK-LABEL: func.func @loop0(%arg0: !llvm.ptr, %arg1: i64, %arg2: i64) -> i32
// CHECK:         %[[FIRST:.+]] = arith.divui %arg1
// CHECK:         %[[END:.+]] = arith.ceildivui %arg2
// CHECK:         scf.for %{{.+}} = %[[FIRST]] to %[[END]]
// CHECK:           scf.for
// CHECK:             llvm.load {{.*}} -> vector<8xf32>
// CHECK:             arith.mulf {{.*}} : vector<8xf32>
// CHECK:             llvm.store
// CHECK:           scf.if
// CHECK:             llvm.intr.masked.load
// CHECK:             llvm.intr.masked.store
func.func @elements(%a: tensor<?x64xf32, #nn.dims<"s", "64">>, %b: tensor<64xf32>) -> tensor<?x64xf32, #nn.dims<"s", "64">> {
  %0 = "onnx.Mul"(%a, %b) : (tensor<?x64xf32, #nn.dims<"s", "64">>, tensor<64xf32>) -> tensor<?x64xf32, #nn.dims<"s", "64">>
  %1 = "onnx.Add"(%0, %0) : (tensor<?x64xf32, #nn.dims<"s", "64">>, tensor<?x64xf32, #nn.dims<"s", "64">>) -> tensor<?x64xf32, #nn.dims<"s", "64">>
  return %1 : tensor<?x64xf32, #nn.dims<"s", "64">>
}

// -----

// Three times along each row: the largest, the powers and their sum, the
// quotients. Lanes are joined in a fixed tree.
// CHECK-LABEL: func.func @loop0
// CHECK:         scf.for %{{.+}} = %arg1 to %arg2
// CHECK:           scf.for {{.*}} iter_args(%{{.+}} = %{{.+}}) -> (vector<8xf32>)
// CHECK:             arith.cmpf ogt
// CHECK:           %[[L0:.+]] = vector.extract %{{.+}}[0]
// CHECK:           scf.for {{.*}} iter_args
// CHECK:             math.exp
// CHECK:             arith.addf
// CHECK:           %[[S0:.+]] = vector.extract %[[SUM:.+]][0]
// CHECK:           %[[S4:.+]] = vector.extract %[[SUM]][4]
// CHECK:           arith.addf %[[S0]], %[[S4]]
// CHECK:           scf.for
// CHECK:             arith.divf
func.func @rows(%x: tensor<8x?xf32, #nn.dims<"8", "t">>) -> tensor<8x?xf32, #nn.dims<"8", "t">> {
  %0 = "onnx.Softmax"(%x) {axis = -1 : i64} : (tensor<8x?xf32, #nn.dims<"8", "t">>) -> tensor<8x?xf32, #nn.dims<"8", "t">>
  return %0 : tensor<8x?xf32, #nn.dims<"8", "t">>
}

// -----

// Equal loops are one function, whatever they are called with.
// CHECK:     func.func @loop0
// CHECK-NOT: func.func @loop1
func.func @twice(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %0 = "onnx.Exp"(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %1 = "onnx.Neg"(%0) : (tensor<64xf32>) -> tensor<64xf32>
  %2 = "onnx.Exp"(%y) : (tensor<64xf32>) -> tensor<64xf32>
  %3 = "onnx.Neg"(%2) : (tensor<64xf32>) -> tensor<64xf32>
  return %1, %3 : tensor<64xf32>, tensor<64xf32>
}
