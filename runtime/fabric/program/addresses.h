//===- addresses.h - what registers make of counts and operands ----------===//
//
// The arithmetic of control: counts, expressions, and which elements of a
// buffer an operand names. Used by simulators and verifier alike.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_FABRIC_PROGRAM_ADDRESSES_H
#define SOL_RUNTIME_FABRIC_PROGRAM_ADDRESSES_H

#include "runtime/fabric/program/code_lists.h"

#include <string>

namespace sol::fabric {

/// Far more elements than a PE has: what is above counts as this.
inline constexpr int64_t mostCount = 1 << 26;

/// The value of a count, from 0 to mostCount.
int64_t valueOf(const Count &count, const int32_t *registers);
/// On PE [x, y] of the region.
int32_t valueOf(const Expression &expression, const int32_t *registers,
                int32_t x, int32_t y);

/// The first element of a place, or -1 if the `rows` x `n` elements do not all
/// lie in the buffer. 0 if there are none.
int64_t elementsAt(const Place &place, const int32_t *registers, int64_t rows,
                   int64_t n);
/// What is wrong if that was -1.
std::string outsideText(const char *operand, const Place &place,
                        const int32_t *registers, int64_t rows, int64_t n);

/// An operand of an instruction: its name, and the elements that it takes.
struct Access {
  const char *name;
  const Place *place;
  int64_t rows, n;
  bool reads, writes;
};

/// The operands that an instruction uses, in the order dst, a, b, c.
std::vector<Access> accessesOf(const Step &step, const int32_t *registers);

} // namespace sol::fabric

#endif // SOL_RUNTIME_FABRIC_PROGRAM_ADDRESSES_H
