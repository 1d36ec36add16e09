//===- table.h - tables that are printed or written as JSON --------------===//
//
// What a benchmark reports: tables of texts and numbers with notes below. Knows
// nothing of what they are about.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_TOOLS_SOL_BENCH_TABLE_H
#define SOL_TOOLS_SOL_BENCH_TABLE_H

#include <nlohmann/json.hpp>

#include <ostream>
#include <string>
#include <vector>

namespace sol {

struct Table {
  std::string name;  ///< for scripts
  std::string title; ///< for people
  std::vector<std::string> columns;
  std::vector<std::vector<nlohmann::ordered_json>> rows;
  std::vector<std::string> notes;
};

/// Numbers right, texts left, columns as wide as they need to be.
void print(std::ostream &stream, const Table &table);

/// {"name", "title", "columns", "rows": [{column: value}], "notes"}.
nlohmann::ordered_json toJson(const Table &table);

} // namespace sol

#endif // SOL_TOOLS_SOL_BENCH_TABLE_H
