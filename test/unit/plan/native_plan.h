//===- native_plan.h - plans with machine code, made by hand --------------===//
//
// Writes plans whose one function calls compiled loops, with whatever a test
// says about images, loops and steps, right or wrong. The code is assembled by
// hand for any x86-64 processor.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_TEST_UNIT_PLAN_NATIVE_PLAN_H
#define SOL_TEST_UNIT_PLAN_NATIVE_PLAN_H

#include "lib/emit/PlanFileWriter.h"
#include "runtime/plan/plan_reader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

namespace sol::test {

// The functions, as GNU as in Intel syntax writes them.
// clang-format off
inline constexpr unsigned char code[] = {
    // add: z[i] = x[i] + y[i] for each element i of [begin, end)
    0x48, 0x8b, 0x47, 0x08,             //    mov rax, [rdi+8]      pointers
    0x48, 0x8b, 0x08,                   //    mov rcx, [rax]        x
    0x4c, 0x8b, 0x40, 0x08,             //    mov r8, [rax+8]       y
    0x4c, 0x8b, 0x48, 0x10,             //    mov r9, [rax+16]      z
    0x48, 0x39, 0xd6,                   // 1: cmp rsi, rdx          begin, end
    0x7d, 0x16,                         //    jge 2f
    0xf3, 0x0f, 0x10, 0x04, 0xb1,       //    movss xmm0, [rcx+rsi*4]
    0xf3, 0x41, 0x0f, 0x58, 0x04, 0xb0, //    addss xmm0, [r8+rsi*4]
    0xf3, 0x41, 0x0f, 0x11, 0x04, 0xb1, //    movss [r9+rsi*4], xmm0
    0x48, 0xff, 0xc6,                   //    inc rsi
    0xeb, 0xe5,                         //    jmp 1b
    0x31, 0xc0, 0xc3,                   // 2: xor eax, eax; ret
    // sum: y[r] = x[r][0] + x[r][1] + ..., after a copy of the row to scratch
    0x48, 0x8b, 0x07,                   //    mov rax, [rdi]        sizes
    0x4c, 0x8b, 0x40, 0x08,             //    mov r8, [rax+8]       length of a row
    0x48, 0x8b, 0x47, 0x08,             //    mov rax, [rdi+8]
    0x48, 0x8b, 0x08,                   //    mov rcx, [rax]        x
    0x4c, 0x8b, 0x48, 0x08,             //    mov r9, [rax+8]       y
    0x4c, 0x8b, 0x57, 0x10,             //    mov r10, [rdi+16]     scratch
    0x48, 0x89, 0xf0,                   //    mov rax, rsi
    0x49, 0x0f, 0xaf, 0xc0,             //    imul rax, r8
    0x48, 0x8d, 0x0c, 0x81,             //    lea rcx, [rcx+rax*4]  row `begin`
    0x48, 0x39, 0xd6,                   // 1: cmp rsi, rdx
    0x7d, 0x3b,                         //    jge 6f
    0x31, 0xc0,                         //    xor eax, eax
    0x4c, 0x39, 0xc0,                   // 2: cmp rax, r8
    0x7d, 0x10,                         //    jge 3f
    0xf3, 0x0f, 0x10, 0x04, 0x81,       //    movss xmm0, [rcx+rax*4]
    0xf3, 0x41, 0x0f, 0x11, 0x04, 0x82, //    movss [r10+rax*4], xmm0
    0x48, 0xff, 0xc0,                   //    inc rax
    0xeb, 0xeb,                         //    jmp 2b
    0x0f, 0x57, 0xc0,                   // 3: xorps xmm0, xmm0
    0x31, 0xc0,                         //    xor eax, eax
    0x4c, 0x39, 0xc0,                   // 4: cmp rax, r8
    0x7d, 0x0b,                         //    jge 5f
    0xf3, 0x41, 0x0f, 0x58, 0x04, 0x82, //    addss xmm0, [r10+rax*4]
    0x48, 0xff, 0xc0,                   //    inc rax
    0xeb, 0xf0,                         //    jmp 4b
    0xf3, 0x41, 0x0f, 0x11, 0x04, 0xb1, // 5: movss [r9+rsi*4], xmm0
    0x4a, 0x8d, 0x0c, 0x81,             //    lea rcx, [rcx+r8*4]
    0x48, 0xff, 0xc6,                   //    inc rsi
    0xeb, 0xc0,                         //    jmp 1b
    0x31, 0xc0, 0xc3,                   // 6: xor eax, eax; ret
    // fail: gives up
    0xb8, 0x07, 0x00, 0x00, 0x00, 0xc3, //    mov eax, 7; ret
};
// clang-format on
inline constexpr uint64_t addEntry = 0, sumEntry = 0x2d, failEntry = 0x91;
inline const std::string_view codeBytes(reinterpret_cast<const char *>(code),
                                        sizeof(code));

/// What the plan says of an image: the truth, unless a test changes it.
struct ImageText {
  std::string level;
  uint64_t offset = 0, bytes = 0, hash = 0;
};

struct OperandText {
  DType type = DType::F32;
  std::vector<int> axes;
};

struct LoopText {
  std::string name;
  std::vector<int> groups;
  int sizes = 1;
  std::vector<OperandText> operands, results;
  bool byRows = false;
  int scratch = 0;
  std::vector<uint64_t> entries;
};

struct ValueText {
  fb::ValueKind kind = fb::ValueKind_Input;
  DType type = DType::F32;
  int slot = -1;
};

struct StepText {
  int loop = 0;
  std::vector<int> inputs, outputs;
  bool view = false;
};

/// Elements of a vector, added.
inline LoopText addLoop() {
  return {"add",
          {0},
          1,
          {{DType::F32, {0}}, {DType::F32, {0}}},
          {{DType::F32, {0}}},
          false,
          0,
          {addEntry}};
}
/// Rows of a matrix, summed up.
inline LoopText sumLoop() {
  return {"sum", {0, 1}, 2,         {{DType::F32, {0, 1}}}, {{DType::F32, {0}}},
          true,  4,      {sumEntry}};
}

/// Inputs are the values of kind Input, and the last value is the output.
struct PlanText {
  std::vector<std::string> levels = {"x86-64"};
  /// Changes what the plan says of the images, which are there by now.
  std::function<void(std::vector<ImageText> &)> changeImages;
  std::vector<LoopText> loops;
  std::vector<ValueText> values;
  int slots = 1;
  std::vector<StepText> steps;
};

/// `z = add(x, y)`.
inline PlanText addPlan() {
  PlanText text;
  text.loops = {addLoop()};
  text.values = {{}, {}, {fb::ValueKind_Slot, DType::F32, 0}};
  text.steps = {{0, {0, 1}, {2}}};
  return text;
}
/// `y = sum(x)`.
inline PlanText sumPlan() {
  PlanText text;
  text.loops = {sumLoop()};
  text.values = {{}, {fb::ValueKind_Slot, DType::F32, 0}};
  text.steps = {{0, {0}, {1}}};
  return text;
}

/// Writes the plan to a file that is gone afterwards, and opens it.
absl::StatusOr<std::shared_ptr<const Plan>>
openPlan(const PlanText &text, const PlanOpenOptions &options = {});

} // namespace sol::test

#endif // SOL_TEST_UNIT_PLAN_NATIVE_PLAN_H
