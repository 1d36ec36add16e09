// RUN: sol-opt %s --verify-native --split-input-file --verify-diagnostics

func.func @complete(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> attributes {cpu.slots = 2 : i64} {
  %none = cpu.none : none
  %max = nn.constant dense<6.0> : tensor<f32> : tensor<f32>
  %w = nn.folded : tensor<4xf32> {
    %0 = nn.weight <"m.data", 0, 16, raw, 7> : tensor<4xf32>
    %1 = "onnx.Neg"(%0) : (tensor<4xf32>) -> tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  }
  %y = cpu.if %c {slots = array<i64: 0>} : tensor<i1> -> tensor<4xf32> {
    %t = cpu.kernel "onnx.Clip"(%x, %none, %max) {parameters = {}, slots = array<i64: 1>} : (tensor<4xf32>, none, tensor<f32>) -> tensor<4xf32>
    cpu.yield %t : tensor<4xf32>
  } else {
    cpu.yield %w : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// expected-error @+1 {{has no `cpu.slots`; native-assign-slots should have set it}}
func.func @no_slots(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// Every fault is reported, in regions too.
func.func @incomplete(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> attributes {cpu.slots = 2 : i64} {
  // expected-error @+1 {{is no step of a program for the host; native-lower-to-cpu should have replaced it}}
  %a = "onnx.Neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{lacks a slot for each of its 1 results}}
  %b = cpu.kernel "onnx.Neg"(%a) {parameters = {}} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{lacks a slot for each of its 1 results}}
  %d = cpu.kernel "onnx.Neg"(%b) {parameters = {}, slots = array<i64: 0, 1>} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{lacks a slot for each of its 1 results}}
  %y = cpu.if %c : tensor<i1> -> tensor<4xf32> {
    // expected-error @+1 {{calls kernel `onnx.Absent`, which the runtime lacks}}
    %t = cpu.kernel "onnx.Absent"(%d) {parameters = {}, slots = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
    cpu.yield %t : tensor<4xf32>
  } else {
    cpu.yield %d : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
