// RUN: sol-opt %s | sol-opt | FileCheck %s
// RUN: sol-opt %s --mlir-print-op-generic | sol-opt | FileCheck %s
// RUN: sol-opt %s --emit-bytecode -o %t && sol-opt %t | FileCheck %s
// RUN: sol-opt %s --cse --canonicalize | FileCheck %s --check-prefix=CLEAN

// A weight stays a reference: file, offset, length, encoding, hash, up to the largest 64-bit numbers.
// CHECK-LABEL: func @values
// CLEAN-LABEL: func @values
func.func @values() -> (tensor<2xi64>, tensor<32x32xf32>, tensor<64x32xf32>, tensor<3x64x16xf32>) {
  // CHECK: nn.constant dense<[1, -1]> : tensor<2xi64> : tensor<2xi64>
  %0 = nn.constant dense<[1, -1]> : tensor<2xi64> : tensor<2xi64>
  // CHECK: nn.weight <"a \22quoted\22 name.data", 9223372036854771712, 4096, raw, 18446744073709551615> name "layers.0.weight" : tensor<32x32xf32>
  %1 = nn.weight <"a \22quoted\22 name.data", 9223372036854771712, 4096, raw, 18446744073709551615> name "layers.0.weight" : tensor<32x32xf32>
  // CHECK: nn.folded : tensor<64x32xf32> {
  // CHECK-NEXT: nn.weight <"model.onnx", 0, 8200, proto, 0> : tensor<32x64xf32>
  // CHECK-NEXT: "onnx.Transpose"
  // CHECK-NEXT: nn.yield %{{.*}} : tensor<64x32xf32>
  // Equal expressions become one.
  // CLEAN-COUNT-1: nn.folded : tensor<64x32xf32>
  // CLEAN-NOT: nn.folded : tensor<64x32xf32>
  %2 = nn.folded : tensor<64x32xf32> {
    %w = nn.weight <"model.onnx", 0, 8200, proto, 0> : tensor<32x64xf32>
    %t = "onnx.Transpose"(%w) {perm = array<i64: 1, 0>} : (tensor<32x64xf32>) -> tensor<64x32xf32>
    nn.yield %t : tensor<64x32xf32>
  }
  %unused = nn.folded : tensor<64x32xf32> {
    %w = nn.weight <"model.onnx", 64, 8200, proto, 0> : tensor<32x64xf32>
    %t = "onnx.Transpose"(%w) {perm = array<i64: 1, 0>} : (tensor<32x64xf32>) -> tensor<64x32xf32>
    nn.yield %t : tensor<64x32xf32>
  }
  // CHECK: nn.pack_panels %{{.*}} {transposed} : tensor<40x64xf32> -> tensor<3x64x16xf32>
  %3 = nn.folded : tensor<3x64x16xf32> {
    %w = nn.weight <"model.onnx", 8200, 10240, raw, 1> : tensor<40x64xf32>
    %p = nn.pack_panels %w {transposed} : tensor<40x64xf32> -> tensor<3x64x16xf32>
    nn.yield %p : tensor<3x64x16xf32>
  }
  return %0, %1, %2, %3 : tensor<2xi64>, tensor<32x32xf32>, tensor<64x32xf32>, tensor<3x64x16xf32>
}

!past = !nn.cache<tensor<?x2x?x8xf32, #nn.dims<"b", "2", "past", "8">>>
!present = !nn.cache<tensor<?x2x?x8xf32, #nn.dims<"b", "2", "past + s", "8">>>

// Appending changes the session: nobody needs its result, and it stays.
// CHECK-LABEL: func @state
// CLEAN-LABEL: func @state
func.func @state(%c: !past, %d: !past, %k: tensor<?x2x?x8xf32>, %offsets: tensor<?xi64>) -> (tensor<i64>, tensor<4xi64>, tensor<?x2x?x8xf32>) {
  // CHECK: nn.cache_append %arg0, %arg2 : (!nn.cache<tensor<?x2x?x8xf32, #nn.dims<"b", "2", "past", "8">>>, tensor<?x2x?x8xf32>) -> !nn.cache<tensor<?x2x?x8xf32, #nn.dims<"b", "2", "past + s", "8">>>
  // CLEAN: nn.cache_append %arg0
  %0 = nn.cache_append %c, %k : (!past, tensor<?x2x?x8xf32>) -> !present
  // CHECK: nn.cache_append %arg1, %arg2, %arg3 :
  // CLEAN: nn.cache_append %arg1
  %1 = nn.cache_append %d, %k, %offsets : (!past, tensor<?x2x?x8xf32>, tensor<?xi64>) -> !present
  // CHECK: nn.cache_length %arg0 : <{{.*}}> -> tensor<i64>
  %2 = nn.cache_length %c : !past -> tensor<i64>
  // CHECK: nn.cache_shape %{{.*}} : <{{.*}}> -> tensor<4xi64>
  %3 = nn.cache_shape %0 : !present -> tensor<4xi64>
  // CHECK: nn.cache_read %{{.*}} : <{{.*}}> -> tensor<?x2x?x8xf32>
  %4 = nn.cache_read %0 : !present -> tensor<?x2x?x8xf32>
  return %2, %3, %4 : tensor<i64>, tensor<4xi64>, tensor<?x2x?x8xf32>
}

// CHECK-LABEL: func @operators
// CLEAN-LABEL: func @operators
func.func @operators(%x: tensor<2x3x4x8xf32>, %w: tensor<8x16xf32>, %scale: tensor<8xf32>, %cos: tensor<1x1x4x4xf32>,
                     %c: !past, %mask: tensor<1x1x4x?xi1>, %sinks: tensor<4xf32>, %offsets: tensor<2xi64>)
    -> (tensor<2x3x4x16xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>) {
  // Pure: what nobody uses goes.
  // CLEAN-NOT: "relu"
  %none = onnx.none : none
  // CHECK: nn.linear %arg0, %arg1, %{{.*}} {columns = 16 : i64, packed, transposed} : (tensor<2x3x4x8xf32>, tensor<8x16xf32>, none) -> tensor<2x3x4x16xf32>
  %0 = nn.linear %x, %w, %none {columns = 16 : i64, packed, transposed} : (tensor<2x3x4x8xf32>, tensor<8x16xf32>, none) -> tensor<2x3x4x16xf32>
  // CHECK: nn.rms_norm %arg0, %arg2 {epsilon = 9.99999974E-6 : f32} : (tensor<2x3x4x8xf32>, tensor<8xf32>) -> tensor<2x3x4x8xf32>
  %1 = nn.rms_norm %x, %scale {epsilon = 1.0e-5 : f32} : (tensor<2x3x4x8xf32>, tensor<8xf32>) -> tensor<2x3x4x8xf32>
  // CHECK: nn.rotary %arg0, %arg3, %arg3 {interleaved} :
  %2 = nn.rotary %x, %cos, %cos {interleaved} : (tensor<2x3x4x8xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<2x3x4x8xf32>
  // CHECK: nn.attention %arg0, %arg4, %arg4, %arg5, %arg6, %arg7 {causal, masked_rows = "zero", scale = 1.250000e-01 : f32, softcap = 5.000000e+01 : f32, window = 7 : i64} :
  %3 = nn.attention %x, %c, %c, %mask, %sinks, %offsets {causal, masked_rows = "zero", scale = 1.25e-1 : f32, softcap = 5.0e+1 : f32, window = 7 : i64}
      : (tensor<2x3x4x8xf32>, !past, !past, tensor<1x1x4x?xi1>, tensor<4xf32>, tensor<2xi64>) -> tensor<2x3x4x8xf32>
  // CHECK: nn.gate %arg0, %arg0 {activation = "gelu_tanh"} :
  %4 = nn.gate %x, %x {activation = "gelu_tanh"} : (tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32>
  %unused = nn.gate %x, %x {activation = "relu"} : (tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32>
  return %0, %1, %2, %3, %4 : tensor<2x3x4x16xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>
}
