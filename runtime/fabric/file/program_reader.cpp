//===- program_reader.cpp - a program of a fabric from bytes -------------===//
//
// See program_file.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/fabric/file/program_file.h"

#include "runtime/fabric/fabric_program_generated.h"

#include "absl/strings/str_cat.h"

#include <cstring>
#include <memory>

namespace sol::fabric {
namespace {

PeSet setOf(const fb::PeSet *set) {
  return {set->x(),    set->y(),      set->columns(),
          set->rows(), set->x_step(), set->y_step()};
}
Affine affineOf(const fb::Affine *affine) {
  return {affine->constant(), affine->x(), affine->y()};
}
Operand operandOf(const fb::Operand *operand) {
  if (!operand)
    return {};
  return {operand->buffer(), operand->first(), operand->row_step(),
          operand->step(),   operand->reg(),   operand->reg_step()};
}
Count countOf(const fb::Count *count) {
  return count ? Count{count->value(), count->reg()} : Count{};
}
std::string textOf(const flatbuffers::String *text) {
  return text ? text->str() : std::string();
}

/// Calls `f` for each member of a list, which may be absent.
template <typename List, typename Function>
void forEach(const List *list, Function f) {
  if (list)
    for (const auto *item : *list)
      f(item);
}

Instruction instructionOf(const fb::Instruction *from) {
  Instruction item;
  item.opcode = static_cast<Opcode>(from->opcode());
  item.guard = from->guard();
  item.dst = operandOf(from->dst());
  item.a = operandOf(from->a());
  item.b = operandOf(from->b());
  item.c = operandOf(from->c());
  item.rows = countOf(from->rows());
  item.n = countOf(from->n());
  item.k = countOf(from->k());
  item.in = from->in();
  item.out = from->out();
  item.combine = static_cast<Combine>(from->combine());
  item.store = from->store();
  item.packed = from->packed();
  item.accumulate = from->accumulate();
  item.priority = from->priority();
  item.scale = from->scale();
  item.shift = from->shift();
  item.target = from->target();
  item.shiftBy = from->shift_by();
  item.limitBy = from->limit_by();
  item.group = from->group();
  if (const fb::Expression *expression = from->expression())
    item.expression = {
        expression->constant(), expression->x(),
        expression->y(),        expression->reg_a(),
        expression->a(),        expression->reg_b(),
        expression->b(),        static_cast<ScalarOp>(expression->op()),
        expression->operand()};
  return item;
}

std::vector<Tensor>
tensorsOf(const flatbuffers::Vector<flatbuffers::Offset<fb::Tensor>> *list) {
  std::vector<Tensor> result;
  forEach(list, [&](const fb::Tensor *from) {
    result.push_back({textOf(from->name()),
                      static_cast<ElementType>(from->type()), from->rows(),
                      from->columns(), from->row_stride(),
                      from->column_stride(), from->offset()});
  });
  return result;
}

std::vector<Slice>
slicesOf(const flatbuffers::Vector<flatbuffers::Offset<fb::Slice>> *list) {
  std::vector<Slice> result;
  forEach(list, [&](const fb::Slice *from) {
    result.push_back({setOf(from->pes()), from->tensor(), from->buffer(),
                      from->first(), from->rows(), from->columns(),
                      from->row_step(), from->column_step(),
                      affineOf(from->row()), affineOf(from->column()),
                      from->row_end(), from->column_end()});
  });
  return result;
}

absl::StatusOr<Region> regionOf(const fb::Region *from,
                                const std::vector<Instruction> &instructions) {
  Region region;
  region.name = textOf(from->name());
  region.wafer = from->wafer();
  region.x = from->x();
  region.y = from->y();
  region.columns = from->columns();
  region.rows = from->rows();
  forEach(from->buffers(), [&](const fb::Buffer *buffer) {
    region.buffers.push_back({textOf(buffer->name()), setOf(buffer->pes()),
                              static_cast<ElementType>(buffer->type()),
                              buffer->offset(), buffer->elements()});
  });
  region.weights = slicesOf(from->weights());
  region.inputs = slicesOf(from->inputs());
  region.outputs = slicesOf(from->outputs());
  forEach(from->routes(), [&](const fb::Route *route) {
    region.routes.push_back(
        {setOf(route->pes()), route->colour(), route->ports()});
  });
  absl::Status status;
  forEach(from->code(), [&](const fb::Piece *piece) {
    Piece result{setOf(piece->pes()), {}};
    for (uint32_t index : *piece->code()) {
      if (index < instructions.size())
        result.code.push_back(instructions[index]);
      else
        status.Update(absl::DataLossError(absl::StrCat(
            "region `", region.name, "`: a piece of code has instruction ",
            index, " of ", instructions.size())));
    }
    region.code.push_back(std::move(result));
  });
  if (!status.ok())
    return status;
  return region;
}

/// Types come from the file: is each one that there is?
absl::Status checkTypes(const FabricProgram &program) {
  bool isSound = true;
  auto check = [&](ElementType type) {
    isSound &= type == ElementType::Float32 || type == ElementType::Float16;
  };
  for (const auto *list : {&program.weights, &program.inputs, &program.outputs})
    for (const Tensor &tensor : *list)
      check(tensor.type);
  for (const Region &region : program.regions)
    for (const Buffer &buffer : region.buffers)
      check(buffer.type);
  return isSound ? absl::OkStatus()
                 : absl::DataLossError(
                       "the program of the fabric has an unknown element type");
}

} // namespace

absl::StatusOr<FabricProgram> readProgram(absl::Span<const uint8_t> bytes) {
  // Scalars are read in place, so the bytes must lie as they were made.
  auto storage = std::make_unique<uint64_t[]>(bytes.size() / 8 + 1);
  if (!bytes.empty())
    std::memcpy(storage.get(), bytes.data(), bytes.size());
  auto *data = reinterpret_cast<const uint8_t *>(storage.get());
  flatbuffers::Verifier::Options options;
  options.max_tables = 50'000'000;
  flatbuffers::Verifier verifier(data, bytes.size(), options);
  if (!fb::VerifyFabricProgramBuffer(verifier))
    return absl::DataLossError(
        absl::StrCat("the program of the fabric is damaged (", bytes.size(),
                     " bytes): compile the model again"));
  const fb::FabricProgram *from = fb::GetFabricProgram(data);
  if (from->version() != programVersion)
    return absl::FailedPreconditionError(absl::StrCat(
        "the program of the fabric has version ", from->version(),
        ", this reads ", programVersion, ": compile the model again"));
  FabricProgram program;
  forEach(from->wafers(), [&](const fb::Wafer *wafer) {
    program.wafers.push_back({wafer->columns(), wafer->rows()});
  });
  forEach(from->links(), [&](const fb::WaferLink *link) {
    program.links.push_back(
        {link->from(), link->y(), link->rows(), link->to(), link->to_y()});
  });
  program.weights = tensorsOf(from->weights());
  program.inputs = tensorsOf(from->inputs());
  program.outputs = tensorsOf(from->outputs());
  std::vector<Instruction> instructions;
  forEach(from->instructions(), [&](const fb::Instruction *item) {
    instructions.push_back(instructionOf(item));
  });
  if (from->regions())
    for (const fb::Region *item : *from->regions()) {
      absl::StatusOr<Region> region = regionOf(item, instructions);
      if (!region.ok())
        return region.status();
      program.regions.push_back(*std::move(region));
    }
  if (absl::Status status = checkTypes(program); !status.ok())
    return status;
  return program;
}

} // namespace sol::fabric
