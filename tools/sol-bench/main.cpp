//===- main.cpp - sol-bench: measures models of machines, and machines ---===//
//
// `sol-bench fabric` prints what the fabric's cost model says beside events,
// bounds and published figures, as text or as JSON.
//
//===----------------------------------------------------------------------===//
#include "sol/version.h"
#include "tools/sol-bench/fabric_tables.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace {

using namespace sol;

/// All tables, or the first problem.
absl::StatusOr<std::vector<Table>> fabricTables(const std::string &name) {
  absl::StatusOr<Target> target = findTarget(name);
  if (!target.ok())
    return target.status();
  std::vector<Table> tables;
  auto add = [&](absl::StatusOr<Table> table) {
    if (table.ok())
      tables.push_back(*std::move(table));
    return table.status();
  };
  if (absl::Status status = add(reductionTable(*target)); !status.ok())
    return status;
  if (absl::Status status = add(allReduceTable(*target)); !status.ok())
    return status;
  absl::StatusOr<std::vector<Table>> fitted = waferLlmTables();
  if (!fitted.ok())
    return fitted.status();
  tables.insert(tables.end(), fitted->begin(), fitted->end());
  if (absl::Status status = add(vendorTable()); !status.ok())
    return status;
  if (absl::Status status = add(shapeTable(*target)); !status.ok())
    return status;
  return tables;
}

int runFabric(const std::string &target, bool asJson) {
  absl::StatusOr<std::vector<Table>> tables = fabricTables(target);
  if (!tables.ok()) {
    std::cerr << "error: " << tables.status().message() << "\n";
    return 1;
  }
  if (!asJson) {
    for (const Table &table : *tables)
      print(std::cout, table);
    return 0;
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Table &table : *tables)
    list.push_back(toJson(table));
  nlohmann::ordered_json result = {{"schema_version", 1},
                                   {"tables", std::move(list)}};
  std::cout << result.dump(2) << "\n";
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Measures Sol and its models of machines.\n\n"
               "  sol-bench fabric",
               "sol-bench");
  app.set_version_flag("--version", versionText("sol-bench"));
  app.require_subcommand(1);
  CLI::App *fabric = app.add_subcommand(
      "fabric", "The fabric's cost model beside events and published figures");
  std::string target = "wse3";
  bool asJson = false;
  fabric
      ->add_option("--target", target,
                   "The machine of the tables that aren't of a published one")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  fabric->add_flag("--json", asJson, "Print JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return runFabric(target, asJson);
}
