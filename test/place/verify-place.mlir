// RUN: sol-opt %s --verify-place --verify-diagnostics --split-input-file

// Plans for one function: the first obeys, each of the others breaks a rule.

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
  %x = "onnx.Gather"(%table, %ids) {place.block = 0 : i64} : (tensor<24x8xf32>, tensor<1x?xi64>) -> tensor<1x?x8xf32>
  %n = nn.rms_norm %x, %none {epsilon = 1.0e-5 : f32, place.block = 1 : i64} : (tensor<1x?x8xf32>, none) -> tensor<1x?x8xf32>
  %q0 = nn.linear %n, %wq, %none {place.block = 1 : i64} : (tensor<1x?x8xf32>, tensor<8x16xf32>, none) -> tensor<1x?x16xf32>
  %k0 = nn.linear %n, %wk, %none {place.block = 1 : i64} : (tensor<1x?x8xf32>, tensor<8x8xf32>, none) -> tensor<1x?x8xf32>
  %v0 = nn.linear %n, %wv, %none {place.block = 1 : i64} : (tensor<1x?x8xf32>, tensor<8x8xf32>, none) -> tensor<1x?x8xf32>
  %q1 = "onnx.Reshape"(%q0, %qs) {place.block = 1 : i64} : (tensor<1x?x16xf32>, tensor<4xi64>) -> tensor<1x?x4x4xf32>
  %k1 = "onnx.Reshape"(%k0, %ks) {place.block = 1 : i64} : (tensor<1x?x8xf32>, tensor<4xi64>) -> tensor<1x?x2x4xf32>
  %v1 = "onnx.Reshape"(%v0, %ks) {place.block = 1 : i64} : (tensor<1x?x8xf32>, tensor<4xi64>) -> tensor<1x?x2x4xf32>
  %q = "onnx.Transpose"(%q1) {perm = array<i64: 0, 2, 1, 3>, place.block = 1 : i64} : (tensor<1x?x4x4xf32>) -> tensor<1x4x?x4xf32>
  %k2 = "onnx.Transpose"(%k1) {perm = array<i64: 0, 2, 1, 3>, place.block = 1 : i64} : (tensor<1x?x2x4xf32>) -> tensor<1x2x?x4xf32>
  %v2 = "onnx.Transpose"(%v1) {perm = array<i64: 0, 2, 1, 3>, place.block = 1 : i64} : (tensor<1x?x2x4xf32>) -> tensor<1x2x?x4xf32>
  %k = nn.cache_append %ck, %k2 {place.block = 1 : i64} : (!nn.cache<tensor<1x2x?x4xf32>>, tensor<1x2x?x4xf32>) -> !nn.cache<tensor<1x2x?x4xf32>>
  %v = nn.cache_append %cv, %v2 {place.block = 1 : i64} : (!nn.cache<tensor<1x2x?x4xf32>>, tensor<1x2x?x4xf32>) -> !nn.cache<tensor<1x2x?x4xf32>>
  %a = nn.attention %q, %k, %v, %none, %none {causal, place.block = 1 : i64, masked_rows = "zero", scale = 0.5 : f32, softcap = 0.0 : f32} : (tensor<1x4x?x4xf32>, !nn.cache<tensor<1x2x?x4xf32>>, !nn.cache<tensor<1x2x?x4xf32>>, none, none) -> tensor<1x4x?x4xf32>
  %a1 = "onnx.Transpose"(%a) {perm = array<i64: 0, 2, 1, 3>, place.block = 1 : i64} : (tensor<1x4x?x4xf32>) -> tensor<1x?x4x4xf32>
  %a2 = "onnx.Reshape"(%a1, %os) {place.block = 1 : i64} : (tensor<1x?x4x4xf32>, tensor<3xi64>) -> tensor<1x?x16xf32>
  %o = nn.linear %a2, %wo, %none {place.block = 1 : i64} : (tensor<1x?x16xf32>, tensor<16x8xf32>, none) -> tensor<1x?x8xf32>
  %r = "onnx.Add"(%x, %o) {place.block = 1 : i64} : (tensor<1x?x8xf32>, tensor<1x?x8xf32>) -> tensor<1x?x8xf32>
  %y = nn.linear %r, %wh, %none {place.block = 2 : i64} : (tensor<1x?x8xf32>, tensor<8x24xf32>, none) -> tensor<1x?x24xf32>
  return %y : tensor<1x?x24xf32>
}
place.plan @main on "mesh-4x4" wafers 1 context 32 sequences 1 chunk 1 fused {
  place.region 0 on 0 at [0, 0, 2, 4]
  place.region 1 on 0 at [2, 0, 2, 4]
  place.block 0 "embedding" in [array<i64: 0, 0, 1>]
  place.block 1 "layer 0 attention" in [array<i64: 0, 0, 1>]
  place.block 2 "head" in [array<i64: 1, 0, 1>]
}

// expected-error@+1 {{P2: regions 0, 2 x 4 at (0, 0) of wafer 0, and 1, 2 x 4 at (1, 0) of wafer 0, overlap}}
place.plan @main on "mesh-4x4" wafers 1 context 32 sequences 1 chunk 1 {
  place.region 0 on 0 at [0, 0, 2, 4]
  place.region 1 on 0 at [1, 0, 2, 4]
  place.block 0 "embedding" in [array<i64: 0, 0, 1>]
  place.block 1 "layer 0 attention" in [array<i64: 0, 0, 1>]
  place.block 2 "head" in [array<i64: 1, 0, 1>]
}

// expected-error@+2 {{P1: region 0 lies on wafer 1, but there are 1}}
// expected-error@+1 {{P4: block `head` lies on region 7, but there are 1}}
place.plan @main on "mesh-4x4" wafers 1 context 32 sequences 1 chunk 1 {
  place.region 0 on 1 at [0, 0, 4, 4]
  place.block 0 "embedding" in [array<i64: 0, 0, 1>]
  place.block 1 "layer 0 attention" in [array<i64: 0, 0, 1>]
  place.block 2 "head" in [array<i64: 7, 0, 1>]
}

// expected-error@+2 {{P5: block `layer 0 attention` has no experts, but lies on 2 regions}}
// expected-error@+1 {{P4: block `layer 0 attention` places 2 of 1 experts}}
place.plan @main on "mesh-4x4" wafers 2 context 32 sequences 1 chunk 1 {
  place.region 0 on 0 at [0, 0, 4, 4]
  place.region 1 on 1 at [0, 0, 4, 4]
  place.block 0 "embedding" in [array<i64: 0, 0, 1>]
  place.block 1 "layer 0 attention" in [array<i64: 0, 0, 1>, array<i64: 1, 1, 2>]
  place.block 2 "head" in [array<i64: 0, 0, 1>]
}

// expected-error@+1 {{P6: a PE of region 0, 4 x 4 at (0, 0) of wafer 0, needs}}
place.plan @main on "mesh-4x4" wafers 1 context 200000 sequences 1 chunk 1 {
  place.region 0 on 0 at [0, 0, 4, 4]
  place.block 0 "embedding" in [array<i64: 0, 0, 1>]
  place.block 1 "layer 0 attention" in [array<i64: 0, 0, 1>]
  place.block 2 "head" in [array<i64: 0, 0, 1>]
}

// expected-error@+1 {{places @other, which is not there}}
place.plan @other on "mesh-4x4" wafers 1 context 32 sequences 1 chunk 1 {
}

// -----

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
  %x = "onnx.Gather"(%table, %ids) {place.block = 0 : i64} : (tensor<24x8xf32>, tensor<1x?xi64>) -> tensor<1x?x8xf32>
  %n = nn.rms_norm %x, %none {epsilon = 1.0e-5 : f32, place.block = 1 : i64} : (tensor<1x?x8xf32>, none) -> tensor<1x?x8xf32>
  %q0 = nn.linear %n, %wq, %none {place.block = 1 : i64} : (tensor<1x?x8xf32>, tensor<8x16xf32>, none) -> tensor<1x?x16xf32>
  %k0 = nn.linear %n, %wk, %none {place.block = 1 : i64} : (tensor<1x?x8xf32>, tensor<8x8xf32>, none) -> tensor<1x?x8xf32>
  %v0 = nn.linear %n, %wv, %none {place.block = 1 : i64} : (tensor<1x?x8xf32>, tensor<8x8xf32>, none) -> tensor<1x?x8xf32>
  %q1 = "onnx.Reshape"(%q0, %qs) {place.block = 1 : i64} : (tensor<1x?x16xf32>, tensor<4xi64>) -> tensor<1x?x4x4xf32>
  %k1 = "onnx.Reshape"(%k0, %ks) {place.block = 1 : i64} : (tensor<1x?x8xf32>, tensor<4xi64>) -> tensor<1x?x2x4xf32>
  %v1 = "onnx.Reshape"(%v0, %ks) {place.block = 1 : i64} : (tensor<1x?x8xf32>, tensor<4xi64>) -> tensor<1x?x2x4xf32>
  %q = "onnx.Transpose"(%q1) {perm = array<i64: 0, 2, 1, 3>, place.block = 1 : i64} : (tensor<1x?x4x4xf32>) -> tensor<1x4x?x4xf32>
  %k2 = "onnx.Transpose"(%k1) {perm = array<i64: 0, 2, 1, 3>, place.block = 1 : i64} : (tensor<1x?x2x4xf32>) -> tensor<1x2x?x4xf32>
  %v2 = "onnx.Transpose"(%v1) {perm = array<i64: 0, 2, 1, 3>, place.block = 1 : i64} : (tensor<1x?x2x4xf32>) -> tensor<1x2x?x4xf32>
  %k = nn.cache_append %ck, %k2 {place.block = 1 : i64} : (!nn.cache<tensor<1x2x?x4xf32>>, tensor<1x2x?x4xf32>) -> !nn.cache<tensor<1x2x?x4xf32>>
  %v = nn.cache_append %cv, %v2 {place.block = 1 : i64} : (!nn.cache<tensor<1x2x?x4xf32>>, tensor<1x2x?x4xf32>) -> !nn.cache<tensor<1x2x?x4xf32>>
  %a = nn.attention %q, %k, %v, %none, %none {causal, place.block = 1 : i64, masked_rows = "zero", scale = 0.5 : f32, softcap = 0.0 : f32} : (tensor<1x4x?x4xf32>, !nn.cache<tensor<1x2x?x4xf32>>, !nn.cache<tensor<1x2x?x4xf32>>, none, none) -> tensor<1x4x?x4xf32>
  %a1 = "onnx.Transpose"(%a) {perm = array<i64: 0, 2, 1, 3>, place.block = 1 : i64} : (tensor<1x4x?x4xf32>) -> tensor<1x?x4x4xf32>
  %a2 = "onnx.Reshape"(%a1, %os) {place.block = 1 : i64} : (tensor<1x?x4x4xf32>, tensor<3xi64>) -> tensor<1x?x16xf32>
  %o = nn.linear %a2, %wo, %none {place.block = 1 : i64} : (tensor<1x?x16xf32>, tensor<16x8xf32>, none) -> tensor<1x?x8xf32>
  // expected-error@+1 {{P7: is of block 1, but carries no `place.block`}}
  %r = "onnx.Add"(%x, %o) : (tensor<1x?x8xf32>, tensor<1x?x8xf32>) -> tensor<1x?x8xf32>
  // expected-error@+1 {{P7: is of block 2, but says 1}}
  %y = nn.linear %r, %wh, %none {place.block = 1 : i64} : (tensor<1x?x8xf32>, tensor<8x24xf32>, none) -> tensor<1x?x24xf32>
  return %y : tensor<1x?x24xf32>
}
place.plan @main on "mesh-4x4" wafers 1 context 32 sequences 1 chunk 1 {
  place.region 0 on 0 at [0, 0, 4, 4]
  place.block 0 "embedding" in [array<i64: 0, 0, 1>]
  place.block 1 "layer 0 attention" in [array<i64: 0, 0, 1>]
  place.block 2 "head" in [array<i64: 0, 0, 1>]
}
