//===- program_writer.cpp - a program of a fabric to bytes ---------------===//
//
// See program_file.h.
//
//===----------------------------------------------------------------------===//
#include "runtime/fabric/file/program_file.h"

#include "runtime/fabric/fabric_program_generated.h"

#include <map>

namespace sol::fabric {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

fb::PeSet setOf(const PeSet &set) {
  return {set.x, set.y, set.columns, set.rows, set.xStep, set.yStep};
}
fb::Affine affineOf(const Affine &affine) {
  return {affine.constant, affine.x, affine.y};
}
fb::Operand operandOf(const Operand &operand) {
  return {operand.buffer, operand.first, operand.rowStep,
          operand.step,   operand.reg,   operand.regStep};
}
fb::Count countOf(const Count &count) { return {count.value, count.reg}; }

class Writer {
public:
  std::vector<uint8_t> write(const FabricProgram &program);

private:
  Offset<fb::Instruction> instruction(const Instruction &item);
  Offset<fb::Region> region(const Region &region);
  Offset<fb::Piece> piece(const Piece &piece);
  std::vector<Offset<fb::Slice>> slices(const std::vector<Slice> &list);
  std::vector<Offset<fb::Tensor>> tensors(const std::vector<Tensor> &list);

  FlatBufferBuilder builder;
  std::vector<Offset<fb::Instruction>> instructions;
  std::map<std::string, uint32_t> known; ///< by their bytes
};

/// All that an instruction says, to find its equals.
std::string keyOf(const Instruction &item) {
  std::string key;
  auto add = [&](const auto &value) {
    key.append(reinterpret_cast<const char *>(&value), sizeof(value));
  };
  add(item.opcode);
  add(item.guard);
  for (const Operand *operand : {&item.dst, &item.a, &item.b, &item.c})
    add(operandOf(*operand));
  for (const Count *count : {&item.rows, &item.n, &item.k})
    add(countOf(*count));
  for (int32_t value : {item.in, item.out, item.priority, item.target,
                        item.shiftBy, item.limitBy, item.group})
    add(value);
  add(item.combine);
  add(item.store);
  add(item.packed);
  add(item.accumulate);
  add(item.scale);
  add(item.shift);
  const Expression &expression = item.expression;
  for (int32_t value :
       {expression.constant, expression.x, expression.y, expression.regA,
        expression.a, expression.regB, expression.b, expression.operand})
    add(value);
  add(expression.op);
  return key;
}

Offset<fb::Instruction> Writer::instruction(const Instruction &item) {
  fb::Operand operands[] = {operandOf(item.dst), operandOf(item.a),
                            operandOf(item.b), operandOf(item.c)};
  fb::Count rows = countOf(item.rows), n = countOf(item.n), k = countOf(item.k);
  auto used = [](const fb::Operand &operand) {
    return operand.buffer() == -1 ? nullptr : &operand;
  };
  auto isOne = [](const Count &count) { return count == Count{}; };
  const Expression &from = item.expression;
  fb::Expression expression{
      from.constant, from.x,    from.y, from.regA,
      from.a,        from.regB, from.b, static_cast<uint8_t>(from.op),
      from.operand};
  return fb::CreateInstruction(
      builder, static_cast<uint8_t>(item.opcode), item.guard, used(operands[0]),
      used(operands[1]), used(operands[2]), used(operands[3]),
      isOne(item.rows) ? nullptr : &rows, isOne(item.n) ? nullptr : &n,
      isOne(item.k) ? nullptr : &k, item.in, item.out,
      static_cast<uint8_t>(item.combine), item.store, item.packed,
      item.accumulate, item.priority, item.scale, item.shift, item.target,
      item.shiftBy, item.limitBy, item.group,
      item.opcode == Opcode::SetRegister ? &expression : nullptr);
}

Offset<fb::Piece> Writer::piece(const Piece &piece) {
  std::vector<uint32_t> code;
  for (const Instruction &item : piece.code) {
    auto [entry, isNew] = known.try_emplace(
        keyOf(item), static_cast<uint32_t>(instructions.size()));
    if (isNew)
      instructions.push_back(instruction(item));
    code.push_back(entry->second);
  }
  fb::PeSet pes = setOf(piece.pes);
  return fb::CreatePiece(builder, &pes, builder.CreateVector(code));
}

std::vector<Offset<fb::Slice>> Writer::slices(const std::vector<Slice> &list) {
  std::vector<Offset<fb::Slice>> result;
  for (const Slice &slice : list) {
    fb::PeSet pes = setOf(slice.pes);
    fb::Affine row = affineOf(slice.row), column = affineOf(slice.column);
    result.push_back(fb::CreateSlice(builder, &pes, slice.tensor, slice.buffer,
                                     slice.first, slice.rows, slice.columns,
                                     slice.rowStep, slice.columnStep, &row,
                                     &column, slice.rowEnd, slice.columnEnd));
  }
  return result;
}

std::vector<Offset<fb::Tensor>>
Writer::tensors(const std::vector<Tensor> &list) {
  std::vector<Offset<fb::Tensor>> result;
  for (const Tensor &tensor : list)
    result.push_back(fb::CreateTensor(
        builder, builder.CreateSharedString(tensor.name),
        static_cast<uint8_t>(tensor.type), tensor.rows, tensor.columns,
        tensor.rowStride, tensor.columnStride, tensor.offset));
  return result;
}

Offset<fb::Region> Writer::region(const Region &region) {
  std::vector<Offset<fb::Buffer>> buffers;
  for (const Buffer &buffer : region.buffers) {
    fb::PeSet pes = setOf(buffer.pes);
    buffers.push_back(fb::CreateBuffer(
        builder, builder.CreateSharedString(buffer.name), &pes,
        static_cast<uint8_t>(buffer.type), buffer.offset, buffer.elements));
  }
  std::vector<Offset<fb::Route>> routes;
  for (const Route &route : region.routes) {
    fb::PeSet pes = setOf(route.pes);
    routes.push_back(fb::CreateRoute(builder, &pes, route.colour, route.ports));
  }
  std::vector<Offset<fb::Piece>> code;
  for (const Piece &item : region.code)
    code.push_back(piece(item));
  // Each part is complete before the next one begins, as the builder wants it.
  auto name = builder.CreateString(region.name);
  auto buffersAt = builder.CreateVector(buffers);
  auto weightsAt = builder.CreateVector(slices(region.weights));
  auto inputsAt = builder.CreateVector(slices(region.inputs));
  auto outputsAt = builder.CreateVector(slices(region.outputs));
  auto routesAt = builder.CreateVector(routes);
  auto codeAt = builder.CreateVector(code);
  return fb::CreateRegion(builder, name, region.wafer, region.x, region.y,
                          region.columns, region.rows, buffersAt, weightsAt,
                          inputsAt, outputsAt, routesAt, codeAt);
}

std::vector<uint8_t> Writer::write(const FabricProgram &program) {
  std::vector<fb::Wafer> wafers;
  for (const Wafer &wafer : program.wafers)
    wafers.emplace_back(wafer.columns, wafer.rows);
  std::vector<fb::WaferLink> links;
  for (const WaferLink &link : program.links)
    links.emplace_back(link.from, link.y, link.rows, link.to, link.toY);
  std::vector<Offset<fb::Region>> regions;
  for (const Region &item : program.regions)
    regions.push_back(region(item));
  auto wafersAt = builder.CreateVectorOfStructs(wafers);
  auto linksAt = builder.CreateVectorOfStructs(links);
  auto weightsAt = builder.CreateVector(tensors(program.weights));
  auto inputsAt = builder.CreateVector(tensors(program.inputs));
  auto outputsAt = builder.CreateVector(tensors(program.outputs));
  auto instructionsAt = builder.CreateVector(instructions);
  auto regionsAt = builder.CreateVector(regions);
  fb::FinishFabricProgramBuffer(
      builder, fb::CreateFabricProgram(builder, programVersion, wafersAt,
                                       linksAt, weightsAt, inputsAt, outputsAt,
                                       instructionsAt, regionsAt));
  return {builder.GetBufferPointer(),
          builder.GetBufferPointer() + builder.GetSize()};
}

} // namespace

std::vector<uint8_t> writeProgram(const FabricProgram &program) {
  return Writer().write(program);
}

} // namespace sol::fabric
