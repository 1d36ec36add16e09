// RUN: sol-opt %s --native-pack-weights | FileCheck %s
// RUN: sol-opt %s --native-pack-weights --native-pack-weights | FileCheck %s

// Columns are filled up to whole panels of 16; two products share one packed matrix, a third use keeps the matrix as it is.
// CHECK-LABEL: func @shared
func.func @shared(%x: tensor<3x64xf32>, %y: tensor<5x64xf32>) -> (tensor<3x40xf32>, tensor<5x40xf32>, tensor<64x40xf32>) {
  // CHECK: %[[W:.*]] = nn.weight
  // CHECK-NEXT: %[[P:.*]] = nn.folded : tensor<3x64x16xf32> {
  // CHECK-NEXT: %[[INNER:.*]] = nn.weight <"m.data", 128, 10240, raw, 7>
  // CHECK-NEXT: %[[PANELS:.*]] = nn.pack_panels %[[INNER]] : tensor<64x40xf32> -> tensor<3x64x16xf32>
  // CHECK-NEXT: nn.yield %[[PANELS]]
  // CHECK: nn.linear %arg0, %[[P]], %{{.*}} {columns = 40 : i64, packed}
  // CHECK: nn.linear %arg1, %[[P]], %{{.*}} {columns = 40 : i64, packed}
  // CHECK: "onnx.Neg"(%[[W]])
  // CHECK-NOT: nn.pack_panels
  %none = onnx.none : none
  %w = nn.weight <"m.data", 128, 10240, raw, 7> : tensor<64x40xf32>
  %a = nn.linear %x, %w, %none : (tensor<3x64xf32>, tensor<64x40xf32>, none) -> tensor<3x40xf32>
  %b = nn.linear %y, %w, %none : (tensor<5x64xf32>, tensor<64x40xf32>, none) -> tensor<5x40xf32>
  %c = "onnx.Neg"(%w) : (tensor<64x40xf32>) -> tensor<64x40xf32>
  return %a, %b, %c : tensor<3x40xf32>, tensor<5x40xf32>, tensor<64x40xf32>
}

// A transposed matrix has its columns first, and its panels are others than those of the same bytes read straight.
// CHECK-LABEL: func @transposed
func.func @transposed(%x: tensor<2x32xf16>, %bias: tensor<32xf16>) -> (tensor<2x32xf16>, tensor<2x32xf16>) {
  // CHECK: nn.pack_panels %{{.*}} : tensor<32x32xf16> -> tensor<2x32x16xf16>
  // CHECK: nn.pack_panels %{{.*}} {transposed} : tensor<32x32xf16> -> tensor<2x32x16xf16>
  // CHECK: nn.linear %arg0, %{{.*}}, %arg1 {columns = 32 : i64, packed}
  // CHECK: nn.linear %arg0, %{{.*}}, %{{.*}} {columns = 32 : i64, packed}
  %none = onnx.none : none
  %w = nn.weight <"m.data", 0, 2048, raw, 7> : tensor<32x32xf16>
  %a = nn.linear %x, %w, %bias {transposed} : (tensor<2x32xf16>, tensor<32x32xf16>, tensor<32xf16>) -> tensor<2x32xf16>
  %b = nn.linear %x, %w, %none : (tensor<2x32xf16>, tensor<32x32xf16>, none) -> tensor<2x32xf16>
  return %a, %b : tensor<2x32xf16>, tensor<2x32xf16>
}

// An expression is taken into the packed one; a constant in the IR is packed as well.
// CHECK-LABEL: func @expressions
func.func @expressions(%x: tensor<1x4xf32>) -> (tensor<1x17xf32>, tensor<1x2xf32>) {
  // CHECK: nn.folded : tensor<2x4x16xf32> {
  // CHECK-NEXT: nn.weight
  // CHECK-NEXT: %[[T:.*]] = "onnx.Transpose"
  // CHECK-NEXT: nn.pack_panels %[[T]] : tensor<4x17xf32>
  // CHECK: nn.folded : tensor<1x4x16xf32> {
  // CHECK-NEXT: %[[C:.*]] = nn.constant
  // CHECK-NEXT: nn.pack_panels %[[C]]
  %none = onnx.none : none
  %w = nn.folded : tensor<4x17xf32> {
    %0 = nn.weight <"m.data", 0, 272, raw, 7> : tensor<17x4xf32>
    %1 = "onnx.Transpose"(%0) {perm = array<i64: 1, 0>} : (tensor<17x4xf32>) -> tensor<4x17xf32>
    nn.yield %1 : tensor<4x17xf32>
  }
  %v = nn.constant dense<2.0> : tensor<4x2xf32> : tensor<4x2xf32>
  %a = nn.linear %x, %w, %none : (tensor<1x4xf32>, tensor<4x17xf32>, none) -> tensor<1x17xf32>
  %b = nn.linear %x, %v, %none : (tensor<1x4xf32>, tensor<4x2xf32>, none) -> tensor<1x2xf32>
  return %a, %b : tensor<1x17xf32>, tensor<1x2xf32>
}

// A matrix that arrives with the run can't be packed before.
// CHECK-LABEL: func @computed
// CHECK-NOT: packed
func.func @computed(%x: tensor<1x4xf32>, %w: tensor<4x2xf32>) -> tensor<1x2xf32> {
  %none = onnx.none : none
  %a = nn.linear %x, %w, %none : (tensor<1x4xf32>, tensor<4x2xf32>, none) -> tensor<1x2xf32>
  return %a : tensor<1x2xf32>
}
