"""Compare what is recognised in each model with the committed table.

Each folder of MODELS with a model.onnx is compiled up to the stage `nn`; what nn-print-recognized says of it must be what
the table says. `--write` writes the table instead.

Use: check_table.py MODELS TABLE [--write]; sol-compile and sol-opt are found on the PATH. Exit status 1 on any difference.
"""
import json
from pathlib import Path
import subprocess
import sys


def recognised(model: Path) -> dict:
    compiled = subprocess.run(["sol-compile", model, "--stop-after=nn"], capture_output=True, text=True, check=True)
    printed = subprocess.run(["sol-opt", "-", "--nn-print-recognized", "-o", "/dev/null"],
                             input=compiled.stdout, capture_output=True, text=True, check=True)
    counts = json.loads(printed.stdout)
    counts.pop("function")
    return counts


def main() -> int:
    models, table = Path(sys.argv[1]), Path(sys.argv[2])
    found = {path.parent.name: recognised(path) for path in sorted(models.glob("*/model.onnx"))}
    if "--write" in sys.argv:
        lines = [f'  "{name}": {json.dumps(counts)}' for name, counts in found.items()]
        table.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        return 0
    wanted = json.loads(table.read_text())
    for name in sorted(wanted.keys() | found.keys()):
        if wanted.get(name) != found.get(name):
            print(f"{name}: recognised {found.get(name)}, the table says {wanted.get(name)}")
    return wanted != found


if __name__ == "__main__":
    sys.exit(main())
