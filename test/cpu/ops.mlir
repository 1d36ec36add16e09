// RUN: sol-opt %s | sol-opt | FileCheck %s
// RUN: sol-opt %s --mlir-print-op-generic | sol-opt | FileCheck %s
// RUN: sol-opt %s --cse --canonicalize | FileCheck %s --check-prefix=CLEAN

// CHECK-LABEL: func @steps
// CLEAN-LABEL: func @steps
func.func @steps(%c: tensor<i1>, %n: tensor<i64>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>) attributes {cpu.slots = 5 : i64} {
  // CHECK: %[[NONE:.*]] = cpu.none : none
  %none = cpu.none : none
  // A step's work is not known here: equal steps stay two.
  // CHECK: cpu.kernel "onnx.Neg"(%arg2) {parameters = {}, slots = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  // CLEAN-COUNT-2: cpu.kernel "onnx.Neg"
  %a = cpu.kernel "onnx.Neg"(%x) {parameters = {}, slots = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  %b = cpu.kernel "onnx.Neg"(%x) {parameters = {}, slots = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: cpu.kernel "onnx.Reshape"(%{{.*}}, %[[NONE]]) {parameters = {allowzero = 1 : i64}, slots = array<i64: -1>, view} : (tensor<4xf32>, none) -> tensor<4xf32>
  %v = cpu.kernel "onnx.Reshape"(%a, %none) {parameters = {allowzero = 1 : i64}, slots = array<i64: -1>, view} : (tensor<4xf32>, none) -> tensor<4xf32>
  // CHECK: cpu.if %arg0 {slots = array<i64: 2>} : tensor<i1> -> tensor<4xf32> {
  // CHECK-NEXT: cpu.yield %{{.*}} : tensor<4xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: cpu.yield %{{.*}} : tensor<4xf32>
  %y = cpu.if %c {slots = array<i64: 2>} : tensor<i1> -> tensor<4xf32> {
    cpu.yield %v : tensor<4xf32>
  } else {
    cpu.yield %b : tensor<4xf32>
  }
  // CHECK: cpu.loop %arg1, %[[NONE]], %{{.*}} {argument_slots = array<i64: 4>, slots = array<i64: 2, 3>} : (tensor<i64>, none, tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>) {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<i64>, %[[GO:.*]]: tensor<i1>, %[[Z:.*]]: tensor<4xf32>):
  // CHECK-NEXT: cpu.yield %[[GO]], %[[Z]], %[[Z]] : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  %z:2 = cpu.loop %n, %none, %y {argument_slots = array<i64: 4>, slots = array<i64: 2, 3>} : (tensor<i64>, none, tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %carried: tensor<4xf32>):
    cpu.yield %go, %carried, %carried : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  return %z#0, %z#1 : tensor<4xf32>, tensor<?x4xf32>
}
