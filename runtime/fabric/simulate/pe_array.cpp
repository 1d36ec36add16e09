//===- pe_array.cpp - all PEs with their memory, registers and code ------===//
//
// See pe_array.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/fabric/simulate/pe_array.h"

#include "runtime/fabric/simulate/elements.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace sol::fabric {
namespace {

/// Most bytes of all PEs together.
constexpr int64_t mostMemoryBytes = int64_t(1) << 34;
/// Most elements of an input or output.
constexpr int64_t mostElements = int64_t(1) << 28;

/// Is every element that a slice may name within buffer and matrix?
absl::Status checkSlice(const Region &region, const Slice &slice,
                        const std::vector<Tensor> &tensors, const char *what) {
  auto bad = [&](const std::string &text) {
    return absl::InvalidArgumentError(
        absl::StrCat("region `", region.name, "`: a slice of ", what, text));
  };
  if (slice.tensor < 0 || slice.tensor >= static_cast<int64_t>(tensors.size()))
    return bad(
        absl::StrCat(" is of matrix ", slice.tensor, " of ", tensors.size()));
  if (slice.buffer < 0 ||
      slice.buffer >= static_cast<int64_t>(region.buffers.size()))
    return bad(absl::StrCat(" is for buffer ", slice.buffer, " of ",
                            region.buffers.size()));
  const Tensor &tensor = tensors[slice.tensor];
  const Buffer &buffer = region.buffers[slice.buffer];
  Place place;
  place.elements = buffer.elements;
  place.first = slice.first;
  place.rowStep = slice.rowStep;
  place.step = slice.columnStep;
  // Each element once: steps of 0 would let a few bytes ask for endless work.
  if (slice.rows < 0 || slice.columns < 0 ||
      int64_t(slice.rows) * slice.columns > buffer.elements ||
      elementsAt(place, nullptr, slice.rows, slice.columns) < 0)
    return bad(absl::StrCat(
        " `", tensor.name, "`: ",
        outsideText("buffer", place, nullptr, slice.rows, slice.columns)));
  auto isLarge = [](const Affine &affine) {
    constexpr int64_t most = int64_t(1) << 40;
    auto beyond = [](int64_t value) { return value < -most || value > most; };
    return beyond(affine.constant) || beyond(affine.x) || beyond(affine.y);
  };
  if (isLarge(slice.row) || isLarge(slice.column))
    return bad(absl::StrCat(" `", tensor.name, "` begins beyond 2^40"));
  if (slice.rowEnd > tensor.rows || slice.columnEnd > tensor.columns)
    return bad(absl::StrCat(" `", tensor.name, "` goes up to [", slice.rowEnd,
                            ", ", slice.columnEnd, "]: the matrix has ",
                            tensor.rows, " x ", tensor.columns, " elements"));
  return absl::OkStatus();
}

/// Calls `f(buffer element, row, column)`; row is -1 for those beyond the end.
template <typename Function>
void forElements(const Slice &slice, int64_t x, int64_t y, Function f) {
  int64_t row = slice.row.at(x, y), column = slice.column.at(x, y);
  for (int64_t r = 0; r < slice.rows; ++r)
    for (int64_t c = 0; c < slice.columns; ++c) {
      bool inside = row + r >= 0 && row + r < slice.rowEnd && column + c >= 0 &&
                    column + c < slice.columnEnd;
      f(slice.first + r * slice.rowStep + c * slice.columnStep,
        inside ? row + r : -1, column + c);
    }
}

} // namespace

float StreamView::element(int64_t index) const {
  int64_t at = rowLength == elements
                   ? index * step
                   : index / rowLength * rowStep + index % rowLength * step;
  return readElement(base, type, first + at);
}

void StreamView::setElement(int64_t index, float value) const {
  int64_t at = rowLength == elements
                   ? index * step
                   : index / rowLength * rowStep + index % rowLength * step;
  writeElement(base, type, first + at, value);
}

float StreamView::combined(int64_t index, float incoming,
                           uint8_t &choice) const {
  if (in < 0)
    return element(index);
  switch (combine) {
  case Combine::None:
    return incoming;
  case Combine::Add:
    return element(index) + incoming;
  case Combine::Maximum: {
    float own = element(index);
    return incoming > own ? incoming : own;
  }
  case Combine::ArgMax:
    break;
  }
  float own = element(index);
  if (index % 2 == 0) {
    choice = incoming > own ? 1 : incoming == own ? 2 : 0;
    return choice == 1 ? incoming : own;
  }
  return choice == 2 ? std::min(own, incoming) : choice == 1 ? incoming : own;
}

uint32_t StreamView::handle(int64_t word, uint32_t incoming,
                            uint8_t &choice) const {
  if (!packed) {
    float value = combined(word, std::bit_cast<float>(incoming), choice);
    if (store)
      setElement(word, value);
    return std::bit_cast<uint32_t>(value);
  }
  uint32_t result = 0;
  for (int64_t half = 0; half < 2 && 2 * word + half < elements; ++half) {
    float value = combined(
        2 * word + half, f16ToF32(static_cast<uint16_t>(incoming >> 16 * half)),
        choice);
    if (store)
      setElement(2 * word + half, value);
    result |= uint32_t(f32ToF16(value)) << 16 * half;
  }
  return result;
}

absl::StatusOr<PeArray> PeArray::create(const FabricProgram &program,
                                        const FabricLimits &limits,
                                        absl::Span<const uint8_t> weights) {
  PeArray array;
  array.source = &program;
  absl::StatusOr<Mesh> mesh = Mesh::of(program);
  if (!mesh.ok())
    return mesh.status();
  absl::StatusOr<CodeLists> codes = CodeLists::of(program, *mesh, limits);
  if (!codes.ok())
    return codes.status();
  array.shape = std::make_shared<const Mesh>(*std::move(mesh));
  array.lists = std::make_shared<const CodeLists>(*std::move(codes));
  int64_t words = 0;
  for (int64_t pe = 0; pe < array.pes(); ++pe)
    words += array.lists->memoryBytes(pe) / 4;
  if (words > mostMemoryBytes / 4)
    return absl::ResourceExhaustedError(
        absl::StrCat("the program's PEs have ", words * 4,
                     " bytes of memory, a simulator takes up to ",
                     mostMemoryBytes, ": use fewer PEs"));
  array.memory.assign(words, 0);
  array.placeCores();
  for (const auto *list : {&program.inputs, &program.outputs})
    for (const Tensor &tensor : *list)
      if (tensor.rows < 1 || tensor.columns < 1 || tensor.rows > mostElements ||
          tensor.columns > mostElements / tensor.rows)
        return absl::InvalidArgumentError(absl::StrCat(
            "`", tensor.name, "` has ", tensor.rows, " x ", tensor.columns,
            " elements: the host gives and takes from 1 to ", mostElements));
  for (const Region &region : program.regions) {
    for (const Slice &slice : region.inputs)
      if (absl::Status status =
              checkSlice(region, slice, program.inputs, "inputs");
          !status.ok())
        return status;
    for (const Slice &slice : region.outputs)
      if (absl::Status status =
              checkSlice(region, slice, program.outputs, "outputs");
          !status.ok())
        return status;
  }
  if (absl::Status status = array.loadWeights(weights); !status.ok())
    return status;
  return array;
}

void PeArray::placeCores() {
  cores.resize(pes());
  auto *bytes = reinterpret_cast<uint8_t *>(memory.data());
  int64_t pe = 0;
  for (const Wafer &wafer : source->wafers)
    for (int32_t y = 0; y < wafer.rows; ++y)
      for (int32_t x = 0; x < wafer.columns; ++x) {
        cores[pe].x = x;
        cores[pe].y = y;
        cores[pe].memory = bytes;
        cores[pe].code = &lists->of(pe);
        bytes += lists->memoryBytes(pe++);
      }
}

absl::Status PeArray::loadWeights(absl::Span<const uint8_t> weights) {
  weightBytes = weights;
  for (const Tensor &tensor : source->weights) {
    // Far below any overflow: what a section can hold.
    constexpr int64_t most = int64_t(1) << 40;
    bool isSound = tensor.rows >= 1 && tensor.columns >= 1 &&
                   tensor.rowStride >= 0 && tensor.columnStride >= 0 &&
                   tensor.rows < most && tensor.columns < most &&
                   tensor.rowStride < most && tensor.columnStride < most;
    long double end =
        isSound ? tensor.offset +
                      ((tensor.rows - 1.0L) * tensor.rowStride +
                       (tensor.columns - 1.0L) * tensor.columnStride + 1) *
                          elementBytes(tensor.type)
                : 0;
    if (!isSound || end > weights.size())
      return absl::InvalidArgumentError(absl::StrCat(
          "matrix `", tensor.name, "` of ", tensor.rows, " x ", tensor.columns,
          " elements at byte ", tensor.offset, " doesn't lie in ",
          weights.size(), " bytes of weights"));
  }
  for (const Region &region : source->regions)
    for (const Slice &slice : region.weights) {
      if (absl::Status status =
              checkSlice(region, slice, source->weights, "weights");
          !status.ok())
        return status;
      const Tensor &tensor = source->weights[slice.tensor];
      put(region, slice, tensor, weights.data() + tensor.offset);
    }
  return absl::OkStatus();
}

void PeArray::put(const Region &region, const Slice &slice,
                  const Tensor &tensor, const uint8_t *data) {
  const Buffer &buffer = region.buffers[slice.buffer];
  slice.pes.forEach([&](int64_t x, int64_t y) {
    uint8_t *base = cores[shape->number(region, x, y)].memory + buffer.offset;
    forElements(slice, x, y, [&](int64_t at, int64_t row, int64_t column) {
      float value = row < 0 ? 0
                            : readElement(data, tensor.type,
                                          row * tensor.rowStride +
                                              column * tensor.columnStride);
      writeElement(base, buffer.type, at, value);
    });
  });
}

void PeArray::reset() {
  std::fill(memory.begin(), memory.end(), 0);
  for (Core &core : cores)
    std::fill(std::begin(core.registers), std::end(core.registers), 0);
  for (const Region &region : source->regions)
    for (const Slice &slice : region.weights) {
      const Tensor &tensor = source->weights[slice.tensor];
      put(region, slice, tensor, weightBytes.data() + tensor.offset);
    }
}

void PeArray::setRegister(int32_t index, int32_t value) {
  for (Core &core : cores)
    core.registers[index] = value;
}

absl::Status PeArray::begin(const HostTensors &inputs) {
  if (inputs.size() != source->inputs.size())
    return absl::InvalidArgumentError(
        absl::StrCat("the program takes ", source->inputs.size(),
                     " inputs, given are ", inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor &tensor = source->inputs[i];
    if (static_cast<int64_t>(inputs[i].size()) != tensor.rows * tensor.columns)
      return absl::InvalidArgumentError(absl::StrCat(
          "input `", tensor.name, "` has ", tensor.rows, " x ", tensor.columns,
          " elements, given are ", inputs[i].size()));
  }
  for (const Region &region : source->regions)
    for (const Slice &slice : region.inputs) {
      Tensor dense = source->inputs[slice.tensor];
      dense.type = ElementType::Float32;
      dense.rowStride = dense.columns;
      dense.columnStride = 1;
      put(region, slice, dense,
          reinterpret_cast<const uint8_t *>(inputs[slice.tensor].data()));
    }
  for (Core &core : cores)
    core.next = core.words = core.depth = 0;
  return absl::OkStatus();
}

HostTensors PeArray::outputs() const {
  HostTensors result;
  for (const Tensor &tensor : source->outputs)
    result.emplace_back(tensor.rows * tensor.columns);
  for (const Region &region : source->regions)
    for (const Slice &slice : region.outputs) {
      const Buffer &buffer = region.buffers[slice.buffer];
      int64_t columns = source->outputs[slice.tensor].columns;
      slice.pes.forEach([&](int64_t x, int64_t y) {
        const uint8_t *base =
            cores[shape->number(region, x, y)].memory + buffer.offset;
        forElements(slice, x, y, [&](int64_t at, int64_t row, int64_t column) {
          if (row >= 0)
            result[slice.tensor][row * columns + column] =
                readElement(base, buffer.type, at);
        });
      });
    }
  return result;
}

PeView PeArray::view(int64_t pe, const Step &step) {
  const Region &region = source->regions[step.region];
  Core &core = cores[pe];
  return {core.memory, core.registers, core.x - region.x, core.y - region.y};
}

const Step *PeArray::next(int64_t pe) {
  Core &core = cores[pe];
  const std::vector<const Step *> &steps = core.code->steps;
  while (core.next < static_cast<int64_t>(steps.size())) {
    const Step *step = steps[core.next];
    if (step->guard < 0 || core.registers[step->guard] != 0)
      return step;
    ++core.next;
  }
  return nullptr;
}

void PeArray::control(Core &core, const Step &step, const PeView &pe) {
  const Instruction &item = *step.source;
  int32_t partner = core.code->partner[core.next];
  if (item.opcode == Opcode::Loop) {
    auto count = static_cast<int32_t>(
        std::min<int64_t>(valueOf(item.n, pe.registers), INT32_MAX));
    if (count == 0) {
      core.next = partner + 1;
      return;
    }
    pe.registers[item.target] = 0;
    core.loops[core.depth++] = {++core.next, count};
    return;
  }
  auto &loop = core.loops[core.depth - 1];
  if (--loop.left == 0) {
    --core.depth;
    ++core.next;
    return;
  }
  ++pe.registers[core.code->steps[partner]->source->target];
  core.next = loop.begin;
}

absl::Status PeArray::runLocal(int64_t pe, const Step &step) {
  Core &core = cores[pe];
  PeView where = view(pe, step);
  if (step.opcode == Opcode::Loop || step.opcode == Opcode::EndLoop) {
    control(core, step, where);
    return absl::OkStatus();
  }
  absl::Status status = executor.run(step, where);
  if (!status.ok())
    return explain(pe, status);
  ++core.next;
  return absl::OkStatus();
}

absl::Status PeArray::openStream(int64_t pe, const Step &step,
                                 StreamView &stream) {
  const Instruction &item = *step.source;
  PeView where = view(pe, step);
  int64_t rows = valueOf(item.rows, where.registers);
  int64_t n = valueOf(item.n, where.registers);
  int64_t first = 0;
  if (step.dst.elements >= 0) {
    first = elementsAt(step.dst, where.registers, rows, n);
    if (first < 0)
      return explain(pe, absl::OutOfRangeError(outsideText(
                             "dst", step.dst, where.registers, rows, n)));
  }
  if (rows > INT32_MAX || n > INT32_MAX || rows * n > INT32_MAX)
    return explain(pe, absl::OutOfRangeError(absl::StrCat(
                           "handles ", rows, " x ", n, " elements at once")));
  stream.base = where.memory + step.dst.offset;
  stream.type = step.dst.type;
  stream.packed = item.packed;
  stream.store = item.store;
  stream.combine = item.combine;
  stream.first = first;
  stream.rowStep = step.dst.rowStep;
  stream.step = step.dst.step;
  stream.rowLength = rows == 1 ? rows * n : n;
  stream.elements = rows * n;
  stream.words = item.packed ? (rows * n + 1) / 2 : rows * n;
  stream.in = item.in;
  stream.out = item.out;
  return absl::OkStatus();
}

std::string PeArray::instructionText(int64_t pe) const {
  const Core &core = cores[pe];
  const Step &step = *core.code->steps[core.next];
  const Region &region = source->regions[step.region];
  return absl::StrCat(shape->text(pe), " (region `", region.name,
                      "`), instruction ", core.next, " (",
                      opcodeName(step.opcode), ")");
}

absl::Status PeArray::explain(int64_t pe, const absl::Status &status) const {
  return absl::Status(
      status.code(), absl::StrCat(instructionText(pe), ": ", status.message()));
}

absl::StatusOr<LoadedFabric> loadFabric(const FabricProgram &program,
                                        const FabricLimits &limits,
                                        absl::Span<const uint8_t> weights) {
  absl::StatusOr<PeArray> array = PeArray::create(program, limits, weights);
  if (!array.ok())
    return array.status();
  absl::StatusOr<Routes> routes = Routes::of(program, array->mesh(), limits);
  if (!routes.ok())
    return routes.status();
  absl::StatusOr<Channels> channels =
      Channels::of(program, array->mesh(), array->codes(), *routes);
  if (!channels.ok())
    return channels.status();
  return LoadedFabric{*std::move(array), *std::move(routes),
                      *std::move(channels)};
}

} // namespace sol::fabric
