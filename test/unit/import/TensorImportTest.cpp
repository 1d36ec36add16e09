//===- TensorImportTest.cpp - encodings of tensors, external data ---------===//
//
// Every way in which a file can hold a tensor, and files that lie about it.
//
//===----------------------------------------------------------------------===//
#include "test/unit/import/ModelBuilder.h"

#include "lib/import/WireScan.h"
#include "lib/support/TensorBytes.h"

#include "mlir/IR/Builders.h"
#include "gtest/gtest.h"

#include <fstream>

namespace sol {
namespace {
using ::onnx::TensorProto;

/// Imports a model that returns the initializer `w`, which `fill` sets.
template <typename Fill>
Imported importTensor(std::vector<int64_t> shape, int type, Fill fill) {
  ModelBuilder builder(25);
  builder.output("w");
  fill(builder.tensor("w", shape, type));
  return builder.import();
}

TEST(TensorImport, RawAndTypedFieldsAgree) {
  Imported raw = importTensor({2}, TensorProto::FLOAT, [](TensorProto &w) {
    w.set_raw_data(std::string("\0\0\x80\x3f\0\0\0\xc0", 8));
  });
  Imported typed = importTensor({2}, TensorProto::FLOAT, [](TensorProto &w) {
    w.add_float_data(1);
    w.add_float_data(-2);
  });
  ASSERT_TRUE(raw.isOk && typed.isOk) << raw.errors << typed.errors;
  EXPECT_EQ(raw.ir, typed.ir);
  EXPECT_PRED2(holds, raw.ir, "dense<[1.000000e+00, -2.000000e+00]>");
}

struct TypedCase {
  int type;
  std::vector<int32_t> entries;
  int64_t count;
  const char *printed;
};

class TypedInt32 : public testing::TestWithParam<TypedCase> {};

TEST_P(TypedInt32, Decodes) {
  const TypedCase &param = GetParam();
  Imported got = importTensor({param.count}, param.type, [&](TensorProto &w) {
    for (int32_t entry : param.entries)
      w.add_int32_data(entry);
  });
  ASSERT_TRUE(got.isOk) << got.errors;
  EXPECT_PRED2(holds, got.ir, param.printed);
}

INSTANTIATE_TEST_SUITE_P(
    Types, TypedInt32,
    testing::Values(
        TypedCase{
            TensorProto::INT32, {-5, 7}, 2, "dense<[-5, 7]> : tensor<2xi32>"},
        TypedCase{
            TensorProto::INT8, {-5, 7}, 2, "dense<[-5, 7]> : tensor<2xi8>"},
        TypedCase{
            TensorProto::UINT8, {250, 7}, 2, "dense<[250, 7]> : tensor<2xui8>"},
        TypedCase{TensorProto::UINT16,
                  {65535, 7},
                  2,
                  "dense<[65535, 7]> : tensor<2xui16>"},
        TypedCase{TensorProto::BOOL,
                  {1, 0, 1},
                  3,
                  "dense<[true, false, true]> : tensor<3xi1>"},
        TypedCase{TensorProto::FLOAT16,
                  {0x3c00, 0xc000},
                  2,
                  "dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf16>"},
        TypedCase{TensorProto::BFLOAT16,
                  {0x3f80, 0xc000},
                  2,
                  "dense<[1.000000e+00, -2.000000e+00]> : tensor<2xbf16>"},
        TypedCase{TensorProto::FLOAT8E4M3FN,
                  {0x38, 0xc0},
                  2,
                  "dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf8E4M3FN>"},
        TypedCase{TensorProto::FLOAT8E5M2,
                  {0x3c, 0xc0},
                  2,
                  "dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf8E5M2>"},
        // The first element is in the low nibble.
        TypedCase{TensorProto::INT4,
                  {0x71, 0x0f},
                  3,
                  "dense<[1, 7, -1]> : tensor<3xi4>"},
        TypedCase{TensorProto::UINT4,
                  {0x71, 0x0f},
                  3,
                  "dense<[1, 7, 15]> : tensor<3xui4>"},
        TypedCase{TensorProto::FLOAT4E2M1,
                  {0xa2},
                  2,
                  "dense<[1.000000e+00, -1.000000e+00]> : tensor<2xf4E2M1FN>"},
        TypedCase{TensorProto::UINT2,
                  {0xe4},
                  4,
                  "dense<[0, 1, 2, 3]> : tensor<4xui2>"}));

TEST(TensorImport, WideTypedFields) {
  Imported ints = importTensor({1}, TensorProto::INT64, [](TensorProto &w) {
    w.add_int64_data(-(int64_t(1) << 62));
  });
  EXPECT_PRED2(holds, ints.ir, "dense<-4611686018427387904>");
  Imported doubles = importTensor(
      {}, TensorProto::DOUBLE, [](TensorProto &w) { w.add_double_data(0.5); });
  EXPECT_PRED2(holds, doubles.ir, "dense<5.000000e-01> : tensor<f64>");
  Imported big = importTensor({1}, TensorProto::UINT64, [](TensorProto &w) {
    w.add_uint64_data(UINT64_MAX);
  });
  EXPECT_PRED2(holds, big.ir, "dense<18446744073709551615>");
}

TEST(TensorImport, LargeTensorsAreSpans) {
  Imported raw = importTensor({300}, TensorProto::FLOAT, [](TensorProto &w) {
    w.set_raw_data(std::string(1200, 'a'));
  });
  ASSERT_TRUE(raw.isOk) << raw.errors;
  EXPECT_PRED2(matches, raw.ir,
               "nn.weight <\"model.onnx\", [0-9]+, 1200, raw, 0> "
               "name \"w\" : tensor<300xf32>");
  Imported typed = importTensor({300}, TensorProto::FLOAT, [](TensorProto &w) {
    for (int i = 0; i < 300; ++i)
      w.add_float_data(1);
  });
  EXPECT_PRED2(holds, typed.ir, ", proto, 0>");
}

TEST(TensorImport, WrongSizesAreRefused) {
  Imported got = importTensor({3}, TensorProto::FLOAT, [](TensorProto &w) {
    w.set_raw_data(std::string(8, 'a'));
  });
  EXPECT_FALSE(got.isOk);
  EXPECT_PRED2(holds, got.errors, "initializer `w` holds 8 bytes, but");
  got = importTensor({int64_t(1) << 40, int64_t(1) << 40}, TensorProto::FLOAT,
                     [](TensorProto &) {});
  EXPECT_PRED2(holds, got.errors, "more bytes than can be addressed");
  got = importTensor({-1}, TensorProto::FLOAT, [](TensorProto &) {});
  EXPECT_PRED2(holds, got.errors, "has a size of -1");
  got = importTensor({1}, TensorProto::STRING,
                     [](TensorProto &w) { w.add_string_data("a"); });
  EXPECT_PRED2(holds, got.errors, "elements of type string");
}

/// Imports a model whose initializer lies at `location`; `prepare` gets the
/// folder.
template <typename Prepare>
Imported importExternal(const std::string &location, const std::string &offset,
                        Prepare prepare, bool weightless = false) {
  ModelBuilder builder;
  builder.output("w");
  setExternal(builder.tensor("w", {512}), location, offset);
  prepare(builder.folder);
  return builder.import(weightless);
}

TEST(ExternalData, FarOffsets) {
  auto prepare = [](const std::filesystem::path &folder) {
    std::ofstream(folder / "w.bin") << "x";
    std::filesystem::resize_file(folder / "w.bin", (uint64_t(5) << 30) + 2049);
  };
  Imported got = importExternal("w.bin", "5368709121", prepare);
  ASSERT_TRUE(got.isOk) << got.errors;
  EXPECT_PRED2(holds, got.ir, "<\"w.bin\", 5368709121, 2048, raw, 0>");
  got = importExternal("w.bin", "5368709122", prepare);
  EXPECT_PRED2(holds, got.errors, "needs 2048 bytes at 5368709122");
}

TEST(ExternalData, StaysInTheFolder) {
  auto outside = [](const std::filesystem::path &folder) {
    std::ofstream(folder / "real") << std::string(2048, 'x');
    std::filesystem::create_directory(folder / "sub");
    std::filesystem::create_symlink("/etc/hostname", folder / "out");
    std::filesystem::create_symlink("real", folder / "in");
    std::filesystem::create_symlink("/etc", folder / "sub" / "etc");
  };
  for (const char *name : {"out", "/etc/hostname", "../x", "sub/../../x",
                           "sub/etc/hostname", "sub", "", "absent", "."}) {
    Imported got = importExternal(name, "", outside);
    EXPECT_FALSE(got.isOk) << name;
    EXPECT_PRED2(holds, got.errors, "initializer `w`") << name;
  }
  Imported got = importExternal("in", "", outside);
  EXPECT_TRUE(got.isOk) << got.errors;
}

TEST(ExternalData, MayBeAbsentWithoutWeights) {
  auto nothing = [](const std::filesystem::path &) {};
  Imported got = importExternal("w.bin", "4096", nothing, true);
  ASSERT_TRUE(got.isOk) << got.errors;
  EXPECT_PRED2(holds, got.ir, "<\"w.bin\", 4096, 2048, raw, 0>");
  EXPECT_FALSE(importExternal("../w.bin", "", nothing, true).isOk);
}

TEST(TensorBytes, RoundTrip) {
  mlir::MLIRContext context;
  mlir::Builder builder(&context);
  std::vector<char> bytes{0x71, 0x0f};
  auto type = mlir::RankedTensorType::get({3}, builder.getIntegerType(4));
  auto value = elementsFromBytes(type, bytes);
  ASSERT_TRUE(value);
  EXPECT_EQ(*packedBytes(value), bytes);
  auto bools = mlir::RankedTensorType::get({9}, builder.getI1Type());
  std::vector<char> bits{1, 0, 1, 1, 0, 0, 0, 1, 1};
  EXPECT_EQ(*packedBytes(elementsFromBytes(bools, bits)), bits);
  // A splat is written out.
  auto splat = mlir::DenseElementsAttr::get(
      mlir::RankedTensorType::get({5}, builder.getIntegerType(4)),
      builder.getIntegerAttr(builder.getIntegerType(4), -1));
  EXPECT_EQ(*packedBytes(splat), (std::vector<char>{'\xff', '\xff', '\x0f'}));
}
} // namespace
} // namespace sol
