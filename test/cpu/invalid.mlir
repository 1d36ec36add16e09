// RUN: sol-opt %s --split-input-file --verify-diagnostics

func.func @parameters(%x: tensor<4xf32>) {
  // expected-error @+1 {{requires attribute 'parameters'}}
  %a = cpu.kernel "onnx.Neg"(%x) {} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @condition(%x: i1) {
  // expected-error @+1 {{invalid kind of type specified}}
  cpu.if %x : i1 -> {
    cpu.yield
  } else {
    cpu.yield
  }
  return
}

// -----

func.func @one_branch(%x: tensor<i1>) {
  // expected-error @+1 {{region with 1 blocks}}
  "cpu.if"(%x) ({
    cpu.yield
  }, {
  }) : (tensor<i1>) -> ()
  return
}

// -----

func.func @open_end(%x: tensor<i1>) {
  // expected-error @+1 {{expects a non-empty block}}
  "cpu.if"(%x) ({
    cpu.yield
  }, {
  ^bb0:
  }) : (tensor<i1>) -> ()
  return
}
