//===- WrongModelTest.cpp - models and files that are refused -------------===//
//
// Each fault is told, with the node's name, and told once; nothing crashes.
//
//===----------------------------------------------------------------------===//
#include "test/unit/import/ModelBuilder.h"

#include "gtest/gtest.h"

#include <fstream>
#include <random>

namespace sol {
namespace {
using ::onnx::TensorProto;

TEST(WrongModel, AllFaultsAreToldOnce) {
  ModelBuilder builder;
  builder.input("x", {4}).output("y");
  builder.node("Fancy", {"x"}, {"a"}).set_domain("com.acme");
  builder.node("Odd", {"a"}, {"b"}).set_domain("com.acme");
  builder.node("Neg", {"b"}, {"c"}); // follows from the ones before
  builder.node("Add", {"x", "ghost"}, {"d"});
  setInt(builder.node("Relu", {"x"}, {"e"}), "alpha", 1);
  builder.node("Cast", {"x"}, {"y"});
  std::string errors = builder.import().errors;
  EXPECT_PRED2(holds, errors, "node `/Fancy` (Fancy of com.acme");
  EXPECT_PRED2(holds, errors, "node `/Odd`");
  EXPECT_PRED2(lacks, errors, "/Neg");
  EXPECT_PRED2(holds, errors, "`ghost`");
  EXPECT_PRED2(holds, errors, "attribute `alpha`");
  EXPECT_PRED2(holds, errors, "lacks the attribute `to`");
  EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 5);
}

TEST(WrongModel, ManyFaultsAreCounted) {
  ModelBuilder builder;
  builder.input("x", {4}).output("y");
  for (int i = 0; i < 30; ++i)
    builder.node("Fancy", {"x"}, {"v" + std::to_string(i)}).set_domain("z");
  builder.node("Neg", {"x"}, {"y"});
  EXPECT_PRED2(holds, builder.import().errors, "and 10 more errors");
}

TEST(WrongModel, NamesAndOrder) {
  ModelBuilder cycle;
  cycle.input("x", {4}).output("b");
  cycle.node("Add", {"x", "b"}, {"a"});
  cycle.node("Neg", {"a"}, {"b"});
  EXPECT_PRED2(holds, cycle.import().errors, "in a cycle: `/Add` (Add) `/Neg`");
  ModelBuilder twice;
  twice.input("x", {4}).output("y");
  twice.node("Abs", {"x"}, {"y"});
  twice.node("Neg", {"x"}, {"y"});
  EXPECT_PRED2(holds, twice.import().errors, "node `/Neg`");
  ModelBuilder open;
  open.output("y");
  EXPECT_PRED2(holds, open.import().errors, "output `y`");
}

TEST(WrongModel, Opsets) {
  EXPECT_PRED2(holds, ModelBuilder(9999).output("y").import().errors, "9999");
  ModelBuilder none;
  none.model.clear_opset_import();
  EXPECT_PRED2(holds, none.import().errors, "which opset");
}

TEST(WrongModel, TypesMustAgree) {
  ModelBuilder builder;
  builder.input("x", {4}).input("h", {4}, TensorProto::FLOAT16).output("y");
  builder.node("Add", {"x", "h"}, {"y"});
  EXPECT_PRED2(holds, builder.import().errors, "both must be the same");
  ModelBuilder text;
  text.input("s", {1}, TensorProto::STRING).output("y");
  text.node("StringNormalizer", {"s"}, {"y"});
  std::string errors = text.import().errors;
  EXPECT_PRED2(holds, errors, "input `s`");
  EXPECT_PRED2(holds, errors, "node `/StringNormalizer`");
}

TEST(WrongModel, FilesThatAreNoModels) {
  ModelBuilder builder;
  EXPECT_PRED2(holds, builder.importBytes("").errors, "is empty");
  EXPECT_PRED2(
      holds,
      builder.importBytes("version https://git-lfs.github.com/spec/v1\n")
          .errors,
      "LFS");
  EXPECT_PRED2(holds, builder.importBytes("<html>404</html>").errors, "HTML");
  EXPECT_PRED2(holds, builder.importBytes("GGUF....").errors, "GGUF");
  EXPECT_PRED2(
      holds,
      builder.importBytes(std::string("\x08\x08\x3a\xff\xff\xff\xff\x07", 8))
          .errors,
      "cut off or damaged");
}

/// A graph inside a graph, 60 times.
TEST(WrongModel, DeepNesting) {
  ModelBuilder builder;
  builder.input("c", {}, TensorProto::BOOL).output("y");
  auto *graph = builder.model.mutable_graph();
  for (int depth = 0; depth < 60; ++depth) {
    auto *node = graph->add_node();
    node->set_op_type("If");
    node->add_input("c");
    node->add_output("y");
    auto *attribute = node->add_attribute();
    attribute->set_name("then_branch");
    attribute->set_type(::onnx::AttributeProto::GRAPH);
    graph = attribute->mutable_g();
  }
  EXPECT_PRED2(holds, builder.import().errors, "nested too deep");
}

/// Functions that double at each level: 2^40 nodes from a file of a few KiB.
TEST(WrongModel, FunctionsThatBlowUp) {
  ModelBuilder builder;
  builder.input("x", {4}).output("y");
  for (int level = 0; level < 40; ++level) {
    auto *function = builder.model.add_functions();
    function->set_domain("f");
    function->set_name("F" + std::to_string(level));
    function->add_input("a");
    function->add_output("c");
    for (auto [from, to] : {std::pair("a", "b"), std::pair("b", "c")}) {
      auto *node = function->add_node();
      node->set_op_type(level ? "F" + std::to_string(level - 1) : "Neg");
      node->set_domain(level ? "f" : "");
      node->add_input(from);
      node->add_output(to);
    }
  }
  builder.node("F39", {"x"}, {"y"}).set_domain("f");
  EXPECT_PRED2(holds, builder.import().errors, "the most that is supported");
}

/// Whatever bytes a file holds, the import ends with a model or a message.
TEST(WrongModel, DamagedFiles) {
  ModelBuilder builder;
  builder.input("x", {4}).output("y");
  auto &w = builder.tensor("w", {4});
  for (int i = 0; i < 4; ++i)
    w.add_float_data(i);
  builder.node("Add", {"x", "w"}, {"a"});
  setInts(builder.node("Transpose", {"a"}, {"y"}), "perm", {0});
  std::string good = builder.model.SerializeAsString();
  std::mt19937 random(7);
  for (int trial = 0; trial < 300; ++trial) {
    std::string bytes = good;
    for (int i = 0; i < 1 + trial % 4; ++i)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (trial % 3 == 0)
      bytes.resize(random() % bytes.size());
    Imported got = builder.importBytes(bytes);
    EXPECT_TRUE(got.isOk || !got.errors.empty());
  }
}
} // namespace
} // namespace sol
