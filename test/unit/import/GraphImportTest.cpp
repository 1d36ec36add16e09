//===- GraphImportTest.cpp - nodes, graphs inside nodes, functions --------===//
//
// What right models become.
//
//===----------------------------------------------------------------------===//
#include "test/unit/import/ModelBuilder.h"

#include "gtest/gtest.h"

namespace sol {
namespace {
using ::onnx::TensorProto;

TEST(GraphImport, InterfaceKeepsNamesAndSizes) {
  ModelBuilder builder;
  builder.input("x", {-1, -1, 4}).output("y");
  auto *shape = builder.model.mutable_graph()
                    ->mutable_input(0)
                    ->mutable_type()
                    ->mutable_tensor_type()
                    ->mutable_shape();
  shape->mutable_dim(0)->set_dim_param("batch");
  shape->add_dim()->set_dim_param("16");
  builder.node("Relu", {"x"}, {"y"});
  Imported got = builder.import();
  ASSERT_TRUE(got.isOk) << got.errors;
  EXPECT_PRED2(holds, got.ir,
               "tensor<?x?x4x16xf32, #nn.dims<\"batch\", "
               "\"x_dim1\", \"4\", \"16\">> {nn.name = \"x\"}");
  EXPECT_PRED2(holds, got.ir, "(tensor<*xf32> {nn.name = \"y\"})");
}

TEST(GraphImport, NodesMayComeInAnyOrder) {
  ModelBuilder builder;
  builder.input("x", {4}).output("y");
  builder.node("Relu", {"a"}, {"y"});
  builder.node("Neg", {"x"}, {"a"});
  Imported got = builder.import();
  ASSERT_TRUE(got.isOk) << got.errors;
  EXPECT_LT(got.ir.find("onnx.Neg"), got.ir.find("onnx.Relu"));
}

TEST(GraphImport, MissingOperandsAndResults) {
  ModelBuilder builder(13);
  builder.input("x", {4}).input("top", {}).output("y");
  builder.node("Clip", {"x", "", "top"}, {"a"});
  builder.node("Clip", {"a", "", ""}, {"y"});
  Imported got = builder.import();
  ASSERT_TRUE(got.isOk) << got.errors;
  EXPECT_PRED2(holds, got.ir, "onnx.none : none");
  EXPECT_PRED2(holds, got.ir, "\"onnx.Clip\"(%arg0, %0, %arg1)");
  EXPECT_PRED2(matches, got.ir, "onnx.Clip\"\\(%[0-9]+\\) :");
}

TEST(GraphImport, IfUsesValuesFromAround) {
  ModelBuilder builder;
  builder.input("c", {}, TensorProto::BOOL).input("x", {4}).output("y");
  auto &node = builder.node("If", {"c"}, {"y"});
  for (const char *name : {"else_branch", "then_branch"}) {
    auto *attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(::onnx::AttributeProto::GRAPH);
    auto *inner = attribute->mutable_g()->add_node();
    inner->set_op_type(name[0] == 'e' ? "Neg" : "Abs");
    inner->add_input("x");
    inner->add_output("r");
    attribute->mutable_g()->add_output()->set_name("r");
  }
  Imported got = builder.import();
  ASSERT_TRUE(got.isOk) << got.errors;
  EXPECT_PRED2(holds, got.ir, "\"onnx.Abs\"(%arg1)");
  // then_branch is the first region.
  EXPECT_LT(got.ir.find("onnx.Abs"), got.ir.find("onnx.Neg"));
}

/// A Loop that adds `x` to what it carries and collects it.
void addLoop(ModelBuilder &builder) {
  auto &node = builder.node("Loop", {"n", "", "x"}, {"last", "all"});
  auto *attribute = node.add_attribute();
  attribute->set_name("body");
  attribute->set_type(::onnx::AttributeProto::GRAPH);
  auto *body = attribute->mutable_g();
  for (const char *name : {"i", "go", "sum"})
    body->add_input()->set_name(name);
  auto *inner = body->add_node();
  inner->set_op_type("Add");
  inner->add_input("sum");
  inner->add_input("x");
  inner->add_output("more");
  for (const char *name : {"go", "more", "more"})
    body->add_output()->set_name(name);
}

TEST(GraphImport, LoopCarriesAndCollects) {
  ModelBuilder builder;
  builder.input("n", {}, TensorProto::INT64).input("x", {4}).output("all");
  addLoop(builder);
  Imported got = builder.import();
  ASSERT_TRUE(got.isOk) << got.errors;
  EXPECT_PRED2(holds, got.ir,
               "tensor<i64>, %arg3: tensor<i1>, %arg4: "
               "tensor<*xf32>");
  EXPECT_PRED2(holds, got.ir, "-> (tensor<*xf32>, tensor<*xf32>)");
}

TEST(GraphImport, FunctionsAreInlinedWithTheirAttributes) {
  ModelBuilder builder;
  builder.input("x", {2, 3}).output("y");
  auto *import = builder.model.add_opset_import();
  import->set_domain("own");
  import->set_version(1);
  auto *function = builder.model.add_functions();
  function->set_domain("own");
  function->set_name("Soft");
  function->add_input("a");
  function->add_output("b");
  auto *parameter = function->add_attribute_proto();
  parameter->set_name("dim");
  parameter->set_type(::onnx::AttributeProto::INT);
  parameter->set_i(1);
  auto *inner = function->add_node();
  inner->set_op_type("Softmax");
  inner->set_name("s");
  inner->add_input("a");
  inner->add_output("b");
  auto *reference = inner->add_attribute();
  reference->set_name("axis");
  reference->set_type(::onnx::AttributeProto::INT);
  reference->set_ref_attr_name("dim");
  builder.node("Soft", {"x"}, {"h"}).set_domain("own");
  auto &second = builder.node("Soft", {"h"}, {"y"});
  second.set_domain("own");
  setInt(second, "dim", 0);
  Imported got = builder.import();
  ASSERT_TRUE(got.isOk) << got.errors;
  EXPECT_PRED2(holds, got.ir, "\"onnx.Softmax\"(%arg0) {axis = 1 : i64}");
  EXPECT_PRED2(holds, got.ir, "{axis = 0 : i64}");
}

TEST(GraphImport, FunctionsThatCallThemselvesAreRefused) {
  ModelBuilder builder;
  builder.input("x", {2}).output("y");
  auto *function = builder.model.add_functions();
  function->set_domain("own");
  function->set_name("F");
  function->add_input("a");
  function->add_output("b");
  auto *inner = function->add_node();
  inner->set_op_type("F");
  inner->set_domain("own");
  inner->add_input("a");
  inner->add_output("b");
  builder.node("F", {"x"}, {"y"}).set_domain("own");
  Imported got = builder.import();
  EXPECT_FALSE(got.isOk);
  EXPECT_PRED2(holds, got.errors, "from within itself");
}

TEST(GraphImport, ContribOperators) {
  ModelBuilder builder;
  builder.input("x", {2, 4}).input("s", {4}).output("y").output("z");
  auto *import = builder.model.add_opset_import();
  import->set_domain("com.microsoft");
  import->set_version(1);
  // Sits in the default domain, but is none of its operators.
  builder.node("SimplifiedLayerNormalization", {"x", "s"}, {"y"});
  builder
      .node("SkipSimplifiedLayerNormalization", {"x", "y", "s"},
            {"z", "", "", "sum"})
      .set_domain("com.microsoft");
  Imported got = builder.import();
  ASSERT_TRUE(got.isOk) << got.errors;
  EXPECT_PRED2(holds, got.ir, "onnx.microsoft.SimplifiedLayerNormalization");
  EXPECT_PRED2(holds, got.ir, "-> (tensor<*xf32>, none, none, tensor<*xf32>)");
}

TEST(GraphImport, ResultTypesFollowTheTable) {
  ModelBuilder builder;
  builder.input("x", {2, 4}).output("h").output("i").output("m").output("q");
  setInt(builder.node("Cast", {"x"}, {"h"}), "to", TensorProto::BFLOAT16);
  builder.node("ArgMax", {"x"}, {"i"});
  builder.node("IsNaN", {"x"}, {"m"});
  builder.node("DynamicQuantizeLinear", {"x"}, {"q", "qs", "qz"});
  Imported got = builder.import();
  ASSERT_TRUE(got.isOk) << got.errors;
  EXPECT_PRED2(holds, got.ir, "-> tensor<*xbf16>");
  EXPECT_PRED2(holds, got.ir, "-> tensor<*xi64>");
  EXPECT_PRED2(holds, got.ir, "-> tensor<*xi1>");
  EXPECT_PRED2(holds, got.ir, "(tensor<*xui8>, tensor<*xf32>, tensor<*xui8>)");
}

TEST(GraphImport, InputsWithInitializersAreConstants) {
  ModelBuilder builder;
  builder.input("x", {2}).input("w", {2}).output("y");
  builder.tensor("w", {2}).add_float_data(1);
  builder.model.mutable_graph()->mutable_initializer(0)->add_float_data(2);
  builder.node("Add", {"x", "w"}, {"y"});
  Imported got = builder.import();
  ASSERT_TRUE(got.isOk) << got.errors;
  EXPECT_PRED2(holds, got.ir, "dense<[1.000000e+00, 2.000000e+00]>");
  EXPECT_PRED2(lacks, got.ir, "%arg1");
  EXPECT_PRED2(holds, got.errors, "cannot override");
}
} // namespace
} // namespace sol
