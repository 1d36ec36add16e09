// RUN: sol-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK: place.plan @main on "mesh-8x8" wafers 2 context 64 sequences 3 chunk 4 fused defects "map.json" {
// CHECK-NEXT: place.region 0 on 0 at [0, 0, 4, 8]
// CHECK-NEXT: place.region 1 on 1 at [4, 0, 4, 8]
// CHECK-NEXT: place.block 0 "layer 0 experts" in [array<i64: 0, 0, 5>, array<i64: 1, 5, 8>]
place.plan @main on "mesh-8x8" wafers 2 context 64 sequences 3 chunk 4 fused defects "map.json" {
  place.region 0 on 0 at [0, 0, 4, 8]
  place.region 1 on 1 at [4, 0, 4, 8]
  place.block 0 "layer 0 experts" in [array<i64: 0, 0, 5>, array<i64: 1, 5, 8>]
}

// -----

place.plan @main on "mesh-8x8" wafers 1 context 64 sequences 1 chunk 1 {
  // expected-error@+1 {{has number 1, expected 0}}
  place.region 1 on 0 at [0, 0, 4, 8]
}

// -----

place.plan @main on "mesh-8x8" wafers 1 context 64 sequences 1 chunk 1 {
  // expected-error@+1 {{has a rectangle of 3 numbers, expected 4}}
  place.region 0 on 0 at [0, 0, 4]
}

// -----

place.plan @main on "mesh-8x8" wafers 1 context 64 sequences 1 chunk 1 {
  // expected-error@+1 {{has the shard array<i64: 0, 1>, expected a region and the ends of its experts}}
  place.block 0 "head" in [array<i64: 0, 1>]
}
