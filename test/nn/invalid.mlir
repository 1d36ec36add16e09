// RUN: sol-opt %s --split-input-file --verify-diagnostics

func.func @constant() {
  // expected-error @+1 {{has a value of type 'tensor<2xi64>' but a result of type 'tensor<3xi64>'}}
  %0 = nn.constant dense<[1, -1]> : tensor<2xi64> : tensor<3xi64>
  return
}

// -----

func.func @constant_type() {
  // expected-error @+1 {{has a value of type 'tensor<2xi64>' but a result of type 'tensor<2xi32>'}}
  %0 = nn.constant dense<[1, -1]> : tensor<2xi64> : tensor<2xi32>
  return
}

// -----

func.func @span() {
  // expected-error @+1 {{has a span at -8 of 16 bytes; neither may be negative}}
  %0 = nn.weight <"m.data", -8, 16, raw, 0> : tensor<4xf32>
  return
}

// -----

func.func @encoding() {
  // expected-error @+1 {{span encoding must be `raw` or `proto`, got `text`}}
  %0 = nn.weight <"m.data", 0, 16, text, 0> : tensor<4xf32>
  return
}

// -----

func.func @dynamic_weight() {
  // expected-error @+1 {{statically shaped}}
  %0 = nn.weight <"m.data", 0, 16, raw, 0> : tensor<?xf32>
  return
}

// -----

func.func @yields_another_type() {
  // expected-error @+1 {{must end by yielding one value of type 'tensor<4xf32>'}}
  %0 = nn.folded : tensor<4xf32> {
    %w = nn.weight <"m.data", 0, 32, raw, 0> : tensor<8xf32>
    nn.yield %w : tensor<8xf32>
  }
  return
}

// -----

func.func @yields_nothing() {
  // expected-error @+1 {{must end by yielding one value of type 'tensor<4xf32>'}}
  %0 = nn.folded : tensor<4xf32> {
    nn.yield
  }
  return
}

// -----

func.func @no_end() {
  // expected-error @+1 {{must end by yielding one value of type 'tensor<4xf32>'}}
  %0 = nn.folded : tensor<4xf32> {
    %w = nn.weight <"m.data", 0, 16, raw, 0> : tensor<4xf32>
  }
  return
}

// -----

func.func @from_outside(%x: tensor<4xf32>) {
  // expected-note @+1 {{required by region isolation constraints}}
  %0 = nn.folded : tensor<4xf32> {
    // expected-error @+1 {{using value defined outside the region}}
    nn.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @cache_of_a_tensor(%x: tensor<1x2x3x8xf32>) {
  // expected-error @+1 {{operand #0 must be}}
  %0 = "nn.cache_append"(%x, %x) : (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32>
  return
}

// -----

func.func @no_epsilon(%x: tensor<4xf32>) {
  // expected-error @+1 {{requires attribute 'epsilon'}}
  %0 = nn.rms_norm %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
