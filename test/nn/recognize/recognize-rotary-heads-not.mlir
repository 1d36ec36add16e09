// RUN: sol-opt %s --nn-recognize-rotary | FileCheck %s

// Each head has its own angles, before the steps or behind them.
// CHECK-LABEL: func @for_each_head
func.func @for_each_head(%x: tensor<1x2x3x8xf32>, %xe: tensor<1x3x2x8xf32>, %cos: tensor<1x2x3x4xf32>, %cose: tensor<1x3x2x4xf32>) -> (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) {
  // CHECK-NOT: nn.rotary
  %i1_3_2_8 = nn.constant dense<[1, 3, 2, 8]> : tensor<4xi64> : tensor<4xi64>
  %i1_3_2_4_2 = nn.constant dense<[1, 3, 2, 4, 2]> : tensor<5xi64> : tensor<5xi64>
  %i0 = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %i2 = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %i3 = nn.constant dense<3> : tensor<1xi64> : tensor<1xi64>
  %iend = nn.constant dense<9223372036854775807> : tensor<1xi64> : tensor<1xi64>
  %i1 = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %i1_2_3_8 = nn.constant dense<[1, 2, 3, 8]> : tensor<4xi64> : tensor<4xi64>
  %i1_2_3_4_2 = nn.constant dense<[1, 2, 3, 4, 2]> : tensor<5xi64> : tensor<5xi64>
  %im1 = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %v0 = "onnx.Unsqueeze"(%cos, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v1 = "onnx.Expand"(%v0, %i1_2_3_4_2) : (tensor<1x2x3x4x1xf32>, tensor<5xi64>) -> tensor<1x2x3x4x2xf32>
  %v2 = "onnx.Reshape"(%v1, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  %v3 = "onnx.Mul"(%x, %v2) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v4 = "onnx.Slice"(%x, %i1, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v5 = "onnx.Slice"(%x, %i0, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v6 = "onnx.Neg"(%v4) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v7 = "onnx.Unsqueeze"(%v6, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v8 = "onnx.Unsqueeze"(%v5, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v9 = "onnx.Concat"(%v7, %v8) {axis = -1 : i64} : (tensor<1x2x3x4x1xf32>, tensor<1x2x3x4x1xf32>) -> tensor<1x2x3x4x2xf32>
  %v10 = "onnx.Reshape"(%v9, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  %v11 = "onnx.Mul"(%v10, %v2) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v12 = "onnx.Add"(%v3, %v11) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v13 = "onnx.Unsqueeze"(%cose, %im1) : (tensor<1x3x2x4xf32>, tensor<1xi64>) -> tensor<1x3x2x4x1xf32>
  %v14 = "onnx.Expand"(%v13, %i1_3_2_4_2) : (tensor<1x3x2x4x1xf32>, tensor<5xi64>) -> tensor<1x3x2x4x2xf32>
  %v15 = "onnx.Reshape"(%v14, %i1_3_2_8) : (tensor<1x3x2x4x2xf32>, tensor<4xi64>) -> tensor<1x3x2x8xf32>
  %v16 = "onnx.Mul"(%xe, %v15) : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  %v17 = "onnx.Slice"(%xe, %i1, %iend, %i3, %i2) : (tensor<1x3x2x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x3x2x4xf32>
  %v18 = "onnx.Slice"(%xe, %i0, %iend, %i3, %i2) : (tensor<1x3x2x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x3x2x4xf32>
  %v19 = "onnx.Neg"(%v17) : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>
  %v20 = "onnx.Unsqueeze"(%v19, %im1) : (tensor<1x3x2x4xf32>, tensor<1xi64>) -> tensor<1x3x2x4x1xf32>
  %v21 = "onnx.Unsqueeze"(%v18, %im1) : (tensor<1x3x2x4xf32>, tensor<1xi64>) -> tensor<1x3x2x4x1xf32>
  %v22 = "onnx.Concat"(%v20, %v21) {axis = -1 : i64} : (tensor<1x3x2x4x1xf32>, tensor<1x3x2x4x1xf32>) -> tensor<1x3x2x4x2xf32>
  %v23 = "onnx.Reshape"(%v22, %i1_3_2_8) : (tensor<1x3x2x4x2xf32>, tensor<4xi64>) -> tensor<1x3x2x8xf32>
  %v24 = "onnx.Mul"(%v23, %v15) : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  %v25 = "onnx.Add"(%v16, %v24) : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  %v26 = "onnx.Transpose"(%v25) {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x3x2x8xf32>) -> tensor<1x2x3x8xf32>
  return %v12, %v26 : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>
}

// Heads behind steps that stay there, or exchanged with the batch; entries that pass by
// are others.
// CHECK-LABEL: func @other_exchange
func.func @other_exchange(%x: tensor<1x3x2x8xf32>, %cos: tensor<1x3x1x4xf32>, %sin: tensor<1x3x1x4xf32>) -> (tensor<1x3x2x8xf32>, tensor<3x2x1x8xf32>, tensor<1x2x3x8xf32>) {
  // CHECK-NOT: nn.rotary
  %i1_3_2_4 = nn.constant dense<[1, 3, 2, 4]> : tensor<4xi64> : tensor<4xi64>
  %i1_3_1_4 = nn.constant dense<[1, 3, 1, 4]> : tensor<4xi64> : tensor<4xi64>
  %i1_3_1_2_2 = nn.constant dense<[1, 3, 1, 2, 2]> : tensor<5xi64> : tensor<5xi64>
  %i4 = nn.constant dense<4> : tensor<1xi64> : tensor<1xi64>
  %i1_3_2_8 = nn.constant dense<[1, 3, 2, 8]> : tensor<4xi64> : tensor<4xi64>
  %i0 = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %i2 = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %i3 = nn.constant dense<3> : tensor<1xi64> : tensor<1xi64>
  %iend = nn.constant dense<9223372036854775807> : tensor<1xi64> : tensor<1xi64>
  %i1 = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %i1_3_1_8 = nn.constant dense<[1, 3, 1, 8]> : tensor<4xi64> : tensor<4xi64>
  %i1_3_1_4_2 = nn.constant dense<[1, 3, 1, 4, 2]> : tensor<5xi64> : tensor<5xi64>
  %im1 = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %v0 = "onnx.Unsqueeze"(%cos, %im1) : (tensor<1x3x1x4xf32>, tensor<1xi64>) -> tensor<1x3x1x4x1xf32>
  %v1 = "onnx.Expand"(%v0, %i1_3_1_4_2) : (tensor<1x3x1x4x1xf32>, tensor<5xi64>) -> tensor<1x3x1x4x2xf32>
  %v2 = "onnx.Reshape"(%v1, %i1_3_1_8) : (tensor<1x3x1x4x2xf32>, tensor<4xi64>) -> tensor<1x3x1x8xf32>
  %v3 = "onnx.Unsqueeze"(%sin, %im1) : (tensor<1x3x1x4xf32>, tensor<1xi64>) -> tensor<1x3x1x4x1xf32>
  %v4 = "onnx.Expand"(%v3, %i1_3_1_4_2) : (tensor<1x3x1x4x1xf32>, tensor<5xi64>) -> tensor<1x3x1x4x2xf32>
  %v5 = "onnx.Reshape"(%v4, %i1_3_1_8) : (tensor<1x3x1x4x2xf32>, tensor<4xi64>) -> tensor<1x3x1x8xf32>
  %v6 = "onnx.Mul"(%x, %v2) : (tensor<1x3x2x8xf32>, tensor<1x3x1x8xf32>) -> tensor<1x3x2x8xf32>
  %v7 = "onnx.Slice"(%x, %i1, %iend, %i3, %i2) : (tensor<1x3x2x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x3x2x4xf32>
  %v8 = "onnx.Slice"(%x, %i0, %iend, %i3, %i2) : (tensor<1x3x2x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x3x2x4xf32>
  %v9 = "onnx.Neg"(%v7) : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>
  %v10 = "onnx.Unsqueeze"(%v9, %im1) : (tensor<1x3x2x4xf32>, tensor<1xi64>) -> tensor<1x3x2x4x1xf32>
  %v11 = "onnx.Unsqueeze"(%v8, %im1) : (tensor<1x3x2x4xf32>, tensor<1xi64>) -> tensor<1x3x2x4x1xf32>
  %v12 = "onnx.Concat"(%v10, %v11) {axis = -1 : i64} : (tensor<1x3x2x4x1xf32>, tensor<1x3x2x4x1xf32>) -> tensor<1x3x2x4x2xf32>
  %v13 = "onnx.Reshape"(%v12, %i1_3_2_8) : (tensor<1x3x2x4x2xf32>, tensor<4xi64>) -> tensor<1x3x2x8xf32>
  %v14 = "onnx.Mul"(%v13, %v5) : (tensor<1x3x2x8xf32>, tensor<1x3x1x8xf32>) -> tensor<1x3x2x8xf32>
  %v15 = "onnx.Add"(%v6, %v14) : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  %v16 = "onnx.Slice"(%x, %i0, %i4, %i3) : (tensor<1x3x2x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x3x2x4xf32>
  %v17 = "onnx.Slice"(%cos, %i0, %i2, %i3) : (tensor<1x3x1x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x3x1x2xf32>
  %v18 = "onnx.Unsqueeze"(%v17, %im1) : (tensor<1x3x1x2xf32>, tensor<1xi64>) -> tensor<1x3x1x2x1xf32>
  %v19 = "onnx.Expand"(%v18, %i1_3_1_2_2) : (tensor<1x3x1x2x1xf32>, tensor<5xi64>) -> tensor<1x3x1x2x2xf32>
  %v20 = "onnx.Reshape"(%v19, %i1_3_1_4) : (tensor<1x3x1x2x2xf32>, tensor<4xi64>) -> tensor<1x3x1x4xf32>
  %v21 = "onnx.Slice"(%sin, %i0, %i2, %i3) : (tensor<1x3x1x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x3x1x2xf32>
  %v22 = "onnx.Unsqueeze"(%v21, %im1) : (tensor<1x3x1x2xf32>, tensor<1xi64>) -> tensor<1x3x1x2x1xf32>
  %v23 = "onnx.Expand"(%v22, %i1_3_1_2_2) : (tensor<1x3x1x2x1xf32>, tensor<5xi64>) -> tensor<1x3x1x2x2xf32>
  %v24 = "onnx.Reshape"(%v23, %i1_3_1_4) : (tensor<1x3x1x2x2xf32>, tensor<4xi64>) -> tensor<1x3x1x4xf32>
  %v25 = "onnx.Mul"(%v16, %v20) : (tensor<1x3x2x4xf32>, tensor<1x3x1x4xf32>) -> tensor<1x3x2x4xf32>
  %v26 = "onnx.Slice"(%v16, %i1, %iend, %i3, %i2) : (tensor<1x3x2x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x3x2x2xf32>
  %v27 = "onnx.Slice"(%v16, %i0, %iend, %i3, %i2) : (tensor<1x3x2x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x3x2x2xf32>
  %v28 = "onnx.Neg"(%v26) : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %v29 = "onnx.Unsqueeze"(%v28, %im1) : (tensor<1x3x2x2xf32>, tensor<1xi64>) -> tensor<1x3x2x2x1xf32>
  %v30 = "onnx.Unsqueeze"(%v27, %im1) : (tensor<1x3x2x2xf32>, tensor<1xi64>) -> tensor<1x3x2x2x1xf32>
  %v31 = "onnx.Concat"(%v29, %v30) {axis = -1 : i64} : (tensor<1x3x2x2x1xf32>, tensor<1x3x2x2x1xf32>) -> tensor<1x3x2x2x2xf32>
  %v32 = "onnx.Reshape"(%v31, %i1_3_2_4) : (tensor<1x3x2x2x2xf32>, tensor<4xi64>) -> tensor<1x3x2x4xf32>
  %v33 = "onnx.Mul"(%v32, %v24) : (tensor<1x3x2x4xf32>, tensor<1x3x1x4xf32>) -> tensor<1x3x2x4xf32>
  %v34 = "onnx.Add"(%v25, %v33) : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>
  %v35 = "onnx.Concat"(%v34, %v16) {axis = -1 : i64} : (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>) -> tensor<1x3x2x8xf32>
  %v36 = "onnx.Transpose"(%v15) {perm = array<i64: 1, 2, 0, 3>} : (tensor<1x3x2x8xf32>) -> tensor<3x2x1x8xf32>
  %v37 = "onnx.Transpose"(%v35) {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x3x2x8xf32>) -> tensor<1x2x3x8xf32>
  return %v15, %v36, %v37 : tensor<1x3x2x8xf32>, tensor<3x2x1x8xf32>, tensor<1x2x3x8xf32>
}
