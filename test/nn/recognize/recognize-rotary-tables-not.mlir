// RUN: sol-opt %s --nn-recognize-rotary | FileCheck %s

// Halves given twice for neighbours, and neighbours for halves; nothing known of a table;
// unlike neighbours.
// CHECK-LABEL: func @other_doubling
func.func @other_doubling(%x: tensor<1x2x3x8xf32>, %cos: tensor<1x1x3x4xf32>, %sin: tensor<1x1x3x4xf32>, %free: tensor<1x1x3x8xf32>) -> (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) {
  // CHECK-NOT: nn.rotary
  %i4 = nn.constant dense<4> : tensor<1xi64> : tensor<1xi64>
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
  %v6 = "onnx.Concat"(%cos, %cos) {axis = -1 : i64} : (tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x1x3x8xf32>
  %v7 = "onnx.Concat"(%sin, %sin) {axis = -1 : i64} : (tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x1x3x8xf32>
  %v8 = "onnx.Slice"(%x, %i1, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v9 = "onnx.Slice"(%x, %i0, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v10 = "onnx.Neg"(%v8) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v11 = "onnx.Unsqueeze"(%v10, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v12 = "onnx.Unsqueeze"(%v9, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v13 = "onnx.Concat"(%v11, %v12) {axis = -1 : i64} : (tensor<1x2x3x4x1xf32>, tensor<1x2x3x4x1xf32>) -> tensor<1x2x3x4x2xf32>
  %v14 = "onnx.Reshape"(%v13, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  %v15 = "onnx.Mul"(%x, %v6) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v16 = "onnx.Mul"(%v14, %v7) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v17 = "onnx.Add"(%v15, %v16) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v18 = "onnx.Mul"(%x, %v2) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v19 = "onnx.Mul"(%v14, %v7) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v20 = "onnx.Add"(%v18, %v19) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v21 = "onnx.Mul"(%x, %free) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v22 = "onnx.Mul"(%v14, %v5) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v23 = "onnx.Add"(%v21, %v22) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v24 = "onnx.Unsqueeze"(%cos, %im1) : (tensor<1x1x3x4xf32>, tensor<1xi64>) -> tensor<1x1x3x4x1xf32>
  %v25 = "onnx.Unsqueeze"(%sin, %im1) : (tensor<1x1x3x4xf32>, tensor<1xi64>) -> tensor<1x1x3x4x1xf32>
  %v26 = "onnx.Concat"(%v24, %v25) {axis = -1 : i64} : (tensor<1x1x3x4x1xf32>, tensor<1x1x3x4x1xf32>) -> tensor<1x1x3x4x2xf32>
  %v27 = "onnx.Reshape"(%v26, %i1_1_3_8) : (tensor<1x1x3x4x2xf32>, tensor<4xi64>) -> tensor<1x1x3x8xf32>
  %v28 = "onnx.Mul"(%x, %v27) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v29 = "onnx.Mul"(%v14, %v5) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v30 = "onnx.Add"(%v28, %v29) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v31 = "onnx.Slice"(%x, %i0, %i4, %i3) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v32 = "onnx.Slice"(%x, %i4, %iend, %i3) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v33 = "onnx.Neg"(%v32) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v34 = "onnx.Concat"(%v33, %v31) {axis = -1 : i64} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x8xf32>
  %v35 = "onnx.Mul"(%x, %v2) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v36 = "onnx.Mul"(%v34, %v5) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v37 = "onnx.Add"(%v35, %v36) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  return %v17, %v20, %v23, %v30, %v37 : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>
}

// Nothing known of the table; halves of others; one number differs, for halves and for
// neighbours; columns chosen; a weight, which is not read; columns backwards.
// CHECK-LABEL: func @not_repeated
func.func @not_repeated(%x: tensor<1x2x3x8xf32>, %at: tensor<1x3xi64>, %free: tensor<9x8xf32>) -> (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) {
  // CHECK-NOT: nn.rotary
  %im9 = nn.constant dense<-9> : tensor<1xi64> : tensor<1xi64>
  %i7 = nn.constant dense<7> : tensor<1xi64> : tensor<1xi64>
  %i0_1_2_3_4_5_7_6 = nn.constant dense<[0, 1, 2, 3, 4, 5, 7, 6]> : tensor<8xi64> : tensor<8xi64>
  %i1_2_3_8 = nn.constant dense<[1, 2, 3, 8]> : tensor<4xi64> : tensor<4xi64>
  %im1 = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %i2 = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %iend = nn.constant dense<9223372036854775807> : tensor<1xi64> : tensor<1xi64>
  %i3 = nn.constant dense<3> : tensor<1xi64> : tensor<1xi64>
  %i4 = nn.constant dense<4> : tensor<1xi64> : tensor<1xi64>
  %i0 = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %i1 = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %v0 = "onnx.Gather"(%free, %at) {axis = 0 : i64} : (tensor<9x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v1 = "onnx.Unsqueeze"(%v0, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v2 = "onnx.Gather"(%free, %at) {axis = 0 : i64} : (tensor<9x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v3 = "onnx.Unsqueeze"(%v2, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v4 = "onnx.Slice"(%x, %i0, %i4, %i3) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v5 = "onnx.Slice"(%x, %i4, %iend, %i3) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v6 = "onnx.Mul"(%x, %v1) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v7 = "onnx.Neg"(%v5) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v8 = "onnx.Concat"(%v7, %v4) {axis = -1 : i64} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x8xf32>
  %v9 = "onnx.Mul"(%v8, %v3) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v10 = "onnx.Add"(%v6, %v9) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %u = nn.folded : tensor<9x8xf32> {
    %a = nn.weight <"w", 0, 144, raw, 0> : tensor<9x4xf32>
    %b = nn.weight <"w", 144, 144, raw, 0> : tensor<9x4xf32>
    %aa = "onnx.Concat"(%a, %b) {axis = -1 : i64} : (tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<9x8xf32>
    %c = "onnx.Cos"(%aa) : (tensor<9x8xf32>) -> tensor<9x8xf32>
    nn.yield %c : tensor<9x8xf32>
  }
  %v11 = "onnx.Gather"(%u, %at) {axis = 0 : i64} : (tensor<9x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v12 = "onnx.Unsqueeze"(%v11, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v13 = "onnx.Gather"(%u, %at) {axis = 0 : i64} : (tensor<9x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v14 = "onnx.Unsqueeze"(%v13, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v15 = "onnx.Slice"(%x, %i0, %i4, %i3) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v16 = "onnx.Slice"(%x, %i4, %iend, %i3) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v17 = "onnx.Mul"(%x, %v12) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v18 = "onnx.Neg"(%v16) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v19 = "onnx.Concat"(%v18, %v15) {axis = -1 : i64} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x8xf32>
  %v20 = "onnx.Mul"(%v19, %v14) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v21 = "onnx.Add"(%v17, %v20) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %h = nn.constant dense<[[0.0, 0.1, 0.2, 0.3, 0.0, 0.1, 0.2, 0.3], [1.0, 1.1, 1.2, 1.3, 1.0, 1.1, 1.2, 1.4]]> : tensor<2x8xf32> : tensor<2x8xf32>
  %v22 = "onnx.Gather"(%h, %at) {axis = 0 : i64} : (tensor<2x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v23 = "onnx.Unsqueeze"(%v22, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v24 = "onnx.Gather"(%h, %at) {axis = 0 : i64} : (tensor<2x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v25 = "onnx.Unsqueeze"(%v24, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v26 = "onnx.Slice"(%x, %i0, %i4, %i3) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v27 = "onnx.Slice"(%x, %i4, %iend, %i3) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v28 = "onnx.Mul"(%x, %v23) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v29 = "onnx.Neg"(%v27) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v30 = "onnx.Concat"(%v29, %v26) {axis = -1 : i64} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x8xf32>
  %v31 = "onnx.Mul"(%v30, %v25) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v32 = "onnx.Add"(%v28, %v31) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %n = nn.constant dense<[[0.0, 0.0, 0.1, 0.1, 0.2, 0.2, 0.3, 0.3], [1.0, -1.0, 1.1, 1.1, 1.2, 1.2, 1.3, 1.3]]> : tensor<2x8xf32> : tensor<2x8xf32>
  %v33 = "onnx.Gather"(%n, %at) {axis = 0 : i64} : (tensor<2x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v34 = "onnx.Unsqueeze"(%v33, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v35 = "onnx.Mul"(%x, %v34) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v36 = "onnx.Slice"(%x, %i1, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v37 = "onnx.Slice"(%x, %i0, %iend, %i3, %i2) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v38 = "onnx.Neg"(%v36) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v39 = "onnx.Unsqueeze"(%v38, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v40 = "onnx.Unsqueeze"(%v37, %im1) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<1x2x3x4x1xf32>
  %v41 = "onnx.Concat"(%v39, %v40) {axis = -1 : i64} : (tensor<1x2x3x4x1xf32>, tensor<1x2x3x4x1xf32>) -> tensor<1x2x3x4x2xf32>
  %v42 = "onnx.Reshape"(%v41, %i1_2_3_8) : (tensor<1x2x3x4x2xf32>, tensor<4xi64>) -> tensor<1x2x3x8xf32>
  %v43 = "onnx.Mul"(%v42, %v34) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v44 = "onnx.Add"(%v35, %v43) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %repeated = nn.constant dense<[[0.0, 0.1, 0.2, 0.3, 0.0, 0.1, 0.2, 0.3], [1.0, 1.1, 1.2, 1.3, 1.0, 1.1, 1.2, 1.3]]> : tensor<2x8xf32> : tensor<2x8xf32>
  %v45 = "onnx.Gather"(%repeated, %i0_1_2_3_4_5_7_6) {axis = -1 : i64} : (tensor<2x8xf32>, tensor<8xi64>) -> tensor<2x8xf32>
  %v46 = "onnx.Unsqueeze"(%v45, %i0) : (tensor<2x8xf32>, tensor<1xi64>) -> tensor<1x2x8xf32>
  %v47 = "onnx.Unsqueeze"(%v46, %i0) : (tensor<1x2x8xf32>, tensor<1xi64>) -> tensor<1x1x2x8xf32>
  %v48 = "onnx.Slice"(%v47, %i0, %i1, %i2) : (tensor<1x1x2x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x1x1x8xf32>
  %v49 = "onnx.Slice"(%x, %i0, %i4, %i3) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v50 = "onnx.Slice"(%x, %i4, %iend, %i3) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v51 = "onnx.Mul"(%x, %v48) : (tensor<1x2x3x8xf32>, tensor<1x1x1x8xf32>) -> tensor<1x2x3x8xf32>
  %v52 = "onnx.Neg"(%v50) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v53 = "onnx.Concat"(%v52, %v49) {axis = -1 : i64} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x8xf32>
  %v54 = "onnx.Mul"(%v53, %v48) : (tensor<1x2x3x8xf32>, tensor<1x1x1x8xf32>) -> tensor<1x2x3x8xf32>
  %v55 = "onnx.Add"(%v51, %v54) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %weight = nn.weight <"w", 0, 288, raw, 0> : tensor<9x8xf32>
  %v56 = "onnx.Gather"(%weight, %at) {axis = 0 : i64} : (tensor<9x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v57 = "onnx.Unsqueeze"(%v56, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v58 = "onnx.Gather"(%weight, %at) {axis = 0 : i64} : (tensor<9x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v59 = "onnx.Unsqueeze"(%v58, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v60 = "onnx.Slice"(%x, %i0, %i4, %i3) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v61 = "onnx.Slice"(%x, %i4, %iend, %i3) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v62 = "onnx.Mul"(%x, %v57) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v63 = "onnx.Neg"(%v61) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v64 = "onnx.Concat"(%v63, %v60) {axis = -1 : i64} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x8xf32>
  %v65 = "onnx.Mul"(%v64, %v59) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v66 = "onnx.Add"(%v62, %v65) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v67 = "onnx.Slice"(%repeated, %i7, %im9, %i1, %im1) : (tensor<2x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x8xf32>
  %v68 = "onnx.Gather"(%v67, %at) {axis = 0 : i64} : (tensor<2x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v69 = "onnx.Unsqueeze"(%v68, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v70 = "onnx.Gather"(%v67, %at) {axis = 0 : i64} : (tensor<2x8xf32>, tensor<1x3xi64>) -> tensor<1x3x8xf32>
  %v71 = "onnx.Unsqueeze"(%v70, %i1) : (tensor<1x3x8xf32>, tensor<1xi64>) -> tensor<1x1x3x8xf32>
  %v72 = "onnx.Slice"(%x, %i0, %i4, %i3) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v73 = "onnx.Slice"(%x, %i4, %iend, %i3) : (tensor<1x2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x3x4xf32>
  %v74 = "onnx.Mul"(%x, %v69) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v75 = "onnx.Neg"(%v73) : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %v76 = "onnx.Concat"(%v75, %v72) {axis = -1 : i64} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x8xf32>
  %v77 = "onnx.Mul"(%v76, %v71) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>
  %v78 = "onnx.Add"(%v74, %v77) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  return %v10, %v21, %v32, %v44, %v55, %v66, %v78 : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>
}
