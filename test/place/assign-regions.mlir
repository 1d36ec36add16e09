// RUN: sol-opt %s --place-assign-regions="target=mesh-4x4 wafers=1 context=32 seconds=1" | FileCheck %s
// RUN: sol-opt %s --place-assign-regions="target=mesh-4x4 wafers=1 context=32 seconds=1" --verify-place -o /dev/null
// RUN: not sol-opt %s --place-assign-regions="target=mesh-4x4 wafers=1 context=2000000" 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: not sol-opt %s --place-assign-regions="target=mesh-5x5 context=32" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not sol-opt %s --place-assign-regions="target=mesh-4x4" 2>&1 | FileCheck %s --check-prefix=CONTEXT

// A decoder of one layer: each operator has the number of its block, sizes and constants have none.

// FULL: the model does not fit 1 wafer of `mesh-4x4`: {{.*}} GB too little; it would with --context {{[0-9]+}}
// TARGET: mesh-5x5
// CONTEXT: give one with --context

// CHECK-LABEL: func.func @main
func.func @main(%ids: tensor<1x?xi64> {nn.role = "tokens"}, %ck: !nn.cache<tensor<1x2x?x4xf32>>, %cv: !nn.cache<tensor<1x2x?x4xf32>>) -> (tensor<1x?x24xf32> {nn.role = "logits"}) {
  %table = nn.weight <"m.data", 0, 768, raw, 0> : tensor<24x8xf32>
  %wq = nn.weight <"m.data", 768, 512, raw, 0> : tensor<8x16xf32>
  %wk = nn.weight <"m.data", 1280, 256, raw, 0> : tensor<8x8xf32>
  %wv = nn.weight <"m.data", 1536, 256, raw, 0> : tensor<8x8xf32>
  %wo = nn.weight <"m.data", 1792, 512, raw, 0> : tensor<16x8xf32>
  %wh = nn.weight <"m.data", 2304, 768, raw, 0> : tensor<8x24xf32>
  %none = onnx.none : none
  %qs = nn.constant dense<[0, 0, 4, 4]> : tensor<4xi64> : tensor<4xi64>
  %ks = nn.constant dense<[0, 0, 2, 4]> : tensor<4xi64> : tensor<4xi64>
  %os = nn.constant dense<[0, 0, 16]> : tensor<3xi64> : tensor<3xi64>
  %x = "onnx.Gather"(%table, %ids) : (tensor<24x8xf32>, tensor<1x?xi64>) -> tensor<1x?x8xf32>
  %n = nn.rms_norm %x, %none {epsilon = 1.0e-5 : f32} : (tensor<1x?x8xf32>, none) -> tensor<1x?x8xf32>
  %q0 = nn.linear %n, %wq, %none : (tensor<1x?x8xf32>, tensor<8x16xf32>, none) -> tensor<1x?x16xf32>
  %k0 = nn.linear %n, %wk, %none : (tensor<1x?x8xf32>, tensor<8x8xf32>, none) -> tensor<1x?x8xf32>
  %v0 = nn.linear %n, %wv, %none : (tensor<1x?x8xf32>, tensor<8x8xf32>, none) -> tensor<1x?x8xf32>
  %q1 = "onnx.Reshape"(%q0, %qs) : (tensor<1x?x16xf32>, tensor<4xi64>) -> tensor<1x?x4x4xf32>
  %k1 = "onnx.Reshape"(%k0, %ks) : (tensor<1x?x8xf32>, tensor<4xi64>) -> tensor<1x?x2x4xf32>
  %v1 = "onnx.Reshape"(%v0, %ks) : (tensor<1x?x8xf32>, tensor<4xi64>) -> tensor<1x?x2x4xf32>
  %q = "onnx.Transpose"(%q1) {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x?x4x4xf32>) -> tensor<1x4x?x4xf32>
  %k2 = "onnx.Transpose"(%k1) {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x?x2x4xf32>) -> tensor<1x2x?x4xf32>
  %v2 = "onnx.Transpose"(%v1) {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x?x2x4xf32>) -> tensor<1x2x?x4xf32>
  %k = nn.cache_append %ck, %k2 : (!nn.cache<tensor<1x2x?x4xf32>>, tensor<1x2x?x4xf32>) -> !nn.cache<tensor<1x2x?x4xf32>>
  %v = nn.cache_append %cv, %v2 : (!nn.cache<tensor<1x2x?x4xf32>>, tensor<1x2x?x4xf32>) -> !nn.cache<tensor<1x2x?x4xf32>>
  %a = nn.attention %q, %k, %v, %none, %none {causal, masked_rows = "zero", scale = 0.5 : f32, softcap = 0.0 : f32} : (tensor<1x4x?x4xf32>, !nn.cache<tensor<1x2x?x4xf32>>, !nn.cache<tensor<1x2x?x4xf32>>, none, none) -> tensor<1x4x?x4xf32>
  %a1 = "onnx.Transpose"(%a) {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x4x?x4xf32>) -> tensor<1x?x4x4xf32>
  %a2 = "onnx.Reshape"(%a1, %os) : (tensor<1x?x4x4xf32>, tensor<3xi64>) -> tensor<1x?x16xf32>
  %o = nn.linear %a2, %wo, %none : (tensor<1x?x16xf32>, tensor<16x8xf32>, none) -> tensor<1x?x8xf32>
  %r = "onnx.Add"(%x, %o) : (tensor<1x?x8xf32>, tensor<1x?x8xf32>) -> tensor<1x?x8xf32>
  %y = nn.linear %r, %wh, %none : (tensor<1x?x8xf32>, tensor<8x24xf32>, none) -> tensor<1x?x24xf32>
  return %y : tensor<1x?x24xf32>
}
// CHECK: onnx.none : none
// CHECK: "onnx.Gather"{{.*}} {place.block = 0 : i64}
// CHECK: nn.rms_norm {{.*}}place.block = 1 : i64
// CHECK: nn.linear {{.*}}place.block = 1 : i64
// CHECK: nn.attention {{.*}}place.block = 1 : i64
// CHECK: "onnx.Add"{{.*}} {place.block = 1 : i64}
// CHECK: nn.linear {{.*}}place.block = 2 : i64
// CHECK: place.plan @main on "mesh-4x4" wafers 1 context 32 sequences 1 chunk {{[0-9]+}} fused {
// CHECK: place.region 0 on 0 at [{{[0-9]+, [0-9]+, [0-9]+, [0-9]+}}]
// CHECK: place.block 0 "embedding" in [array<i64: {{[0-9]+}}, 0, 1>]
// CHECK: place.block 1 "layer 0 attention" in
// CHECK: place.block 2 "head" in
