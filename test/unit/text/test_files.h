//===- test_files.h - reading test data -----------------------------------===//
// Files of test/data by their path below it.
#pragma once

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace sol::text {

/// Content of test/data/`name`, empty if there is no such file.
inline std::string readTestFile(const std::string &name) {
  std::ifstream file(std::string(SOL_TEST_DATA) + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file),
          std::istreambuf_iterator<char>()};
}

/// JSON in test/data/`name`; discarded if it can't be read.
inline nlohmann::ordered_json readTestJson(const std::string &name) {
  return nlohmann::ordered_json::parse(readTestFile(name), nullptr, false);
}

} // namespace sol::text
