//===- defect_map.cpp - what is broken on the wafers ---------------------===//
//
// Reads defect maps and answers questions about them. Decides nothing about
// placement.
//
//===----------------------------------------------------------------------===//
#include "machine/target/json_file.h"
#include "machine/target/target_fields.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace sol {

using nlohmann::ordered_json;

/// Reads one file into one map.
class DefectMapReader {
public:
  DefectMapReader(const std::string &path, const Target &target)
      : path(path), target(target) {
    map.columns = target.columns + target.spareColumns;
    map.rows = target.rows;
  }

  absl::StatusOr<DefectMap> read();

private:
  absl::Status readWafer(JsonObject entry);
  void readLists(JsonObject &entry);
  void readLinks(JsonObject &entry);
  /// Items of a member that is a list of lists of `size` whole numbers.
  std::vector<std::vector<int64_t>> lists(JsonObject &entry,
                                          std::string_view name, size_t size);
  bool inside(JsonObject &entry, std::string_view name, int64_t x, int64_t y);
  void breakPes(const PeRectangle &rectangle);
  void finishWafer();

  const std::string &path;
  const Target &target;
  DefectMap map;
  std::vector<bool> broken;
};

bool DefectMapReader::inside(JsonObject &entry, std::string_view name,
                             int64_t x, int64_t y) {
  if (x >= 0 && x < map.columns && y >= 0 && y < map.rows)
    return true;
  entry.fail(name, absl::StrCat("has PE [", x, ", ", y, "], the mesh of `",
                                target.name, "` has ", map.columns,
                                " columns and ", map.rows, " rows"));
  return false;
}

std::vector<std::vector<int64_t>>
DefectMapReader::lists(JsonObject &entry, std::string_view name, size_t size) {
  std::vector<std::vector<int64_t>> result;
  if (!entry.has(name))
    return result;
  const ordered_json &items = entry.member(name);
  if (!items.is_array()) {
    entry.fail(name, absl::StrCat("is ", items.dump(), ", must be a list"));
    return result;
  }
  for (const ordered_json &item : items) {
    // A list of numbers is short for lists of one.
    const ordered_json list =
        size == 1 && item.is_number() ? ordered_json::array({item}) : item;
    bool good = list.is_array() && list.size() == size;
    std::vector<int64_t> numbers;
    for (const ordered_json &number : list) {
      good = good && number.is_number_integer() && number.get<double>() < 1e9 &&
             number.get<double>() > -1e9;
      numbers.push_back(good ? number.get<int64_t>() : 0);
    }
    if (!good) {
      entry.fail(name, absl::StrCat("has ", item.dump(), ", must have ", size,
                                    " whole numbers for each item"));
      return {};
    }
    result.push_back(std::move(numbers));
  }
  return result;
}

void DefectMapReader::breakPes(const PeRectangle &area) {
  for (int64_t y = area.y; y < area.y + area.height; ++y)
    for (int64_t x = area.x; x < area.x + area.width; ++x)
      broken[y * map.columns + x] = true;
}

void DefectMapReader::readLists(JsonObject &entry) {
  for (const auto &pe : lists(entry, "pes", 2))
    if (inside(entry, "pes", pe[0], pe[1]))
      breakPes({pe[0], pe[1], 1, 1});
  for (const auto &row : lists(entry, "rows", 1))
    if (inside(entry, "rows", 0, row[0]))
      breakPes({0, row[0], map.columns, 1});
  for (const auto &column : lists(entry, "columns", 1))
    if (inside(entry, "columns", column[0], 0))
      breakPes({column[0], 0, 1, map.rows});
  for (const auto &area : lists(entry, "rectangles", 4)) {
    if (area[2] < 1 || area[3] < 1)
      entry.fail("rectangles",
                 absl::StrCat("has one of ", area[2], " x ", area[3],
                              " PEs, must have at least one: give [x, y, "
                              "width, height]"));
    else if (inside(entry, "rectangles", area[0], area[1]) &&
             inside(entry, "rectangles", area[0] + area[2] - 1,
                    area[1] + area[3] - 1))
      breakPes({area[0], area[1], area[2], area[3]});
  }
}

void DefectMapReader::readLinks(JsonObject &entry) {
  for (const auto &link : lists(entry, "links", 4)) {
    auto [x1, y1] = std::pair(link[0], link[1]);
    auto [x2, y2] = std::pair(link[2], link[3]);
    if (!inside(entry, "links", x1, y1) || !inside(entry, "links", x2, y2))
      return;
    if (std::abs(x1 - x2) + std::abs(y1 - y2) != 1) {
      entry.fail("links",
                 absl::StrCat("has one from [", x1, ", ", y1, "] to [", x2,
                              ", ", y2, "], must join two neighbours"));
      return;
    }
    map.wafers.back().links.push_back(
        (std::min(y1, y2) * map.columns + std::min(x1, x2)) * 2 +
        (x1 == x2 ? 1 : 0));
  }
}

void DefectMapReader::finishWafer() {
  DefectMap::Wafer &wafer = map.wafers.back();
  std::sort(wafer.links.begin(), wafer.links.end());
  int64_t stride = map.columns + 1;
  wafer.sums.assign(stride * (map.rows + 1), 0);
  for (int64_t y = 0; y < map.rows; ++y)
    for (int64_t x = 0, row = 0; x < map.columns; ++x) {
      row += broken[y * map.columns + x];
      wafer.sums[(y + 1) * stride + x + 1] =
          wafer.sums[y * stride + x + 1] + static_cast<int32_t>(row);
    }
}

absl::Status DefectMapReader::readWafer(JsonObject entry) {
  map.wafers.emplace_back();
  broken.assign(map.columns * map.rows, false);
  if (entry.has("wafer") && entry.member("wafer") == ordered_json("all"))
    map.wafers.back().index = -1;
  else
    map.wafers.back().index = entry.integer("wafer", 0, 1 << 20);
  int64_t index = map.wafers.back().index;
  for (size_t i = 0; i + 1 < map.wafers.size(); ++i)
    if (map.wafers[i].index == index)
      entry.fail("wafer",
                 absl::StrCat("is ", entry.member("wafer").dump(),
                              ", which has an entry before: join the two"));
  readLists(entry);
  readLinks(entry);
  // What an entry may hold, for the message about what it may not.
  for (const char *name : {"pes", "rows", "columns", "rectangles", "links"})
    if (entry.has(name))
      entry.member(name);
  finishWafer();
  return entry.status();
}

absl::StatusOr<DefectMap> DefectMapReader::read() {
  absl::StatusOr<ordered_json> json = readJsonFile(path);
  if (!json.ok())
    return json.status();
  JsonObject top(path, "", *json);
  if (int64_t version = top.integer("schema_version", 1, 1 << 30); version != 1)
    top.fail("schema_version",
             absl::StrCat("is ", version, ", this Sol reads 1"));
  if (std::string name = top.text("target"); name != target.name)
    top.fail("target",
             absl::StrCat("is \"", name, "\", but the plan is for `",
                          target.name, "`: use a map of that machine"));
  const ordered_json &entries = top.member("wafers");
  if (!entries.is_array())
    top.fail("wafers", absl::StrCat("is ", entries.dump(), ", must be a list"));
  if (absl::Status status = top.status(); !status.ok())
    return status;
  for (size_t i = 0; i < entries.size(); ++i) {
    JsonObject entry(path, absl::StrCat("wafers[", i, "]"), entries[i]);
    if (absl::Status status = readWafer(std::move(entry)); !status.ok())
      return status;
  }
  return std::move(map);
}

absl::StatusOr<DefectMap> DefectMap::load(const std::string &path,
                                          const Target &target) {
  return DefectMapReader(path, target).read();
}

const DefectMap::Wafer *DefectMap::wafer(int64_t index) const {
  const Wafer *all = nullptr;
  for (const Wafer &item : wafers) {
    if (item.index == index)
      return &item;
    if (item.index == -1)
      all = &item;
  }
  return all;
}

int64_t DefectMap::brokenPes(int64_t index, const PeRectangle &area) const {
  const Wafer *found = wafer(index);
  if (!found)
    return 0;
  auto sum = [&](int64_t x, int64_t y) {
    return found->sums[y * (columns + 1) + x];
  };
  return sum(area.x + area.width, area.y + area.height) -
         sum(area.x, area.y + area.height) - sum(area.x + area.width, area.y) +
         sum(area.x, area.y);
}

bool DefectMap::works(int64_t index, int64_t x, int64_t y) const {
  return brokenPes(index, {x, y, 1, 1}) == 0;
}

bool DefectMap::linkWorks(int64_t index, int64_t x, int64_t y,
                          Port towards) const {
  const Wafer *found = wafer(index);
  if (!found)
    return true;
  int64_t otherX = x + (towards == Port::East) - (towards == Port::West);
  int64_t otherY = y + (towards == Port::South) - (towards == Port::North);
  if (otherX < 0 || otherX >= columns || otherY < 0 || otherY >= rows)
    return false;
  if (!works(index, x, y) || !works(index, otherX, otherY))
    return false;
  int64_t key = (std::min(y, otherY) * columns + std::min(x, otherX)) * 2 +
                (x == otherX ? 1 : 0);
  return towards == Port::Core ||
         !std::binary_search(found->links.begin(), found->links.end(), key);
}

} // namespace sol
