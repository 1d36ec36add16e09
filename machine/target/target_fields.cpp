//===- target_fields.cpp - the constants that every target has -----------===//
//
// The table, and the struct's own functions, which go by it.
//
//===----------------------------------------------------------------------===//
#include "machine/target/target_fields.h"

#include "absl/strings/str_cat.h"

#include <cmath>

namespace sol {
namespace {

TargetField count(std::string_view path, std::string_view unit,
                  int64_t Target::*place, double least, double most,
                  std::string_view meaning) {
  return {std::string(path),   std::string(unit), place, nullptr, least, most,
          std::string(meaning)};
}

TargetField measure(std::string_view path, std::string_view unit,
                    double Target::*place, double least, double most,
                    std::string_view meaning) {
  return {std::string(path),   std::string(unit), nullptr, place, least, most,
          std::string(meaning)};
}

// The limits keep products of any two counts far inside 64 bits, and times far
// from where a double loses cycles.
const TargetField fields[] = {
    count("grid.columns", "PEs", &Target::columns, 1, 16384, "PEs along x"),
    count("grid.rows", "PEs", &Target::rows, 1, 16384, "PEs along y"),
    count("grid.spare_columns", "PEs", &Target::spareColumns, 0, 16384,
          "columns to shift a row into past a defect"),
    count("memory.bytes_per_pe", "bytes", &Target::bytesPerPe, 1024, 1 << 30,
          "memory of a PE"),
    count("memory.reserved_bytes_per_pe", "bytes", &Target::reservedBytesPerPe,
          0, 1 << 30, "memory that code, stack and task tables take"),
    measure("memory.read_bytes_per_cycle", "bytes/cycle",
            &Target::readBytesPerCycle, 1, 4096, "width of the read ports"),
    measure("memory.write_bytes_per_cycle", "bytes/cycle",
            &Target::writeBytesPerCycle, 1, 4096, "width of the write ports"),
    measure("memory.traffic_bytes_per_cycle", "bytes/cycle",
            &Target::trafficBytesPerCycle, 1, 8192,
            "reads and writes of a PE that the whole wafer sustains"),
    measure("clock.hertz", "hertz", &Target::clockHertz, 1e6, 1e11,
            "cycles in a second"),
    measure("arithmetic.float32_macs", "multiply-adds/cycle",
            &Target::float32Macs, 0.01, 4096, "float32 lanes of a PE"),
    measure("arithmetic.float16_macs", "multiply-adds/cycle",
            &Target::float16Macs, 0.01, 4096, "float16 lanes of a PE"),
    measure("arithmetic.int8_macs", "multiply-adds/cycle", &Target::int8Macs,
            0.01, 4096, "8-bit lanes of a PE"),
    measure("arithmetic.lane_fraction", "1", &Target::laneFraction, 0.001, 1,
            "part of the lanes that a local product reaches"),
    count("router.word_bytes", "bytes", &Target::wordBytes, 1, 64,
          "what a link carries in a cycle"),
    count("router.hop_cycles", "cycles", &Target::hopCycles, 1, 1024,
          "from a router to its neighbour"),
    count("router.ramp_cycles", "cycles", &Target::rampCycles, 0, 1024,
          "from a core to its router"),
    count("router.colours", "colours", &Target::colours, 1, 1024,
          "routes that a router can hold"),
    count("router.queue_words", "words", &Target::queueWords, 1, 4096,
          "queue of a colour in a router"),
    measure("router.start_cycles", "cycles", &Target::startCycles, 0, 1e6,
            "to begin a step by software"),
    measure("link.bytes_per_second", "bytes/second",
            &Target::linkBytesPerSecond, 1e3, 1e18,
            "what a wafer sends to another, or receives"),
    measure("link.latency_seconds", "seconds", &Target::linkLatencySeconds, 0,
            1, "from wafer to wafer"),
    measure("host.trip_seconds", "seconds", &Target::hostTripSeconds, 0, 10,
            "to the host and back"),
    measure("system.watts", "watts", &Target::systemWatts, 0, 1e7,
            "power of a wafer's system"),
};

} // namespace

std::span<const TargetField> targetFields() { return fields; }

std::string fieldProblem(const TargetField &field, double value) {
  if (!(value >= field.least && value <= field.most))
    return absl::StrCat("is ", value, ", must be from ", field.least, " to ",
                        field.most, " ", field.unit, " (", field.meaning, ")");
  if (field.count && value != std::floor(value))
    return absl::StrCat("is ", value, ", must be a whole number (",
                        field.meaning, ")");
  return "";
}

std::string targetProblem(const Target &target) {
  if (target.reservedBytesPerPe >= target.bytesPerPe)
    return absl::StrCat("field `memory.reserved_bytes_per_pe`: is ",
                        target.reservedBytesPerPe,
                        ", `memory.bytes_per_pe` is ", target.bytesPerPe,
                        ": reserve less than a PE has");
  double ports = target.readBytesPerCycle + target.writeBytesPerCycle;
  if (target.trafficBytesPerCycle > ports)
    return absl::StrCat("field `memory.traffic_bytes_per_cycle`: is ",
                        target.trafficBytesPerCycle,
                        ", read and write ports together carry ", ports,
                        ": a PE can't move more than its ports");
  return "";
}

void setField(Target &target, const TargetField &field, double value) {
  if (field.count)
    target.*field.count = static_cast<int64_t>(value);
  else
    target.*field.measure = value;
}

std::string_view certaintyName(Certainty certainty) {
  switch (certainty) {
  case Certainty::Sure:
    return "sure";
  case Certainty::Likely:
    return "likely";
  case Certainty::Free:
    break;
  }
  return "free";
}

const TargetConstant *Target::constant(std::string_view path) const {
  for (const TargetConstant &item : constants)
    if (item.path == path)
      return &item;
  return nullptr;
}

absl::Status Target::set(std::string_view path, double value) {
  std::string known;
  for (const TargetField &field : fields) {
    absl::StrAppend(&known, known.empty() ? "" : ", ", field.path);
    if (field.path != path)
      continue;
    std::string problem = fieldProblem(field, value);
    if (!problem.empty())
      return absl::InvalidArgumentError(
          absl::StrCat("constant `", field.path, "`: ", problem));
    Target changed = *this;
    setField(changed, field, value);
    problem = targetProblem(changed);
    if (!problem.empty())
      return absl::InvalidArgumentError(problem);
    for (TargetConstant &item : changed.constants)
      if (item.path == path)
        item.value = value;
    *this = std::move(changed);
    return absl::OkStatus();
  }
  return absl::NotFoundError(absl::StrCat("no constant `", std::string(path),
                                          "`: a target has ", known));
}

} // namespace sol
