// RUN: sol-opt %s --native-lower-to-cpu --split-input-file --verify-diagnostics | FileCheck %s

// A step keeps the operator's name, attributes and place; notes of earlier stages (with a dot) stay behind; constants stay.
// CHECK-LABEL: func @steps
func.func @steps(%x: tensor<2x4xf32>) -> (tensor<8xf32>, tensor<2x4xf32>) {
  // CHECK: %[[S:.*]] = nn.constant
  %shape = nn.constant dense<8> : tensor<1xi64> : tensor<1xi64>
  // CHECK: %[[N:.*]] = cpu.none
  %none = onnx.none : none
  // CHECK: cpu.kernel "onnx.Softmax"(%arg0) {parameters = {axis = -1 : i64}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %a = "onnx.Softmax"(%x) {axis = -1 : i64, nn.note = "left behind"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: cpu.kernel "onnx.Clip"(%{{.*}}, %[[N]], %{{.*}}) {parameters = {}}
  %max = nn.constant dense<6.0> : tensor<f32> : tensor<f32>
  %b = "onnx.Clip"(%a, %none, %max) : (tensor<2x4xf32>, none, tensor<f32>) -> tensor<2x4xf32>
  // CHECK: cpu.kernel "onnx.Reshape"(%{{.*}}, %[[S]]) {parameters = {}, view}
  %c = "onnx.Reshape"(%b, %shape) : (tensor<2x4xf32>, tensor<1xi64>) -> tensor<8xf32>
  return %c, %b : tensor<8xf32>, tensor<2x4xf32>
}

// What is folded is evaluated when the plan is written, and is no step.
// CHECK-LABEL: func @folded
func.func @folded() -> tensor<4x17xf32> {
  // CHECK: "onnx.Transpose"
  // CHECK-NOT: cpu.kernel
  %w = nn.folded : tensor<4x17xf32> {
    %0 = nn.weight <"m.data", 0, 272, raw, 7> : tensor<17x4xf32>
    %1 = "onnx.Transpose"(%0) {perm = array<i64: 1, 0>} : (tensor<17x4xf32>) -> tensor<4x17xf32>
    nn.yield %1 : tensor<4x17xf32>
  }
  return %w : tensor<4x17xf32>
}

// Branches and bodies are lowered inside, too.
// CHECK-LABEL: func @control_flow
func.func @control_flow(%c: tensor<i1>, %n: tensor<i64>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: cpu.if %arg0 : tensor<i1> -> tensor<4xf32> {
  // CHECK-NEXT: cpu.kernel "onnx.Neg"
  // CHECK-NEXT: cpu.yield
  // CHECK-NEXT: } else {
  // CHECK-NEXT: cpu.yield %arg2
  %a = "onnx.If"(%c) ({
    %0 = "onnx.Neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.yield %0 : tensor<4xf32>
  }, {
    onnx.yield %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  // CHECK: cpu.loop %arg1, %arg0, %{{.*}} :
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: cpu.kernel "onnx.Add"
  // CHECK-NEXT: cpu.yield
  %b = "onnx.Loop"(%n, %c, %a) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %carried: tensor<4xf32>):
    %0 = "onnx.Add"(%carried, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    onnx.yield %go, %0 : tensor<i1>, tensor<4xf32>
  }) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// All operators without a kernel are reported together.
func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{no kernel computes `onnx.Bernoulli` on operands of types ('tensor<4xf32>'); remove the operator or express it by others}}
  %a = "onnx.Bernoulli"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = "onnx.Neg"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{no kernel computes `onnx.Multinomial`}}
  %c = "onnx.Multinomial"(%b) : (tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}
