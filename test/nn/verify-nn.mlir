// RUN: sol-opt %s --verify-nn --split-input-file --verify-diagnostics

func.func @n2_unbound_size(%x: tensor<2xf32>) -> tensor<?xi64> {
  %0 = nn.constant dense<1> : tensor<i64> : tensor<i64>
  // expected-error @below {{axis 0 of 'tensor<?xf32>' has no symbolic size (N2): run nn-infer-shapes}}
  %1 = "onnx.Neg"(%x) : (tensor<2xf32>) -> tensor<?xf32>
  // expected-error @below {{axis 0 of 'tensor<?xi64>' has no symbolic size (N2)}}
  %2 = "onnx.Range"(%0, %0, %0) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  return %2 : tensor<?xi64>
}

// -----

func.func @n1_no_kernel(%x: tensor<2xf32>, %i: tensor<2xi64>) {
  // expected-error @below {{node (RoiAlign of ai.onnx; inputs float32 [2], float32 [2], int64 [2]): no kernel computes this operator; express it by others, or export the model without it (N1)}}
  %0 = "onnx.RoiAlign"(%x, %x, %i) : (tensor<2xf32>, tensor<2xf32>, tensor<2xi64>) -> tensor<*xf32>
  return
}

// -----

// The branches of a condition may each change a cache; two changes in one may not.
func.func @n3_changed_twice(%flag: tensor<1xi1>, %c: !nn.cache<tensor<1x1x2x4xf32>>, %t: tensor<1x1x3x4xf32>) {
  %0 = "onnx.If"(%flag) ({
    // expected-error @below {{changes a cache that another operator changes (N3)}}
    %a = nn.cache_append %c, %t : (!nn.cache<tensor<1x1x2x4xf32>>, tensor<1x1x3x4xf32>) -> !nn.cache<tensor<1x1x5x4xf32>>
    // expected-note @below {{the other one}}
    %y = nn.cache_append %c, %t : (!nn.cache<tensor<1x1x2x4xf32>>, tensor<1x1x3x4xf32>) -> !nn.cache<tensor<1x1x5x4xf32>>
    onnx.yield %t : tensor<1x1x3x4xf32>
  }, {
    %b = nn.cache_fill %c, %t : (!nn.cache<tensor<1x1x2x4xf32>>, tensor<1x1x3x4xf32>) -> !nn.cache<tensor<1x1x3x4xf32>>
    onnx.yield %t : tensor<1x1x3x4xf32>
  }) : (tensor<1xi1>) -> tensor<1x1x3x4xf32>
  return
}

// -----

func.func @n3_one_in_each_branch(%flag: tensor<1xi1>, %c: !nn.cache<tensor<1x1x2x4xf32>>, %t: tensor<1x1x3x4xf32>) -> tensor<1x1x3x4xf32> {
  %0 = "onnx.If"(%flag) ({
    %a = nn.cache_append %c, %t : (!nn.cache<tensor<1x1x2x4xf32>>, tensor<1x1x3x4xf32>) -> !nn.cache<tensor<1x1x5x4xf32>>
    onnx.yield %t : tensor<1x1x3x4xf32>
  }, {
    %b = nn.cache_fill %c, %t : (!nn.cache<tensor<1x1x2x4xf32>>, tensor<1x1x3x4xf32>) -> !nn.cache<tensor<1x1x3x4xf32>>
    onnx.yield %t : tensor<1x1x3x4xf32>
  }) : (tensor<1xi1>) -> tensor<1x1x3x4xf32>
  return %0 : tensor<1x1x3x4xf32>
}
