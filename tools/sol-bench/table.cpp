//===- table.cpp - tables that are printed or written as JSON ------------===//
//
// See table.h.
//
//===----------------------------------------------------------------------===//
#include "tools/sol-bench/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace sol {
namespace {

using nlohmann::ordered_json;

/// Large numbers without decimals, small ones with two.
std::string cellText(const ordered_json &cell) {
  if (cell.is_string())
    return cell.get<std::string>();
  if (!cell.is_number_float())
    return cell.is_null() ? "-" : cell.dump();
  double value = cell.get<double>();
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", std::abs(value) >= 100 ? 0 : 2,
                value);
  return text;
}

} // namespace

void print(std::ostream &stream, const Table &table) {
  stream << table.title << "\n";
  std::vector<size_t> widths;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    widths.push_back(table.columns[i].size());
    for (const auto &row : table.rows)
      widths[i] = std::max(widths[i], cellText(row[i]).size());
  }
  auto line = [&](auto text, auto isLeft) {
    std::string result;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      std::string cell = text(i);
      std::string space(widths[i] - cell.size(), ' ');
      result += "  " + (isLeft(i) ? cell + space : space + cell);
    }
    result.erase(result.find_last_not_of(' ') + 1);
    stream << result << "\n";
  };
  auto isText = [&](size_t i) {
    return !table.rows.empty() && table.rows[0][i].is_string();
  };
  line([&](size_t i) { return table.columns[i]; }, isText);
  for (const auto &row : table.rows)
    line([&](size_t i) { return cellText(row[i]); }, isText);
  for (const std::string &note : table.notes)
    stream << "  " << note << "\n";
  stream << "\n";
}

ordered_json toJson(const Table &table) {
  ordered_json rows = ordered_json::array();
  for (const auto &row : table.rows) {
    ordered_json item;
    for (size_t i = 0; i < table.columns.size(); ++i)
      item[table.columns[i]] = row[i];
    rows.push_back(std::move(item));
  }
  return {{"name", table.name},
          {"title", table.title},
          {"columns", table.columns},
          {"rows", std::move(rows)},
          {"notes", table.notes}};
}

} // namespace sol
