//===- number_formats_test.cpp - narrow numbers, code by code -------------===//
#include "runtime/cpu/number_formats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace sol;

namespace {
constexpr float infinity = std::numeric_limits<float>::infinity();

/// The value of a code from the format's definition, in double.
double valueOf(int code, int exponentBits, int mantissaBits, int bias) {
  int magnitude = code & ((1 << (exponentBits + mantissaBits)) - 1);
  int exponent = magnitude >> mantissaBits;
  double mantissa = (magnitude & ((1 << mantissaBits) - 1)) /
                    static_cast<double>(1 << mantissaBits);
  double value = exponent ? std::ldexp(1 + mantissa, exponent - bias)
                          : std::ldexp(mantissa, 1 - bias);
  return code >> (exponentBits + mantissaBits) & 1 ? -value : value;
}

struct Small {
  DType type;
  int exponentBits, mantissaBits, bias;
  int largest;    ///< code of the largest finite value
  float tooLarge; ///< the least value that no rounding brings back in range
  bool hasNegativeZero;
};
const Small smallFormats[] = {
    {DType::F8E4M3FN, 4, 3, 7, 0x7e, 464.001f, true},
    {DType::F8E4M3FNUZ, 4, 3, 8, 0x7f, 248.0f, false},
    {DType::F8E5M2, 5, 2, 15, 0x7b, 61440.0f, true},
    {DType::F8E5M2FNUZ, 5, 2, 16, 0x7f, 61440.0f, false},
};

TEST(NumberFormats, EverySmallFloatCode) {
  for (const Small &format : smallFormats)
    for (int code = 0; code < 256; ++code) {
      float value = smallFloatToF32(format.type, code);
      if ((code & 0x7f) > format.largest ||
          (!format.hasNegativeZero && code == 0x80)) {
        EXPECT_FALSE(std::isfinite(value)) << code;
        continue;
      }
      EXPECT_EQ(value, valueOf(code, format.exponentBits, format.mantissaBits,
                               format.bias))
          << code;
      EXPECT_EQ(f32ToSmallFloat(format.type, value), code);
    }
}

TEST(NumberFormats, SmallFloatTiesGoToEven) {
  for (const Small &format : smallFormats)
    for (int code = 0; code < format.largest; ++code) {
      float low = smallFloatToF32(format.type, code);
      float high = smallFloatToF32(format.type, code + 1);
      float middle = (low + high) / 2;
      EXPECT_EQ(f32ToSmallFloat(format.type, middle), code + (code & 1));
      EXPECT_EQ(f32ToSmallFloat(format.type, std::nextafter(middle, 0.0f)),
                code);
      EXPECT_EQ(f32ToSmallFloat(format.type, std::nextafter(middle, infinity)),
                code + 1);
    }
}

TEST(NumberFormats, SmallFloatOverflow) {
  for (const Small &format : smallFormats)
    for (float value : {format.tooLarge, 1e30f, infinity}) {
      EXPECT_EQ(f32ToSmallFloat(format.type, value, true), format.largest);
      EXPECT_EQ(f32ToSmallFloat(format.type, -value, true),
                format.largest | 0x80);
      uint8_t loose = f32ToSmallFloat(format.type, value, false);
      float back = smallFloatToF32(format.type, loose);
      if (format.type == DType::F8E5M2)
        EXPECT_EQ(back, infinity);
      else
        EXPECT_TRUE(std::isnan(back));
    }
  EXPECT_TRUE(std::isnan(
      smallFloatToF32(DType::F8E4M3FN, f32ToSmallFloat(DType::F8E4M3FN, NAN))));
  EXPECT_EQ(f32ToSmallFloat(DType::F8E4M3FNUZ, -1e-9f), 0);
  EXPECT_EQ(f32ToSmallFloat(DType::F8E4M3FN, -1e-9f), 0x80);
}

TEST(NumberFormats, Float4) {
  const float values[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (int code = 0; code < 8; ++code) {
    EXPECT_EQ(smallFloatToF32(DType::F4E2M1, code), values[code]);
    EXPECT_EQ(f32ToSmallFloat(DType::F4E2M1, -values[code]), code | 8);
  }
  EXPECT_EQ(f32ToSmallFloat(DType::F4E2M1, 0.25f), 0);
  EXPECT_EQ(f32ToSmallFloat(DType::F4E2M1, 2.5f), 4);
  EXPECT_EQ(f32ToSmallFloat(DType::F4E2M1, 5.0f), 6);
  EXPECT_EQ(f32ToSmallFloat(DType::F4E2M1, 1e9f), 7);
}

TEST(NumberFormats, PowersOfTwo) {
  auto code = [](float value, PowerRounding rounding) {
    return f32ToSmallFloat(DType::F8E8M0, value, true, rounding);
  };
  EXPECT_EQ(code(1.0f, PowerRounding::Up), 127);
  EXPECT_EQ(code(1.1f, PowerRounding::Up), 128);
  EXPECT_EQ(code(1.9f, PowerRounding::Down), 127);
  EXPECT_EQ(code(1.5f, PowerRounding::Nearest), 128);
  EXPECT_EQ(code(1.49f, PowerRounding::Nearest), 127);
  EXPECT_EQ(code(3.4e38f, PowerRounding::Up), 254);
  EXPECT_EQ(code(infinity, PowerRounding::Up), 255);
  EXPECT_EQ(smallFloatToF32(DType::F8E8M0, 0), 0x1p-127f);
}

TEST(NumberFormats, EveryFloat16) {
  for (int code = 0; code < 0x10000; ++code) {
    float value = f16ToF32(code);
    if ((code & 0x7c00) != 0x7c00) {
      EXPECT_EQ(value, valueOf(code, 5, 10, 15));
      EXPECT_EQ(f32ToF16(value), code);
    } else if (code & 0x3ff) {
      EXPECT_TRUE(std::isnan(value));
    } else {
      EXPECT_EQ(std::fabs(value), infinity);
      EXPECT_EQ(f32ToF16(value), code);
    }
  }
}

TEST(NumberFormats, Float16Rounds) {
  for (int code = 0; code < 0x7bff; ++code) {
    float middle = (f16ToF32(code) + f16ToF32(code + 1)) / 2;
    EXPECT_EQ(f32ToF16(middle), code + (code & 1));
    EXPECT_EQ(f32ToF16(std::nextafter(middle, infinity)), code + 1);
  }
  EXPECT_EQ(f32ToF16(65519.996f), 0x7bff);
  EXPECT_EQ(f32ToF16(65520.0f), 0x7c00);
  EXPECT_EQ(f32ToF16(-1e30f), 0xfc00);
  EXPECT_TRUE(std::isnan(f16ToF32(f32ToF16(NAN))));
}

TEST(NumberFormats, Bfloat16Rounds) {
  EXPECT_EQ(f32ToBf16(1.0f), 0x3f80);
  EXPECT_EQ(f32ToBf16(std::bit_cast<float>(0x3f808000u)), 0x3f80);
  EXPECT_EQ(f32ToBf16(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  EXPECT_EQ(f32ToBf16(std::bit_cast<float>(0x3f808001u)), 0x3f81);
  EXPECT_EQ(f32ToBf16(3.4e38f), 0x7f80);
  EXPECT_TRUE(
      std::isnan(bf16ToF32(f32ToBf16(std::bit_cast<float>(0x7f800001u)))));
}

// Rounding twice, to float32 and on, would give 1.0 here.
TEST(NumberFormats, DoublesRoundOnce) {
  double value = 1.0 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(f32ToF16(static_cast<float>(value)), 0x3c00);
  EXPECT_EQ(f32ToF16(roundToOdd(value)), 0x3c01);
  EXPECT_EQ(roundToOdd(0.5), 0.5f);
  EXPECT_EQ(roundToOdd(1e300), std::numeric_limits<float>::max());
}

TEST(NumberFormats, PackedCodes) {
  uint8_t bytes[2] = {0, 0};
  for (int i = 0; i < 4; ++i)
    setPackedCode(bytes, i, 4, i + 5);
  EXPECT_EQ(bytes[0], 0x65);
  EXPECT_EQ(bytes[1], 0x87);
  EXPECT_EQ(packedCode(bytes, 3, 4), 8);
  EXPECT_EQ(signedCode(8, 4), -8);
  EXPECT_EQ(signedCode(7, 4), 7);
  EXPECT_EQ(packedCode(bytes, 1, 2), 1);
}
} // namespace
