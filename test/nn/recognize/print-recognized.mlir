// RUN: sol-opt %s --nn-print-recognized -o %t | FileCheck %s

// CHECK: {"function":"counts","attention":1,"cross_attention":0,"cache":0,"fixed_cache":0,"norm":2,"rotary":0,"mlp":2,"experts":0,"linear":0}
func.func @counts(%x: tensor<1x2x3x8xf32>, %w: tensor<8xf32>) -> tensor<1x2x3x8xf32> {
  %none = onnx.none : none
  %a = nn.rms_norm %x, %w {epsilon = 1.0e-05 : f32} : (tensor<1x2x3x8xf32>, tensor<8xf32>) -> tensor<1x2x3x8xf32>
  %b = nn.attention %a, %a, %a, %none, %none {scale = 1.0 : f32, softcap = 0.0 : f32, masked_rows = "nan"} : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, none, none) -> tensor<1x2x3x8xf32>
  %c = nn.gate %a, %b {activation = "silu"} : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %d = "onnx.Relu"(%c) : (tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  %e = "onnx.LayerNormalization"(%d, %w) : (tensor<1x2x3x8xf32>, tensor<8xf32>) -> tensor<1x2x3x8xf32>
  return %e : tensor<1x2x3x8xf32>
}
