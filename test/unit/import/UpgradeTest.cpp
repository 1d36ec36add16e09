//===- UpgradeTest.cpp - older operator versions --------------------------===//
//
// The form that nodes of older versions take. Their meaning is tested against
// ONNX Runtime by test/import/older_versions.py.
//
//===----------------------------------------------------------------------===//
#include "test/unit/import/ModelBuilder.h"

#include "dialects/onnx/OnnxSchema.h"
#include "lib/import/upgrade/Upgrade.h"

#include "gtest/gtest.h"

namespace sol {
namespace {

/// Imports one node on x (2x3x4, float) giving y.
template <typename Fill>
Imported importNode(int64_t opset, const std::string &type, Fill fill,
                    std::vector<std::string> inputs = {"x"}) {
  ModelBuilder builder(opset);
  builder.input("x", {2, 3, 4}).output("y");
  fill(builder.node(type, std::move(inputs), {"y"}));
  return builder.import();
}

TEST(Upgrade, SoftmaxFlattens) {
  auto plain = [](::onnx::NodeProto &) {};
  Imported got = importNode(11, "Softmax", plain);
  ASSERT_TRUE(got.isOk) << got.errors;
  EXPECT_PRED2(holds, got.ir, "onnx.Flatten");
  EXPECT_PRED2(holds, got.ir, "onnx.Reshape");
  got = importNode(11, "Softmax",
                   [](::onnx::NodeProto &n) { setInt(n, "axis", 2); });
  EXPECT_PRED2(lacks, got.ir, "onnx.Flatten");
  EXPECT_PRED2(holds, got.ir, "axis = -1");
  got = importNode(13, "Softmax", plain);
  EXPECT_PRED2(lacks, got.ir, "onnx.Flatten");
}

TEST(Upgrade, AxesBecomeInputs) {
  auto axes = [](::onnx::NodeProto &n) { setInts(n, "axes", {1}); };
  for (const char *type :
       {"ReduceMean", "ReduceSum", "ReduceMax", "Unsqueeze"}) {
    Imported got = importNode(11, type, axes);
    ASSERT_TRUE(got.isOk) << type << got.errors;
    EXPECT_PRED2(holds, got.ir, "nn.constant dense<1> : tensor<1xi64>");
    EXPECT_PRED2(lacks, got.ir, "axes =");
  }
  // The newest version does not know the attribute any more.
  EXPECT_FALSE(importNode(18, "ReduceMean", axes).isOk);
  EXPECT_FALSE(importNode(11, "Unsqueeze", [](::onnx::NodeProto &) {}).isOk);
}

TEST(Upgrade, BoundsBecomeInputs) {
  Imported got = importNode(
      6 + 1, "Clip", [](::onnx::NodeProto &n) { setFloat(n, "max", 6); });
  ASSERT_TRUE(got.isOk) << got.errors;
  EXPECT_PRED2(holds, got.ir, "dense<6.000000e+00> : tensor<f32>");
  EXPECT_PRED2(holds, got.ir, "tensor<2x3x4xf32>, none, tensor<f32>");
  got = importNode(9, "Slice", [](::onnx::NodeProto &n) {
    setInts(n, "starts", {1});
    setInts(n, "ends", {INT64_MAX});
  });
  ASSERT_TRUE(got.isOk) << got.errors;
  EXPECT_PRED2(holds, got.ir, "dense<9223372036854775807>");
  got = importNode(10, "Pad", [](::onnx::NodeProto &n) {
    setInts(n, "pads", {0, 0, 1, 0, 0, 1});
    setFloat(n, "value", 2);
  });
  EXPECT_PRED2(holds, got.ir, "dense<2.000000e+00> : tensor<f32>");
}

TEST(Upgrade, SplitCountsItsOutputs) {
  ModelBuilder builder(11);
  builder.input("x", {4}).output("a").output("b");
  builder.node("Split", {"x"}, {"a", "b"});
  EXPECT_PRED2(holds, builder.import().ir, "num_outputs = 2");
}

TEST(Upgrade, RemovedOperators) {
  Imported got = importNode(7, "Upsample", [](::onnx::NodeProto &n) {
    auto *scales = n.add_attribute();
    scales->set_name("scales");
    scales->set_type(::onnx::AttributeProto::FLOATS);
    for (float scale : {1.0f, 1.0f, 2.0f})
      scales->add_floats(scale);
  });
  ASSERT_TRUE(got.isOk) << got.errors;
  EXPECT_PRED2(matches, got.ir, "onnx.Resize.*asymmetric.*floor");
}

TEST(Upgrade, DropoutKeepsItsInputAlone) {
  Imported got = importNode(
      10, "Dropout", [](::onnx::NodeProto &n) { setFloat(n, "ratio", 0.3f); });
  ASSERT_TRUE(got.isOk) << got.errors;
  EXPECT_PRED2(holds, got.ir, "\"onnx.Dropout\"(%arg0) :");
}

TEST(Upgrade, OlderFormsWithoutRewriteAreRefused) {
  Imported got = importNode(6, "Add", [](::onnx::NodeProto &) {}, {"x", "x"});
  EXPECT_FALSE(got.isOk);
  EXPECT_PRED2(holds, got.errors, "node `/Add`");
  EXPECT_PRED2(holds, got.errors, "opset 7 or newer");
  got = importNode(12, "Gelu", [](::onnx::NodeProto &) {});
  EXPECT_PRED2(holds, got.errors, "came with opset 20");
}

/// The table's changed steps and the rewrites must not drift apart: every
/// rewrite is used, and the steps from opset 7 on without one are these.
TEST(Upgrade, RewritesCoverTheTable) {
  std::vector<std::string> refused;
  for (const onnx::OpSchema &schema : onnx::allSchemas())
    for (const onnx::VersionStep &step : schema.versions) {
      bool hasRewrite = findUpgrade(schema.name, step.version) != nullptr;
      if (hasRewrite)
        EXPECT_TRUE(step.changed) << schema.name << " " << step.version;
      if (step.changed && step.version > 7 && !hasRewrite)
        refused.push_back(schema.name + ("-" + std::to_string(step.version)));
    }
  EXPECT_EQ(refused,
            (std::vector<std::string>{"GroupNormalization-21", "Scan-9"}));
}
} // namespace
} // namespace sol
