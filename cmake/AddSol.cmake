# Thin wrappers so that each folder's CMakeLists.txt is a few lines. The stock MLIR helpers link static component
# libraries beside the shared libMLIR, which registers everything twice; these never do.

# sol_add_library(<target> SOURCES <file>... [LINK <target>...] [DEPENDS <target>...]): a static, position-independent library.
function(sol_add_library target)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${target} STATIC ${ARG_SOURCES})
  target_link_libraries(${target} PUBLIC ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${target} ${ARG_DEPENDS})
  endif()
endfunction()

# sol_add_tool(<name> SOURCES <file>... LINK <target>...): an executable in build/bin, installed.
function(sol_add_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()

# sol_add_unit_test(<name> SOURCES <file>... LINK <target>...): a GoogleTest program in build/test/unit, found by ctest.
function(sol_add_unit_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/unit)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main)
  set_property(GLOBAL APPEND PROPERTY SOL_UNIT_TESTS ${name})
  add_test(NAME ${name} COMMAND ${name})
endfunction()

# sol_add_tablegen(<target> <file.td> <flag>:<output>...): runs mlir-tblgen; outputs land in the mirrored build folder.
function(sol_add_tablegen target definitions)
  set(LLVM_TARGET_DEFINITIONS ${definitions})
  foreach(item ${ARGN})
    string(REGEX MATCH "^(.*):([^:]*)$" _ ${item})
    string(REPLACE "," ";" flags ${CMAKE_MATCH_1})
    mlir_tablegen(${CMAKE_MATCH_2} ${flags} -I ${PROJECT_SOURCE_DIR})
  endforeach()
  add_public_tablegen_target(${target})
endfunction()
