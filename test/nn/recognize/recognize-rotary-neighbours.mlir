// RUN: sol-opt %s --nn-recognize-rotary | FileCheck %s

// x * cos + paired(-odd, even) * sin, each cosine given twice side by side.
// CHECK-LABEL: func @sum
func.func @sum(%x: tensor<1x2x3x8xf32>, %cos: tensor<1x1x3x4xf32>, %sin: tensor<1x1x3x4xf32>) -> tensor<1x2x3x8xf32> {
  // CHECK: %[[Y:.*]] = nn.rotary %arg0, %arg1, %arg2 {interleaved}
  // CHECK-NEXT: return %[[Y]]
  %i1_2_3_8 = nn.constant dense<[1, 2, 3, 8]> : tensor<4xi64> : tensor<4xi64>
  %i0 = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %i2 = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %i3 = nn.constant dense<3> : tensor<1xi64> : tensor<1xi64>
  %iend = nn.constant dense<9223372036854775807> : tensor<1xi64> : tensor<1xi64>
  %i1 = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %i1_1_3_8 = nn.constant dense<[1, 1, 3, 8]> : tensor<4xi64> : tensor<4xi64>
  %i1_1_3_4_2 = nn.constant dense<[1, 1, 3, 4, 2]> : tensor<5xi64> : tensor<5xi64>
  %im1 = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %v0 = "onnx.Unsqueeze"(%cos, %im1) : (tensor<1x1x3x4xf32>, tensor<1xi64>) -> tensor<1x1x3x4x1xf32>
  %v1 = "onnx.Expand"(%v0, %i1_1_3_4_2) : (tensor<1x1x3x4x1xf32>, tensor<5xi64>) -> tensor<1x1x3x4x2xf32>
  %v2 = "onnx.Reshape"(%v1, %i1_1_3_8) : (tensor<1x1x3x4x2xf32>, tensor<4xi64>) -> tensor<1x1x3x8xf32>
  %v3 = "onnx.Unsqueeze"(%sin, %im1) : (tensor<1x1x3x4xf32>, tensor<1xi64>) -> tensor<1x1x3x4x1xf32>
  %v4 = "onnx.Expand"(%v3, %i1_1_3_4_2) : (tensor<1x1x3x4x1xf32>, tensor<5xi64>) -> tensor<1x1x3x4x2xf32>
  %v5 = "onnx.Reshape"(%v4, %i1_1_3_8) : (tensor<1x1x3x4x2xf32>, tensor<4xi64>) -> tensor<1x1x3x8xf32>
  %v6 = "onnx.Mul"(%x, %v2) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v7 = "onnx.Slice"(%x, %i1, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v8 = "onnx.Slice"(%x, %i0, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v9 = "onnx.Neg"(%v7) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v10 = "onnx.Unsqueeze"(%v9, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v11 = "onnx.Unsqueeze"(%v8, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v12 = "onnx.Concat"(%v10, %v11) {axis = -1 : i64} : (tensor<1x2x3x4x1xf32>, tensor<1x2x3x4x1xf32>) -> tensor<1x2x3x4x2xf32>
  %v13 = "onnx.Reshape"(%v12, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  %v14 = "onnx.Mul"(%v13, %v5) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v15 = "onnx.Add"(%v6, %v14) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  return %v15 : tensor<1x2x3x8xf32>
}

// paired(even * cos - odd * sin, odd * cos + even * sin).
// CHECK-LABEL: func @parts
func.func @parts(%x: tensor<1x2x3x8xf32>, %cos: tensor<1x1x3x4xf32>, %sin: tensor<1x1x3x4xf32>) -> tensor<1x2x3x8xf32> {
  // CHECK: %[[Y:.*]] = nn.rotary %arg0, %arg1, %arg2 {interleaved}
  // CHECK-NEXT: return %[[Y]]
  %i1_2_3_8 = nn.constant dense<[1, 2, 3, 8]> : tensor<4xi64> : tensor<4xi64>
  %im1 = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %i1 = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %i2 = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %i3 = nn.constant dense<3> : tensor<1xi64> : tensor<1xi64>
  %iend = nn.constant dense<9223372036854775807> : tensor<1xi64> : tensor<1xi64>
  %i0 = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %v0 = "onnx.Slice"(%x, %i0, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v1 = "onnx.Slice"(%x, %i1, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v2 = "onnx.Mul"(%v0, %cos) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v3 = "onnx.Mul"(%v1, %sin) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v4 = "onnx.Sub"(%v2, %v3) : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v5 = "onnx.Mul"(%v1, %cos) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v6 = "onnx.Mul"(%v0, %sin) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v7 = "onnx.Add"(%v5, %v6) : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v8 = "onnx.Unsqueeze"(%v4, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v9 = "onnx.Unsqueeze"(%v7, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v10 = "onnx.Concat"(%v8, %v9) {axis = -1 : i64} : (tensor<1x2x3x4x1xf32>, tensor<1x2x3x4x1xf32>) -> tensor<1x2x3x4x2xf32>
  %v11 = "onnx.Reshape"(%v10, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  return %v11 : tensor<1x2x3x8xf32>
}

// Evens and odds chosen from pairs, or split from them.
// CHECK-LABEL: func @chosen
func.func @chosen(%x: tensor<1x2x3x8xf32>, %cos: tensor<1x1x3x4xf32>, %sin: tensor<1x1x3x4xf32>) -> (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) {
  // CHECK-COUNT-2: nn.rotary %arg0, %arg1, %arg2 {interleaved}
  // CHECK-NOT: onnx.Mul
  %i2 = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %i4 = nn.constant dense<4> : tensor<1xi64> : tensor<1xi64>
  %i1 = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %i0 = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %i1_2_3_8 = nn.constant dense<[1, 2, 3, 8]> : tensor<4xi64> : tensor<4xi64>
  %im1 = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %i1s = nn.constant dense<1> : tensor<i64> : tensor<i64>
  %i0s = nn.constant dense<0> : tensor<i64> : tensor<i64>
  %i1_2_3_4_2 = nn.constant dense<[1, 2, 3, 4, 2]> : tensor<5xi64> : tensor<5xi64>
  %v0 = "onnx.Reshape"(%x, %i1_2_3_4_2) : (tensor<1x2x3x8xf32>, tensor<5xi64>) -> tensor<1x2x3x4x2xf32>
  %v1 = "onnx.Gather"(%v0, %i0s) {axis = -1 : i64} : (tensor<1x2x3x4x2xf32>, tensor<i64>) -> tensor<1x2x3x4xf32>
  %v2 = "onnx.Gather"(%v0, %i1s) {axis = -1 : i64} : (tensor<1x2x3x4x2xf32>, tensor<i64>) -> tensor<1x2x3x4xf32>
  %v3 = "onnx.Mul"(%v1, %cos) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v4 = "onnx.Mul"(%v2, %sin) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v5 = "onnx.Sub"(%v3, %v4) : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v6 = "onnx.Mul"(%v2, %cos) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v7 = "onnx.Mul"(%v1, %sin) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v8 = "onnx.Add"(%v6, %v7) : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v9 = "onnx.Unsqueeze"(%v5, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v10 = "onnx.Unsqueeze"(%v8, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v11 = "onnx.Concat"(%v9, %v10) {axis = -1 : i64} : (tensor<1x2x3x4x1xf32>, tensor<1x2x3x4x1xf32>) -> tensor<1x2x3x4x2xf32>
  %v12 = "onnx.Reshape"(%v11, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  %v13 = "onnx.Slice"(%v0, %i0, %i1, %i4) : (tensor<1x2x3x4x2xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v14 = "onnx.Squeeze"(%v13, %im1) : (tensor<1x2x3x4x1xf32>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v15 = "onnx.Slice"(%v0, %i1, %i2, %i4) : (tensor<1x2x3x4x2xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v16 = "onnx.Squeeze"(%v15, %im1) : (tensor<1x2x3x4x1xf32>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v17 = "onnx.Mul"(%v14, %cos) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v18 = "onnx.Mul"(%v16, %sin) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v19 = "onnx.Sub"(%v17, %v18) : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v20 = "onnx.Mul"(%v16, %cos) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v21 = "onnx.Mul"(%v14, %sin) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v22 = "onnx.Add"(%v20, %v21) : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v23 = "onnx.Unsqueeze"(%v19, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v24 = "onnx.Unsqueeze"(%v22, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v25 = "onnx.Concat"(%v23, %v24) {axis = -1 : i64} : (tensor<1x2x3x4x1xf32>, tensor<1x2x3x4x1xf32>) -> tensor<1x2x3x4x2xf32>
  %v26 = "onnx.Reshape"(%v25, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  return %v12, %v26 : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>
}

// Angles given twice, whose cosines and sines are taken then, and scaled.
// CHECK-LABEL: func @doubled_angles
func.func @doubled_angles(%x: tensor<1x2x3x8xf32>, %angle: tensor<1x1x3x4xf32>) -> tensor<1x2x3x8xf32> {
  // CHECK-DAG: "onnx.Slice"(%{{.*}}) : (tensor<1x1x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x1x3x4xf32>
  // CHECK: nn.rotary %arg0, %{{.*}}, %{{.*}} {interleaved} : (tensor<1x2x3x8xf32>, tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>)
  %i1_2_3_8 = nn.constant dense<[1, 2, 3, 8]> : tensor<4xi64> : tensor<4xi64>
  %i0 = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %i2 = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %i3 = nn.constant dense<3> : tensor<1xi64> : tensor<1xi64>
  %iend = nn.constant dense<9223372036854775807> : tensor<1xi64> : tensor<1xi64>
  %i1 = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %half = nn.constant dense<0.5> : tensor<f32> : tensor<f32>
  %i1_1_3_8 = nn.constant dense<[1, 1, 3, 8]> : tensor<4xi64> : tensor<4xi64>
  %i1_1_3_4_2 = nn.constant dense<[1, 1, 3, 4, 2]> : tensor<5xi64> : tensor<5xi64>
  %im1 = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %v0 = "onnx.Unsqueeze"(%angle, %im1) : (tensor<1x1x3x4xf32>, tensor<1xi64>) -> tensor<1x1x3x4x1xf32>
  %v1 = "onnx.Expand"(%v0, %i1_1_3_4_2) : (tensor<1x1x3x4x1xf32>, tensor<5xi64>) -> tensor<1x1x3x4x2xf32>
  %v2 = "onnx.Reshape"(%v1, %i1_1_3_8) : (tensor<1x1x3x4x2xf32>, tensor<4xi64>) -> tensor<1x1x3x8xf32>
  %v3 = "onnx.Cos"(%v2) : (tensor<1x1x3x8xf32>) -> tensor<1x1x3x8xf32>
  %v4 = "onnx.Sin"(%v2) : (tensor<1x1x3x8xf32>) -> tensor<1x1x3x8xf32>
  %v5 = "onnx.Mul"(%v3, %half) : (tensor<1x1x3x8xf32>, tensor<f32>) -> tensor<1x1x3x8xf32>
  %v6 = "onnx.Mul"(%x, %v5) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v7 = "onnx.Slice"(%x, %i1, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v8 = "onnx.Slice"(%x, %i0, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v9 = "onnx.Neg"(%v7) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v10 = "onnx.Unsqueeze"(%v9, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v11 = "onnx.Unsqueeze"(%v8, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v12 = "onnx.Concat"(%v10, %v11) {axis = -1 : i64} : (tensor<1x2x3x4x1xf32>, tensor<1x2x3x4x1xf32>) -> tensor<1x2x3x4x2xf32>
  %v13 = "onnx.Reshape"(%v12, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  %v14 = "onnx.Mul"(%v13, %v4) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v15 = "onnx.Add"(%v6, %v14) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  return %v15 : tensor<1x2x3x8xf32>
}

// Two entries pass by.
// CHECK-LABEL: func @passing
func.func @passing(%x: tensor<1x2x3x10xf32>, %cos: tensor<1x1x3x4xf32>, %sin: tensor<1x1x3x4xf32>) -> tensor<1x2x3x10xf32> {
  // CHECK: %[[Y:.*]] = nn.rotary %arg0, %arg1, %arg2 {interleaved} : (tensor<1x2x3x10xf32>
  // CHECK-NEXT: return %[[Y]]
  %i1_2_3_8 = nn.constant dense<[1, 2, 3, 8]> : tensor<4xi64> : tensor<4xi64>
  %i2 = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %i1 = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %i1_1_3_8 = nn.constant dense<[1, 1, 3, 8]> : tensor<4xi64> : tensor<4xi64>
  %i1_1_3_4_2 = nn.constant dense<[1, 1, 3, 4, 2]> : tensor<5xi64> : tensor<5xi64>
  %im1 = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %iend = nn.constant dense<9223372036854775807> : tensor<1xi64> : tensor<1xi64>
  %i3 = nn.constant dense<3> : tensor<1xi64> : tensor<1xi64>
  %i8 = nn.constant dense<8> : tensor<1xi64> : tensor<1xi64>
  %i0 = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %v0 = "onnx.Slice"(%x, %i0, %i8, %i3) : (tensor<1x2x3x10xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x8xf32>
  %v1 = "onnx.Slice"(%x, %i8, %iend, %i3) : (tensor<1x2x3x10xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x2xf32>
  %v2 = "onnx.Unsqueeze"(%cos, %im1) : (tensor<1x1x3x4xf32>, tensor<1xi64>) -> tensor<1x1x3x4x1xf32>
  %v3 = "onnx.Expand"(%v2, %i1_1_3_4_2) : (tensor<1x1x3x4x1xf32>, tensor<5xi64>) -> tensor<1x1x3x4x2xf32>
  %v4 = "onnx.Reshape"(%v3, %i1_1_3_8) : (tensor<1x1x3x4x2xf32>, tensor<4xi64>) -> tensor<1x1x3x8xf32>
  %v5 = "onnx.Unsqueeze"(%sin, %im1) : (tensor<1x1x3x4xf32>, tensor<1xi64>) -> tensor<1x1x3x4x1xf32>
  %v6 = "onnx.Expand"(%v5, %i1_1_3_4_2) : (tensor<1x1x3x4x1xf32>, tensor<5xi64>) -> tensor<1x1x3x4x2xf32>
  %v7 = "onnx.Reshape"(%v6, %i1_1_3_8) : (tensor<1x1x3x4x2xf32>, tensor<4xi64>) -> tensor<1x1x3x8xf32>
  %v8 = "onnx.Mul"(%v0, %v4) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v9 = "onnx.Slice"(%v0, %i1, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v10 = "onnx.Slice"(%v0, %i0, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v11 = "onnx.Neg"(%v9) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v12 = "onnx.Unsqueeze"(%v11, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v13 = "onnx.Unsqueeze"(%v10, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v14 = "onnx.Concat"(%v12, %v13) {axis = -1 : i64} : (tensor<1x2x3x4x1xf32>, tensor<1x2x3x4x1xf32>) -> tensor<1x2x3x4x2xf32>
  %v15 = "onnx.Reshape"(%v14, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  %v16 = "onnx.Mul"(%v15, %v7) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v17 = "onnx.Add"(%v8, %v16) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v18 = "onnx.Concat"(%v17, %v1) {axis = -1 : i64} : (tensor<1x2x3x8xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x10xf32>
  return %v18 : tensor<1x2x3x10xf32>
}

// Heads behind steps, exchanged after the rotation, once with keys turned too.
// CHECK-LABEL: func @exchanged
func.func @exchanged(%x: tensor<1x3x2x10xf32>, %cos: tensor<1x3x1x4xf32>, %sin: tensor<1x3x1x4xf32>) -> (tensor<1x2x3x10xf32>, tensor<1x2x10x3xf32>) {
  // CHECK-DAG: %[[X:.*]] = "onnx.Transpose"(%arg0) {perm = array<i64: 0, 2, 1, 3>}
  // CHECK-DAG: %[[C:.*]] = "onnx.Transpose"(%arg1) {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x3x1x4xf32>) -> tensor<1x1x3x4xf32>
  // CHECK: nn.rotary %{{.*}}, %{{.*}}, %{{.*}} {interleaved} : (tensor<1x2x3x10xf32>, tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x10xf32>
  // CHECK: "onnx.Transpose"(%{{.*}}) {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x2x3x10xf32>) -> tensor<1x2x10x3xf32>
  // CHECK-NOT: onnx.Mul
  %i1_3_2_8 = nn.constant dense<[1, 3, 2, 8]> : tensor<4xi64> : tensor<4xi64>
  %i2 = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %i1 = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %i1_3_1_8 = nn.constant dense<[1, 3, 1, 8]> : tensor<4xi64> : tensor<4xi64>
  %i1_3_1_4_2 = nn.constant dense<[1, 3, 1, 4, 2]> : tensor<5xi64> : tensor<5xi64>
  %im1 = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %iend = nn.constant dense<9223372036854775807> : tensor<1xi64> : tensor<1xi64>
  %i3 = nn.constant dense<3> : tensor<1xi64> : tensor<1xi64>
  %i8 = nn.constant dense<8> : tensor<1xi64> : tensor<1xi64>
  %i0 = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %v0 = "onnx.Slice"(%x, %i0, %i8, %i3) : (tensor<1x3x2x10xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x3x2x8xf32>
  %v1 = "onnx.Slice"(%x, %i8, %iend, %i3) : (tensor<1x3x2x10xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x3x2x2xf32>
  %v2 = "onnx.Unsqueeze"(%cos, %im1) : (tensor<1x3x1x4xf32>, tensor<1xi64>) -> tensor<1x3x1x4x1xf32>
  %v3 = "onnx.Expand"(%v2, %i1_3_1_4_2) : (tensor<1x3x1x4x1xf32>, tensor<5xi64>) -> tensor<1x3x1x4x2xf32>
  %v4 = "onnx.Reshape"(%v3, %i1_3_1_8) : (tensor<1x3x1x4x2xf32>, tensor<4xi64>) -> tensor<1x3x1x8xf32>
  %v5 = "onnx.Unsqueeze"(%sin, %im1) : (tensor<1x3x1x4xf32>, tensor<1xi64>) -> tensor<1x3x1x4x1xf32>
  %v6 = "onnx.Expand"(%v5, %i1_3_1_4_2) : (tensor<1x3x1x4x1xf32>, tensor<5xi64>) -> tensor<1x3x1x4x2xf32>
  %v7 = "onnx.Reshape"(%v6, %i1_3_1_8) : (tensor<1x3x1x4x2xf32>, tensor<4xi64>) -> tensor<1x3x1x8xf32>
  %v8 = "onnx.Mul"(%v0, %v4) : (tensor<1x3x2x8xf32>, tensor<1x3x1x8xf32>) -> tensor<1x3x2x8xf32>
  %v9 = "onnx.Slice"(%v0, %i1, %iend, %i3, %i2) : (tensor<1x3x2x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x3x2x4xf32>
  %v10 = "onnx.Slice"(%v0, %i0, %iend, %i3, %i2) : (tensor<1x3x2x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x3x2x4xf32>
  %v11 = "onnx.Neg"(%v9) : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>
  %v12 = "onnx.Unsqueeze"(%v11, %im1) : (tensor<1x3x2x4xf32>, tensor<1xi64>) -> tensor<1x3x2x4x1xf32>
  %v13 = "onnx.Unsqueeze"(%v10, %im1) : (tensor<1x3x2x4xf32>, tensor<1xi64>) -> tensor<1x3x2x4x1xf32>
  %v14 = "onnx.Concat"(%v12, %v13) {axis = -1 : i64} : (tensor<1x3x2x4x1xf32>, tensor<1x3x2x4x1xf32>) -> tensor<1x3x2x4x2xf32>
  %v15 = "onnx.Reshape"(%v14, %i1_3_2_8) : (tensor<1x3x2x4x2xf32>, tensor<4xi64>) -> tensor<1x3x2x8xf32>
  %v16 = "onnx.Mul"(%v15, %v7) : (tensor<1x3x2x8xf32>, tensor<1x3x1x8xf32>) -> tensor<1x3x2x8xf32>
  %v17 = "onnx.Add"(%v8, %v16) : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  %v18 = "onnx.Concat"(%v17, %v1) {axis = -1 : i64} : (tensor<1x3x2x8xf32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x10xf32>
  %v19 = "onnx.Transpose"(%v18) {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x3x2x10xf32>) -> tensor<1x2x3x10xf32>
  %v20 = "onnx.Transpose"(%v18) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x2x10xf32>) -> tensor<1x2x10x3xf32>
  return %v19, %v20 : tensor<1x2x3x10xf32>, tensor<1x2x10x3xf32>
}

// Halves, and tables of fewer axes.
// CHECK-LABEL: func @exchanged_halves
func.func @exchanged_halves(%x: tensor<1x3x2x8xf32>, %cos: tensor<3x1x4xf32>, %sin: tensor<4xf32>) -> tensor<1x2x3x8xf32> {
  // CHECK: nn.rotary %{{.*}}, %{{.*}}, %arg2 : (tensor<1x2x3x8xf32>, tensor<1x3x4xf32>, tensor<4xf32>) -> tensor<1x2x3x8xf32>
  %iend = nn.constant dense<9223372036854775807> : tensor<1xi64> : tensor<1xi64>
  %i3 = nn.constant dense<3> : tensor<1xi64> : tensor<1xi64>
  %i4 = nn.constant dense<4> : tensor<1xi64> : tensor<1xi64>
  %i0 = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %v0 = "onnx.Slice"(%x, %i0, %i4, %i3) : (tensor<1x3x2x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x3x2x4xf32>
  %v1 = "onnx.Slice"(%x, %i4, %iend, %i3) : (tensor<1x3x2x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x3x2x4xf32>
  %v2 = "onnx.Mul"(%v0, %cos) : (tensor<1x3x2x4xf32>, tensor<3x1x4xf32>) -> tensor<1x3x2x4xf32>
  %v3 = "onnx.Mul"(%v1, %sin) : (tensor<1x3x2x4xf32>, tensor<4xf32>) -> tensor<1x3x2x4xf32>
  %v4 = "onnx.Sub"(%v2, %v3) : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>
  %v5 = "onnx.Mul"(%v1, %cos) : (tensor<1x3x2x4xf32>, tensor<3x1x4xf32>) -> tensor<1x3x2x4xf32>
  %v6 = "onnx.Mul"(%v0, %sin) : (tensor<1x3x2x4xf32>, tensor<4xf32>) -> tensor<1x3x2x4xf32>
  %v7 = "onnx.Add"(%v5, %v6) : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>
  %v8 = "onnx.Concat"(%v4, %v7) {axis = -1 : i64} : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x3x2x8xf32>
  %v9 = "onnx.Transpose"(%v8) {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x3x2x8xf32>) -> tensor<1x2x3x8xf32>
  return %v9 : tensor<1x2x3x8xf32>
}
