//===- target_test.cpp - target files and defect maps --------------------===//
//
// Every target that comes with Sol is read; each thing that can be wrong in a
// file is forged, one at a time, and has to be named.
//
//===----------------------------------------------------------------------===//
#include "sol/target.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <functional>
#include <unistd.h>

namespace {

using nlohmann::ordered_json;
using namespace sol;

/// A folder of this test alone.
class TargetTest : public ::testing::Test {
protected:
  TargetTest()
      : folder(std::filesystem::temp_directory_path() /
               ("sol-target-test-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder);
  }
  ~TargetTest() override { std::filesystem::remove_all(folder); }

  std::string write(const std::string &name, const std::string &text) {
    std::string path = (folder / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  ordered_json wse3() {
    std::ifstream stream(targetFolder() + "/wse3.json");
    return ordered_json::parse(stream);
  }

  std::filesystem::path folder;
};

/// The message of a failure; empty for a success.
template <typename T> std::string problemOf(const absl::StatusOr<T> &result) {
  return std::string(result.status().message());
}

void expectMentions(const std::string &message,
                    const std::vector<std::string> &parts) {
  for (const std::string &part : parts)
    EXPECT_NE(message.find(part), std::string::npos)
        << "no `" << part << "` in: " << message;
}

TEST_F(TargetTest, readsEveryTargetThatComesWithSol) {
  std::vector<std::string> names = targetNames();
  EXPECT_EQ(names,
            (std::vector<std::string>{"mesh-128x128", "mesh-32x32", "mesh-4x4",
                                      "mesh-8x8", "wse2", "wse3"}));
  for (const std::string &name : names) {
    absl::StatusOr<Target> target = findTarget(name);
    ASSERT_TRUE(target.ok()) << problemOf(target);
    EXPECT_EQ(target->name, name);
    EXPECT_EQ(target->bytesPerPe, 48 * 1024);
    for (const TargetConstant &constant : target->constants) {
      EXPECT_FALSE(constant.source.empty()) << constant.path;
      EXPECT_LE(constant.low, constant.value) << constant.path;
      EXPECT_LE(constant.value, constant.high) << constant.path;
      if (constant.certainty == Certainty::Free)
        EXPECT_LT(constant.low, constant.high) << constant.path;
    }
  }
}

TEST_F(TargetTest, holdsThePublishedMachines) {
  Target wse2 = *findTarget("wse2"), wse3 = *findTarget("wse3");
  EXPECT_EQ(wse2.pes(), 750 * 994);
  EXPECT_EQ(wse3.pes(), 762 * 1172);
  // 36.6 GB and 43.9 GB, user grid x 48 KiB.
  EXPECT_NEAR(wse2.pes() * wse2.bytesPerPe / 1e9, 36.6, 0.1);
  EXPECT_NEAR(wse3.pes() * wse3.bytesPerPe / 1e9, 43.9, 0.1);
  // The vendor's peaks: 7.5 and 15.6 PFLOP/s over all PEs.
  EXPECT_NEAR(850e3 * 2 * wse2.float16Macs * wse2.clockHertz, 7.5e15, 0.1e15);
  EXPECT_NEAR(900e3 * 2 * wse3.float16Macs * wse3.clockHertz, 15.6e15, 0.1e15);
  // Its memory traffic: 20 and 21 PB/s.
  EXPECT_NEAR(850e3 * wse2.trafficBytesPerCycle * wse2.clockHertz, 20e15, 1e14);
  EXPECT_NEAR(900e3 * wse3.trafficBytesPerCycle * wse3.clockHertz, 21e15, 1e14);
}

TEST_F(TargetTest, aBaseGivesWhatAFileLeavesOut) {
  Target mesh = *findTarget("mesh-8x8"), wse3 = *findTarget("wse3");
  EXPECT_EQ(mesh.columns, 8);
  EXPECT_EQ(mesh.rows, 8);
  EXPECT_EQ(mesh.startCycles, wse3.startCycles);
  EXPECT_EQ(mesh.constant("grid.columns")->certainty, Certainty::Sure);
  EXPECT_EQ(mesh.constant("router.colours")->source,
            wse3.constant("router.colours")->source);
}

TEST_F(TargetTest, aFileOfOnesOwnMayHaveABaseBesideIt) {
  ordered_json mine = wse3();
  mine["name"] = "mine";
  mine["clock"]["hertz"]["value"] = 2e9;
  write("mine.json", mine.dump());
  std::string path =
      write("smaller.json",
            R"({"schema_version": 1, "name": "smaller", "description": "d",
          "base": "mine", "grid": {"rows": {"value": 5, "unit": "PEs",
          "certainty": "free", "low": 1, "high": 9, "source": "s"}}})");
  absl::StatusOr<Target> target = findTarget(path);
  ASSERT_TRUE(target.ok()) << problemOf(target);
  EXPECT_EQ(target->rows, 5);
  EXPECT_EQ(target->columns, 762);
  EXPECT_EQ(target->clockHertz, 2e9);
}

/// A change to the file of wse3, and what the message has to say.
struct Forgery {
  std::string name;
  std::function<void(ordered_json &)> change;
  std::vector<std::string> mentions;
};

const std::vector<Forgery> forgeries = {
    {"no name", [](auto &j) { j.erase("name"); }, {"`name`", "missing"}},
    {"empty description",
     [](auto &j) { j["description"] = ""; },
     {"`description`", "must be a text"}},
    {"version",
     [](auto &j) { j["schema_version"] = 2; },
     {"`schema_version`", "is 2", "reads 1"}},
    {"unknown group", [](auto &j) { j["wings"] = 1; }, {"`wings`", "known"}},
    {"unknown constant",
     [](auto &j) { j["grid"]["depth"] = j["grid"]["rows"]; },
     {"`grid.depth`", "known", "columns"}},
    {"unknown part",
     [](auto &j) { j["grid"]["rows"]["note"] = "n"; },
     {"`grid.rows.note`", "known", "certainty"}},
    {"missing group",
     [](auto &j) { j.erase("router"); },
     {"`router`", "missing"}},
    {"missing constant",
     [](auto &j) { j["router"].erase("colours"); },
     {"`router.colours`", "missing"}},
    {"missing unit",
     [](auto &j) { j["clock"]["hertz"].erase("unit"); },
     {"`clock.hertz.unit`", "missing"}},
    {"other unit",
     [](auto &j) { j["clock"]["hertz"]["unit"] = "GHz"; },
     {"`clock.hertz.unit`", "\"GHz\"", "\"hertz\""}},
    {"no source",
     [](auto &j) { j["clock"]["hertz"]["source"] = ""; },
     {"`clock.hertz.source`", "text"}},
    {"other certainty",
     [](auto &j) { j["clock"]["hertz"]["certainty"] = "maybe"; },
     {"`clock.hertz.certainty`", "\"maybe\"", "sure, likely or free"}},
    {"text for a number",
     [](auto &j) { j["grid"]["rows"]["value"] = "12"; },
     {"`grid.rows.value`", "\"12\"", "number"}},
    {"none of a count",
     [](auto &j) { j["router"]["colours"]["value"] = 0; },
     {"`router.colours.value`", "is 0", "from 1 to 1024"}},
    {"half a PE",
     [](auto &j) { j["grid"]["rows"]["value"] = 7.5; },
     {"`grid.rows.value`", "7.5", "whole"}},
    {"too much",
     [](auto &j) { j["grid"]["rows"]["value"] = 1e300; },
     {"`grid.rows.value`", "1e+300", "16384"}},
    {"free without range",
     [](auto &j) { j["router"]["start_cycles"].erase("high"); },
     {"`router.start_cycles.high`", "missing"}},
    {"outside its range",
     [](auto &j) { j["router"]["start_cycles"]["value"] = 9999; },
     {"`router.start_cycles.value`", "9999", "range"}},
    {"more reserved than there is",
     [](auto &j) {
       j["memory"]["reserved_bytes_per_pe"]["value"] = 50000;
       j["memory"]["reserved_bytes_per_pe"]["high"] = 60000;
     },
     {"`memory.reserved_bytes_per_pe`", "50000", "49152"}},
    {"more traffic than ports",
     [](auto &j) { j["memory"]["traffic_bytes_per_cycle"]["value"] = 25; },
     {"`memory.traffic_bytes_per_cycle`", "25", "24"}},
    {"unknown base",
     [](auto &j) { j["base"] = "nosuch"; },
     {"`base`", "\"nosuch\"", "no "}},
    {"circle of bases",
     [](auto &j) { j["base"] = "forged"; },
     {"`base`", "circle"}},
    {"group that is a list",
     [](auto &j) { j["grid"] = ordered_json::array(); },
     {"`grid`", "object"}},
    {"constant that is a number",
     [](auto &j) { j["grid"]["rows"] = 4; },
     {"`grid.rows`", "is 4", "object"}},
};

TEST_F(TargetTest, namesEveryForgery) {
  for (const Forgery &forgery : forgeries) {
    SCOPED_TRACE(forgery.name);
    ordered_json json = wse3();
    forgery.change(json);
    std::string path = write("forged.json", json.dump());
    absl::StatusOr<Target> target = loadTarget(path);
    ASSERT_FALSE(target.ok());
    EXPECT_EQ(target.status().code(), absl::StatusCode::kInvalidArgument);
    expectMentions(problemOf(target), forgery.mentions);
    expectMentions(problemOf(target), {path});
  }
}

TEST_F(TargetTest, refusesWhatIsNoTarget) {
  expectMentions(problemOf(loadTarget((folder / "absent.json").string())),
                 {"absent.json", "can't be read"});
  expectMentions(problemOf(loadTarget(write("a.json", "{\"name\": "))),
                 {"a.json", "JSON"});
  expectMentions(problemOf(loadTarget(write("b.json", "[1]"))),
                 {"array", "object"});
  expectMentions(
      problemOf(loadTarget(write("c.json", R"({"name": 1, "name": 2})"))),
      {"`name`", "twice"});
  expectMentions(problemOf(loadTarget(write("e.json", ""))), {"JSON"});
  expectMentions(problemOf(findTarget("wse9")), {"wse9", "mesh-4x4", "wse3"});
}

TEST_F(TargetTest, changesConstantsByPath) {
  Target target = *findTarget("wse3");
  ASSERT_TRUE(target.set("router.start_cycles", 123).ok());
  EXPECT_EQ(target.startCycles, 123);
  EXPECT_EQ(target.constant("router.start_cycles")->value, 123);
  expectMentions(std::string(target.set("router.speed", 1).message()),
                 {"router.speed", "router.start_cycles"});
  expectMentions(std::string(target.set("grid.rows", 0).message()),
                 {"grid.rows", "is 0"});
  expectMentions(
      std::string(target.set("memory.reserved_bytes_per_pe", 1e6).message()),
      {"reserved", "49152"});
  EXPECT_EQ(target.rows, 1172) << "a refused change changes nothing";
}

TEST_F(TargetTest, readsDefectMaps) {
  Target target = *findTarget("mesh-8x8");
  std::string path = write("defects.json", R"({
    "schema_version": 1, "target": "mesh-8x8", "wafers": [
      {"wafer": 0, "pes": [[1, 2], [7, 7]], "rows": [4],
       "links": [[0, 0, 1, 0], [5, 6, 5, 5]]},
      {"wafer": "all", "columns": [0], "rectangles": [[2, 2, 3, 2]]}]})");
  absl::StatusOr<DefectMap> map = DefectMap::load(path, target);
  ASSERT_TRUE(map.ok()) << problemOf(map);
  EXPECT_FALSE(map->works(0, 1, 2));
  EXPECT_TRUE(map->works(0, 2, 1));
  EXPECT_EQ(map->brokenPes(0, {0, 0, 8, 8}), 10);
  EXPECT_EQ(map->brokenPes(0, {0, 4, 4, 1}), 4);
  EXPECT_EQ(map->brokenPes(0, {2, 0, 5, 4}), 0);
  EXPECT_EQ(map->brokenPes(3, {0, 0, 8, 8}), 8 + 6);
  EXPECT_FALSE(map->linkWorks(0, 0, 0, Port::East));
  EXPECT_FALSE(map->linkWorks(0, 1, 0, Port::West));
  EXPECT_FALSE(map->linkWorks(0, 5, 5, Port::South));
  EXPECT_TRUE(map->linkWorks(0, 5, 5, Port::East));
  EXPECT_FALSE(map->linkWorks(0, 1, 1, Port::South)) << "a broken PE's link";
  EXPECT_FALSE(map->linkWorks(0, 0, 0, Port::North)) << "outside the mesh";
  EXPECT_TRUE(DefectMap().works(0, 1, 2));
  EXPECT_EQ(DefectMap().brokenPes(0, {0, 0, 8, 8}), 0);
}

TEST_F(TargetTest, namesWhatIsWrongInADefectMap) {
  Target target = *findTarget("mesh-8x8");
  auto problem = [&](const std::string &entry) {
    return problemOf(DefectMap::load(
        write("d.json", R"({"schema_version": 1, "target": "mesh-8x8",
                            "wafers": [)" +
                            entry + "]}"),
        target));
  };
  EXPECT_EQ(problem(R"({"wafer": 1})"), "");
  expectMentions(problem(R"({"wafer": 1, "pes": [[8, 0]]})"),
                 {"d.json", "`wafers[0].pes`", "[8, 0]", "8 columns"});
  expectMentions(problem(R"({"wafer": 1, "pes": [[8]]})"), {"[8]", "2 whole"});
  expectMentions(problem(R"({"wafer": 1, "pes": 3})"), {"is 3", "list"});
  expectMentions(problem(R"({"wafer": 1, "rows": [-1]})"), {"-1"});
  expectMentions(problem(R"({"wafer": 1, "columns": [1e30]})"), {"whole"});
  expectMentions(problem(R"({"wafer": 1, "rectangles": [[7, 7, 2, 1]]})"),
                 {"[8, 7]"});
  expectMentions(problem(R"({"wafer": 1, "rectangles": [[1, 1, 0, 1]]})"),
                 {"0 x 1"});
  expectMentions(problem(R"({"wafer": 1, "links": [[1, 1, 2, 2]]})"),
                 {"[1, 1]", "[2, 2]", "neighbours"});
  expectMentions(problem(R"({"wafer": 1, "wires": []})"),
                 {"`wafers[0].wires`"});
  expectMentions(problem(R"({"wafer": "some"})"), {"`wafers[0].wafer`"});
  expectMentions(problem(R"({"wafer": 2}, {"wafer": 2})"), {"wafers[1]", "2"});
  expectMentions(problem("7"), {"wafers[0]", "7", "object"});
  expectMentions(problemOf(DefectMap::load(
                     write("d.json", R"({"schema_version": 1, "target": "wse3",
                              "wafers": []})"),
                     target)),
                 {"`target`", "\"wse3\"", "mesh-8x8"});
}

} // namespace
