// RUN: sol-opt %s --nn-recognize-rotary | FileCheck %s

// The second of a pair comes first; evens where odds belong; the sign on the other;
// one entry too few.
// CHECK-LABEL: func @other_order
func.func @other_order(%x: tensor<1x2x3x8xf32>, %cos: tensor<1x1x3x4xf32>, %sin: tensor<1x1x3x4xf32>) -> (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) {
  // CHECK-NOT: nn.rotary
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
  %v10 = "onnx.Unsqueeze"(%v8, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v11 = "onnx.Unsqueeze"(%v9, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v12 = "onnx.Concat"(%v10, %v11) {axis = -1 : i64} : (tensor<1x2x3x4x1xf32>, tensor<1x2x3x4x1xf32>) -> tensor<1x2x3x4x2xf32>
  %v13 = "onnx.Reshape"(%v12, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  %v14 = "onnx.Mul"(%v13, %v5) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v15 = "onnx.Add"(%v6, %v14) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v16 = "onnx.Neg"(%v8) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v17 = "onnx.Unsqueeze"(%v16, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v18 = "onnx.Unsqueeze"(%v7, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v19 = "onnx.Concat"(%v17, %v18) {axis = -1 : i64} : (tensor<1x2x3x4x1xf32>, tensor<1x2x3x4x1xf32>) -> tensor<1x2x3x4x2xf32>
  %v20 = "onnx.Reshape"(%v19, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  %v21 = "onnx.Mul"(%v20, %v5) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v22 = "onnx.Add"(%v6, %v21) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v23 = "onnx.Neg"(%v8) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v24 = "onnx.Unsqueeze"(%v7, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v25 = "onnx.Unsqueeze"(%v23, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v26 = "onnx.Concat"(%v24, %v25) {axis = -1 : i64} : (tensor<1x2x3x4x1xf32>, tensor<1x2x3x4x1xf32>) -> tensor<1x2x3x4x2xf32>
  %v27 = "onnx.Reshape"(%v26, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  %v28 = "onnx.Mul"(%v27, %v5) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v29 = "onnx.Add"(%v6, %v28) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v30 = "onnx.Neg"(%v7) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v31 = "onnx.Unsqueeze"(%v30, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v32 = "onnx.Unsqueeze"(%v7, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v33 = "onnx.Concat"(%v31, %v32) {axis = -1 : i64} : (tensor<1x2x3x4x1xf32>, tensor<1x2x3x4x1xf32>) -> tensor<1x2x3x4x2xf32>
  %v34 = "onnx.Reshape"(%v33, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  %v35 = "onnx.Mul"(%v34, %v5) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v36 = "onnx.Add"(%v6, %v35) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  return %v15, %v22, %v29, %v36 : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>
}

// Parts exchanged; evens and odds exchanged; a plus for the minus; cosines or sines of
// other positions for the odds.
// CHECK-LABEL: func @other_parts
func.func @other_parts(%x: tensor<1x2x3x8xf32>, %cos: tensor<1x1x3x4xf32>, %sin: tensor<1x1x3x4xf32>, %cos2: tensor<1x1x3x4xf32>, %sin2: tensor<1x1x3x4xf32>) -> (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) {
  // CHECK-NOT: nn.rotary
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
  %v8 = "onnx.Unsqueeze"(%v7, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v9 = "onnx.Unsqueeze"(%v4, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v10 = "onnx.Concat"(%v8, %v9) {axis = -1 : i64} : (tensor<1x2x3x4x1xf32>, tensor<1x2x3x4x1xf32>) -> tensor<1x2x3x4x2xf32>
  %v11 = "onnx.Reshape"(%v10, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  %v12 = "onnx.Mul"(%v1, %cos) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v13 = "onnx.Mul"(%v0, %sin) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v14 = "onnx.Sub"(%v12, %v13) : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v15 = "onnx.Mul"(%v0, %cos) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v16 = "onnx.Mul"(%v1, %sin) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v17 = "onnx.Add"(%v15, %v16) : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v18 = "onnx.Unsqueeze"(%v14, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v19 = "onnx.Unsqueeze"(%v17, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v20 = "onnx.Concat"(%v18, %v19) {axis = -1 : i64} : (tensor<1x2x3x4x1xf32>, tensor<1x2x3x4x1xf32>) -> tensor<1x2x3x4x2xf32>
  %v21 = "onnx.Reshape"(%v20, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  %v22 = "onnx.Mul"(%v0, %cos) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v23 = "onnx.Mul"(%v1, %sin) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v24 = "onnx.Add"(%v22, %v23) : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v25 = "onnx.Mul"(%v1, %cos) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v26 = "onnx.Mul"(%v0, %sin) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v27 = "onnx.Add"(%v25, %v26) : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v28 = "onnx.Unsqueeze"(%v24, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v29 = "onnx.Unsqueeze"(%v27, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v30 = "onnx.Concat"(%v28, %v29) {axis = -1 : i64} : (tensor<1x2x3x4x1xf32>, tensor<1x2x3x4x1xf32>) -> tensor<1x2x3x4x2xf32>
  %v31 = "onnx.Reshape"(%v30, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  %v32 = "onnx.Mul"(%v0, %cos) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v33 = "onnx.Mul"(%v1, %sin) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v34 = "onnx.Sub"(%v32, %v33) : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v35 = "onnx.Mul"(%v1, %cos2) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v36 = "onnx.Mul"(%v0, %sin) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v37 = "onnx.Add"(%v35, %v36) : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v38 = "onnx.Unsqueeze"(%v34, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v39 = "onnx.Unsqueeze"(%v37, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v40 = "onnx.Concat"(%v38, %v39) {axis = -1 : i64} : (tensor<1x2x3x4x1xf32>, tensor<1x2x3x4x1xf32>) -> tensor<1x2x3x4x2xf32>
  %v41 = "onnx.Reshape"(%v40, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  %v42 = "onnx.Mul"(%v0, %cos) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v43 = "onnx.Mul"(%v1, %sin) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v44 = "onnx.Sub"(%v42, %v43) : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v45 = "onnx.Mul"(%v1, %cos) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v46 = "onnx.Mul"(%v0, %sin2) : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v47 = "onnx.Add"(%v45, %v46) : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v48 = "onnx.Unsqueeze"(%v44, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v49 = "onnx.Unsqueeze"(%v47, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v50 = "onnx.Concat"(%v48, %v49) {axis = -1 : i64} : (tensor<1x2x3x4x1xf32>, tensor<1x2x3x4x1xf32>) -> tensor<1x2x3x4x2xf32>
  %v51 = "onnx.Reshape"(%v50, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  return %v11, %v21, %v31, %v41, %v51 : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>
}

// Another tensor is turned; pairs of another axis; every second of a part only.
// CHECK-LABEL: func @other_entries
func.func @other_entries(%x: tensor<1x2x3x8xf32>, %z: tensor<1x2x3x8xf32>, %cos: tensor<1x1x3x4xf32>, %sin: tensor<1x1x3x4xf32>) -> (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x6xf32>) {
  // CHECK-NOT: nn.rotary
  %i1_2_3_6 = nn.constant dense<[1, 2, 3, 6]> : tensor<4xi64> : tensor<4xi64>
  %i6 = nn.constant dense<6> : tensor<1xi64> : tensor<1xi64>
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
  %v7 = "onnx.Slice"(%z, %i1, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v8 = "onnx.Slice"(%z, %i0, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v9 = "onnx.Neg"(%v7) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v10 = "onnx.Unsqueeze"(%v9, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v11 = "onnx.Unsqueeze"(%v8, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v12 = "onnx.Concat"(%v10, %v11) {axis = -1 : i64} : (tensor<1x2x3x4x1xf32>, tensor<1x2x3x4x1xf32>) -> tensor<1x2x3x4x2xf32>
  %v13 = "onnx.Reshape"(%v12, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  %v14 = "onnx.Mul"(%v13, %v5) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v15 = "onnx.Add"(%v6, %v14) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v16 = "onnx.Slice"(%x, %i1, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v17 = "onnx.Slice"(%z, %i0, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v18 = "onnx.Mul"(%x, %v2) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v19 = "onnx.Neg"(%v16) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v20 = "onnx.Unsqueeze"(%v19, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v21 = "onnx.Unsqueeze"(%v17, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v22 = "onnx.Concat"(%v20, %v21) {axis = -1 : i64} : (tensor<1x2x3x4x1xf32>, tensor<1x2x3x4x1xf32>) -> tensor<1x2x3x4x2xf32>
  %v23 = "onnx.Reshape"(%v22, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  %v24 = "onnx.Mul"(%v23, %v5) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v25 = "onnx.Add"(%v18, %v24) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v26 = "onnx.Slice"(%x, %i3, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x3xf32>
  %v27 = "onnx.Slice"(%x, %i0, %i6, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x3xf32>
  %v28 = "onnx.Slice"(%cos, %i0, %i3, %i3) : (tensor<1x1x3x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x1x3x3xf32>
  %v29 = "onnx.Slice"(%sin, %i0, %i3, %i3) : (tensor<1x1x3x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x1x3x3xf32>
  %v30 = "onnx.Mul"(%v27, %v28) : (tensor<1x2x3x3xf32>, tensor<1x1x3x3xf32>) -> tensor<1x2x3x3xf32>
  %v31 = "onnx.Mul"(%v26, %v29) : (tensor<1x2x3x3xf32>, tensor<1x1x3x3xf32>) -> tensor<1x2x3x3xf32>
  %v32 = "onnx.Sub"(%v30, %v31) : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %v33 = "onnx.Mul"(%v26, %v28) : (tensor<1x2x3x3xf32>, tensor<1x1x3x3xf32>) -> tensor<1x2x3x3xf32>
  %v34 = "onnx.Mul"(%v27, %v29) : (tensor<1x2x3x3xf32>, tensor<1x1x3x3xf32>) -> tensor<1x2x3x3xf32>
  %v35 = "onnx.Add"(%v33, %v34) : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %v36 = "onnx.Unsqueeze"(%v32, %im1) : (tensor<1x2x3x3xf32>, tensor<1xi64>) -> tensor<1x2x3x3x1xf32>
  %v37 = "onnx.Unsqueeze"(%v35, %im1) : (tensor<1x2x3x3xf32>, tensor<1xi64>) -> tensor<1x2x3x3x1xf32>
  %v38 = "onnx.Concat"(%v36, %v37) {axis = -1 : i64} : (tensor<1x2x3x3x1xf32>, tensor<1x2x3x3x1xf32>) -> tensor<1x2x3x3x2xf32>
  %v39 = "onnx.Reshape"(%v38, %i1_2_3_6) : (tensor<1x2x3x3x2xf32>, tensor<4xi64>) -> tensor<1x2x3x6xf32>
  return %v15, %v25, %v39 : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x6xf32>
}

// Evens and odds of the steps.
// Stacked before the last axis: one part follows the other.
// CHECK-LABEL: func @other_axis
func.func @other_axis(%x: tensor<1x1x4x4xf32>, %cos: tensor<1x1x1x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  // CHECK-NOT: nn.rotary
  %i1_1_1_4 = nn.constant dense<[1, 1, 1, 4]> : tensor<4xi64> : tensor<4xi64>
  %i1_1_1_2_2 = nn.constant dense<[1, 1, 1, 2, 2]> : tensor<5xi64> : tensor<5xi64>
  %im1 = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %i1_1_4_4 = nn.constant dense<[1, 1, 4, 4]> : tensor<4xi64> : tensor<4xi64>
  %i3 = nn.constant dense<3> : tensor<1xi64> : tensor<1xi64>
  %i1 = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %i2 = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %iend = nn.constant dense<9223372036854775807> : tensor<1xi64> : tensor<1xi64>
  %i0 = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %v0 = "onnx.Slice"(%x, %i0, %iend, %i2, %i2) : (tensor<1x1x4x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x1x2x4xf32>
  %v1 = "onnx.Slice"(%x, %i1, %iend, %i2, %i2) : (tensor<1x1x4x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x1x2x4xf32>
  %v2 = "onnx.Neg"(%v1) : (tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32>
  %v3 = "onnx.Unsqueeze"(%v2, %i3) : (tensor<1x1x2x4xf32>, tensor<1xi64>) -> tensor<1x1x2x1x4xf32>
  %v4 = "onnx.Unsqueeze"(%v0, %i3) : (tensor<1x1x2x4xf32>, tensor<1xi64>) -> tensor<1x1x2x1x4xf32>
  %v5 = "onnx.Concat"(%v3, %v4) {axis = 3 : i64} : (tensor<1x1x2x1x4xf32>, tensor<1x1x2x1x4xf32>) -> tensor<1x1x2x2x4xf32>
  %v6 = "onnx.Reshape"(%v5, %i1_1_4_4) : (tensor<1x1x2x2x4xf32>, tensor<4xi64>) -> tensor<1x1x4x4xf32>
  %v7 = "onnx.Slice"(%cos, %i0, %i2, %i3) : (tensor<1x1x1x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x1x1x2xf32>
  %v8 = "onnx.Unsqueeze"(%v7, %im1) : (tensor<1x1x1x2xf32>, tensor<1xi64>) -> tensor<1x1x1x2x1xf32>
  %v9 = "onnx.Expand"(%v8, %i1_1_1_2_2) : (tensor<1x1x1x2x1xf32>, tensor<5xi64>) -> tensor<1x1x1x2x2xf32>
  %v10 = "onnx.Reshape"(%v9, %i1_1_1_4) : (tensor<1x1x1x2x2xf32>, tensor<4xi64>) -> tensor<1x1x1x4xf32>
  %v11 = "onnx.Mul"(%x, %v10) : (tensor<1x1x4x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x1x4x4xf32>
  %v12 = "onnx.Mul"(%v6, %v10) : (tensor<1x1x4x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x1x4x4xf32>
  %v13 = "onnx.Add"(%v11, %v12) : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %v14 = "onnx.Slice"(%x, %i0, %iend, %i3, %i2) : (tensor<1x1x4x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x1x4x2xf32>
  %v15 = "onnx.Slice"(%x, %i1, %iend, %i3, %i2) : (tensor<1x1x4x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x1x4x2xf32>
  %v16 = "onnx.Neg"(%v15) : (tensor<1x1x4x2xf32>) -> tensor<1x1x4x2xf32>
  %v17 = "onnx.Unsqueeze"(%v16, %i3) : (tensor<1x1x4x2xf32>, tensor<1xi64>) -> tensor<1x1x4x1x2xf32>
  %v18 = "onnx.Unsqueeze"(%v14, %i3) : (tensor<1x1x4x2xf32>, tensor<1xi64>) -> tensor<1x1x4x1x2xf32>
  %v19 = "onnx.Concat"(%v17, %v18) {axis = 3 : i64} : (tensor<1x1x4x1x2xf32>, tensor<1x1x4x1x2xf32>) -> tensor<1x1x4x2x2xf32>
  %v20 = "onnx.Reshape"(%v19, %i1_1_4_4) : (tensor<1x1x4x2x2xf32>, tensor<4xi64>) -> tensor<1x1x4x4xf32>
  %v21 = "onnx.Mul"(%x, %v10) : (tensor<1x1x4x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x1x4x4xf32>
  %v22 = "onnx.Mul"(%v20, %v10) : (tensor<1x1x4x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x1x4x4xf32>
  %v23 = "onnx.Add"(%v21, %v22) : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  return %v13, %v23 : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}
