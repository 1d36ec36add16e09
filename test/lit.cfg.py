"""The lit suites: one folder a stage, run as `lit build/test` or `lit build/test/<stage>`.

SOL_CHECK_ROUNDTRIP=1 makes every sol-opt also print and parse its result again, which turns the whole suite into a test
of printers and parsers.
"""
import os

import lit.formats

config.name = "sol"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
# data: models and cases for test/e2e; a stage's Inputs are read by its tests.
config.excludes = ["data", "e2e", "scripts", "unit", "Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.join(config.sol_source_root, "test")
config.test_exec_root = os.path.join(config.sol_binary_root, "test")

tools = os.path.join(config.sol_binary_root, "bin")
python = os.path.join(config.sol_binary_root, "python", "bin")
config.environment["PATH"] = os.pathsep.join([tools, config.llvm_tools, os.environ["PATH"]])
# A variable named in one labelled block must not leak into the next.
config.environment["FILECHECK_OPTS"] = "-enable-var-scope"

config.substitutions.append(("%data", os.path.join(config.sol_source_root, "test", "data")))
config.substitutions.append(("%python", os.path.join(python, "python")))
if os.environ.get("SOL_CHECK_ROUNDTRIP"):
    config.substitutions.append((r"\bsol-opt\b", "sol-opt --verify-roundtrip"))
