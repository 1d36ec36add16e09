// RUN: sol-opt %s --nn-recognize-rotary | FileCheck %s

// Rows of tables that have each angle twice.
// CHECK-LABEL: func @gathered
func.func @gathered(%x: tensor<1x2x3x8xf32>, %at: tensor<1x3xi64>, %cos: tensor<9x4xf32>, %sin: tensor<9x4xf32>) -> tensor<1x2x3x8xf32> {
  // CHECK: nn.rotary %arg0, %{{.*}}, %{{.*}} : (tensor<1x2x3x8xf32>, tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>)
  %iend = nn.constant dense<9223372036854775807> : tensor<1xi64> : tensor<1xi64>
  %i3 = nn.constant dense<3> : tensor<1xi64> : tensor<1xi64>
  %i4 = nn.constant dense<4> : tensor<1xi64> : tensor<1xi64>
  %i0 = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %i1 = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %v0 = "onnx.Concat"(%cos, %cos) {axis = -1 : i64} : (tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<9x8xf32>
  %v1 = "onnx.Gather"(%v0, %at) {axis = 0 : i64} : (tensor<9x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v2 = "onnx.Unsqueeze"(%v1, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v3 = "onnx.Concat"(%sin, %sin) {axis = -1 : i64} : (tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<9x8xf32>
  %v4 = "onnx.Gather"(%v3, %at) {axis = 0 : i64} : (tensor<9x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v5 = "onnx.Unsqueeze"(%v4, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v6 = "onnx.Slice"(%x, %i0, %i4, %i3) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v7 = "onnx.Slice"(%x, %i4, %iend, %i3) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v8 = "onnx.Mul"(%x, %v2) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v9 = "onnx.Neg"(%v7) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v10 = "onnx.Concat"(%v9, %v6) {axis = -1 : i64} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x8xf32>
  %v11 = "onnx.Mul"(%v10, %v5) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v12 = "onnx.Add"(%v8, %v11) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  return %v12 : tensor<1x2x3x8xf32>
}

// CHECK-LABEL: func @gathered_neighbours
func.func @gathered_neighbours(%x: tensor<1x2x3x8xf32>, %at: tensor<1x3xi64>, %cos: tensor<9x4xf32>, %sin: tensor<9x4xf32>) -> tensor<1x2x3x8xf32> {
  // CHECK: nn.rotary %arg0, %{{.*}}, %{{.*}} {interleaved} : (tensor<1x2x3x8xf32>, tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>)
  %i1_2_3_8 = nn.constant dense<[1, 2, 3, 8]> : tensor<4xi64> : tensor<4xi64>
  %i0 = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %i2 = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %i3 = nn.constant dense<3> : tensor<1xi64> : tensor<1xi64>
  %iend = nn.constant dense<9223372036854775807> : tensor<1xi64> : tensor<1xi64>
  %i1 = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %i9_8 = nn.constant dense<[9, 8]> : tensor<2xi64> : tensor<2xi64>
  %i9_4_2 = nn.constant dense<[9, 4, 2]> : tensor<3xi64> : tensor<3xi64>
  %im1 = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %v0 = "onnx.Unsqueeze"(%cos, %im1) : (tensor<9x4xf32>, tensor<1xi64>) -> tensor<9x4x1xf32>
  %v1 = "onnx.Expand"(%v0, %i9_4_2) : (tensor<9x4x1xf32>, tensor<3xi64>) -> tensor<9x4x2xf32>
  %v2 = "onnx.Reshape"(%v1, %i9_8) : (tensor<9x4x2xf32>, tensor<2xi64>) -> tensor<9x8xf32>
  %v3 = "onnx.Gather"(%v2, %at) {axis = 0 : i64} : (tensor<9x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v4 = "onnx.Unsqueeze"(%v3, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v5 = "onnx.Mul"(%x, %v4) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v6 = "onnx.Slice"(%x, %i1, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v7 = "onnx.Slice"(%x, %i0, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v8 = "onnx.Neg"(%v6) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v9 = "onnx.Unsqueeze"(%v8, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v10 = "onnx.Unsqueeze"(%v7, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v11 = "onnx.Concat"(%v9, %v10) {axis = -1 : i64} : (tensor<1x2x3x4x1xf32>, tensor<1x2x3x4x1xf32>) -> tensor<1x2x3x4x2xf32>
  %v12 = "onnx.Reshape"(%v11, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  %v13 = "onnx.Unsqueeze"(%sin, %im1) : (tensor<9x4xf32>, tensor<1xi64>) -> tensor<9x4x1xf32>
  %v14 = "onnx.Expand"(%v13, %i9_4_2) : (tensor<9x4x1xf32>, tensor<3xi64>) -> tensor<9x4x2xf32>
  %v15 = "onnx.Reshape"(%v14, %i9_8) : (tensor<9x4x2xf32>, tensor<2xi64>) -> tensor<9x8xf32>
  %v16 = "onnx.Gather"(%v15, %at) {axis = 0 : i64} : (tensor<9x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v17 = "onnx.Unsqueeze"(%v16, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v18 = "onnx.Mul"(%v12, %v17) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v19 = "onnx.Add"(%v5, %v18) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  return %v19 : tensor<1x2x3x8xf32>
}

// The table is computed when the plan is written.
// CHECK-LABEL: func @folded
func.func @folded(%x: tensor<1x2x3x8xf32>, %at: tensor<1x3xi64>) -> tensor<1x2x3x8xf32> {
  // CHECK: nn.rotary %arg0, %{{.*}}, %{{.*}} : (tensor<1x2x3x8xf32>, tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>)
  %iend = nn.constant dense<9223372036854775807> : tensor<1xi64> : tensor<1xi64>
  %i3 = nn.constant dense<3> : tensor<1xi64> : tensor<1xi64>
  %i4 = nn.constant dense<4> : tensor<1xi64> : tensor<1xi64>
  %i0 = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %i1 = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %t = nn.folded : tensor<9x8xf32> {
    %a = nn.weight <"w", 0, 144, raw, 0> : tensor<9x4xf32>
    %b = nn.weight <"w", 144, 144, raw, 0> : tensor<9x4xf32>
    %aa = "onnx.Concat"(%a, %a) {axis = -1 : i64} : (tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<9x8xf32>
    %c = "onnx.Cos"(%aa) : (tensor<9x8xf32>) -> tensor<9x8xf32>
    nn.yield %c : tensor<9x8xf32>
  }
  %v0 = "onnx.Gather"(%t, %at) {axis = 0 : i64} : (tensor<9x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v1 = "onnx.Unsqueeze"(%v0, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v2 = "onnx.Gather"(%t, %at) {axis = 0 : i64} : (tensor<9x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v3 = "onnx.Unsqueeze"(%v2, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v4 = "onnx.Slice"(%x, %i0, %i4, %i3) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v5 = "onnx.Slice"(%x, %i4, %iend, %i3) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v6 = "onnx.Mul"(%x, %v1) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v7 = "onnx.Neg"(%v5) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v8 = "onnx.Concat"(%v7, %v4) {axis = -1 : i64} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x8xf32>
  %v9 = "onnx.Mul"(%v8, %v3) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v10 = "onnx.Add"(%v6, %v9) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  return %v10 : tensor<1x2x3x8xf32>
}

// Tables of numbers that repeat.
// CHECK-LABEL: func @constants
func.func @constants(%x: tensor<1x2x3x8xf32>, %at: tensor<1x3xi64>) -> (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) {
  // CHECK: nn.rotary %arg0, %{{.*}}, %{{.*}} : (tensor<1x2x3x8xf32>, tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>)
  // CHECK: nn.rotary %arg0, %{{.*}}, %{{.*}} {interleaved} : (tensor<1x2x3x8xf32>, tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>)
  %i1_2_3_8 = nn.constant dense<[1, 2, 3, 8]> : tensor<4xi64> : tensor<4xi64>
  %im1 = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %i2 = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %iend = nn.constant dense<9223372036854775807> : tensor<1xi64> : tensor<1xi64>
  %i3 = nn.constant dense<3> : tensor<1xi64> : tensor<1xi64>
  %i4 = nn.constant dense<4> : tensor<1xi64> : tensor<1xi64>
  %i0 = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %i1 = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %h = nn.constant dense<[[0.0, 0.1, 0.2, 0.3, 0.0, 0.1, 0.2, 0.3], [1.0, 1.1, 1.2, 1.3, 1.0, 1.1, 1.2, 1.3]]> : tensor<2x8xf32> : tensor<2x8xf32>
  %n = nn.constant dense<[[0.0, 0.0, 0.1, 0.1, 0.2, 0.2, 0.3, 0.3], [1.0, 1.0, 1.1, 1.1, 1.2, 1.2, 1.3, 1.3]]> : tensor<2x8xf32> : tensor<2x8xf32>
  %one = nn.constant dense<1.0> : tensor<8xf32> : tensor<8xf32>
  %v0 = "onnx.Gather"(%h, %at) {axis = 0 : i64} : (tensor<2x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v1 = "onnx.Unsqueeze"(%v0, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v2 = "onnx.Gather"(%h, %at) {axis = 0 : i64} : (tensor<2x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v3 = "onnx.Unsqueeze"(%v2, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v4 = "onnx.Slice"(%x, %i0, %i4, %i3) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v5 = "onnx.Slice"(%x, %i4, %iend, %i3) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v6 = "onnx.Mul"(%x, %v1) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v7 = "onnx.Neg"(%v5) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v8 = "onnx.Concat"(%v7, %v4) {axis = -1 : i64} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x8xf32>
  %v9 = "onnx.Mul"(%v8, %v3) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v10 = "onnx.Add"(%v6, %v9) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v11 = "onnx.Gather"(%n, %at) {axis = 0 : i64} : (tensor<2x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v12 = "onnx.Unsqueeze"(%v11, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v13 = "onnx.Mul"(%x, %v12) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v14 = "onnx.Slice"(%x, %i1, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v15 = "onnx.Slice"(%x, %i0, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v16 = "onnx.Neg"(%v14) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v17 = "onnx.Unsqueeze"(%v16, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v18 = "onnx.Unsqueeze"(%v15, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v19 = "onnx.Concat"(%v17, %v18) {axis = -1 : i64} : (tensor<1x2x3x4x1xf32>, tensor<1x2x3x4x1xf32>) -> tensor<1x2x3x4x2xf32>
  %v20 = "onnx.Reshape"(%v19, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  %v21 = "onnx.Gather"(%n, %at) {axis = 0 : i64} : (tensor<2x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v22 = "onnx.Unsqueeze"(%v21, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v23 = "onnx.Mul"(%v20, %v22) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v24 = "onnx.Add"(%v13, %v23) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  return %v10, %v24 : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>
}

// Rows cut out and axes removed before rows are gathered.
// CHECK-LABEL: func @rows_in_between
func.func @rows_in_between(%x: tensor<1x2x3x8xf32>, %cos: tensor<1x1x9x4xf32>, %at: tensor<1x3xi64>) -> tensor<1x2x3x8xf32> {
  // CHECK: nn.rotary %arg0, %{{.*}}, %{{.*}} : (tensor<1x2x3x8xf32>, tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>)
  %iend = nn.constant dense<9223372036854775807> : tensor<1xi64> : tensor<1xi64>
  %i3 = nn.constant dense<3> : tensor<1xi64> : tensor<1xi64>
  %i4 = nn.constant dense<4> : tensor<1xi64> : tensor<1xi64>
  %i1 = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %i0_1 = nn.constant dense<[0, 1]> : tensor<2xi64> : tensor<2xi64>
  %i2 = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %i5 = nn.constant dense<5> : tensor<1xi64> : tensor<1xi64>
  %i0 = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %v0 = "onnx.Concat"(%cos, %cos) {axis = -1 : i64} : (tensor<1x1x9x4xf32>, tensor<1x1x9x4xf32>) -> tensor<1x1x9x8xf32>
  %v1 = "onnx.Slice"(%v0, %i0, %i5, %i2) : (tensor<1x1x9x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x1x5x8xf32>
  %v2 = "onnx.Squeeze"(%v1, %i0_1) : (tensor<1x1x5x8xf32>, tensor<2xi64>) -> tensor<5x8xf32>
  %v3 = "onnx.Gather"(%v2, %at) {axis = 0 : i64} : (tensor<5x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v4 = "onnx.Unsqueeze"(%v3, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v5 = "onnx.Gather"(%v2, %at) {axis = 0 : i64} : (tensor<5x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v6 = "onnx.Unsqueeze"(%v5, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v7 = "onnx.Slice"(%x, %i0, %i4, %i3) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v8 = "onnx.Slice"(%x, %i4, %iend, %i3) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v9 = "onnx.Mul"(%x, %v4) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v10 = "onnx.Neg"(%v8) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v11 = "onnx.Concat"(%v10, %v7) {axis = -1 : i64} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x8xf32>
  %v12 = "onnx.Mul"(%v11, %v6) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v13 = "onnx.Add"(%v9, %v12) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  return %v13 : tensor<1x2x3x8xf32>
}
