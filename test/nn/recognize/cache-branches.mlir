// RUN: sol-opt %s --nn-cache-state --split-input-file --remarks-filter=recognize --remark-format=emitRemark 2>/dev/null | FileCheck %s
// RUN: sol-opt %s --nn-cache-state --split-input-file --remarks-filter=recognize --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// A decoder for first and later runs: one branch appends, the other fills. Keys and values of the encoder's states are
// filled by the first run and read by later ones; those give nothing back.
// CHECK-LABEL: func.func @merged(
// CHECK-SAME: %[[P:arg3]]: !nn.cache<tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p", "2">>>,
// CHECK-SAME: %[[FK:arg4]]: !nn.cache<tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>> {nn.fed_by = 2 : i64, nn.fixed}
// CHECK-SAME: %[[FV:arg5]]: !nn.cache<tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>> {nn.fed_by = 3 : i64, nn.fixed}
// CHECK-SAME: !nn.cache<{{[^{]*}}> {nn.state_of = 3 : i64}, tensor<{{[^{]*}}>, tensor<{{[^{]*}}>)
// CHECK: "onnx.If"
// CHECK: %[[T:.*]] = nn.cache_append %[[P]],
// CHECK: nn.attention %{{.*}}, %[[T]], %[[T]], {{.*}}cached = 1
// CHECK: nn.attention %{{.*}}, %[[FK]], %[[FV]], {{.*}}cached = 1
// CHECK: onnx.yield %{{.*}}, %[[T]], %[[E:.*]], %[[E]] :
// CHECK: nn.attention %{{.*}}, %[[K:.*]], %[[K]], %{{.*}} {masked_rows
// CHECK: nn.attention %{{.*}}, %[[C:.*]], %[[D:.*]], %{{.*}}, %{{.*}} {masked_rows
// CHECK: %[[B:.*]] = nn.cache_fill %[[P]], %[[K]]
// CHECK: nn.cache_fill %[[FK]], %[[C]]
// CHECK: nn.cache_fill %[[FV]], %[[D]]
// CHECK: onnx.yield %{{.*}}, %[[B]], %[[C]], %[[D]] :
func.func @merged(%flag: tensor<1xi1>, %x: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, %states: tensor<?x?x2xf32, #nn.dims<"b", "n", "2">> {nn.name = "states"}, %past: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p", "2">>, %fk: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, %fv: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>) -> (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "@j", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>) {
  %none = onnx.none : none
  %one = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %empty = nn.constant dense<> : tensor<0x1x1x2xf32> : tensor<0x1x1x2xf32>
  %wq1 = nn.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %wq2 = nn.constant dense<[[5.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %wq3 = nn.constant dense<[[6.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %wk = nn.constant dense<[[7.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %0:4 = "onnx.If"(%flag) ({
    %q = "onnx.MatMul"(%x, %wq1) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %k = "onnx.MatMul"(%x, %wk) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %t = "onnx.Concat"(%past, %k) {axis = 2 : i64} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>
    %a = nn.attention %q, %t, %t, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %c = "onnx.MatMul"(%x, %wq2) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %y = nn.attention %c, %fk, %fv, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    onnx.yield %y, %t, %empty, %empty : tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>, tensor<0x1x1x2xf32>, tensor<0x1x1x2xf32>
  }, {
    %q = "onnx.MatMul"(%x, %wq1) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %k = "onnx.MatMul"(%x, %wk) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %a = nn.attention %q, %k, %k, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %c = "onnx.MatMul"(%x, %wq2) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %em = "onnx.MatMul"(%states, %wk) : (tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>, tensor<2x2xf32>) -> tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>
    %e = "onnx.Unsqueeze"(%em, %one) : (tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>, tensor<1xi64>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>
    %fm = "onnx.MatMul"(%states, %wq3) : (tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>, tensor<2x2xf32>) -> tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>
    %f = "onnx.Unsqueeze"(%fm, %one) : (tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>, tensor<1xi64>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>
    %y = nn.attention %c, %e, %f, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    onnx.yield %y, %k, %e, %f : tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>
  }) : (tensor<1xi1>) -> (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "@j", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "@j", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>
}

// -----

// Later runs give the encoder's keys and values back as they are: the caches are results, too.
// CHECK-LABEL: func.func @comes_back(
// CHECK-SAME: !nn.cache<{{[^{]*}}> {nn.state_of = 3 : i64}, !nn.cache<{{[^{]*}}> {nn.state_of = 4 : i64}, !nn.cache<{{[^{]*}}> {nn.state_of = 5 : i64})
// CHECK: onnx.yield %{{.*}}, %{{.*}}, %arg4, %arg5 :
// CHECK: %[[FK:.*]] = nn.cache_fill %arg4,
// CHECK: %[[FV:.*]] = nn.cache_fill %arg5,
// CHECK: onnx.yield %{{.*}}, %{{.*}}, %[[FK]], %[[FV]] :
func.func @comes_back(%flag: tensor<1xi1>, %x: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, %states: tensor<?x?x2xf32, #nn.dims<"b", "n", "2">> {nn.name = "states"}, %past: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p", "2">>, %fk: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, %fv: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>) -> (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "@j", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>) {
  %none = onnx.none : none
  %one = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %empty = nn.constant dense<> : tensor<0x1x1x2xf32> : tensor<0x1x1x2xf32>
  %wq1 = nn.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %wq2 = nn.constant dense<[[5.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %wq3 = nn.constant dense<[[6.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %wk = nn.constant dense<[[7.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %0:4 = "onnx.If"(%flag) ({
    %q = "onnx.MatMul"(%x, %wq1) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %k = "onnx.MatMul"(%x, %wk) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %t = "onnx.Concat"(%past, %k) {axis = 2 : i64} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>
    %a = nn.attention %q, %t, %t, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %c = "onnx.MatMul"(%x, %wq2) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %y = nn.attention %c, %fk, %fv, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    onnx.yield %y, %t, %fk, %fv : tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>
  }, {
    %q = "onnx.MatMul"(%x, %wq1) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %k = "onnx.MatMul"(%x, %wk) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %a = nn.attention %q, %k, %k, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %c = "onnx.MatMul"(%x, %wq2) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %em = "onnx.MatMul"(%states, %wk) : (tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>, tensor<2x2xf32>) -> tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>
    %e = "onnx.Unsqueeze"(%em, %one) : (tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>, tensor<1xi64>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>
    %fm = "onnx.MatMul"(%states, %wq3) : (tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>, tensor<2x2xf32>) -> tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>
    %f = "onnx.Unsqueeze"(%fm, %one) : (tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>, tensor<1xi64>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>
    %y = nn.attention %c, %e, %f, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    onnx.yield %y, %k, %e, %f : tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>
  }) : (tensor<1xi1>) -> (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "@j", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "@j", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>
}

// -----

// The other branch's queries have another matrix: nothing says that its keys are what this past holds.
// CHECK-LABEL: func.func @other_queries(
// CHECK-SAME: %arg3: !nn.cache
// CHECK-SAME: %arg4: tensor<
// CHECK-SAME: %arg5: tensor<
// CHECK: nn.attention %{{.*}}, %arg4, %arg5
// REMARK: Missed{{.*}}cache: no attention of the other branch has the same queries' matrix
func.func @other_queries(%flag: tensor<1xi1>, %x: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, %states: tensor<?x?x2xf32, #nn.dims<"b", "n", "2">> {nn.name = "states"}, %past: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p", "2">>, %fk: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, %fv: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>) -> (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "@j", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>) {
  %none = onnx.none : none
  %one = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %empty = nn.constant dense<> : tensor<0x1x1x2xf32> : tensor<0x1x1x2xf32>
  %wq1 = nn.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %wq2 = nn.constant dense<[[5.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %wq3 = nn.constant dense<[[6.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %wk = nn.constant dense<[[7.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %0:4 = "onnx.If"(%flag) ({
    %q = "onnx.MatMul"(%x, %wq1) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %k = "onnx.MatMul"(%x, %wk) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %t = "onnx.Concat"(%past, %k) {axis = 2 : i64} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>
    %a = nn.attention %q, %t, %t, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %c = "onnx.MatMul"(%x, %wq2) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %y = nn.attention %c, %fk, %fv, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    onnx.yield %y, %t, %empty, %empty : tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>, tensor<0x1x1x2xf32>, tensor<0x1x1x2xf32>
  }, {
    %q = "onnx.MatMul"(%x, %wq1) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %k = "onnx.MatMul"(%x, %wk) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %a = nn.attention %q, %k, %k, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %c = "onnx.MatMul"(%x, %wq3) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %em = "onnx.MatMul"(%states, %wk) : (tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>, tensor<2x2xf32>) -> tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>
    %e = "onnx.Unsqueeze"(%em, %one) : (tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>, tensor<1xi64>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>
    %fm = "onnx.MatMul"(%states, %wq3) : (tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>, tensor<2x2xf32>) -> tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>
    %f = "onnx.Unsqueeze"(%fm, %one) : (tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>, tensor<1xi64>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>
    %y = nn.attention %c, %e, %f, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    onnx.yield %y, %k, %e, %f : tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>
  }) : (tensor<1xi1>) -> (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "@j", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "@j", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>
}

// -----

// The past is read by itself, so it stays, and with it what is only read.
// CHECK-LABEL: func.func @read_besides(
// CHECK-NOT: nn.cache
// REMARK: Missed{{.*}}cache: the past is used otherwise than for its shape
func.func @read_besides(%flag: tensor<1xi1>, %x: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, %states: tensor<?x?x2xf32, #nn.dims<"b", "n", "2">> {nn.name = "states"}, %past: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p", "2">>, %fk: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, %fv: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>) -> (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "@j", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>) {
  %none = onnx.none : none
  %one = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %empty = nn.constant dense<> : tensor<0x1x1x2xf32> : tensor<0x1x1x2xf32>
  %wq1 = nn.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %wq2 = nn.constant dense<[[5.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %wq3 = nn.constant dense<[[6.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %wk = nn.constant dense<[[7.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %0:4 = "onnx.If"(%flag) ({
    %q = "onnx.MatMul"(%x, %wq1) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %k = "onnx.MatMul"(%x, %wk) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %t = "onnx.Concat"(%past, %k) {axis = 2 : i64} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>
    %a = nn.attention %q, %t, %t, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %c = "onnx.MatMul"(%x, %wq2) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %y = nn.attention %c, %fk, %fv, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %z = "onnx.Neg"(%past) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p", "2">>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p", "2">>
    onnx.yield %y, %t, %empty, %empty : tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>, tensor<0x1x1x2xf32>, tensor<0x1x1x2xf32>
  }, {
    %q = "onnx.MatMul"(%x, %wq1) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %k = "onnx.MatMul"(%x, %wk) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %a = nn.attention %q, %k, %k, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %c = "onnx.MatMul"(%x, %wq2) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %em = "onnx.MatMul"(%states, %wk) : (tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>, tensor<2x2xf32>) -> tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>
    %e = "onnx.Unsqueeze"(%em, %one) : (tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>, tensor<1xi64>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>
    %fm = "onnx.MatMul"(%states, %wq3) : (tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>, tensor<2x2xf32>) -> tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>
    %f = "onnx.Unsqueeze"(%fm, %one) : (tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>, tensor<1xi64>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>
    %y = nn.attention %c, %e, %f, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    onnx.yield %y, %k, %e, %f : tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>
  }) : (tensor<1xi1>) -> (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "@j", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "@j", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>
}

// -----

// Something else reads the encoder's keys; attention gets a copy of the values, which are a cache.
// CHECK-LABEL: func.func @keys_read_besides(
// CHECK-SAME: %arg4: tensor<
// CHECK-SAME: %arg5: !nn.cache
// CHECK: %[[V:.*]] = nn.cache_read %arg5
// CHECK: nn.attention %{{.*}}, %arg4, %[[V]]
// REMARK: Missed{{.*}}cache: something else than one attention reads the past
func.func @keys_read_besides(%flag: tensor<1xi1>, %x: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, %states: tensor<?x?x2xf32, #nn.dims<"b", "n", "2">> {nn.name = "states"}, %past: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p", "2">>, %fk: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, %fv: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>) -> (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "@j", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>) {
  %none = onnx.none : none
  %one = nn.constant dense<1> : tensor<1xi64> : tensor<1xi64>
  %empty = nn.constant dense<> : tensor<0x1x1x2xf32> : tensor<0x1x1x2xf32>
  %wq1 = nn.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %wq2 = nn.constant dense<[[5.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %wq3 = nn.constant dense<[[6.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %wk = nn.constant dense<[[7.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %0:4 = "onnx.If"(%flag) ({
    %q = "onnx.MatMul"(%x, %wq1) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %k = "onnx.MatMul"(%x, %wk) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %t = "onnx.Concat"(%past, %k) {axis = 2 : i64} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>
    %a = nn.attention %q, %t, %t, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %c = "onnx.MatMul"(%x, %wq2) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %y = nn.attention %c, %fk, %fv, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %z = "onnx.Neg"(%fk) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>
    onnx.yield %y, %t, %empty, %empty : tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>, tensor<0x1x1x2xf32>, tensor<0x1x1x2xf32>
  }, {
    %q = "onnx.MatMul"(%x, %wq1) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %k = "onnx.MatMul"(%x, %wk) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %a = nn.attention %q, %k, %k, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %c = "onnx.MatMul"(%x, %wq2) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<2x2xf32>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %em = "onnx.MatMul"(%states, %wk) : (tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>, tensor<2x2xf32>) -> tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>
    %e = "onnx.Unsqueeze"(%em, %one) : (tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>, tensor<1xi64>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>
    %fm = "onnx.MatMul"(%states, %wq3) : (tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>, tensor<2x2xf32>) -> tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>
    %f = "onnx.Unsqueeze"(%fm, %one) : (tensor<?x?x2xf32, #nn.dims<"b", "n", "2">>, tensor<1xi64>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>
    %y = nn.attention %c, %e, %f, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    onnx.yield %y, %k, %e, %f : tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>
  }) : (tensor<1xi1>) -> (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "@j", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "@j", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>, tensor<?x1x?x2xf32, #nn.dims<"@f", "1", "@g", "2">>
}

// -----

// A decoder that only goes on: what attention alone reads is a fixed cache, beside a growing one.
// CHECK-LABEL: func.func @goes_on(
// CHECK-SAME: %arg2: !nn.cache<{{[^{]*}}> {nn.fixed}
// CHECK: nn.attention %arg0, %arg2, %arg2, {{.*}}cached = 1
func.func @goes_on(%x: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, %past: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p", "2">>, %fixed: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>) -> (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>) {
  %none = onnx.none : none
  %t = "onnx.Concat"(%past, %x) {axis = 2 : i64} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>
    %a = nn.attention %x, %t, %t, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
    %y = nn.attention %x, %fixed, %fixed, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
  %r = "onnx.Add"(%a, %y) : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
  return %r, %t : tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "p + s", "2">>
}

// -----

// Without a cache that grows it is no decoder.
// CHECK-LABEL: func.func @only_attention(
// CHECK-NOT: nn.cache
func.func @only_attention(%x: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, %fixed: tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">> {
  %none = onnx.none : none
    %y = nn.attention %x, %fixed, %fixed, %none, %none {masked_rows = "nan", scale = 1.0 : f32, softcap = 0.0 : f32} : (tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, tensor<?x1x?x2xf32, #nn.dims<"b", "1", "n", "2">>, none, none) -> tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
  return %y : tensor<?x1x?x2xf32, #nn.dims<"b", "1", "s", "2">>
}
