// RUN: sol-opt %s --nn-recognize-experts | FileCheck %s

// Three experts see three tokens; two experts of each count. Biases, branches that alternate and are bounded.
// CHECK-LABEL: func @every_expert_for_every_token(
func.func @every_expert_for_every_token(%h: tensor<1x3x4xf32>, %l: tensor<3x3xf32>) -> tensor<1x3x4xf32> {
  %w1 = nn.weight <"w", 0, 480, raw, 0> : tensor<3x4x10xf32>
  %b1 = nn.weight <"w", 480, 120, raw, 0> : tensor<3x1x10xf32>
  %w2 = nn.weight <"w", 600, 240, raw, 0> : tensor<3x5x4xf32>
  %k = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %none = "onnx.none"() : () -> none
  %zero = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %one = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %end = nn.constant dense<9223372036854775807> : tensor<1xi64> : tensor<1xi64>
  %last = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %rows = nn.constant dense<[-1, 4]> : tensor<2xi64> : tensor<2xi64>
  %times = nn.constant dense<[3, 1]> : tensor<2xi64> : tensor<2xi64>
  %all = nn.constant dense<[3, 3, 4]> : tensor<3xi64> : tensor<3xi64>
  %apart = nn.constant dense<[3, 1, 3, 4]> : tensor<4xi64> : tensor<4xi64>
  %places = nn.constant dense<[3, 1, 3]> : tensor<3xi64> : tensor<3xi64>
  %high = nn.constant dense<7.0> : tensor<f32> : tensor<f32>
  %uphigh = nn.constant dense<7.0> : tensor<f32> : tensor<f32>
  %low = nn.constant dense<-7.0> : tensor<f32> : tensor<f32>
  %alpha = nn.constant dense<1.702> : tensor<f32> : tensor<f32>
  %beta = nn.constant dense<1.0> : tensor<f32> : tensor<f32>
  %spread = nn.constant dense<0.0> : tensor<3x3xf32> : tensor<3x3xf32>
  %x = "onnx.Reshape"(%h, %rows) : (tensor<1x3x4xf32>, tensor<2xi64>) -> tensor<3x4xf32>
  %top:2 = "onnx.TopK"(%l, %k) {axis = -1 : i64, largest = 1 : i64, sorted = 1 : i64} : (tensor<3x3xf32>, tensor<1xi64>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
  %s = "onnx.Softmax"(%top#0) {axis = 1 : i64} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %sc = "onnx.ScatterElements"(%spread, %top#1, %s) {axis = 1 : i64} : (tensor<3x3xf32>, tensor<3x2xi64>, tensor<3x2xf32>) -> tensor<3x3xf32>
  %t = "onnx.Tile"(%x, %times) : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<9x4xf32>
  %r = "onnx.Reshape"(%t, %all) : (tensor<9x4xf32>, tensor<3xi64>) -> tensor<3x3x4xf32>
  %m1 = "onnx.MatMul"(%r, %w1) : (tensor<3x3x4xf32>, tensor<3x4x10xf32>) -> tensor<3x3x10xf32>
  %a1 = "onnx.Add"(%m1, %b1) : (tensor<3x3x10xf32>, tensor<3x1x10xf32>) -> tensor<3x3x10xf32>
  %g = "onnx.Slice"(%a1, %zero, %end, %k, %k) : (tensor<3x3x10xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x3x5xf32>
  %u = "onnx.Slice"(%a1, %one, %end, %k, %k) : (tensor<3x3x10xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x3x5xf32>
  %gc = "onnx.Clip"(%g, %none, %high) : (tensor<3x3x5xf32>, none, tensor<f32>) -> tensor<3x3x5xf32>
  %uc = "onnx.Clip"(%u, %low, %uphigh) : (tensor<3x3x5xf32>, tensor<f32>, tensor<f32>) -> tensor<3x3x5xf32>
  %ga = "onnx.Mul"(%gc, %alpha) : (tensor<3x3x5xf32>, tensor<f32>) -> tensor<3x3x5xf32>
  %gs = "onnx.Sigmoid"(%ga) : (tensor<3x3x5xf32>) -> tensor<3x3x5xf32>
  %gl = "onnx.Mul"(%gc, %gs) : (tensor<3x3x5xf32>, tensor<3x3x5xf32>) -> tensor<3x3x5xf32>
  %ub = "onnx.Add"(%uc, %beta) : (tensor<3x3x5xf32>, tensor<f32>) -> tensor<3x3x5xf32>
  %i = "onnx.Mul"(%ub, %gl) : (tensor<3x3x5xf32>, tensor<3x3x5xf32>) -> tensor<3x3x5xf32>
  %m2 = "onnx.MatMul"(%i, %w2) : (tensor<3x3x5xf32>, tensor<3x5x4xf32>) -> tensor<3x3x4xf32>
  %o = "onnx.Reshape"(%m2, %apart) : (tensor<3x3x4xf32>, tensor<4xi64>) -> tensor<3x1x3x4xf32>
  %st = "onnx.Transpose"(%sc) {perm = array<i64: 1, 0>} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %sr = "onnx.Reshape"(%st, %places) : (tensor<3x3xf32>, tensor<3xi64>) -> tensor<3x1x3xf32>
  %su = "onnx.Unsqueeze"(%sr, %last) : (tensor<3x1x3xf32>, tensor<1xi64>) -> tensor<3x1x3x1xf32>
  %y = "onnx.Mul"(%o, %su) : (tensor<3x1x3x4xf32>, tensor<3x1x3x1xf32>) -> tensor<3x1x3x4xf32>
  // CHECK: %[[Y:.*]] = "onnx.microsoft.MoE"(%arg0, %arg1, %{{.*}}, %{{.*}}, %{{.*}}) {activation_alpha = 1.702000e+00 : f32, activation_beta = 1.000000e+00 : f32, activation_type = "swiglu", k = 2 : i64, normalize_routing_weights = 1 : i64, swiglu_fusion = 1 : i64, swiglu_limit = 7.000000e+00 : f32} : (tensor<1x3x4xf32>, tensor<3x3xf32>, tensor<3x10x4xf32>, tensor<3x1x10xf32>, tensor<3x4x5xf32>)
  // CHECK-NEXT: return %[[Y]]
  %z = "onnx.ReduceSum"(%y, %zero) {keepdims = 0 : i64} : (tensor<3x1x3x4xf32>, tensor<1xi64>) -> tensor<1x3x4xf32>
  return %z : tensor<1x3x4xf32>
}

// The two branches have different bounds.
// CHECK-LABEL: func @other_bound(
func.func @other_bound(%h: tensor<1x3x4xf32>, %l: tensor<3x3xf32>) -> tensor<1x3x4xf32> {
  %w1 = nn.weight <"w", 0, 480, raw, 0> : tensor<3x4x10xf32>
  %b1 = nn.weight <"w", 480, 120, raw, 0> : tensor<3x1x10xf32>
  %w2 = nn.weight <"w", 600, 240, raw, 0> : tensor<3x5x4xf32>
  %k = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %none = "onnx.none"() : () -> none
  %zero = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %one = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %end = nn.constant dense<9223372036854775807> : tensor<1xi64> : tensor<1xi64>
  %last = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %rows = nn.constant dense<[-1, 4]> : tensor<2xi64> : tensor<2xi64>
  %times = nn.constant dense<[3, 1]> : tensor<2xi64> : tensor<2xi64>
  %all = nn.constant dense<[3, 3, 4]> : tensor<3xi64> : tensor<3xi64>
  %apart = nn.constant dense<[3, 1, 3, 4]> : tensor<4xi64> : tensor<4xi64>
  %places = nn.constant dense<[3, 1, 3]> : tensor<3xi64> : tensor<3xi64>
  %high = nn.constant dense<7.0> : tensor<f32> : tensor<f32>
  %uphigh = nn.constant dense<8.0> : tensor<f32> : tensor<f32>
  %low = nn.constant dense<-7.0> : tensor<f32> : tensor<f32>
  %alpha = nn.constant dense<1.702> : tensor<f32> : tensor<f32>
  %beta = nn.constant dense<1.0> : tensor<f32> : tensor<f32>
  %spread = nn.constant dense<0.0> : tensor<3x3xf32> : tensor<3x3xf32>
  %x = "onnx.Reshape"(%h, %rows) : (tensor<1x3x4xf32>, tensor<2xi64>) -> tensor<3x4xf32>
  %top:2 = "onnx.TopK"(%l, %k) {axis = -1 : i64, largest = 1 : i64, sorted = 1 : i64} : (tensor<3x3xf32>, tensor<1xi64>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
  %s = "onnx.Softmax"(%top#0) {axis = 1 : i64} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %sc = "onnx.ScatterElements"(%spread, %top#1, %s) {axis = 1 : i64} : (tensor<3x3xf32>, tensor<3x2xi64>, tensor<3x2xf32>) -> tensor<3x3xf32>
  %t = "onnx.Tile"(%x, %times) : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<9x4xf32>
  %r = "onnx.Reshape"(%t, %all) : (tensor<9x4xf32>, tensor<3xi64>) -> tensor<3x3x4xf32>
  %m1 = "onnx.MatMul"(%r, %w1) : (tensor<3x3x4xf32>, tensor<3x4x10xf32>) -> tensor<3x3x10xf32>
  %a1 = "onnx.Add"(%m1, %b1) : (tensor<3x3x10xf32>, tensor<3x1x10xf32>) -> tensor<3x3x10xf32>
  %g = "onnx.Slice"(%a1, %zero, %end, %k, %k) : (tensor<3x3x10xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x3x5xf32>
  %u = "onnx.Slice"(%a1, %one, %end, %k, %k) : (tensor<3x3x10xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x3x5xf32>
  %gc = "onnx.Clip"(%g, %none, %high) : (tensor<3x3x5xf32>, none, tensor<f32>) -> tensor<3x3x5xf32>
  %uc = "onnx.Clip"(%u, %low, %uphigh) : (tensor<3x3x5xf32>, tensor<f32>, tensor<f32>) -> tensor<3x3x5xf32>
  %ga = "onnx.Mul"(%gc, %alpha) : (tensor<3x3x5xf32>, tensor<f32>) -> tensor<3x3x5xf32>
  %gs = "onnx.Sigmoid"(%ga) : (tensor<3x3x5xf32>) -> tensor<3x3x5xf32>
  %gl = "onnx.Mul"(%gc, %gs) : (tensor<3x3x5xf32>, tensor<3x3x5xf32>) -> tensor<3x3x5xf32>
  %ub = "onnx.Add"(%uc, %beta) : (tensor<3x3x5xf32>, tensor<f32>) -> tensor<3x3x5xf32>
  %i = "onnx.Mul"(%ub, %gl) : (tensor<3x3x5xf32>, tensor<3x3x5xf32>) -> tensor<3x3x5xf32>
  %m2 = "onnx.MatMul"(%i, %w2) : (tensor<3x3x5xf32>, tensor<3x5x4xf32>) -> tensor<3x3x4xf32>
  %o = "onnx.Reshape"(%m2, %apart) : (tensor<3x3x4xf32>, tensor<4xi64>) -> tensor<3x1x3x4xf32>
  %st = "onnx.Transpose"(%sc) {perm = array<i64: 1, 0>} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %sr = "onnx.Reshape"(%st, %places) : (tensor<3x3xf32>, tensor<3xi64>) -> tensor<3x1x3xf32>
  %su = "onnx.Unsqueeze"(%sr, %last) : (tensor<3x1x3xf32>, tensor<1xi64>) -> tensor<3x1x3x1xf32>
  %y = "onnx.Mul"(%o, %su) : (tensor<3x1x3x4xf32>, tensor<3x1x3x1xf32>) -> tensor<3x1x3x4xf32>
  // CHECK-NOT: onnx.microsoft.MoE
  // CHECK: return
  %z = "onnx.ReduceSum"(%y, %zero) {keepdims = 0 : i64} : (tensor<3x1x3x4xf32>, tensor<1xi64>) -> tensor<1x3x4xf32>
  return %z : tensor<1x3x4xf32>
}

// A token gets the weights that other tokens give the expert of its number.
// CHECK-LABEL: func @experts_and_tokens_swapped(
func.func @experts_and_tokens_swapped(%h: tensor<1x3x4xf32>, %l: tensor<3x3xf32>) -> tensor<1x3x4xf32> {
  %w1 = nn.weight <"w", 0, 480, raw, 0> : tensor<3x4x10xf32>
  %b1 = nn.weight <"w", 480, 120, raw, 0> : tensor<3x1x10xf32>
  %w2 = nn.weight <"w", 600, 240, raw, 0> : tensor<3x5x4xf32>
  %k = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %none = "onnx.none"() : () -> none
  %zero = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %one = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %end = nn.constant dense<9223372036854775807> : tensor<1xi64> : tensor<1xi64>
  %last = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %rows = nn.constant dense<[-1, 4]> : tensor<2xi64> : tensor<2xi64>
  %times = nn.constant dense<[3, 1]> : tensor<2xi64> : tensor<2xi64>
  %all = nn.constant dense<[3, 3, 4]> : tensor<3xi64> : tensor<3xi64>
  %apart = nn.constant dense<[3, 1, 3, 4]> : tensor<4xi64> : tensor<4xi64>
  %places = nn.constant dense<[3, 1, 3]> : tensor<3xi64> : tensor<3xi64>
  %high = nn.constant dense<7.0> : tensor<f32> : tensor<f32>
  %uphigh = nn.constant dense<7.0> : tensor<f32> : tensor<f32>
  %low = nn.constant dense<-7.0> : tensor<f32> : tensor<f32>
  %alpha = nn.constant dense<1.702> : tensor<f32> : tensor<f32>
  %beta = nn.constant dense<1.0> : tensor<f32> : tensor<f32>
  %spread = nn.constant dense<0.0> : tensor<3x3xf32> : tensor<3x3xf32>
  %x = "onnx.Reshape"(%h, %rows) : (tensor<1x3x4xf32>, tensor<2xi64>) -> tensor<3x4xf32>
  %top:2 = "onnx.TopK"(%l, %k) {axis = -1 : i64, largest = 1 : i64, sorted = 1 : i64} : (tensor<3x3xf32>, tensor<1xi64>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
  %s = "onnx.Softmax"(%top#0) {axis = 1 : i64} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %sc = "onnx.ScatterElements"(%spread, %top#1, %s) {axis = 1 : i64} : (tensor<3x3xf32>, tensor<3x2xi64>, tensor<3x2xf32>) -> tensor<3x3xf32>
  %t = "onnx.Tile"(%x, %times) : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<9x4xf32>
  %r = "onnx.Reshape"(%t, %all) : (tensor<9x4xf32>, tensor<3xi64>) -> tensor<3x3x4xf32>
  %m1 = "onnx.MatMul"(%r, %w1) : (tensor<3x3x4xf32>, tensor<3x4x10xf32>) -> tensor<3x3x10xf32>
  %a1 = "onnx.Add"(%m1, %b1) : (tensor<3x3x10xf32>, tensor<3x1x10xf32>) -> tensor<3x3x10xf32>
  %g = "onnx.Slice"(%a1, %zero, %end, %k, %k) : (tensor<3x3x10xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x3x5xf32>
  %u = "onnx.Slice"(%a1, %one, %end, %k, %k) : (tensor<3x3x10xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x3x5xf32>
  %gc = "onnx.Clip"(%g, %none, %high) : (tensor<3x3x5xf32>, none, tensor<f32>) -> tensor<3x3x5xf32>
  %uc = "onnx.Clip"(%u, %low, %uphigh) : (tensor<3x3x5xf32>, tensor<f32>, tensor<f32>) -> tensor<3x3x5xf32>
  %ga = "onnx.Mul"(%gc, %alpha) : (tensor<3x3x5xf32>, tensor<f32>) -> tensor<3x3x5xf32>
  %gs = "onnx.Sigmoid"(%ga) : (tensor<3x3x5xf32>) -> tensor<3x3x5xf32>
  %gl = "onnx.Mul"(%gc, %gs) : (tensor<3x3x5xf32>, tensor<3x3x5xf32>) -> tensor<3x3x5xf32>
  %ub = "onnx.Add"(%uc, %beta) : (tensor<3x3x5xf32>, tensor<f32>) -> tensor<3x3x5xf32>
  %i = "onnx.Mul"(%ub, %gl) : (tensor<3x3x5xf32>, tensor<3x3x5xf32>) -> tensor<3x3x5xf32>
  %m2 = "onnx.MatMul"(%i, %w2) : (tensor<3x3x5xf32>, tensor<3x5x4xf32>) -> tensor<3x3x4xf32>
  %o = "onnx.Reshape"(%m2, %apart) : (tensor<3x3x4xf32>, tensor<4xi64>) -> tensor<3x1x3x4xf32>
  %st = "onnx.Transpose"(%sc) {perm = array<i64: 0, 1>} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %sr = "onnx.Reshape"(%st, %places) : (tensor<3x3xf32>, tensor<3xi64>) -> tensor<3x1x3xf32>
  %su = "onnx.Unsqueeze"(%sr, %last) : (tensor<3x1x3xf32>, tensor<1xi64>) -> tensor<3x1x3x1xf32>
  %y = "onnx.Mul"(%o, %su) : (tensor<3x1x3x4xf32>, tensor<3x1x3x1xf32>) -> tensor<3x1x3x4xf32>
  // CHECK-NOT: onnx.microsoft.MoE
  // CHECK: return
  %z = "onnx.ReduceSum"(%y, %zero) {keepdims = 0 : i64} : (tensor<3x1x3x4xf32>, tensor<1xi64>) -> tensor<1x3x4xf32>
  return %z : tensor<1x3x4xf32>
}

// Experts that were not chosen have a weight.
// CHECK-LABEL: func @others_count_too(
func.func @others_count_too(%h: tensor<1x3x4xf32>, %l: tensor<3x3xf32>) -> tensor<1x3x4xf32> {
  %w1 = nn.weight <"w", 0, 480, raw, 0> : tensor<3x4x10xf32>
  %b1 = nn.weight <"w", 480, 120, raw, 0> : tensor<3x1x10xf32>
  %w2 = nn.weight <"w", 600, 240, raw, 0> : tensor<3x5x4xf32>
  %k = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %none = "onnx.none"() : () -> none
  %zero = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %one = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %end = nn.constant dense<9223372036854775807> : tensor<1xi64> : tensor<1xi64>
  %last = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %rows = nn.constant dense<[-1, 4]> : tensor<2xi64> : tensor<2xi64>
  %times = nn.constant dense<[3, 1]> : tensor<2xi64> : tensor<2xi64>
  %all = nn.constant dense<[3, 3, 4]> : tensor<3xi64> : tensor<3xi64>
  %apart = nn.constant dense<[3, 1, 3, 4]> : tensor<4xi64> : tensor<4xi64>
  %places = nn.constant dense<[3, 1, 3]> : tensor<3xi64> : tensor<3xi64>
  %high = nn.constant dense<7.0> : tensor<f32> : tensor<f32>
  %uphigh = nn.constant dense<7.0> : tensor<f32> : tensor<f32>
  %low = nn.constant dense<-7.0> : tensor<f32> : tensor<f32>
  %alpha = nn.constant dense<1.702> : tensor<f32> : tensor<f32>
  %beta = nn.constant dense<1.0> : tensor<f32> : tensor<f32>
  %spread = nn.constant dense<1.0> : tensor<3x3xf32> : tensor<3x3xf32>
  %x = "onnx.Reshape"(%h, %rows) : (tensor<1x3x4xf32>, tensor<2xi64>) -> tensor<3x4xf32>
  %top:2 = "onnx.TopK"(%l, %k) {axis = -1 : i64, largest = 1 : i64, sorted = 1 : i64} : (tensor<3x3xf32>, tensor<1xi64>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
  %s = "onnx.Softmax"(%top#0) {axis = 1 : i64} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %sc = "onnx.ScatterElements"(%spread, %top#1, %s) {axis = 1 : i64} : (tensor<3x3xf32>, tensor<3x2xi64>, tensor<3x2xf32>) -> tensor<3x3xf32>
  %t = "onnx.Tile"(%x, %times) : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<9x4xf32>
  %r = "onnx.Reshape"(%t, %all) : (tensor<9x4xf32>, tensor<3xi64>) -> tensor<3x3x4xf32>
  %m1 = "onnx.MatMul"(%r, %w1) : (tensor<3x3x4xf32>, tensor<3x4x10xf32>) -> tensor<3x3x10xf32>
  %a1 = "onnx.Add"(%m1, %b1) : (tensor<3x3x10xf32>, tensor<3x1x10xf32>) -> tensor<3x3x10xf32>
  %g = "onnx.Slice"(%a1, %zero, %end, %k, %k) : (tensor<3x3x10xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x3x5xf32>
  %u = "onnx.Slice"(%a1, %one, %end, %k, %k) : (tensor<3x3x10xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x3x5xf32>
  %gc = "onnx.Clip"(%g, %none, %high) : (tensor<3x3x5xf32>, none, tensor<f32>) -> tensor<3x3x5xf32>
  %uc = "onnx.Clip"(%u, %low, %uphigh) : (tensor<3x3x5xf32>, tensor<f32>, tensor<f32>) -> tensor<3x3x5xf32>
  %ga = "onnx.Mul"(%gc, %alpha) : (tensor<3x3x5xf32>, tensor<f32>) -> tensor<3x3x5xf32>
  %gs = "onnx.Sigmoid"(%ga) : (tensor<3x3x5xf32>) -> tensor<3x3x5xf32>
  %gl = "onnx.Mul"(%gc, %gs) : (tensor<3x3x5xf32>, tensor<3x3x5xf32>) -> tensor<3x3x5xf32>
  %ub = "onnx.Add"(%uc, %beta) : (tensor<3x3x5xf32>, tensor<f32>) -> tensor<3x3x5xf32>
  %i = "onnx.Mul"(%ub, %gl) : (tensor<3x3x5xf32>, tensor<3x3x5xf32>) -> tensor<3x3x5xf32>
  %m2 = "onnx.MatMul"(%i, %w2) : (tensor<3x3x5xf32>, tensor<3x5x4xf32>) -> tensor<3x3x4xf32>
  %o = "onnx.Reshape"(%m2, %apart) : (tensor<3x3x4xf32>, tensor<4xi64>) -> tensor<3x1x3x4xf32>
  %st = "onnx.Transpose"(%sc) {perm = array<i64: 1, 0>} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %sr = "onnx.Reshape"(%st, %places) : (tensor<3x3xf32>, tensor<3xi64>) -> tensor<3x1x3xf32>
  %su = "onnx.Unsqueeze"(%sr, %last) : (tensor<3x1x3xf32>, tensor<1xi64>) -> tensor<3x1x3x1xf32>
  %y = "onnx.Mul"(%o, %su) : (tensor<3x1x3x4xf32>, tensor<3x1x3x1xf32>) -> tensor<3x1x3x4xf32>
  // CHECK-NOT: onnx.microsoft.MoE
  // CHECK: return
  %z = "onnx.ReduceSum"(%y, %zero) {keepdims = 0 : i64} : (tensor<3x1x3x4xf32>, tensor<1xi64>) -> tensor<1x3x4xf32>
  return %z : tensor<1x3x4xf32>
}
