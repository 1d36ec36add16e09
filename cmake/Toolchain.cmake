# Language level, warnings, and the packages that the project builds on.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, as libMLIR is built without assertions" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
# Installed tools find their own library beside them, and the shared libMLIR where it was found.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

find_program(SOL_CCACHE ccache)
if(SOL_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${SOL_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SOL_CCACHE})
endif()

# MLIR's package refuses a version range, so the major version is checked after the fact.
find_package(MLIR REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Sol needs LLVM/MLIR 22, found ${LLVM_PACKAGE_VERSION}: install libmlir-22-dev")
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

find_package(LLD REQUIRED CONFIG HINTS ${LLVM_DIR}/../lld)  # archives that link against the shared LLVM
find_package(Protobuf REQUIRED)
find_package(absl REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(GTest REQUIRED)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
find_program(SOL_FLATC flatc REQUIRED)

add_compile_options(-Wall -Wextra -Werror -Wno-unused-parameter -fvisibility-inlines-hidden)
# A product is the same sum on every machine: the compiler must not fuse, reorder or approximate on its own.
add_compile_options(-ffp-contract=off)
include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR})
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
