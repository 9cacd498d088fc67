"""Reads from the released wheels of mlx-lm which kinds of models each version loads, and how it splits them.

`npm run mlx-types` downloads the wheels with pip and writes src/drivers/known/mlx-lm.yaml. With `--check`, it
only compares: exit 1 if a wheel differs from the table, 2 if the wheels cannot be downloaded. A release
that is newer than the table is only a notice. The code of the models is parsed, never imported, so neither mlx nor
transformers is needed.
"""

import ast
import datetime
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import zipfile

TABLE = pathlib.Path(__file__).parents[2] / "src/drivers/known/mlx-lm.yaml"
WAYS = {
    "loads": "loads {}",
    "tensor": "splits {} by tensor",
    "pipeline": "splits {} as a pipeline",
    "repeatsKvHeads": "repeats the key-value heads of {}",
}
# How sharded_load in utils.py decides. A version that decides differently must be read differently.
DECISIONS = ['hasattr(model, "model") and hasattr(model.model, "pipeline")', 'hasattr(model, "shard")']


class Unreadable(Exception):
    """The wheel contains something that this script does not understand."""


class Wheel:
    def __init__(self, path):
        with zipfile.ZipFile(path) as archive:
            texts = {name: archive.read(name).decode() for name in archive.namelist() if name.endswith(".py")}
        utils = texts["mlx_lm/utils.py"]
        if not all(decision in utils for decision in DECISIONS):
            raise Unreadable("sharded_load in utils.py no longer decides by `shard` and `model.pipeline`")
        self.renamed = next(
            ast.literal_eval(one.value)
            for one in ast.parse(utils).body
            if isinstance(one, ast.Assign) and one.targets[0].id == "MODEL_REMAPPING"
        )
        self.modules = {
            path.stem: ast.parse(text)
            for path, text in ((pathlib.PurePath(name), text) for name, text in texts.items())
            if str(path.parent) == "mlx_lm/models"
        }

    def imported(self, module, name):
        """The module and the name there that `name` is imported from: None for a module itself."""
        for one in self.modules[module].body:
            if isinstance(one, ast.ImportFrom) and one.level == 1:
                for alias in one.names:
                    if name == (alias.asname or alias.name):
                        return (one.module, alias.name) if one.module else (alias.name, None)
        return (None, None)

    def find(self, module, name):
        """The class of this name in a module, as the module that defines it and its syntax; else None."""
        for one in self.modules[module].body:
            if isinstance(one, ast.ClassDef) and one.name == name:
                return (module, one)
        origin, there = self.imported(module, name)
        return self.find(origin, there) if there and origin in self.modules else None

    def named(self, module, value):
        """The class that `Name` or `module.Name` means; None if that name is not one of this wheel's models."""
        if isinstance(value, ast.Name):
            return self.find(module, value.id)
        if isinstance(value, ast.Attribute):
            origin, _ = self.imported(module, ast.unparse(value.value))
            return self.find(origin, value.attr) if origin in self.modules else None
        return None

    def line(self, found):
        """A class and those that it inherits from, except mlx's own `nn.Module`, which splits nothing."""
        module, one = found
        line = [found]
        for base in one.bases:
            above = self.named(module, base)
            if above is None and ast.unparse(base) != "nn.Module":
                raise Unreadable(f"{module}.py, line {one.lineno}: class {one.name}({ast.unparse(base)})")
            line += self.line(above) if above else []
        return line

    def method(self, found, name):
        functions = (part for _, one in self.line(found) for part in one.body if isinstance(part, ast.FunctionDef))
        return next((part for part in functions if part.name == name), None)

    def attribute(self, found, name):
        """The classes that an attribute of an object may have: by its property, or by assignments to self."""
        for module, one in self.line(found):
            functions = [part for part in one.body if isinstance(part, ast.FunctionDef)]
            values = [
                step.value
                for part in functions
                for step in ast.walk(part)
                if (isinstance(step, ast.Return) and part.name == name)
                or (isinstance(step, ast.Assign) and any(ast.unparse(to) == f"self.{name}" for to in step.targets))
            ]
            if values:
                return [kind for value in values for kind in self.kinds(module, found, value)]
        return []

    def kinds(self, module, found, value):
        """The classes that an expression in a class may have."""
        kind = self.named(module, value.func) if isinstance(value, ast.Call) else None
        if kind:
            return [kind]
        if isinstance(value, ast.Attribute):
            owners = [found] if ast.unparse(value.value) == "self" else self.kinds(module, found, value.value)
            return [kind for owner in owners for kind in self.attribute(owner, value.attr)]
        raise Unreadable(f"{module}.py, line {value.lineno}: {ast.unparse(value)}")

    def facts(self):
        """Every type with what this version can do with it."""
        for name in {*self.modules, *self.renamed}:
            model = self.find(self.renamed.get(name, name), "Model")
            if model is None:
                continue
            yield name, "loads"
            shard = self.method(model, "shard")
            if shard:
                yield name, "tensor"
                inner = [one.name for one in ast.walk(shard) if isinstance(one, ast.FunctionDef)]
                if any("repeat_kv" in one for one in inner):
                    yield name, "repeatsKvHeads"
            if any(self.method(kind, "pipeline") for kind in self.attribute(model, "model")):
                yield name, "pipeline"

    def loses_layers(self):
        """Whether PipelineMixin gives some of 61 layers to none of three ranks. This class is pure Python, and runs."""
        space = {}
        _, mixin = self.find("pipeline", "PipelineMixin")
        exec(compile(ast.Module([mixin], []), "pipeline.py", "exec"), space)
        given = set()
        for rank in range(3):
            stage = space["PipelineMixin"]()
            stage.layers = list(range(61))
            stage.pipeline(type("Group", (), {"rank": lambda _, rank=rank: rank, "size": lambda _: 3})())
            given.update(stage.pipeline_layers)
        return given != set(range(61))


def pip(*words):
    ran = subprocess.run([sys.executable, "-m", "pip", *words], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        print(f"{ran.stderr}mlx-lm cannot be downloaded from the package index.", file=sys.stderr)
        sys.exit(2)
    return ran.stdout


def order(version):
    return [int(number) for number in version.split(".")]


def released_after(version):
    [line] = re.findall(r"^Available versions: (.*)$", pip("index", "versions", "mlx-lm"), re.MULTILINE)
    listed = (one for one in line.split(", ") if re.fullmatch(r"[\d.]+", one))
    return sorted((one for one in listed if order(one) > order(version)), key=order)


def wheel(version, folder):
    wanted = f"mlx-lm=={version}"
    pip("download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder, wanted)
    return Wheel(next(pathlib.Path(folder).glob(f"mlx_lm-{version}-*.whl")))


def range_of(versions, holds):
    """The versions that hold, such as `>=0.31.2` or `>=0.32.1 <0.32.2`; None for no version."""
    parts = []
    for before, version in zip([None, *versions], versions):
        if holds(version) and not (before and holds(before)):
            parts.append(f">={version}")
        if before and holds(before) and not holds(version):
            parts[-1] += f" <{version}"
    return " || ".join(parts) or None


def table_of(facts, lossy):
    versions = list(facts)
    types = {}
    for name in sorted({name for found in facts.values() for name, _ in found}):
        ranges = {way: range_of(versions, lambda version: (name, way) in facts[version]) for way in WAYS}
        if ranges["loads"] == f">={versions[0]}":
            ranges["loads"] = None
        types[name] = {way: held for way, held in ranges.items() if held}
    return {"versions": versions, "lossyPipelines": range_of(versions, lambda version: version in lossy), "types": types}


def read_table(text):
    """The table in the file that `written` wrote."""
    types = {}
    for can, names in re.findall(r"can: \{(.*?)\}\s+types: \[(.*?)\]", text, re.DOTALL):
        types.update({name: dict(re.findall(r"(\w+): '(.*?)'", can)) for name in re.split(r",\s+", names)})
    [versions, lossy] = re.search(r"versions: \[(.*?)\]\s+lossyPipelines: '(.*?)'", text).groups()
    return {"versions": versions.split(", "), "lossyPipelines": lossy, "types": types}


def written(table, text):
    """The file with this table."""
    groups = {}
    for name, can in table["types"].items():
        groups.setdefault(tuple(can.items()), []).append(name)
    rows = []
    for can, names in sorted(groups.items()):
        ways = ", ".join(f"{way}: '{held}'" for way, held in can)
        types = f"types: [{', '.join(names)}]"
        indents = {"initial_indent": " " * 6, "subsequent_indent": " " * 8}
        rows.append(f"    - can: {{ {ways} }}\n".replace("{  }", "{}"))
        rows.append(textwrap.fill(types, 120, break_on_hyphens=False, **indents) + "\n")
    head = f"  read: {datetime.date.today()}\n  versions: [{', '.join(table['versions'])}]\n"
    start = "mlxTable:\n"
    kinds = f"  lossyPipelines: '{table['lossyPipelines']}'\n  kinds:\n{''.join(rows)}"
    return text.partition(start)[0] + start + head + kinds


def differences(table, read):
    if table["lossyPipelines"] != read["lossyPipelines"]:
        yield f"pipelines lose layers: table {table['lossyPipelines']}, wheels {read['lossyPipelines']}"
    for name in sorted({*table["types"], *read["types"]}):
        ours, theirs = table["types"].get(name), read["types"].get(name)
        if ours is None or theirs is None:
            yield f"{name}: {'not in the table' if ours is None else 'in no wheel'}"
            continue
        for way in WAYS:
            if ours.get(way) != theirs.get(way):
                yield f"{name}, {way}: table {ours.get(way, 'none')}, wheels {theirs.get(way, 'none')}"


def notices(version, newest, found, before):
    yield f"mlx-lm {version} is newer than the table, which ends with {newest}. Run `npm run mlx-types`."
    for words, some in (("also", found - before), ("no longer", before - found)):
        yield from (f"mlx-lm {version} {words} {WAYS[way].format(name)}." for name, way in sorted(some))


def main():
    table = read_table(TABLE.read_text())
    is_check = sys.argv[1:] == ["--check"]
    newest = table["versions"][-1]
    newer = released_after(newest)
    facts, lossy = {}, set()
    with tempfile.TemporaryDirectory() as folder:
        for version in table["versions"] + newer:
            try:
                read = wheel(version, folder)
                facts[version] = set(read.facts())
                if read.loses_layers():
                    lossy.add(version)
            except Unreadable as problem:
                print(f"mlx-lm {version} cannot be read: {problem}")
                if not is_check or version not in newer:
                    sys.exit(1)
    if not is_check:
        TABLE.write_text(written(table_of(facts, lossy), TABLE.read_text()))
        return
    for version in newer:
        for line in notices(version, newest, facts.get(version, facts[newest]), facts[newest]):
            print(f"notice: {line}")
    old = {version: facts[version] for version in table["versions"]}
    found = list(differences(table, table_of(old, lossy)))
    for line in found:
        print(f"The table differs from the wheels: {line}")
    print(f"{len(found)} differences for mlx-lm {table['versions'][0]} to {newest}, {len(table['types'])} types")
    sys.exit(1 if found else 0)


main()
