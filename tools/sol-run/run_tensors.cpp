//===- run_tensors.cpp - one run on explicit tensors ----------------------===//
//
// Reads inputs from files or makes random ones, runs, writes outputs.
//
//===----------------------------------------------------------------------===//
#include "tools/sol-run/run_options.h"
#include "tools/sol-run/tensor_value.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <map>
#include <random>

namespace sol::run {
namespace {

namespace fs = std::filesystem;

/// Inputs of a run, and whether outputs go to `.pb` files as these came.
struct InputSet {
  std::vector<TensorValue> tensors;
  bool isProto = false;
};

/// The number in `input_<i>.pb`, or -1.
int protoIndex(const std::string &name) {
  const std::string prefix = "input_", suffix = ".pb";
  if (name.size() <= prefix.size() + suffix.size() ||
      name.compare(0, prefix.size(), prefix) != 0 ||
      name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0)
    return -1;
  std::string digits =
      name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  if (digits.size() > 6 ||
      !std::all_of(digits.begin(), digits.end(),
                   [](unsigned char c) { return std::isdigit(c); }))
    return -1;
  return std::stoi(digits);
}

std::string extensionOf(const std::string &path) {
  return fs::path(path).extension().string();
}

TensorValue readTensor(const std::string &path) {
  if (extensionOf(path) == ".pb")
    return readProto(path);
  if (extensionOf(path) == ".npy")
    return readNpy(path);
  throw Failure(path + ": is neither .pb nor .npy");
}

void readFolder(const OpenPlan &plan, const std::string &folder,
                InputSet &inputs) {
  if (!fs::is_directory(folder))
    throw Failure(folder + ": is no folder");
  std::vector<fs::path> files;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  size_t count = sol_plan_input_count(plan.plan, plan.function);
  for (const fs::path &file : files) {
    int index = protoIndex(file.filename().string());
    if (index >= 0) {
      if (static_cast<size_t>(index) >= count)
        throw Failure(file.string() + ": the function has only " +
                      std::to_string(count) + " inputs");
      TensorValue value = readProto(file.string());
      value.name = sol_plan_input(plan.plan, plan.function, index).name;
      inputs.tensors.push_back(std::move(value));
      inputs.isProto = true;
    } else if (file.extension() == ".npy") {
      TensorValue value = readNpy(file.string());
      value.name = file.stem().string();
      inputs.tensors.push_back(std::move(value));
    } else if (file.extension() == ".npz") {
      for (TensorValue &value : readNpz(file.string()))
        inputs.tensors.push_back(std::move(value));
    }
  }
}

void readNamed(const std::string &text, InputSet &inputs) {
  size_t equals = text.find('=');
  if (equals == std::string::npos) {
    if (extensionOf(text) != ".npz")
      throw Failure("--input " + text +
                    ": is neither NAME=FILE nor an .npz file");
    for (TensorValue &value : readNpz(text))
      inputs.tensors.push_back(std::move(value));
    return;
  }
  TensorValue value = readTensor(text.substr(equals + 1));
  inputs.isProto |= extensionOf(text) == ".pb";
  value.name = text.substr(0, equals);
  inputs.tensors.push_back(std::move(value));
}

/// Named sizes, as the runtime takes them.
struct Dimensions {
  std::vector<std::string> names;
  std::vector<int64_t> values;

  /// The value of a port's size, or -1.
  int64_t valueOf(const char *text) const {
    std::vector<const char *> symbols;
    for (const std::string &name : names)
      symbols.push_back(name.c_str());
    return sol_size_value(text, symbols.data(), values.data(), values.size());
  }
};

Dimensions parseDimensions(const std::vector<std::string> &texts) {
  Dimensions dimensions;
  for (const std::string &text : texts) {
    size_t equals = text.rfind('=');
    int64_t size = -1;
    const char *end = text.data() + text.size();
    const char *digits =
        equals == std::string::npos ? end : text.data() + equals + 1;
    auto [stop, problem] = std::from_chars(digits, end, size);
    if (problem != std::errc() || stop != end || size < 0)
      throw Failure("--dim " + text + ": is not NAME=SIZE");
    dimensions.names.push_back(text.substr(0, equals));
    dimensions.values.push_back(size);
  }
  return dimensions;
}

/// Random values that suit most models: floats in [-1, 1), small integers.
void fillRandom(TensorValue &value, std::mt19937_64 &random) {
  auto unit = [&] { return (random() >> 11) * 0x1p-53; };
  size_t count = value.bytes.size();
  if (value.type == 1) {
    for (size_t i = 0; i < count / 4; ++i)
      reinterpret_cast<float *>(value.bytes.data())[i] =
          static_cast<float>(2 * unit() - 1);
  } else if (value.type == 11) {
    for (size_t i = 0; i < count / 8; ++i)
      reinterpret_cast<double *>(value.bytes.data())[i] = 2 * unit() - 1;
  } else if (value.type == 7) {
    for (size_t i = 0; i < count / 8; ++i)
      reinterpret_cast<int64_t *>(value.bytes.data())[i] = random() % 2;
  } else if (value.type == 6) {
    for (size_t i = 0; i < count / 4; ++i)
      reinterpret_cast<int32_t *>(value.bytes.data())[i] = random() % 2;
  } else if (value.type == 9) {
    for (size_t i = 0; i < count; ++i)
      value.bytes[i] = random() % 2;
  }
}

void makeRandom(const OpenPlan &plan, const RunOptions &options,
                InputSet &inputs) {
  Dimensions dimensions = parseDimensions(options.dimensions);
  std::mt19937_64 random(options.seed);
  for (size_t i = 0; i < sol_plan_input_count(plan.plan, plan.function); ++i) {
    sol_port port = sol_plan_input(plan.plan, plan.function, i);
    TensorValue value;
    value.name = port.name;
    value.type = port.type;
    for (int32_t axis = 0; axis < port.rank; ++axis) {
      int64_t size = dimensions.valueOf(port.sizes[axis]);
      if (size < 0)
        throw Failure("input `" + value.name + "` has size `" +
                      port.sizes[axis] +
                      "`, which the given sizes don't decide: give its symbols "
                      "with --dim NAME=SIZE");
      value.sizes.push_back(size);
    }
    int64_t bytes = bytesFor(value.type, value.sizes);
    if (port.rank < 0 || bytes < 0)
      throw Failure("input `" + value.name + "` can't be made at random");
    value.bytes.resize(bytes);
    fillRandom(value, random);
    inputs.tensors.push_back(std::move(value));
  }
}

void writeOutputs(const RunOptions &options, bool isProto,
                  const sol_tensor *outputs, size_t count) {
  std::error_code failed;
  fs::create_directories(options.outputFolder, failed);
  if (failed)
    throw Failure(options.outputFolder + ": " + failed.message());
  for (size_t i = 0; i < count; ++i) {
    std::string name = outputs[i].name;
    std::replace(name.begin(), name.end(), '/', '_');
    fs::path path =
        fs::path(options.outputFolder) /
        (isProto ? "output_" + std::to_string(i) + ".pb" : name + ".npy");
    if (isProto)
      writeProto(path.string(), outputs[i]);
    else
      writeNpy(path.string(), outputs[i]);
  }
}

} // namespace

void runTensors(const OpenPlan &plan, const RunOptions &options) {
  InputSet inputs;
  if (!options.inputFolder.empty())
    readFolder(plan, options.inputFolder, inputs);
  for (const std::string &input : options.inputs)
    readNamed(input, inputs);
  if (options.randomInputs)
    makeRandom(plan, options, inputs);
  OpenSession session(plan, options);
  std::vector<sol_tensor> views;
  for (const TensorValue &value : inputs.tensors)
    views.push_back(value.view());
  const sol_tensor *outputs = nullptr;
  size_t count = 0;
  check(sol_session_run(session.session, views.data(), views.size(), &outputs,
                        &count));
  if (!options.outputFolder.empty())
    writeOutputs(options, inputs.isProto, outputs, count);
  else if (!options.quiet)
    for (size_t i = 0; i < count; ++i) {
      std::cout << outputs[i].name << ": [";
      for (int32_t axis = 0; axis < outputs[i].rank; ++axis)
        std::cout << (axis ? ", " : "") << outputs[i].sizes[axis];
      std::cout << "]\n";
    }
  if (options.verbose)
    printProfile(session);
}

} // namespace sol::run
