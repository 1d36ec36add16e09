//===- FunctionDescription.cpp - one function of the plan's description ---===//
//
// See FunctionDescription.h. Values are numbered as they are met, so that the
// numbering depends on the program alone.
//
//===----------------------------------------------------------------------===//
#include "lib/emit/FunctionDescription.h"

#include "dialects/cpu/CpuDialect.h"
#include "lib/support/ElementTypes.h"
#include "lib/support/KernelAttributes.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace sol {
namespace {

using flatbuffers::FlatBufferBuilder;
template <typename T> using Offset = flatbuffers::Offset<T>;

class FunctionDescriber {
public:
  FunctionDescriber(func::FuncOp func, ConstantSection &constants,
                    native::NativeCode &code, FlatBufferBuilder &builder)
      : func(func), constants(constants), code(code), builder(builder) {}

  FailureOr<Offset<fb::Function>> describe(int64_t context) {
    Block &body = func.getBody().front();
    for (BlockArgument argument : body.getArguments())
      addValue(argument,
               isa<nn::CacheType>(argument.getType()) ? fb::ValueKind_State
                                                      : fb::ValueKind_Input,
               -1);
    FailureOr<Offset<fb::Block>> block = describeBlock(body, {});
    if (failed(block))
      return failure();
    auto inputs = describePorts(body.getArguments(), true);
    auto outputs = describePorts(body.getTerminator()->getOperands(), false);
    if (failed(inputs) || failed(outputs))
      return failure();
    auto slots =
        func->getAttrOfType<IntegerAttr>(cpu::CpuDialect::slotsAttr).getInt();
    return fb::CreateFunction(
        builder, builder.CreateString(func.getName().str()), *inputs, *outputs,
        builder.CreateVector(values), *block, static_cast<int32_t>(slots),
        withinBuffers(context));
  }

private:
  using Ports = Offset<flatbuffers::Vector<Offset<fb::Port>>>;

  /// The tensor type that a value stands for, through caches.
  static ShapedType shapeOf(Type type) {
    if (auto cache = dyn_cast<nn::CacheType>(type))
      return cache.getTensor();
    return dyn_cast<ShapedType>(type);
  }

  static uint8_t typeCode(Type type) {
    ShapedType shaped = shapeOf(type);
    return static_cast<uint8_t>(shaped ? dtypeOf(shaped.getElementType())
                                       : DType::None);
  }

  int addValue(Value value, fb::ValueKind kind, int64_t slot) {
    int index = values.size();
    values.push_back(fb::CreateValue(builder, typeCode(value.getType()), kind,
                                     static_cast<int32_t>(slot)));
    numbers[value] = index;
    return index;
  }

  /// The number of a value; constants get theirs at their first use.
  FailureOr<int> numberOf(Value value) {
    auto known = numbers.find(value);
    if (known != numbers.end())
      return known->second;
    Operation *op = value.getDefiningOp();
    if (isa_and_present<cpu::NoneOp>(op))
      return addValue(value, fb::ValueKind_Absent, -1);
    if (!isa_and_present<nn::ConstantOp, nn::WeightOp, nn::FoldedOp>(op)) {
      func.emitError("uses a value before it is computed");
      return failure();
    }
    FailureOr<PlacedConstant> constant = constants.place(value);
    if (failed(constant))
      return failure();
    std::vector<int64_t> dims(constant->dims.begin(), constant->dims.end());
    int index = values.size();
    values.push_back(fb::CreateValue(
        builder, static_cast<uint8_t>(constant->type), fb::ValueKind_Constant,
        -1, builder.CreateVector(dims), constant->offset, constant->bytes));
    numbers[value] = index;
    return index;
  }

  FailureOr<std::vector<int32_t>> numbersOf(ValueRange range) {
    std::vector<int32_t> result;
    for (Value value : range) {
      FailureOr<int> number = numberOf(value);
      if (failed(number))
        return failure();
      result.push_back(*number);
    }
    return result;
  }

  FailureOr<Offset<fb::Block>> describeBlock(Block &block,
                                             std::vector<int32_t> arguments) {
    std::vector<Offset<fb::Step>> steps;
    for (Operation &op : block.without_terminator()) {
      if (!isa<cpu::KernelOp, cpu::IfOp, cpu::LoopOp, cpu::NativeOp>(op))
        continue;
      FailureOr<Offset<fb::Step>> step =
          isa<cpu::NativeOp>(op) ? describeNative(cast<cpu::NativeOp>(op))
                                 : describeStep(op);
      if (failed(step))
        return failure();
      steps.push_back(*step);
    }
    FailureOr<std::vector<int32_t>> results =
        numbersOf(block.getTerminator()->getOperands());
    if (failed(results))
      return failure();
    return fb::CreateBlock(builder, builder.CreateVector(arguments),
                           builder.CreateVector(steps),
                           builder.CreateVector(*results));
  }

  FailureOr<Offset<fb::Step>> describeStep(Operation &op) {
    FailureOr<std::vector<int32_t>> inputs = numbersOf(op.getOperands());
    if (failed(inputs))
      return failure();
    std::vector<int32_t> outputs = addResults(op);
    std::vector<Offset<fb::Block>> blocks;
    for (Region &region : op.getRegions()) {
      FailureOr<Offset<fb::Block>> block =
          describeBlock(region.front(), addArguments(op, region.front()));
      if (failed(block))
        return failure();
      blocks.push_back(*block);
    }
    fb::StepKind kind = isa<cpu::IfOp>(op)     ? fb::StepKind_If
                        : isa<cpu::LoopOp>(op) ? fb::StepKind_Loop
                                               : fb::StepKind_Kernel;
    auto kernel = dyn_cast<cpu::KernelOp>(op);
    std::vector<Offset<fb::Attribute>> attributes;
    if (kernel) {
      Attributes parameters =
          kernelAttributes(kernel.getParameters().getValue());
      for (const auto &[name, value] : parameters.all())
        attributes.push_back(describeAttribute(name, value));
    }
    StringRef name = kernel ? kernel.getName() : op.getName().getStringRef();
    return fb::CreateStep(
        builder, kind, builder.CreateSharedString(name.str()),
        builder.CreateSharedString(locationOf(op)),
        builder.CreateVector(attributes), builder.CreateVector(*inputs),
        builder.CreateVector(outputs), kernel && kernel.getView(),
        builder.CreateVector(blocks));
  }

  FailureOr<Offset<fb::Step>> describeNative(cpu::NativeOp op) {
    FailureOr<std::vector<int32_t>> inputs = numbersOf(op.getOperands());
    FailureOr<int> loop = code.add(op);
    if (failed(inputs) || failed(loop))
      return failure();
    std::vector<int32_t> outputs = addResults(*op);
    return fb::CreateStep(builder, fb::StepKind_Native,
                          builder.CreateSharedString(op.getName().str()),
                          builder.CreateSharedString(locationOf(*op)),
                          /*attributes=*/0, builder.CreateVector(*inputs),
                          builder.CreateVector(outputs), /*view=*/false,
                          /*blocks=*/0, *loop);
  }

  std::vector<int32_t> addResults(Operation &op) {
    std::vector<int32_t> outputs;
    auto slots = op.getAttrOfType<DenseI64ArrayAttr>("slots");
    auto kernel = dyn_cast<cpu::KernelOp>(op);
    for (OpResult result : op.getResults()) {
      fb::ValueKind kind =
          isa<NoneType>(result.getType())        ? fb::ValueKind_Absent
          : isa<nn::CacheType>(result.getType()) ? fb::ValueKind_State
          : kernel && kernel.getView()           ? fb::ValueKind_View
                                                 : fb::ValueKind_Slot;
      outputs.push_back(
          addValue(result, kind, slots[result.getResultNumber()]));
    }
    return outputs;
  }

  std::vector<int32_t> addArguments(Operation &op, Block &block) {
    std::vector<int32_t> arguments;
    auto slots = op.getAttrOfType<DenseI64ArrayAttr>("argument_slots");
    for (BlockArgument argument : block.getArguments()) {
      // The iteration and the condition live in the interpreter itself.
      int64_t index = int64_t(argument.getArgNumber()) - 2;
      arguments.push_back(addValue(argument, fb::ValueKind_Slot,
                                   index < 0 || !slots ? 0 : slots[index]));
    }
    return arguments;
  }

  Offset<fb::Attribute> describeAttribute(const std::string &name,
                                          const AttributeValue &value) {
    auto key = builder.CreateSharedString(name);
    if (auto *integer = std::get_if<int64_t>(&value))
      return fb::CreateAttribute(builder, key, fb::AttributeKind_Integer,
                                 *integer);
    if (auto *real = std::get_if<float>(&value))
      return fb::CreateAttribute(builder, key, fb::AttributeKind_Real, 0,
                                 *real);
    if (auto *text = std::get_if<std::string>(&value))
      return fb::CreateAttribute(builder, key, fb::AttributeKind_Text, 0, 0,
                                 builder.CreateString(*text));
    if (auto *integers = std::get_if<std::vector<int64_t>>(&value))
      return fb::CreateAttribute(builder, key, fb::AttributeKind_Integers, 0, 0,
                                 0, builder.CreateVector(*integers));
    if (auto *reals = std::get_if<std::vector<float>>(&value))
      return fb::CreateAttribute(builder, key, fb::AttributeKind_Reals, 0, 0, 0,
                                 0, builder.CreateVector(*reals));
    return fb::CreateAttribute(builder, key, fb::AttributeKind_Texts, 0, 0, 0,
                               0, 0,
                               builder.CreateVectorOfStrings(
                                   std::get<std::vector<std::string>>(value)));
  }

  /// The name of the node that a step came from; of the first and the last one
  /// if there are several.
  static std::string locationOf(Operation &op) {
    std::vector<std::string> names;
    op.getLoc()->walk([&](Location location) {
      if (auto name = dyn_cast<NameLoc>(location))
        names.push_back(name.getName().str());
      return WalkResult::advance();
    });
    if (names.size() < 2)
      return names.empty() ? "" : names[0];
    return names.front() + " ... " + names.back();
  }

  FailureOr<Ports> describePorts(ValueRange range, bool isInput) {
    std::vector<Offset<fb::Port>> ports;
    for (auto [i, value] : llvm::enumerate(range)) {
      FailureOr<int> number = numberOf(value);
      if (failed(number))
        return failure();
      unsigned index = i;
      auto attribute = [&](StringRef name) {
        return isInput ? func.getArgAttr(index, name)
                       : func.getResultAttr(index, name);
      };
      auto text = [&](StringRef name) {
        auto found = dyn_cast_or_null<StringAttr>(attribute(name));
        return found ? found.str() : std::string();
      };
      auto partner = dyn_cast_or_null<IntegerAttr>(
          attribute(isInput ? "nn.fed_by" : "nn.state_of"));
      ports.push_back(fb::CreatePort(
          builder, builder.CreateString(text(nn::NnDialect::nameAttr)), *number,
          typeCode(value.getType()), hasRank(value.getType()),
          builder.CreateVectorOfStrings(sizesOf(value.getType())),
          builder.CreateString(roleOf(text("nn.role"), attribute("nn.fixed"))),
          partner ? static_cast<int32_t>(partner.getInt()) : -1));
    }
    return builder.CreateVector(ports);
  }

  /// The context, or less where a buffer of the function has fewer positions.
  int64_t withinBuffers(int64_t context) {
    for (unsigned i = 0; i < func.getNumArguments(); ++i) {
      auto role = func.getArgAttrOfType<StringAttr>(i, "nn.role");
      ShapedType type = shapeOf(func.getArgumentTypes()[i]);
      if (!role || role.getValue() != "buffer" || !type || !type.hasRank() ||
          type.getRank() != 4 || type.isDynamicDim(2))
        continue;
      int64_t positions = type.getDimSize(2);
      context = context > 0 ? std::min(context, positions) : positions;
    }
    return context;
  }

  /// A past that keeps the value of the first run is the encoder's.
  static std::string roleOf(std::string role, Attribute fixed) {
    return role == "past" && fixed ? "encoder_past" : role;
  }

  static bool hasRank(Type type) {
    ShapedType shaped = shapeOf(type);
    return shaped && shaped.hasRank();
  }

  /// Each axis as text: its number, its expression, or `?`.
  static std::vector<std::string> sizesOf(Type type) {
    std::vector<std::string> sizes;
    auto ranked = dyn_cast_or_null<RankedTensorType>(shapeOf(type));
    if (!ranked)
      return sizes;
    auto dims = dyn_cast_or_null<nn::DimsAttr>(ranked.getEncoding());
    for (auto [i, size] : llvm::enumerate(ranked.getShape())) {
      if (!ShapedType::isDynamic(size))
        sizes.push_back(std::to_string(size));
      else
        sizes.push_back(dims ? dims.getSizes()[i].str() : "?");
    }
    return sizes;
  }

  func::FuncOp func;
  ConstantSection &constants;
  native::NativeCode &code;
  FlatBufferBuilder &builder;
  std::vector<Offset<fb::Value>> values;
  llvm::DenseMap<Value, int> numbers;
};

} // namespace

FailureOr<Offset<fb::Function>>
describeFunction(func::FuncOp func, int64_t context, ConstantSection &constants,
                 native::NativeCode &code, FlatBufferBuilder &builder) {
  return FunctionDescriber(func, constants, code, builder).describe(context);
}

} // namespace sol
