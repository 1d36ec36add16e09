// RUN: sol-opt %s --native-assign-slots | FileCheck %s

// A slot is free after its value's last use: three alive at once need three, the fourth value takes one again.
// CHECK-LABEL: func @reuse
// CHECK-SAME: cpu.slots = 3 : i64
func.func @reuse(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: cpu.kernel "onnx.MatMul"(%arg0, %arg0) {parameters = {}, slots = array<i64: 0>}
  %a = cpu.kernel "onnx.MatMul"(%x, %x) {parameters = {}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: cpu.kernel "onnx.MatMul"(%{{.*}}, %arg0) {parameters = {}, slots = array<i64: 1>}
  %b = cpu.kernel "onnx.MatMul"(%a, %x) {parameters = {}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: cpu.kernel "onnx.MatMul"(%{{.*}}, %{{.*}}) {parameters = {}, slots = array<i64: 2>}
  %c = cpu.kernel "onnx.MatMul"(%a, %b) {parameters = {}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: cpu.kernel "onnx.MatMul"(%{{.*}}, %arg0) {parameters = {}, slots = array<i64: {{[01]}}>}
  %d = cpu.kernel "onnx.MatMul"(%c, %x) {parameters = {}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}

// A result that dies at once gives its slot back, what the function returns keeps it.
// CHECK-LABEL: func @returned
// CHECK-SAME: cpu.slots = 2 : i64
func.func @returned(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK: slots = array<i64: 0>
  // CHECK: slots = array<i64: 1>
  // CHECK: slots = array<i64: 1>
  %a = cpu.kernel "onnx.MatMul"(%x, %x) {parameters = {}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %unused = cpu.kernel "onnx.MatMul"(%a, %x) {parameters = {}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = cpu.kernel "onnx.MatMul"(%x, %a) {parameters = {}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %a, %b : tensor<4x4xf32>, tensor<4x4xf32>
}

// In place: the operand dies there, is no argument, no other operand lies in its memory, and the sizes are the same for sure.
// CHECK-LABEL: func @in_place
func.func @in_place(%x: tensor<4x4xf32>, %u: tensor<?x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<?x4xf32>) {
  // An argument belongs to the caller.
  // CHECK: "onnx.Add"(%arg0, %arg0) {parameters = {}, slots = array<i64: 0>}
  %a = cpu.kernel "onnx.Add"(%x, %x) {parameters = {}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: "onnx.Add"(%{{.*}}, %arg0) {parameters = {}, slots = array<i64: 0>}
  %b = cpu.kernel "onnx.Add"(%a, %x) {parameters = {}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // It is needed after.
  // CHECK: "onnx.Add"(%{{.*}}, %arg0) {parameters = {}, slots = array<i64: 1>}
  %c = cpu.kernel "onnx.Add"(%b, %x) {parameters = {}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // Both operands are the same.
  // CHECK: "onnx.Add"(%[[B:.*]], %[[B]]) {parameters = {}, slots = array<i64: 2>}
  %d = cpu.kernel "onnx.Add"(%b, %b) {parameters = {}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // Nothing says that the two `?` are equal.
  // CHECK: "onnx.Neg"(%arg1) {parameters = {}, slots = array<i64: [[V:[0-9]+]]>}
  // CHECK-NOT: "onnx.Add"(%{{.*}}, %arg0) {parameters = {}, slots = array<i64: [[V]]>}
  // CHECK: return
  %v = cpu.kernel "onnx.Neg"(%u) {parameters = {}} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %w = cpu.kernel "onnx.Add"(%v, %x) {parameters = {}} : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  return %c, %d, %w : tensor<4x4xf32>, tensor<4x4xf32>, tensor<?x4xf32>
}

// A view has no slot of its own, and keeps that of what it views.
// CHECK-LABEL: func @view
// CHECK-SAME: cpu.slots = 2 : i64
func.func @view(%x: tensor<4x4xf32>) -> (tensor<16xf32>, tensor<4x4xf32>) {
  // CHECK: "onnx.MatMul"{{.*}} slots = array<i64: 0>
  // CHECK: "onnx.Reshape"{{.*}} slots = array<i64: -1>, view
  // CHECK: "onnx.MatMul"{{.*}} slots = array<i64: 1>
  %s = nn.constant dense<16> : tensor<1xi64> : tensor<1xi64>
  %a = cpu.kernel "onnx.MatMul"(%x, %x) {parameters = {}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %v = cpu.kernel "onnx.Reshape"(%a, %s) {parameters = {}, view} : (tensor<4x4xf32>, tensor<1xi64>) -> tensor<16xf32>
  %b = cpu.kernel "onnx.MatMul"(%x, %x) {parameters = {}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %v, %b : tensor<16xf32>, tensor<4x4xf32>
}

// Caches live in the session, missing results nowhere.
// CHECK-LABEL: func @without_memory
// CHECK-SAME: cpu.slots = 1 : i64
func.func @without_memory(%c: !nn.cache<tensor<1x2x?x8xf32>>, %k: tensor<1x2x1x8xf32>, %x: tensor<2x4xf32>, %s: tensor<4xf32>)
    -> (!nn.cache<tensor<1x2x?x8xf32>>, tensor<2x4xf32>) {
  // CHECK: "nn.cache_append"{{.*}} slots = array<i64: -1>
  // CHECK: "onnx.microsoft.SkipSimplifiedLayerNormalization"{{.*}} slots = array<i64: 0, -1>
  %d = cpu.kernel "nn.cache_append"(%c, %k) {parameters = {}} : (!nn.cache<tensor<1x2x?x8xf32>>, tensor<1x2x1x8xf32>) -> !nn.cache<tensor<1x2x?x8xf32>>
  %y:2 = cpu.kernel "onnx.microsoft.SkipSimplifiedLayerNormalization"(%x, %x, %s) {parameters = {}} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, none)
  return %d, %y#0 : !nn.cache<tensor<1x2x?x8xf32>>, tensor<2x4xf32>
}

// Inside a branch nothing takes the memory of what is alive around it; results don't lie where the branch computes.
// CHECK-LABEL: func @branches
func.func @branches(%c: tensor<i1>, %x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK: "onnx.MatMul"{{.*}} slots = array<i64: 0>
  %a = cpu.kernel "onnx.MatMul"(%x, %x) {parameters = {}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: cpu.if %arg0 {slots = array<i64: 1>}
  // CHECK: "onnx.MatMul"{{.*}} slots = array<i64: 2>
  // CHECK: "onnx.MatMul"{{.*}} slots = array<i64: 2>
  %r = cpu.if %c : tensor<i1> -> tensor<4x4xf32> {
    %t = cpu.kernel "onnx.MatMul"(%a, %x) {parameters = {}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    cpu.yield %t : tensor<4x4xf32>
  } else {
    %e = cpu.kernel "onnx.MatMul"(%x, %a) {parameters = {}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    cpu.yield %e : tensor<4x4xf32>
  }
  return %a, %r : tensor<4x4xf32>, tensor<4x4xf32>
}

// A carried value has memory of its own beside the loop's result and what an iteration computes.
// CHECK-LABEL: func @loop
// CHECK-SAME: cpu.slots = 3 : i64
func.func @loop(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: cpu.loop {{.*}} {argument_slots = array<i64: 1>, slots = array<i64: 0>}
  // CHECK: "onnx.MatMul"{{.*}} slots = array<i64: 2>
  %r = cpu.loop %n, %c, %x : (tensor<i64>, tensor<i1>, tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %carried: tensor<4x4xf32>):
    %y = cpu.kernel "onnx.MatMul"(%carried, %x) {parameters = {}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    cpu.yield %go, %y : tensor<i1>, tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}
