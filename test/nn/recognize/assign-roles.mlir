// RUN: sol-opt %s --nn-assign-roles | FileCheck %s

// CHECK-LABEL: func @decoder(
// CHECK-SAME: %arg0: tensor<1x3xi64> {nn.role = "tokens"}
// CHECK-SAME: %arg1: tensor<1x?xi64, {{.*}}> {nn.role = "attention_mask"}
// CHECK-SAME: %arg2: tensor<1x3xi64> {nn.role = "positions"}
// CHECK-SAME: %arg3: !nn.cache<{{.*}}> {nn.fed_by = 1 : i64, nn.role = "past"}
// CHECK-SAME: -> (tensor<1x3x16xf32> {nn.role = "logits"}, !nn.cache
func.func @decoder(%ids: tensor<1x3xi64>, %mask: tensor<1x?xi64, #nn.dims<"1", "p + 3">>, %at: tensor<1x3xi64>, %past: !nn.cache<tensor<1x1x?x3xf32, #nn.dims<"1", "1", "p", "3">>>)
    -> (tensor<1x3x16xf32>, !nn.cache<tensor<1x1x?x3xf32, #nn.dims<"1", "1", "p + 3", "3">>> {nn.state_of = 3 : i64}, tensor<1x?xi1, #nn.dims<"1", "p + 3">>) {
  %w = nn.weight <"w", 0, 256, raw, 0> : tensor<16x4xf32>
  %none = onnx.none : none
  %x = "onnx.Gather"(%w, %ids) {axis = 0 : i64} : (tensor<16x4xf32>, tensor<1x3xi64>) -> tensor<1x3x4xf32>
  %b = "onnx.Cast"(%mask) {to = 9 : i64} : (tensor<1x?xi64, #nn.dims<"1", "p + 3">>) -> tensor<1x?xi1, #nn.dims<"1", "p + 3">>
  %f = "onnx.Cast"(%at) {to = 1 : i64} : (tensor<1x3xi64>) -> tensor<1x3xf32>
  %c = "onnx.Cos"(%f) : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %s = nn.constant dense<[1, 1, 1, 3]> : tensor<4xi64> : tensor<4xi64>
  %k = "onnx.Reshape"(%c, %s) : (tensor<1x3xf32>, tensor<4xi64>) -> tensor<1x1x1x3xf32>
  %n = nn.cache_append %past, %k : (!nn.cache<tensor<1x1x?x3xf32, #nn.dims<"1", "1", "p", "3">>>, tensor<1x1x1x3xf32>) -> !nn.cache<tensor<1x1x?x3xf32, #nn.dims<"1", "1", "p + 3", "3">>>
  %y = nn.linear %x, %w, %none {transposed} : (tensor<1x3x4xf32>, tensor<16x4xf32>, none) -> tensor<1x3x16xf32>
  return %y, %n, %b : tensor<1x3x16xf32>, !nn.cache<tensor<1x1x?x3xf32, #nn.dims<"1", "1", "p + 3", "3">>>, tensor<1x?xi1, #nn.dims<"1", "p + 3">>
}

// Tokens and segments look up tables alike; a past that stays a tensor.
// CHECK-LABEL: func @two_tables(
// CHECK-SAME: %arg0: tensor<1x3xi64> {nn.name = "segments", nn.role = "other"}
// CHECK-SAME: %arg1: tensor<1x3xi64> {nn.name = "input_ids", nn.role = "tokens"}
// CHECK-SAME: %arg2: tensor<1x1x2x4xf32> {nn.fed_by = 1 : i64, nn.role = "past"}
func.func @two_tables(%segments: tensor<1x3xi64> {nn.name = "segments"}, %ids: tensor<1x3xi64> {nn.name = "input_ids"}, %past: tensor<1x1x2x4xf32>) -> (tensor<1x3x4xf32>, tensor<1x1x4x4xf32>) {
  %w = nn.weight <"w", 0, 256, raw, 0> : tensor<16x4xf32>
  %v = nn.weight <"w", 256, 512, raw, 0> : tensor<32x4xf32>
  %a = "onnx.Gather"(%v, %segments) {axis = 0 : i64} : (tensor<32x4xf32>, tensor<1x3xi64>) -> tensor<1x3x4xf32>
  %b = "onnx.Gather"(%w, %ids) {axis = 0 : i64} : (tensor<16x4xf32>, tensor<1x3xi64>) -> tensor<1x3x4xf32>
  %y = "onnx.Add"(%a, %b) : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  %n = "onnx.Concat"(%past, %past) {axis = 2 : i64} : (tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>) -> tensor<1x1x4x4xf32>
  return %y, %n : tensor<1x3x4xf32>, tensor<1x1x4x4xf32>
}
