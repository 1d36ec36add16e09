// RUN: sol-opt %s --nn-recognize-experts | FileCheck %s

// Choices sorted by expert; each of three experts multiplies its run of rows.
// CHECK-LABEL: func @sorted_rows(
func.func @sorted_rows(%x: tensor<4x4xf32>, %l: tensor<4x3xf32>) -> tensor<4x4xf32> {
  %g0 = nn.weight <"w", 0, 160, raw, 0> : tensor<4x10xf32>
  %d0 = nn.weight <"w", 480, 80, raw, 0> : tensor<5x4xf32>
  %g1 = nn.weight <"w", 160, 160, raw, 0> : tensor<4x10xf32>
  %d1 = nn.weight <"w", 560, 80, raw, 0> : tensor<5x4xf32>
  %g2 = nn.weight <"w", 320, 160, raw, 0> : tensor<4x10xf32>
  %d2 = nn.weight <"w", 640, 80, raw, 0> : tensor<5x4xf32>
  %none = "onnx.none"() : () -> none
  %zero = nn.constant dense<0> : tensor<i64> : tensor<i64>
  %one = nn.constant dense<1> : tensor<i64> : tensor<i64>
  %two = nn.constant dense<2> : tensor<i64> : tensor<i64>
  %count = nn.constant dense<2> : tensor<i64> : tensor<i64>
  %all = nn.constant dense<8> : tensor<i64> : tensor<i64>
  %all1 = nn.constant dense<8> : tensor<1xi64> : tensor<1xi64>
  %k = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %axis = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %last = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %i2 = nn.constant dense<2> : tensor<i64> : tensor<i64>
  %apart = nn.constant dense<[4, 2, 4]> : tensor<3xi64> : tensor<3xi64>
  %width = nn.constant dense<0.666666687> : tensor<f32> : tensor<f32>
  %empty = nn.constant dense<0.0> : tensor<3xf32> : tensor<3xf32>
  %ones = nn.constant dense<1.0> : tensor<8xf32> : tensor<8xf32>
  %slots = nn.constant dense<0> : tensor<8xi64> : tensor<8xi64>
  %top:2 = "onnx.TopK"(%l, %k) {axis = -1 : i64, largest = 1 : i64, sorted = 0 : i64} : (tensor<4x3xf32>, tensor<1xi64>) -> (tensor<4x2xf32>, tensor<4x2xi64>)
  %s = "onnx.Softmax"(%top#0) {axis = -1 : i64} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %flat = "onnx.Reshape"(%top#1, %last) : (tensor<4x2xi64>, tensor<1xi64>) -> tensor<8xi64>
  %perm:2 = "onnx.TopK"(%flat, %all1) {axis = -1 : i64, largest = 0 : i64, sorted = 1 : i64} : (tensor<8xi64>, tensor<1xi64>) -> (tensor<8xi64>, tensor<8xi64>)
  %t = "onnx.Div"(%perm#1, %count) : (tensor<8xi64>, tensor<i64>) -> tensor<8xi64>
  %rows = "onnx.Gather"(%x, %t) {axis = 0 : i64} : (tensor<4x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
  %sf = "onnx.Reshape"(%s, %last) : (tensor<4x2xf32>, tensor<1xi64>) -> tensor<8xf32>
  %sp = "onnx.Gather"(%sf, %perm#1) {axis = 0 : i64} : (tensor<8xf32>, tensor<8xi64>) -> tensor<8xf32>
  %sc = "onnx.Unsqueeze"(%sp, %last) : (tensor<8xf32>, tensor<1xi64>) -> tensor<8x1xf32>
  %idf = "onnx.Cast"(%perm#0) {to = 1 : i64} : (tensor<8xi64>) -> tensor<8xf32>
  %bf = "onnx.Div"(%idf, %width) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %bi = "onnx.Cast"(%bf) {to = 7 : i64} : (tensor<8xf32>) -> tensor<8xi64>
  %bins = "onnx.Clip"(%bi, %zero, %two) : (tensor<8xi64>, tensor<i64>, tensor<i64>) -> tensor<8xi64>
  %hist = "onnx.ScatterElements"(%empty, %bins, %ones) {axis = 0 : i64, reduction = "add"} : (tensor<3xf32>, tensor<8xi64>, tensor<8xf32>) -> tensor<3xf32>
  %whole = "onnx.Cast"(%hist) {to = 7 : i64} : (tensor<3xf32>) -> tensor<3xi64>
  %ends = "onnx.CumSum"(%whole, %zero) {exclusive = 0 : i64, reverse = 0 : i64} : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  %e0 = "onnx.Gather"(%ends, %zero) {axis = 0 : i64} : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %e1 = "onnx.Gather"(%ends, %one) {axis = 0 : i64} : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %e2 = "onnx.Gather"(%ends, %i2) {axis = 0 : i64} : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %r0 = "onnx.Range"(%zero, %e0, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n0">>
  %x0 = "onnx.Gather"(%rows, %r0) {axis = 0 : i64} : (tensor<8x4xf32>, tensor<?xi64, #nn.dims<"n0">>) -> tensor<?x4xf32, #nn.dims<"n0", "4">>
  %y0 = nn.linear %x0, %g0, %none : (tensor<?x4xf32, #nn.dims<"n0", "4">>, tensor<4x10xf32>, none) -> tensor<?x10xf32, #nn.dims<"n0", "10">>
  %r1 = "onnx.Range"(%e0, %e1, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n1">>
  %x1 = "onnx.Gather"(%rows, %r1) {axis = 0 : i64} : (tensor<8x4xf32>, tensor<?xi64, #nn.dims<"n1">>) -> tensor<?x4xf32, #nn.dims<"n1", "4">>
  %y1 = nn.linear %x1, %g1, %none : (tensor<?x4xf32, #nn.dims<"n1", "4">>, tensor<4x10xf32>, none) -> tensor<?x10xf32, #nn.dims<"n1", "10">>
  %r2 = "onnx.Range"(%e1, %e2, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n2">>
  %x2 = "onnx.Gather"(%rows, %r2) {axis = 0 : i64} : (tensor<8x4xf32>, tensor<?xi64, #nn.dims<"n2">>) -> tensor<?x4xf32, #nn.dims<"n2", "4">>
  %y2 = nn.linear %x2, %g2, %none : (tensor<?x4xf32, #nn.dims<"n2", "4">>, tensor<4x10xf32>, none) -> tensor<?x10xf32, #nn.dims<"n2", "10">>
  %y = "onnx.Concat"(%y0, %y1, %y2) {axis = 0 : i64} : (tensor<?x10xf32, #nn.dims<"n0", "10">>, tensor<?x10xf32, #nn.dims<"n1", "10">>, tensor<?x10xf32, #nn.dims<"n2", "10">>) -> tensor<?x10xf32, #nn.dims<"n0 + n1 + n2", "10">>
  %h:2 = "onnx.Split"(%y) {axis = 1 : i64, num_outputs = 2 : i64} : (tensor<?x10xf32, #nn.dims<"n0 + n1 + n2", "10">>) -> (tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>, tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>)
  %sg = "onnx.Sigmoid"(%h#0) : (tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>) -> tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>
  %a = "onnx.Mul"(%h#0, %sg) : (tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>, tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>) -> tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>
  %b = "onnx.Mul"(%a, %h#1) : (tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>, tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>) -> tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>
  %b0 = "onnx.Gather"(%b, %r0) {axis = 0 : i64} : (tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>, tensor<?xi64, #nn.dims<"n0">>) -> tensor<?x5xf32, #nn.dims<"n0", "5">>
  %z0 = nn.linear %b0, %d0, %none : (tensor<?x5xf32, #nn.dims<"n0", "5">>, tensor<5x4xf32>, none) -> tensor<?x4xf32, #nn.dims<"n0", "4">>
  %b1 = "onnx.Gather"(%b, %r1) {axis = 0 : i64} : (tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>, tensor<?xi64, #nn.dims<"n1">>) -> tensor<?x5xf32, #nn.dims<"n1", "5">>
  %z1 = nn.linear %b1, %d1, %none : (tensor<?x5xf32, #nn.dims<"n1", "5">>, tensor<5x4xf32>, none) -> tensor<?x4xf32, #nn.dims<"n1", "4">>
  %b2 = "onnx.Gather"(%b, %r2) {axis = 0 : i64} : (tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>, tensor<?xi64, #nn.dims<"n2">>) -> tensor<?x5xf32, #nn.dims<"n2", "5">>
  %z2 = nn.linear %b2, %d2, %none : (tensor<?x5xf32, #nn.dims<"n2", "5">>, tensor<5x4xf32>, none) -> tensor<?x4xf32, #nn.dims<"n2", "4">>
  %z = "onnx.Concat"(%z0, %z1, %z2) {axis = 0 : i64} : (tensor<?x4xf32, #nn.dims<"n0", "4">>, tensor<?x4xf32, #nn.dims<"n1", "4">>, tensor<?x4xf32, #nn.dims<"n2", "4">>) -> tensor<?x4xf32, #nn.dims<"n0 + n1 + n2", "4">>
  %w = "onnx.Mul"(%z, %sc) : (tensor<?x4xf32, #nn.dims<"n0 + n1 + n2", "4">>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %range = "onnx.Range"(%zero, %all, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<8xi64>
  %pc = "onnx.Unsqueeze"(%perm#1, %last) : (tensor<8xi64>, tensor<1xi64>) -> tensor<8x1xi64>
  %inv = "onnx.ScatterND"(%slots, %pc, %range) : (tensor<8xi64>, tensor<8x1xi64>, tensor<8xi64>) -> tensor<8xi64>
  %back = "onnx.Gather"(%w, %inv) {axis = 0 : i64} : (tensor<8x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
  %split = "onnx.Reshape"(%back, %apart) : (tensor<8x4xf32>, tensor<3xi64>) -> tensor<4x2x4xf32>
  // CHECK: %[[Y:.*]] = "onnx.microsoft.MoE"(%arg0, %arg1, %{{.*}}, %{{.*}}, %{{.*}}) {activation_alpha = 1.000000e+00 : f32, activation_beta = 0.000000e+00 : f32, activation_type = "swiglu", k = 2 : i64, normalize_routing_weights = 1 : i64, swiglu_fusion = 2 : i64} : (tensor<4x4xf32>, tensor<4x3xf32>, tensor<3x10x4xf32>, none, tensor<3x4x5xf32>)
  // CHECK-NEXT: return %[[Y]]
  %o = "onnx.ReduceSum"(%split, %axis) {keepdims = 0 : i64} : (tensor<4x2x4xf32>, tensor<1xi64>) -> tensor<4x4xf32>
  return %o : tensor<4x4xf32>
}

// Experts come in falling order, their runs in rising order.
// CHECK-LABEL: func @largest_first(
func.func @largest_first(%x: tensor<4x4xf32>, %l: tensor<4x3xf32>) -> tensor<4x4xf32> {
  %g0 = nn.weight <"w", 0, 160, raw, 0> : tensor<4x10xf32>
  %d0 = nn.weight <"w", 480, 80, raw, 0> : tensor<5x4xf32>
  %g1 = nn.weight <"w", 160, 160, raw, 0> : tensor<4x10xf32>
  %d1 = nn.weight <"w", 560, 80, raw, 0> : tensor<5x4xf32>
  %g2 = nn.weight <"w", 320, 160, raw, 0> : tensor<4x10xf32>
  %d2 = nn.weight <"w", 640, 80, raw, 0> : tensor<5x4xf32>
  %none = "onnx.none"() : () -> none
  %zero = nn.constant dense<0> : tensor<i64> : tensor<i64>
  %one = nn.constant dense<1> : tensor<i64> : tensor<i64>
  %two = nn.constant dense<2> : tensor<i64> : tensor<i64>
  %count = nn.constant dense<2> : tensor<i64> : tensor<i64>
  %all = nn.constant dense<8> : tensor<i64> : tensor<i64>
  %all1 = nn.constant dense<8> : tensor<1xi64> : tensor<1xi64>
  %k = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %axis = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %last = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %i2 = nn.constant dense<2> : tensor<i64> : tensor<i64>
  %apart = nn.constant dense<[4, 2, 4]> : tensor<3xi64> : tensor<3xi64>
  %width = nn.constant dense<0.666666687> : tensor<f32> : tensor<f32>
  %empty = nn.constant dense<0.0> : tensor<3xf32> : tensor<3xf32>
  %ones = nn.constant dense<1.0> : tensor<8xf32> : tensor<8xf32>
  %slots = nn.constant dense<0> : tensor<8xi64> : tensor<8xi64>
  %top:2 = "onnx.TopK"(%l, %k) {axis = -1 : i64, largest = 1 : i64, sorted = 0 : i64} : (tensor<4x3xf32>, tensor<1xi64>) -> (tensor<4x2xf32>, tensor<4x2xi64>)
  %s = "onnx.Softmax"(%top#0) {axis = -1 : i64} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %flat = "onnx.Reshape"(%top#1, %last) : (tensor<4x2xi64>, tensor<1xi64>) -> tensor<8xi64>
  %perm:2 = "onnx.TopK"(%flat, %all1) {axis = -1 : i64, largest = 1 : i64, sorted = 1 : i64} : (tensor<8xi64>, tensor<1xi64>) -> (tensor<8xi64>, tensor<8xi64>)
  %t = "onnx.Div"(%perm#1, %count) : (tensor<8xi64>, tensor<i64>) -> tensor<8xi64>
  %rows = "onnx.Gather"(%x, %t) {axis = 0 : i64} : (tensor<4x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
  %sf = "onnx.Reshape"(%s, %last) : (tensor<4x2xf32>, tensor<1xi64>) -> tensor<8xf32>
  %sp = "onnx.Gather"(%sf, %perm#1) {axis = 0 : i64} : (tensor<8xf32>, tensor<8xi64>) -> tensor<8xf32>
  %sc = "onnx.Unsqueeze"(%sp, %last) : (tensor<8xf32>, tensor<1xi64>) -> tensor<8x1xf32>
  %idf = "onnx.Cast"(%perm#0) {to = 1 : i64} : (tensor<8xi64>) -> tensor<8xf32>
  %bf = "onnx.Div"(%idf, %width) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %bi = "onnx.Cast"(%bf) {to = 7 : i64} : (tensor<8xf32>) -> tensor<8xi64>
  %bins = "onnx.Clip"(%bi, %zero, %two) : (tensor<8xi64>, tensor<i64>, tensor<i64>) -> tensor<8xi64>
  %hist = "onnx.ScatterElements"(%empty, %bins, %ones) {axis = 0 : i64, reduction = "add"} : (tensor<3xf32>, tensor<8xi64>, tensor<8xf32>) -> tensor<3xf32>
  %whole = "onnx.Cast"(%hist) {to = 7 : i64} : (tensor<3xf32>) -> tensor<3xi64>
  %ends = "onnx.CumSum"(%whole, %zero) {exclusive = 0 : i64, reverse = 0 : i64} : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  %e0 = "onnx.Gather"(%ends, %zero) {axis = 0 : i64} : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %e1 = "onnx.Gather"(%ends, %one) {axis = 0 : i64} : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %e2 = "onnx.Gather"(%ends, %i2) {axis = 0 : i64} : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %r0 = "onnx.Range"(%zero, %e0, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n0">>
  %x0 = "onnx.Gather"(%rows, %r0) {axis = 0 : i64} : (tensor<8x4xf32>, tensor<?xi64, #nn.dims<"n0">>) -> tensor<?x4xf32, #nn.dims<"n0", "4">>
  %y0 = nn.linear %x0, %g0, %none : (tensor<?x4xf32, #nn.dims<"n0", "4">>, tensor<4x10xf32>, none) -> tensor<?x10xf32, #nn.dims<"n0", "10">>
  %r1 = "onnx.Range"(%e0, %e1, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n1">>
  %x1 = "onnx.Gather"(%rows, %r1) {axis = 0 : i64} : (tensor<8x4xf32>, tensor<?xi64, #nn.dims<"n1">>) -> tensor<?x4xf32, #nn.dims<"n1", "4">>
  %y1 = nn.linear %x1, %g1, %none : (tensor<?x4xf32, #nn.dims<"n1", "4">>, tensor<4x10xf32>, none) -> tensor<?x10xf32, #nn.dims<"n1", "10">>
  %r2 = "onnx.Range"(%e1, %e2, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n2">>
  %x2 = "onnx.Gather"(%rows, %r2) {axis = 0 : i64} : (tensor<8x4xf32>, tensor<?xi64, #nn.dims<"n2">>) -> tensor<?x4xf32, #nn.dims<"n2", "4">>
  %y2 = nn.linear %x2, %g2, %none : (tensor<?x4xf32, #nn.dims<"n2", "4">>, tensor<4x10xf32>, none) -> tensor<?x10xf32, #nn.dims<"n2", "10">>
  %y = "onnx.Concat"(%y0, %y1, %y2) {axis = 0 : i64} : (tensor<?x10xf32, #nn.dims<"n0", "10">>, tensor<?x10xf32, #nn.dims<"n1", "10">>, tensor<?x10xf32, #nn.dims<"n2", "10">>) -> tensor<?x10xf32, #nn.dims<"n0 + n1 + n2", "10">>
  %h:2 = "onnx.Split"(%y) {axis = 1 : i64, num_outputs = 2 : i64} : (tensor<?x10xf32, #nn.dims<"n0 + n1 + n2", "10">>) -> (tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>, tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>)
  %sg = "onnx.Sigmoid"(%h#0) : (tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>) -> tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>
  %a = "onnx.Mul"(%h#0, %sg) : (tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>, tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>) -> tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>
  %b = "onnx.Mul"(%a, %h#1) : (tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>, tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>) -> tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>
  %b0 = "onnx.Gather"(%b, %r0) {axis = 0 : i64} : (tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>, tensor<?xi64, #nn.dims<"n0">>) -> tensor<?x5xf32, #nn.dims<"n0", "5">>
  %z0 = nn.linear %b0, %d0, %none : (tensor<?x5xf32, #nn.dims<"n0", "5">>, tensor<5x4xf32>, none) -> tensor<?x4xf32, #nn.dims<"n0", "4">>
  %b1 = "onnx.Gather"(%b, %r1) {axis = 0 : i64} : (tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>, tensor<?xi64, #nn.dims<"n1">>) -> tensor<?x5xf32, #nn.dims<"n1", "5">>
  %z1 = nn.linear %b1, %d1, %none : (tensor<?x5xf32, #nn.dims<"n1", "5">>, tensor<5x4xf32>, none) -> tensor<?x4xf32, #nn.dims<"n1", "4">>
  %b2 = "onnx.Gather"(%b, %r2) {axis = 0 : i64} : (tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>, tensor<?xi64, #nn.dims<"n2">>) -> tensor<?x5xf32, #nn.dims<"n2", "5">>
  %z2 = nn.linear %b2, %d2, %none : (tensor<?x5xf32, #nn.dims<"n2", "5">>, tensor<5x4xf32>, none) -> tensor<?x4xf32, #nn.dims<"n2", "4">>
  %z = "onnx.Concat"(%z0, %z1, %z2) {axis = 0 : i64} : (tensor<?x4xf32, #nn.dims<"n0", "4">>, tensor<?x4xf32, #nn.dims<"n1", "4">>, tensor<?x4xf32, #nn.dims<"n2", "4">>) -> tensor<?x4xf32, #nn.dims<"n0 + n1 + n2", "4">>
  %w = "onnx.Mul"(%z, %sc) : (tensor<?x4xf32, #nn.dims<"n0 + n1 + n2", "4">>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %range = "onnx.Range"(%zero, %all, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<8xi64>
  %pc = "onnx.Unsqueeze"(%perm#1, %last) : (tensor<8xi64>, tensor<1xi64>) -> tensor<8x1xi64>
  %inv = "onnx.ScatterND"(%slots, %pc, %range) : (tensor<8xi64>, tensor<8x1xi64>, tensor<8xi64>) -> tensor<8xi64>
  %back = "onnx.Gather"(%w, %inv) {axis = 0 : i64} : (tensor<8x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
  %split = "onnx.Reshape"(%back, %apart) : (tensor<8x4xf32>, tensor<3xi64>) -> tensor<4x2x4xf32>
  // CHECK-NOT: onnx.microsoft.MoE
  // CHECK: return
  %o = "onnx.ReduceSum"(%split, %axis) {keepdims = 0 : i64} : (tensor<4x2x4xf32>, tensor<1xi64>) -> tensor<4x4xf32>
  return %o : tensor<4x4xf32>
}

// Sums without the expert itself: where runs begin.
// CHECK-LABEL: func @runs_begin_at_ends(
func.func @runs_begin_at_ends(%x: tensor<4x4xf32>, %l: tensor<4x3xf32>) -> tensor<4x4xf32> {
  %g0 = nn.weight <"w", 0, 160, raw, 0> : tensor<4x10xf32>
  %d0 = nn.weight <"w", 480, 80, raw, 0> : tensor<5x4xf32>
  %g1 = nn.weight <"w", 160, 160, raw, 0> : tensor<4x10xf32>
  %d1 = nn.weight <"w", 560, 80, raw, 0> : tensor<5x4xf32>
  %g2 = nn.weight <"w", 320, 160, raw, 0> : tensor<4x10xf32>
  %d2 = nn.weight <"w", 640, 80, raw, 0> : tensor<5x4xf32>
  %none = "onnx.none"() : () -> none
  %zero = nn.constant dense<0> : tensor<i64> : tensor<i64>
  %one = nn.constant dense<1> : tensor<i64> : tensor<i64>
  %two = nn.constant dense<2> : tensor<i64> : tensor<i64>
  %count = nn.constant dense<2> : tensor<i64> : tensor<i64>
  %all = nn.constant dense<8> : tensor<i64> : tensor<i64>
  %all1 = nn.constant dense<8> : tensor<1xi64> : tensor<1xi64>
  %k = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %axis = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %last = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %i2 = nn.constant dense<2> : tensor<i64> : tensor<i64>
  %apart = nn.constant dense<[4, 2, 4]> : tensor<3xi64> : tensor<3xi64>
  %width = nn.constant dense<0.666666687> : tensor<f32> : tensor<f32>
  %empty = nn.constant dense<0.0> : tensor<3xf32> : tensor<3xf32>
  %ones = nn.constant dense<1.0> : tensor<8xf32> : tensor<8xf32>
  %slots = nn.constant dense<0> : tensor<8xi64> : tensor<8xi64>
  %top:2 = "onnx.TopK"(%l, %k) {axis = -1 : i64, largest = 1 : i64, sorted = 0 : i64} : (tensor<4x3xf32>, tensor<1xi64>) -> (tensor<4x2xf32>, tensor<4x2xi64>)
  %s = "onnx.Softmax"(%top#0) {axis = -1 : i64} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %flat = "onnx.Reshape"(%top#1, %last) : (tensor<4x2xi64>, tensor<1xi64>) -> tensor<8xi64>
  %perm:2 = "onnx.TopK"(%flat, %all1) {axis = -1 : i64, largest = 0 : i64, sorted = 1 : i64} : (tensor<8xi64>, tensor<1xi64>) -> (tensor<8xi64>, tensor<8xi64>)
  %t = "onnx.Div"(%perm#1, %count) : (tensor<8xi64>, tensor<i64>) -> tensor<8xi64>
  %rows = "onnx.Gather"(%x, %t) {axis = 0 : i64} : (tensor<4x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
  %sf = "onnx.Reshape"(%s, %last) : (tensor<4x2xf32>, tensor<1xi64>) -> tensor<8xf32>
  %sp = "onnx.Gather"(%sf, %perm#1) {axis = 0 : i64} : (tensor<8xf32>, tensor<8xi64>) -> tensor<8xf32>
  %sc = "onnx.Unsqueeze"(%sp, %last) : (tensor<8xf32>, tensor<1xi64>) -> tensor<8x1xf32>
  %idf = "onnx.Cast"(%perm#0) {to = 1 : i64} : (tensor<8xi64>) -> tensor<8xf32>
  %bf = "onnx.Div"(%idf, %width) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %bi = "onnx.Cast"(%bf) {to = 7 : i64} : (tensor<8xf32>) -> tensor<8xi64>
  %bins = "onnx.Clip"(%bi, %zero, %two) : (tensor<8xi64>, tensor<i64>, tensor<i64>) -> tensor<8xi64>
  %hist = "onnx.ScatterElements"(%empty, %bins, %ones) {axis = 0 : i64, reduction = "add"} : (tensor<3xf32>, tensor<8xi64>, tensor<8xf32>) -> tensor<3xf32>
  %whole = "onnx.Cast"(%hist) {to = 7 : i64} : (tensor<3xf32>) -> tensor<3xi64>
  %ends = "onnx.CumSum"(%whole, %zero) {exclusive = 1 : i64, reverse = 0 : i64} : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  %e0 = "onnx.Gather"(%ends, %zero) {axis = 0 : i64} : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %e1 = "onnx.Gather"(%ends, %one) {axis = 0 : i64} : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %e2 = "onnx.Gather"(%ends, %i2) {axis = 0 : i64} : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %r0 = "onnx.Range"(%zero, %e0, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n0">>
  %x0 = "onnx.Gather"(%rows, %r0) {axis = 0 : i64} : (tensor<8x4xf32>, tensor<?xi64, #nn.dims<"n0">>) -> tensor<?x4xf32, #nn.dims<"n0", "4">>
  %y0 = nn.linear %x0, %g0, %none : (tensor<?x4xf32, #nn.dims<"n0", "4">>, tensor<4x10xf32>, none) -> tensor<?x10xf32, #nn.dims<"n0", "10">>
  %r1 = "onnx.Range"(%e0, %e1, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n1">>
  %x1 = "onnx.Gather"(%rows, %r1) {axis = 0 : i64} : (tensor<8x4xf32>, tensor<?xi64, #nn.dims<"n1">>) -> tensor<?x4xf32, #nn.dims<"n1", "4">>
  %y1 = nn.linear %x1, %g1, %none : (tensor<?x4xf32, #nn.dims<"n1", "4">>, tensor<4x10xf32>, none) -> tensor<?x10xf32, #nn.dims<"n1", "10">>
  %r2 = "onnx.Range"(%e1, %e2, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #nn.dims<"n2">>
  %x2 = "onnx.Gather"(%rows, %r2) {axis = 0 : i64} : (tensor<8x4xf32>, tensor<?xi64, #nn.dims<"n2">>) -> tensor<?x4xf32, #nn.dims<"n2", "4">>
  %y2 = nn.linear %x2, %g2, %none : (tensor<?x4xf32, #nn.dims<"n2", "4">>, tensor<4x10xf32>, none) -> tensor<?x10xf32, #nn.dims<"n2", "10">>
  %y = "onnx.Concat"(%y0, %y1, %y2) {axis = 0 : i64} : (tensor<?x10xf32, #nn.dims<"n0", "10">>, tensor<?x10xf32, #nn.dims<"n1", "10">>, tensor<?x10xf32, #nn.dims<"n2", "10">>) -> tensor<?x10xf32, #nn.dims<"n0 + n1 + n2", "10">>
  %h:2 = "onnx.Split"(%y) {axis = 1 : i64, num_outputs = 2 : i64} : (tensor<?x10xf32, #nn.dims<"n0 + n1 + n2", "10">>) -> (tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>, tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>)
  %sg = "onnx.Sigmoid"(%h#0) : (tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>) -> tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>
  %a = "onnx.Mul"(%h#0, %sg) : (tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>, tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>) -> tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>
  %b = "onnx.Mul"(%a, %h#1) : (tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>, tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>) -> tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>
  %b0 = "onnx.Gather"(%b, %r0) {axis = 0 : i64} : (tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>, tensor<?xi64, #nn.dims<"n0">>) -> tensor<?x5xf32, #nn.dims<"n0", "5">>
  %z0 = nn.linear %b0, %d0, %none : (tensor<?x5xf32, #nn.dims<"n0", "5">>, tensor<5x4xf32>, none) -> tensor<?x4xf32, #nn.dims<"n0", "4">>
  %b1 = "onnx.Gather"(%b, %r1) {axis = 0 : i64} : (tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>, tensor<?xi64, #nn.dims<"n1">>) -> tensor<?x5xf32, #nn.dims<"n1", "5">>
  %z1 = nn.linear %b1, %d1, %none : (tensor<?x5xf32, #nn.dims<"n1", "5">>, tensor<5x4xf32>, none) -> tensor<?x4xf32, #nn.dims<"n1", "4">>
  %b2 = "onnx.Gather"(%b, %r2) {axis = 0 : i64} : (tensor<?x5xf32, #nn.dims<"n0 + n1 + n2", "5">>, tensor<?xi64, #nn.dims<"n2">>) -> tensor<?x5xf32, #nn.dims<"n2", "5">>
  %z2 = nn.linear %b2, %d2, %none : (tensor<?x5xf32, #nn.dims<"n2", "5">>, tensor<5x4xf32>, none) -> tensor<?x4xf32, #nn.dims<"n2", "4">>
  %z = "onnx.Concat"(%z0, %z1, %z2) {axis = 0 : i64} : (tensor<?x4xf32, #nn.dims<"n0", "4">>, tensor<?x4xf32, #nn.dims<"n1", "4">>, tensor<?x4xf32, #nn.dims<"n2", "4">>) -> tensor<?x4xf32, #nn.dims<"n0 + n1 + n2", "4">>
  %w = "onnx.Mul"(%z, %sc) : (tensor<?x4xf32, #nn.dims<"n0 + n1 + n2", "4">>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %range = "onnx.Range"(%zero, %all, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<8xi64>
  %pc = "onnx.Unsqueeze"(%perm#1, %last) : (tensor<8xi64>, tensor<1xi64>) -> tensor<8x1xi64>
  %inv = "onnx.ScatterND"(%slots, %pc, %range) : (tensor<8xi64>, tensor<8x1xi64>, tensor<8xi64>) -> tensor<8xi64>
  %back = "onnx.Gather"(%w, %inv) {axis = 0 : i64} : (tensor<8x4xf32>, tensor<8xi64>) -> tensor<8x4xf32>
  %split = "onnx.Reshape"(%back, %apart) : (tensor<8x4xf32>, tensor<3xi64>) -> tensor<4x2x4xf32>
  // CHECK-NOT: onnx.microsoft.MoE
  // CHECK: return
  %o = "onnx.ReduceSum"(%split, %axis) {keepdims = 0 : i64} : (tensor<4x2x4xf32>, tensor<1xi64>) -> tensor<4x4xf32>
  return %o : tensor<4x4xf32>
}
