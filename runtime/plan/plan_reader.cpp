//===- plan_reader.cpp - opens a plan -------------------------------------===//
//
// Mapping and checks of the file around the description. Nothing here depends
// on what the steps mean; program_builder.cpp does that.
//
//===----------------------------------------------------------------------===//
#include "runtime/plan/plan_reader.h"

#include "runtime/plan/native_image.h"
#include "runtime/plan/native_loops.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/program_builder.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

namespace sol {
namespace {

/// A file mapped for reading.
class Mapping {
public:
  static absl::StatusOr<Mapping> open(const std::string &path) {
    int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
      return absl::NotFoundError(
          absl::StrCat(path, ": cannot be opened: ", std::strerror(errno)));
    struct stat info;
    Mapping mapping;
    absl::Status status;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
      status =
          absl::InvalidArgumentError(absl::StrCat(path, ": is not a file"));
    } else if (info.st_size > 0) {
      mapping.bytes = static_cast<size_t>(info.st_size);
      mapping.data =
          mmap(nullptr, mapping.bytes, PROT_READ, MAP_PRIVATE, file, 0);
      if (mapping.data == MAP_FAILED) {
        mapping.data = nullptr;
        status = absl::ResourceExhaustedError(
            absl::StrCat(path, ": cannot be mapped: ", std::strerror(errno)));
      }
    }
    ::close(file);
    if (!status.ok())
      return status;
    return mapping;
  }
  Mapping() = default;
  Mapping(Mapping &&other) noexcept { *this = std::move(other); }
  Mapping &operator=(Mapping &&other) noexcept {
    std::swap(data, other.data);
    std::swap(bytes, other.bytes);
    return *this;
  }
  ~Mapping() {
    if (data)
      munmap(data, bytes);
  }
  std::string_view view() const {
    return {static_cast<const char *>(data), bytes};
  }

private:
  void *data = nullptr;
  size_t bytes = 0;
};

bool lies(uint64_t offset, uint64_t length, uint64_t total) {
  return offset <= total && length <= total - offset;
}

class MappedPlan final : public Plan {
public:
  MappedPlan(const std::string &path, Mapping mapping,
             const PlanOpenOptions &options)
      : mapping(std::move(mapping)), options(options) {
    file = path;
  }

  absl::Status load() {
    if (absl::Status status = checkHeader(); !status.ok())
      return status;
    if (absl::Status status = checkDescription(); !status.ok())
      return status;
    if (absl::Status status = checkSections(); !status.ok())
      return status;
    if (absl::Status status = readNativeLoops(); !status.ok())
      return status;
    if (!plan->functions() || plan->functions()->size() == 0)
      return corrupt("it has no function");
    for (const fb::Function *function : *plan->functions()) {
      absl::StatusOr<Program> program = buildProgram(*function, weights, loops);
      if (!program.ok())
        return atFile(program.status());
      programs.push_back(*std::move(program));
    }
    return readLinks();
  }

  absl::StatusOr<std::string_view>
  resource(std::string_view name) const override {
    if (plan->resources())
      for (const fb::Resource *item : *plan->resources())
        if (item->name()->string_view() == name)
          return resource(*item);
    return std::string_view();
  }

  const fb::Plan &description() const override { return *plan; }

  PieceRange weightPieces(const void *data, uint64_t bytes) const override {
    if (bytes == 0)
      return {};
    auto begin =
        static_cast<uint64_t>(static_cast<const char *>(data) - weights.data());
    return {static_cast<int64_t>(begin / planHashedBytes),
            static_cast<int64_t>((begin + bytes - 1) / planHashedBytes + 1)};
  }

  absl::Status verifyPieces(PieceRange pieces) const override {
    if (!options.verifyWeights)
      return absl::OkStatus();
    for (int64_t piece = pieces.begin; piece < pieces.end; ++piece) {
      if (verified[piece].load(std::memory_order_acquire))
        continue;
      std::string_view part =
          weights.substr(piece * planHashedBytes, planHashedBytes);
      uint64_t expected;
      std::memcpy(&expected, hashes + piece * sizeof(expected),
                  sizeof(expected));
      if (XXH3_64bits(part.data(), part.size()) != expected)
        return absl::DataLossError(
            absl::StrCat(file, ": weights differ from their hash at byte ",
                         plan->weights_offset() + piece * planHashedBytes,
                         "; the file is damaged, compile the model again"));
      verified[piece].store(true, std::memory_order_release);
    }
    return absl::OkStatus();
  }

private:
  template <typename... Parts>
  absl::Status corrupt(const Parts &...parts) const {
    return absl::InvalidArgumentError(absl::StrCat(
        file, ": is a damaged plan: ", parts..., "; compile the model again"));
  }

  absl::Status checkHeader() {
    std::string_view bytes = mapping.view();
    if (bytes.size() < sizeof(PlanHeader) ||
        std::memcmp(bytes.data(), planMagic, sizeof(planMagic)) != 0)
      return absl::InvalidArgumentError(
          absl::StrCat(file, ": is not a plan; make one with `sol-compile "
                             "model.onnx -o plan.bin`"));
    std::memcpy(&header, bytes.data(), sizeof(header));
    if (XXH3_64bits(&header, offsetof(PlanHeader, headerHash)) !=
        header.headerHash)
      return corrupt("its header differs from its hash");
    if (header.byteOrder != planByteOrder)
      return absl::FailedPreconditionError(
          absl::StrCat(file, ": was made for the other byte order"));
    if (header.version != planFormatVersion)
      return absl::FailedPreconditionError(absl::StrCat(
          file, ": has plan format ", header.version, ", this runtime reads ",
          planFormatVersion, "; compile the model again with this release"));
    if (header.fileBytes != bytes.size())
      return corrupt("it has ", bytes.size(), " bytes instead of ",
                     header.fileBytes);
    return absl::OkStatus();
  }

  absl::Status checkDescription() {
    uint64_t offset = header.descriptionOffset;
    uint64_t length = header.descriptionBytes;
    if (!lies(offset, length, mapping.view().size()) || offset % 8 != 0 ||
        length > planMaxDescriptionBytes)
      return corrupt("its description lies at ", offset, " with ", length,
                     " bytes");
    std::string_view bytes = mapping.view().substr(offset, length);
    if (XXH3_64bits(bytes.data(), bytes.size()) != header.descriptionHash)
      return corrupt("its description differs from its hash");
    flatbuffers::Verifier verifier(
        reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size(),
        /*max_depth=*/128, /*max_tables=*/8 << 20);
    if (!fb::VerifyPlanBuffer(verifier))
      return corrupt("its description is malformed");
    plan = fb::GetPlan(bytes.data());
    return absl::OkStatus();
  }

  absl::Status checkSections() {
    uint64_t total = mapping.view().size();
    uint64_t pieces =
        (plan->weights_bytes() + planHashedBytes - 1) / planHashedBytes;
    if (!lies(plan->weights_offset(), plan->weights_bytes(), total) ||
        plan->weights_offset() % planConstantAlignment != 0)
      return corrupt("its weights lie outside the file");
    if (!lies(plan->hashes_offset(), pieces * sizeof(uint64_t), total))
      return corrupt("its weight hashes lie outside the file");
    if (plan->resources())
      for (const fb::Resource *item : *plan->resources())
        if (!lies(item->offset(), item->bytes(), total))
          return corrupt("resource `", item->name()->str(),
                         "` lies outside the file");
    weights =
        mapping.view().substr(plan->weights_offset(), plan->weights_bytes());
    hashes = mapping.view().data() + plan->hashes_offset();
    verified = std::vector<std::atomic<bool>>(pieces);
    return checkImages(pieces * sizeof(uint64_t));
  }

  absl::Status checkImages(uint64_t hashBytes) {
    std::vector<FileRange> others = {
        {"the header", 0, sizeof(PlanHeader)},
        {"the description", header.descriptionOffset, header.descriptionBytes},
        {"the weights", plan->weights_offset(), plan->weights_bytes()},
        {"the hashes of the weights", plan->hashes_offset(), hashBytes}};
    if (plan->resources())
      for (const fb::Resource *item : *plan->resources())
        others.push_back(
            {item->name()->string_view(), item->offset(), item->bytes()});
    absl::Status status = checkNativeImages(*plan, mapping.view(), others);
    return status.ok() ? status : corrupt(status.message());
  }

  absl::Status readNativeLoops() {
    absl::StatusOr<std::vector<ProgramNativeLoop>> read =
        buildNativeLoops(*plan);
    if (!read.ok())
      return corrupt(read.status().message());
    loops = *std::move(read);
    return loops.empty() || !options.loadCode ? absl::OkStatus() : loadCode();
  }

  absl::Status loadCode() {
    absl::StatusOr<int> chosen = chooseNativeImage(*plan);
    if (!chosen.ok())
      return atFile(chosen.status());
    image = *chosen;
    const fb::NativeImage &source = *plan->native_images()->Get(image);
    absl::StatusOr<std::unique_ptr<NativeCode>> loaded = NativeCode::create(
        mapping.view().substr(source.offset(), source.bytes()));
    if (!loaded.ok())
      return atFile(loaded.status());
    code = *std::move(loaded);
    for (ProgramNativeLoop &loop : loops)
      loop.function = reinterpret_cast<NativeFunction>(
          const_cast<char *>(code->data() + loop.entries[image]));
    return absl::OkStatus();
  }

  absl::Status atFile(const absl::Status &status) const {
    return absl::Status(status.code(),
                        absl::StrCat(file, ": ", status.message()));
  }

  absl::StatusOr<std::string_view> resource(const fb::Resource &item) const {
    std::string_view bytes = mapping.view().substr(item.offset(), item.bytes());
    if (XXH3_64bits(bytes.data(), bytes.size()) != item.hash())
      return absl::DataLossError(
          absl::StrCat(file, ": embedded ", item.name()->str(),
                       " differs from its hash; the file is damaged, compile "
                       "the model again"));
    return bytes;
  }

  absl::Status readLinks() {
    if (!plan->links())
      return absl::OkStatus();
    auto within = [](int index, size_t size) {
      return index >= 0 && static_cast<size_t>(index) < size;
    };
    for (const fb::Link *item : *plan->links()) {
      ProgramLink link = {item->from_function(), item->from_output(),
                          item->to_function(), item->to_input()};
      size_t number = connections.size();
      if (!within(link.fromFunction, programs.size()) ||
          !within(link.toFunction, programs.size()) ||
          link.fromFunction == link.toFunction)
        return corrupt("link ", number, " leads from function ",
                       link.fromFunction, " to ", link.toFunction, " of ",
                       programs.size());
      const std::vector<ProgramPort> &outputs =
          programs[link.fromFunction].outputs;
      const std::vector<ProgramPort> &inputs = programs[link.toFunction].inputs;
      if (!within(link.fromOutput, outputs.size()) ||
          !within(link.toInput, inputs.size()))
        return corrupt("link ", number, " leads from output ", link.fromOutput,
                       " of ", outputs.size(), " to input ", link.toInput,
                       " of ", inputs.size());
      if (outputs[link.fromOutput].type != inputs[link.toInput].type)
        return corrupt("link ", number, " gives ",
                       dtypeName(outputs[link.fromOutput].type),
                       " where the input is ",
                       dtypeName(inputs[link.toInput].type));
      if (programs[link.fromFunction]
              .values[outputs[link.fromOutput].value]
              .kind == fb::ValueKind_State)
        return corrupt("link ", number, " passes on a cache");
      for (const ProgramLink &other : connections)
        if (other.toFunction == link.toFunction &&
            other.toInput == link.toInput)
          return corrupt("input `", inputs[link.toInput].name,
                         "` is fed by two links");
      connections.push_back(link);
    }
    return absl::OkStatus();
  }

  Mapping mapping;
  PlanOpenOptions options;
  std::unique_ptr<NativeCode> code; ///< in the mapping or beside it
  PlanHeader header = {};
  const fb::Plan *plan = nullptr;
  std::string_view weights;
  const char *hashes = nullptr;
  mutable std::vector<std::atomic<bool>> verified;
};

} // namespace

absl::StatusOr<std::shared_ptr<const Plan>>
Plan::open(const std::string &path, const PlanOpenOptions &options) {
  registerAllKernels();
  absl::StatusOr<Mapping> mapping = Mapping::open(path);
  if (!mapping.ok())
    return mapping.status();
  auto plan = std::make_shared<MappedPlan>(path, *std::move(mapping), options);
  if (absl::Status status = plan->load(); !status.ok())
    return status;
  return plan;
}

absl::StatusOr<const Program *> Plan::function(std::string_view name) const {
  if (name.empty() && programs.size() == 1)
    return &programs.front();
  for (const Program &program : programs)
    if (program.name == name)
      return &program;
  std::string names = absl::StrJoin(
      programs, ", ", [](std::string *out, const Program &program) {
        absl::StrAppend(out, "`", program.name, "`");
      });
  return absl::NotFoundError(absl::StrCat(
      file,
      name.empty()
          ? std::string(": has several functions, name one: ")
          : absl::StrCat(": has no function `", std::string(name), "`, only "),
      names));
}

} // namespace sol
