//===- target_fields.h - the constants that every target has -------------===//
//
// One table of what a target file holds: it drives reading, validation, and
// changing a constant by its path.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_MACHINE_TARGET_TARGET_FIELDS_H
#define SOL_MACHINE_TARGET_TARGET_FIELDS_H

#include "sol/target.h"

#include <span>
#include <string>

namespace sol {

/// One constant: where it stands in a file and in the struct, and what it may
/// be.
struct TargetField {
  std::string path;                  ///< `group.name`
  std::string unit;                  ///< what the file has to say as unit
  int64_t Target::*count = nullptr;  ///< where it goes if it counts something,
  double Target::*measure = nullptr; ///< or else here
  double least, most;                ///< what it may be
  std::string meaning;               ///< for messages
};

/// In the order of the struct.
std::span<const TargetField> targetFields();

/// What is wrong with a value of that field, or an empty text.
std::string fieldProblem(const TargetField &field, double value);

/// Relations between fields that no single one shows, or an empty text.
std::string targetProblem(const Target &target);

/// Puts a value that has no problem into the struct.
void setField(Target &target, const TargetField &field, double value);

} // namespace sol

#endif // SOL_MACHINE_TARGET_TARGET_FIELDS_H
