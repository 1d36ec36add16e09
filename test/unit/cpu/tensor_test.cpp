//===- tensor_test.cpp - sizes, attributes, the registry ------------------===//
#include "runtime/cpu/kernel.h"

#include <gtest/gtest.h>

using namespace sol;

namespace {
TEST(Tensor, SizesDoNotOverflow) {
  EXPECT_EQ(elementCount({}), 1);
  EXPECT_EQ(elementCount({2, 3}), 6);
  EXPECT_EQ(elementCount({0, int64_t(1) << 40, int64_t(1) << 40}), 0);
  EXPECT_EQ(elementCount({int64_t(1) << 40, int64_t(1) << 40}), -1);
  EXPECT_EQ(elementCount({2, -1}), -1);
  EXPECT_EQ(byteCount(DType::I4, 5), 3);
  EXPECT_EQ(byteCount(DType::U2, 5), 2);
  EXPECT_EQ(byteCount(DType::F64, int64_t(1) << 61), -1);
  EXPECT_EQ(dimsToString({2, 3}), "[2, 3]");
}

TEST(Tensor, Types) {
  EXPECT_FALSE(isKnownDType(0));
  EXPECT_FALSE(isKnownDType(8)); // string
  EXPECT_FALSE(isKnownDType(300));
  EXPECT_TRUE(isKnownDType(26));
  EXPECT_EQ(dtypeName(DType::F8E4M3FN), "float8e4m3fn");
  EXPECT_TRUE(isFloat(DType::F4E2M1));
  EXPECT_FALSE(isInteger(DType::Bool));
}

TEST(Attributes, WrongKindNamesTheAttribute) {
  Attributes attributes;
  attributes.set("axis", std::string("one"));
  auto axis = attributes.integer("axis", 0);
  ASSERT_FALSE(axis.ok());
  EXPECT_NE(axis.status().message().find("`axis` is a string"),
            std::string_view::npos);
  EXPECT_EQ(*attributes.integer("absent", -1), -1);
}

TEST(Registry, LaterDefinitionsHideEarlierOnes) {
  EXPECT_EQ(findKernel("test.Kernel"), nullptr);
  registerKernel({.name = "test.Kernel", .inPlace = 1});
  registerKernel({.name = "test.Kernel", .inPlace = 2});
  ASSERT_NE(findKernel("test.Kernel"), nullptr);
  EXPECT_EQ(findKernel("test.Kernel")->inPlace, 2);
}
} // namespace
