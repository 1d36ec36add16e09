// RUN: sol-opt %s --nn-infer-shapes | FileCheck %s

// Equal names are equal sizes; a formula in an argument is read.
// CHECK-LABEL: func.func @broadcast
// CHECK: "onnx.Add"{{.*}} -> tensor<?x?x64xf32, #nn.dims<"batch", "past + sequence", "64">>
func.func @broadcast(%a: tensor<?x?x64xf32, #nn.dims<"batch", "sequence + past", "64">>,
                     %b: tensor<64xf32>) -> tensor<*xf32> {
  %0 = "onnx.Add"(%a, %b) : (tensor<?x?x64xf32, #nn.dims<"batch", "sequence + past", "64">>, tensor<64xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// Either size may be 1, so the result's is a symbol of its own.
// CHECK-LABEL: func.func @unprovable
// CHECK: "onnx.Add"{{.*}} -> tensor<?xf32, #nn.dims<"@sum.0">>
func.func @unprovable(%a: tensor<?xf32, #nn.dims<"a">>, %b: tensor<?xf32, #nn.dims<"b">>) -> tensor<*xf32> {
  %0 = "onnx.Add"(%a, %b) : (tensor<?xf32, #nn.dims<"a">>, tensor<?xf32, #nn.dims<"b">>) -> tensor<*xf32> loc("sum")
  return %0 : tensor<*xf32>
}

// A table of 512 positions cut to the sequence is as long as the sequence.
// CHECK-LABEL: func.func @cut_table
// CHECK: "onnx.Slice"{{.*}} -> tensor<?x8xf32, #nn.dims<"min(512, s)", "8">>
// CHECK: "onnx.Add"{{.*}} -> tensor<?x8xf32, #nn.dims<"s", "8">>
func.func @cut_table(%table: tensor<512x8xf32>, %x: tensor<?x8xf32, #nn.dims<"s", "8">>) -> tensor<*xf32> {
  %zero = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %end = "onnx.Shape"(%x) {start = 0 : i64, end = 1 : i64} : (tensor<?x8xf32, #nn.dims<"s", "8">>) -> tensor<*xi64>
  %part = "onnx.Slice"(%table, %zero, %end) : (tensor<512x8xf32>, tensor<1xi64>, tensor<*xi64>) -> tensor<*xf32>
  %0 = "onnx.Add"(%part, %x) : (tensor<*xf32>, tensor<?x8xf32, #nn.dims<"s", "8">>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// Elements of shapes are followed: heads are split by Shape, Gather and Concat.
// CHECK-LABEL: func.func @split_heads
// CHECK: "onnx.Reshape"{{.*}} -> tensor<?x?x4x16xf32, #nn.dims<"b", "s", "4", "16">>
func.func @split_heads(%x: tensor<?x?x64xf32, #nn.dims<"b", "s", "64">>) -> tensor<*xf32> {
  %two = nn.constant dense<[0, 1]> : tensor<2xi64> : tensor<2xi64>
  %heads = nn.constant dense<[4, -1]> : tensor<2xi64> : tensor<2xi64>
  %shape = "onnx.Shape"(%x) : (tensor<?x?x64xf32, #nn.dims<"b", "s", "64">>) -> tensor<*xi64>
  %front = "onnx.Gather"(%shape, %two) : (tensor<*xi64>, tensor<2xi64>) -> tensor<*xi64>
  %target = "onnx.Concat"(%front, %heads) {axis = 0 : i64} : (tensor<*xi64>, tensor<2xi64>) -> tensor<*xi64>
  %0 = "onnx.Reshape"(%x, %target) : (tensor<?x?x64xf32, #nn.dims<"b", "s", "64">>, tensor<*xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// Bounds beyond any size mean the end; a negative one counts from it.
// CHECK-LABEL: func.func @slices
// CHECK: "onnx.Slice"{{.*}} -> tensor<?x3xf32, #nn.dims<"max(0, s - 2)", "3">>
// CHECK: "onnx.Slice"{{.*}} -> tensor<?x3xf32, #nn.dims<"min(1, s)", "3">>
func.func @slices(%x: tensor<?x3xf32, #nn.dims<"s", "3">>) -> (tensor<*xf32>, tensor<*xf32>) {
  %two = nn.constant dense<2> : tensor<1xi64> : tensor<1xi64>
  %last = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %end = nn.constant dense<9223372036854775807> : tensor<1xi64> : tensor<1xi64>
  %0 = "onnx.Slice"(%x, %two, %end) : (tensor<?x3xf32, #nn.dims<"s", "3">>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  %1 = "onnx.Slice"(%x, %last, %end) : (tensor<?x3xf32, #nn.dims<"s", "3">>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @range
// CHECK: "onnx.Range"{{.*}} -> tensor<?xi64, #nn.dims<"sequence">>
func.func @range(%past: tensor<?x?xf32, #nn.dims<"past", "sequence">>) -> tensor<*xi64> {
  %axis = nn.constant dense<0> : tensor<i64> : tensor<i64>
  %one = nn.constant dense<1> : tensor<i64> : tensor<i64>
  %shape = "onnx.Shape"(%past) : (tensor<?x?xf32, #nn.dims<"past", "sequence">>) -> tensor<*xi64>
  %start = "onnx.Gather"(%shape, %axis) : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %step = "onnx.Gather"(%shape, %one) : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %limit = "onnx.Add"(%start, %step) : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  %0 = "onnx.Range"(%start, %limit, %one) : (tensor<*xi64>, tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  return %0 : tensor<*xi64>
}

// CHECK-LABEL: func.func @data_dependent
// CHECK: "onnx.NonZero"{{.*}} -> tensor<2x?xi64, #nn.dims<"2", "@nz.1">>
func.func @data_dependent(%x: tensor<3x4xf32>) -> tensor<*xi64> {
  %0 = "onnx.NonZero"(%x) : (tensor<3x4xf32>) -> tensor<*xi64> loc("nz")
  return %0 : tensor<*xi64>
}

// Branches of different rank give an unranked result, of different size a new
// symbol.
// CHECK-LABEL: func.func @branches
// CHECK: }) : (tensor<i1>) -> (tensor<*xf32>, tensor<?xf32, #nn.dims<"@choice:1.0">>)
func.func @branches(%c: tensor<i1>, %x: tensor<2x3xf32>, %y: tensor<3xf32>, %z: tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0:2 = "onnx.If"(%c) ({
    onnx.yield %x, %y : tensor<2x3xf32>, tensor<3xf32>
  }, {
    onnx.yield %y, %z : tensor<3xf32>, tensor<4xf32>
  }) : (tensor<i1>) -> (tensor<*xf32>, tensor<*xf32>) loc("choice")
  return %0#0, %0#1 : tensor<*xf32>, tensor<*xf32>
}

// What grows in a loop has no size that holds in every iteration; what doesn't
// keeps it.
// CHECK-LABEL: func.func @loop
// CHECK: }) : (tensor<i64>, tensor<i1>, tensor<1x4xf32>, tensor<4xf32>) -> (tensor<?x4xf32, #nn.dims<"@l.0", "4">>, tensor<4xf32>)
func.func @loop(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<1x4xf32>, %y: tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0:2 = "onnx.Loop"(%n, %c, %x, %y) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<*xf32>, %b: tensor<*xf32>):
    %longer = "onnx.Concat"(%a, %x) {axis = 0 : i64} : (tensor<*xf32>, tensor<1x4xf32>) -> tensor<*xf32>
    %same = "onnx.Neg"(%b) : (tensor<*xf32>) -> tensor<*xf32>
    onnx.yield %go, %longer, %same : tensor<i1>, tensor<*xf32>, tensor<*xf32>
  }) : (tensor<i64>, tensor<i1>, tensor<1x4xf32>, tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>) loc("l")
  return %0#0, %0#1 : tensor<*xf32>, tensor<*xf32>
}
