// RUN: sol-opt %s | sol-opt | FileCheck %s
// RUN: sol-opt %s --cse --canonicalize | FileCheck %s --check-prefix=CLEAN
// RUN: sol-opt %s --emit-bytecode -o %t && sol-opt %t | FileCheck %s --check-prefix=FIRST

// Operators of both domains, with and without optional values.
// CHECK-LABEL: func @forms
// FIRST-LABEL: func @forms
func.func @forms(%x: tensor<2x4xf32>, %s: tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  // CHECK: %[[NONE:.*]] = onnx.none : none
  %none = onnx.none : none
  // CHECK: "onnx.Clip"(%{{.*}}, %[[NONE]], %{{.*}}) : (tensor<2x4xf32>, none, tensor<f32>) -> tensor<*xf32>
  %max = nn.constant dense<6.0> : tensor<f32> : tensor<f32>
  %0 = "onnx.Clip"(%x, %none, %max) : (tensor<2x4xf32>, none, tensor<f32>) -> tensor<*xf32>
  // CHECK: "onnx.microsoft.SkipSimplifiedLayerNormalization"
  %1:4 = "onnx.microsoft.SkipSimplifiedLayerNormalization"(%0, %x, %s) {epsilon = 1.0e-5 : f32}
      : (tensor<*xf32>, tensor<2x4xf32>, tensor<4xf32>) -> (tensor<*xf32>, none, none, tensor<*xf32>)
  return %1#0, %1#3 : tensor<*xf32>, tensor<*xf32>
}

// Pure operators that nobody uses go away, equal ones become one; an If is as pure as its branches.
// CHECK-LABEL: func @pure
// CLEAN-LABEL: func @pure
func.func @pure(%c: tensor<i1>, %x: tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  // CLEAN-NOT: onnx.Exp
  // CLEAN-NOT: onnx.If
  %unused = "onnx.Exp"(%x) : (tensor<4xf32>) -> tensor<*xf32>
  %branch = "onnx.If"(%c) ({
    %0 = "onnx.Neg"(%x) : (tensor<4xf32>) -> tensor<*xf32>
    onnx.yield %0 : tensor<*xf32>
  }, {
    onnx.yield %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<*xf32>
  // CLEAN: %[[ABS:.*]] = "onnx.Abs"
  // CLEAN-NEXT: return %[[ABS]], %[[ABS]]
  %a = "onnx.Abs"(%x) : (tensor<4xf32>) -> tensor<*xf32>
  %b = "onnx.Abs"(%x) : (tensor<4xf32>) -> tensor<*xf32>
  return %a, %b : tensor<*xf32>, tensor<*xf32>
}

// Random numbers are drawn as often as written.
// CHECK-LABEL: func @impure
// CLEAN-LABEL: func @impure
func.func @impure() -> (tensor<*xf32>, tensor<*xf32>) {
  // CLEAN-COUNT-2: onnx.RandomNormal
  %a = "onnx.RandomNormal"() {shape = array<i64: 4>} : () -> tensor<*xf32>
  %b = "onnx.RandomNormal"() {shape = array<i64: 4>} : () -> tensor<*xf32>
  return %a, %b : tensor<*xf32>, tensor<*xf32>
}
