// RUN: sol-opt %s --nn-recognize-norm --remarks-filter=recognize --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s

// What was recognised, and what nearly was and why not.
func.func @remarks(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %eps = nn.constant dense<1.0e-05> : tensor<f32> : tensor<f32>
  %last = nn.constant dense<-1> : tensor<1xi64> : tensor<1xi64>
  %first = nn.constant dense<0> : tensor<1xi64> : tensor<1xi64>
  %p = "onnx.Mul"(%x, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = "onnx.ReduceMean"(%p, %last) : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<8x1xf32>
  %a = "onnx.Add"(%m, %eps) : (tensor<8x1xf32>, tensor<f32>) -> tensor<8x1xf32>
  %s = "onnx.Sqrt"(%a) : (tensor<8x1xf32>) -> tensor<8x1xf32>
  // CHECK: :[[#@LINE+1]]:{{.*}}Passed{{.*}}rms norm
  %y = "onnx.Div"(%x, %s) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %n = "onnx.ReduceMean"(%p, %first) : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<1x8xf32>
  %b = "onnx.Add"(%n, %eps) : (tensor<1x8xf32>, tensor<f32>) -> tensor<1x8xf32>
  // CHECK: :[[#@LINE+1]]:{{.*}}Missed{{.*}}not over the last axis alone
  %t = "onnx.Sqrt"(%b) : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %z = "onnx.Div"(%x, %t) : (tensor<8x8xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
  return %y, %z : tensor<8x8xf32>, tensor<8x8xf32>
}
