// RUN: sol-opt %s --nn-recognize-attention --nn-cache-state --nn-assign-roles --split-input-file --remarks-filter=recognize --remark-format=emitRemark 2>/dev/null | FileCheck %s
// RUN: sol-opt %s --nn-recognize-attention --nn-cache-state --split-input-file --remarks-filter=recognize --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Each row's step begins at its own index; a causal attention has its last query at the last key that counts.
// CHECK-LABEL: func.func @tensor_scatter(
// CHECK-SAME: %arg0: !nn.cache<tensor<?x1x8x2xf32, #nn.dims<"b", "1", "8", "2">>> {nn.fed_by = 1 : i64, nn.role = "buffer"}
// CHECK-SAME: %arg2: tensor<?xi64, #nn.dims<"b">> {nn.role = "offsets"}
// CHECK-SAME: %arg3: tensor<?xi64, #nn.dims<"b">> {nn.role = "lengths"}
// CHECK-SAME: !nn.cache<{{[^{]*}}> {nn.state_of = 0 : i64}
// CHECK: %[[W:.*]] = nn.cache_write %arg0, %arg1, %arg2 {starts}
// CHECK: %[[AT:.*]] = "onnx.Sub"(%arg3,
// CHECK: nn.attention %arg1, %[[W]], %[[W]], %{{.*}}, %{{.*}}, %[[AT]] {cached = 1 : i64, causal
func.func @tensor_scatter(%past: tensor<?x1x8x2xf32, #nn.dims<"b", "1", "8", "2">>, %step: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, %at: tensor<?xi64, #nn.dims<"b">>, %counts: tensor<?xi64, #nn.dims<"b">>)
    -> (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x8x2xf32, #nn.dims<"b", "1", "8", "2">>) {
  %none = onnx.none : none
  %t = "onnx.TensorScatter"(%past, %step, %at) {mode = "linear"} : (tensor<?x1x8x2xf32, #nn.dims<"b", "1", "8", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?xi64, #nn.dims<"b">>) -> tensor<?x1x8x2xf32, #nn.dims<"b", "1", "8", "2">>
  %y = "onnx.Attention"(%step, %t, %t, %none, %none, %none, %counts) {is_causal = 1 : i64} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x8x2xf32, #nn.dims<"b", "1", "8", "2">>, tensor<?x1x8x2xf32, #nn.dims<"b", "1", "8", "2">>, none, none, none, tensor<?xi64, #nn.dims<"b">>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
  return %y, %t : tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x8x2xf32, #nn.dims<"b", "1", "8", "2">>
}

// -----

// Without causality the counts become a mask, which the model's own joins. The indices are the first of the positions.
// CHECK-LABEL: func.func @counted(
// CHECK-SAME: %arg2: tensor<3xi64> {nn.role = "positions"}
// CHECK-SAME: %arg3: tensor<1xi64> {nn.role = "lengths"}
// CHECK: nn.cache_write
// CHECK: %[[KEPT:.*]] = "onnx.Less"
// CHECK: %[[WIDE:.*]] = "onnx.Unsqueeze"(%[[KEPT]]
// CHECK: %[[WIDER:.*]] = "onnx.Unsqueeze"(%[[WIDE]]
// CHECK: %[[MASK:.*]] = "onnx.And"(%{{.*}}, %[[WIDER]])
// CHECK: nn.attention %arg1, %{{.*}}, %{{.*}}, %[[MASK]], %{{.*}} {cached = 1 : i64, masked_rows = "zero"
func.func @counted(%past: tensor<1x1x8x2xf32>, %step: tensor<1x1x3x2xf32>, %positions: tensor<3xi64>, %counts: tensor<1xi64>, %mask: tensor<3x8xi1>) -> (tensor<1x1x3x2xf32>, tensor<1x1x8x2xf32>) {
  %none = onnx.none : none
  %zero = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %one = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %at = "onnx.Slice"(%positions, %zero, %one) : (tensor<3xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %t = "onnx.TensorScatter"(%past, %step, %at) : (tensor<1x1x8x2xf32>, tensor<1x1x3x2xf32>, tensor<1xi64>) -> tensor<1x1x8x2xf32>
  %y = "onnx.Attention"(%step, %t, %t, %mask, %none, %none, %counts) : (tensor<1x1x3x2xf32>, tensor<1x1x8x2xf32>, tensor<1x1x8x2xf32>, tensor<3x8xi1>, none, none, tensor<1xi64>) -> tensor<1x1x3x2xf32>
  return %y, %t : tensor<1x1x3x2xf32>, tensor<1x1x8x2xf32>
}

// -----

// The axis of the positions stands in front for ScatterND; what asks for shapes stays; other uses read a copy.
// CHECK-LABEL: func.func @scatter_nd(
// CHECK-SAME: %arg0: !nn.cache<
// CHECK-SAME: %arg2: tensor<?xi32, #nn.dims<"s">> {nn.role = "positions"}
// CHECK: nn.cache_shape %arg0
// CHECK: %[[COLUMN:.*]] = "onnx.Unsqueeze"
// CHECK: %[[P:.*]] = "onnx.Reshape"(%[[COLUMN]]
// CHECK: %[[W:.*]] = nn.cache_write %arg0, %arg1, %[[P]] :
// CHECK: nn.cache_read %[[W]]
// CHECK: return %{{.*}}, %[[W]], %{{.*}} :
// REMARK: Missed{{.*}}attention over a cache: something else reads the present as well
func.func @scatter_nd(%past: tensor<1x2x?x2xf32, #nn.dims<"1", "2", "c", "2">>, %step: tensor<1x2x?x2xf32, #nn.dims<"1", "2", "s", "2">>, %positions: tensor<?xi32, #nn.dims<"s">>)
    -> (tensor<1x2x?x2xf32, #nn.dims<"1", "2", "c", "2">>, tensor<1x2x?x2xf32, #nn.dims<"1", "2", "c", "2">>, tensor<4xi64>) {
  %one = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %n = "onnx.Shape"(%past) : (tensor<1x2x?x2xf32, #nn.dims<"1", "2", "c", "2">>) -> tensor<4xi64>
  %f = "onnx.Transpose"(%past) {perm = array<i64: 2, 0, 1, 3>} : (tensor<1x2x?x2xf32, #nn.dims<"1", "2", "c", "2">>) -> tensor<?x1x2x2xf32, #nn.dims<"c", "1", "2", "2">>
  %u = "onnx.Transpose"(%step) {perm = array<i64: 2, 0, 1, 3>} : (tensor<1x2x?x2xf32, #nn.dims<"1", "2", "s", "2">>) -> tensor<?x1x2x2xf32, #nn.dims<"s", "1", "2", "2">>
  %p = "onnx.Cast"(%positions) {to = 7 : i64} : (tensor<?xi32, #nn.dims<"s">>) -> tensor<?xi64, #nn.dims<"s">>
  %i = "onnx.Unsqueeze"(%p, %one) : (tensor<?xi64, #nn.dims<"s">>, tensor<1xi64>) -> tensor<?x1xi64, #nn.dims<"s", "1">>
  %w = "onnx.ScatterND"(%f, %i, %u) : (tensor<?x1x2x2xf32, #nn.dims<"c", "1", "2", "2">>, tensor<?x1xi64, #nn.dims<"s", "1">>, tensor<?x1x2x2xf32, #nn.dims<"s", "1", "2", "2">>) -> tensor<?x1x2x2xf32, #nn.dims<"c", "1", "2", "2">>
  %again = "onnx.Transpose"(%w) {perm = array<i64: 1, 2, 0, 3>} : (tensor<?x1x2x2xf32, #nn.dims<"c", "1", "2", "2">>) -> tensor<1x2x?x2xf32, #nn.dims<"1", "2", "c", "2">>
  %y = "onnx.Neg"(%again) : (tensor<1x2x?x2xf32, #nn.dims<"1", "2", "c", "2">>) -> tensor<1x2x?x2xf32, #nn.dims<"1", "2", "c", "2">>
  %t = "onnx.Transpose"(%w) {perm = array<i64: 1, 2, 0, 3>} : (tensor<?x1x2x2xf32, #nn.dims<"c", "1", "2", "2">>) -> tensor<1x2x?x2xf32, #nn.dims<"1", "2", "c", "2">>
  return %y, %t, %n : tensor<1x2x?x2xf32, #nn.dims<"1", "2", "c", "2">>, tensor<1x2x?x2xf32, #nn.dims<"1", "2", "c", "2">>, tensor<4xi64>
}

// -----

// Positions counted from an input's number, repeated for each head and element.
// CHECK-LABEL: func.func @scatter_elements(
// CHECK-SAME: %arg2: tensor<i32> {nn.role = "offsets"}
// CHECK: %[[WIDE:.*]] = "onnx.Cast"(%{{.*}}) {to = 7 : i64}
// CHECK: %[[P:.*]] = "onnx.Reshape"(%[[WIDE]]
// CHECK: nn.cache_write %arg0, %arg1, %[[P]] : (!nn.cache<tensor<1x2x8x2xf32>>, tensor<1x2x3x2xf32>, tensor<3xi64>)
func.func @scatter_elements(%past: tensor<1x2x8x2xf32>, %step: tensor<1x2x3x2xf32>, %start: tensor<i32>) -> tensor<1x2x8x2xf32> {
  %count = nn.constant dense<[0, 1, 2]> : tensor<3xi32> : tensor<3xi32>
  %axis = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %shape = nn.constant dense<[1, 2, 3, 2]> : tensor<4xi64> : tensor<4xi64>
  %p = "onnx.Add"(%count, %start) : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  %c = "onnx.Unsqueeze"(%p, %axis) : (tensor<3xi32>, tensor<1xi64>) -> tensor<3x1xi32>
  %i = "onnx.Expand"(%c, %shape) : (tensor<3x1xi32>, tensor<4xi64>) -> tensor<1x2x3x2xi32>
  %t = "onnx.ScatterElements"(%past, %i, %step) {axis = -2 : i64} : (tensor<1x2x8x2xf32>, tensor<1x2x3x2xi32>, tensor<1x2x3x2xf32>) -> tensor<1x2x8x2xf32>
  return %t : tensor<1x2x8x2xf32>
}

// -----

// Look-alikes of TensorScatter: in circles, another axis, no indices, computed indices, a present given twice, a past with
// another use, three axes.
// CHECK-LABEL: func.func @tensor_scatter_not(
// CHECK-NOT: nn.cache
// REMARK: Missed{{.*}}cache: it begins again at the buffer's front when it is full
// REMARK: Missed{{.*}}cache: it doesn't write along its third axis
// REMARK: Missed{{.*}}cache: it always writes at the buffer's front
// REMARK: Missed{{.*}}cache: the positions that it writes at are not those of an input
// REMARK: Missed{{.*}}cache: the past is used otherwise than for its shape
// REMARK: Missed{{.*}}cache: the present is given more than once
// REMARK: Missed{{.*}}cache: the present is given more than once
// REMARK: Missed{{.*}}cache: the buffer doesn't have four axes
func.func @tensor_scatter_not(%a: tensor<1x8x8x2xf32>, %b: tensor<1x8x8x2xf32>, %c: tensor<1x8x8x2xf32>, %d: tensor<1x8x8x2xf32>, %e: tensor<1x8x8x2xf32>, %f: tensor<1x8x8x2xf32>, %g: tensor<1x8x2xf32>, %step: tensor<1x8x1x2xf32>, %head: tensor<1x1x8x2xf32>, %at: tensor<1xi64>, %flat: tensor<1x1x2xf32>)
    -> (tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>, tensor<1x8x2xf32>, tensor<1x8x8x2xf32>) {
  %none = onnx.none : none
  %size = nn.constant dense<8> : tensor<1xi64> : tensor<1xi64>
  %round = "onnx.Mod"(%at, %size) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %0 = "onnx.TensorScatter"(%a, %step, %at) {mode = "circular"} : (tensor<1x8x8x2xf32>, tensor<1x8x1x2xf32>, tensor<1xi64>) -> tensor<1x8x8x2xf32>
  %1 = "onnx.TensorScatter"(%b, %head, %at) {axis = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<1x1x8x2xf32>, tensor<1xi64>) -> tensor<1x8x8x2xf32>
  %2 = "onnx.TensorScatter"(%c, %step, %none) : (tensor<1x8x8x2xf32>, tensor<1x8x1x2xf32>, none) -> tensor<1x8x8x2xf32>
  %3 = "onnx.TensorScatter"(%d, %step, %round) : (tensor<1x8x8x2xf32>, tensor<1x8x1x2xf32>, tensor<1xi64>) -> tensor<1x8x8x2xf32>
  %4 = "onnx.TensorScatter"(%e, %step, %at) : (tensor<1x8x8x2xf32>, tensor<1x8x1x2xf32>, tensor<1xi64>) -> tensor<1x8x8x2xf32>
  %5 = "onnx.TensorScatter"(%f, %step, %at) : (tensor<1x8x8x2xf32>, tensor<1x8x1x2xf32>, tensor<1xi64>) -> tensor<1x8x8x2xf32>
  %6 = "onnx.TensorScatter"(%g, %flat, %at) : (tensor<1x8x2xf32>, tensor<1x1x2xf32>, tensor<1xi64>) -> tensor<1x8x2xf32>
  %7 = "onnx.Neg"(%e) : (tensor<1x8x8x2xf32>) -> tensor<1x8x8x2xf32>
  return %0, %1, %2, %3, %4, %5, %5, %6, %7 : tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>, tensor<1x8x2xf32>, tensor<1x8x8x2xf32>
}

// -----

// Look-alikes of the others: sums, positions of each element, every second position, single numbers, axes that stay moved,
// axes that are moved back in one place and not in another.
// CHECK-LABEL: func.func @scatter_not(
// CHECK-NOT: nn.cache
// REMARK: Missed{{.*}}cache: it combines what it writes with what the buffer holds
// REMARK: Missed{{.*}}cache: it writes at other positions in each row, head or element
// REMARK: Missed{{.*}}cache: the positions that it writes at are not those of an input
// REMARK: Missed{{.*}}cache: it doesn't write along its third axis
// REMARK: Missed{{.*}}cache: past and present have their axes in different order
// REMARK: Missed{{.*}}cache: the buffer is used while its axes are in another order
func.func @scatter_not(%a: tensor<8x1x8x8xf32>, %b: tensor<1x1x8x2xf32>, %c: tensor<1x1x8x2xf32>, %d: tensor<1x1x8x2xf32>, %e: tensor<8x8x8x8xf32>, %f: tensor<8x8x8x8xf32>, %positions: tensor<3xi64>, %each: tensor<1x1x3x2xi64>, %step: tensor<1x1x3x2xf32>, %rows: tensor<3x1x8x8xf32>, %pairs: tensor<3x8x8x8xf32>, %place: tensor<3x4xi64>, %numbers: tensor<3xf32>)
    -> (tensor<8x1x8x8xf32>, tensor<1x1x8x2xf32>, tensor<1x1x8x2xf32>, tensor<1x1x8x2xf32>, tensor<8x8x8x8xf32>, tensor<8x8x8x8xf32>, tensor<8x8x8x8xf32>) {
  %axis = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %two = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %shape = nn.constant dense<[1, 1, 3, 2]> : tensor<4xi64> : tensor<4xi64>
  %column = "onnx.Unsqueeze"(%positions, %axis) : (tensor<3xi64>, tensor<1xi64>) -> tensor<3x1xi64>
  %0 = "onnx.ScatterND"(%a, %column, %rows) {reduction = "add"} : (tensor<8x1x8x8xf32>, tensor<3x1xi64>, tensor<3x1x8x8xf32>) -> tensor<8x1x8x8xf32>
  %1 = "onnx.ScatterElements"(%b, %each, %step) {axis = 2 : i64} : (tensor<1x1x8x2xf32>, tensor<1x1x3x2xi64>, tensor<1x1x3x2xf32>) -> tensor<1x1x8x2xf32>
  %second = "onnx.Mul"(%column, %two) : (tensor<3x1xi64>, tensor<1xi64>) -> tensor<3x1xi64>
  %wide = "onnx.Expand"(%second, %shape) : (tensor<3x1xi64>, tensor<4xi64>) -> tensor<1x1x3x2xi64>
  %2 = "onnx.ScatterElements"(%c, %wide, %step) {axis = 2 : i64} : (tensor<1x1x8x2xf32>, tensor<1x1x3x2xi64>, tensor<1x1x3x2xf32>) -> tensor<1x1x8x2xf32>
  %3 = "onnx.ScatterND"(%d, %place, %numbers) : (tensor<1x1x8x2xf32>, tensor<3x4xi64>, tensor<3xf32>) -> tensor<1x1x8x2xf32>
  %front = "onnx.Transpose"(%e) {perm = array<i64: 2, 0, 1, 3>} : (tensor<8x8x8x8xf32>) -> tensor<8x8x8x8xf32>
  %4 = "onnx.ScatterND"(%front, %column, %pairs) : (tensor<8x8x8x8xf32>, tensor<3x1xi64>, tensor<3x8x8x8xf32>) -> tensor<8x8x8x8xf32>
  %moved = "onnx.Transpose"(%f) {perm = array<i64: 2, 0, 1, 3>} : (tensor<8x8x8x8xf32>) -> tensor<8x8x8x8xf32>
  %written = "onnx.ScatterND"(%moved, %column, %pairs) : (tensor<8x8x8x8xf32>, tensor<3x1xi64>, tensor<3x8x8x8xf32>) -> tensor<8x8x8x8xf32>
  %5 = "onnx.Transpose"(%written) {perm = array<i64: 1, 2, 0, 3>} : (tensor<8x8x8x8xf32>) -> tensor<8x8x8x8xf32>
  %6 = "onnx.Neg"(%written) : (tensor<8x8x8x8xf32>) -> tensor<8x8x8x8xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<8x1x8x8xf32>, tensor<1x1x8x2xf32>, tensor<1x1x8x2xf32>, tensor<1x1x8x2xf32>, tensor<8x8x8x8xf32>, tensor<8x8x8x8xf32>, tensor<8x8x8x8xf32>
}
