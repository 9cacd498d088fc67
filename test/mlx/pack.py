"""Packs this Python for a simulated Mac: pack.py ARCHIVE MODEL UV

A Mac in a namespace has no network and none of this machine's files. So this program serves the model, answers a
question, and packs whatever Python and the packages have loaded by then, with the libraries and the loader. The archive
is as uv's: its program `uv` is the file UV, which unpacks python.tar and site.tar instead of fetching packages.
"""
import gzip
import io
import json
import os
import re
import socket
import sys
import sysconfig
import tarfile
import threading
import time
import traceback
import urllib.request

archive, model, uv = sys.argv[1:]
base, site = sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")
version, minor = sys.version.split()[0], "%d.%d" % sys.version_info[:2]
home = f"python/cpython-{version}-macos-aarch64-none"
left_out = re.compile(
    r"/(__pycache__|(site|dist)-packages|test|idlelib|tkinter|ensurepip|lib2to3|pydoc_data|turtledemo|config-3[^/]*)/"
)
# The loader gets the name of the link, next to which Python finds pyvenv.cfg. A link to this file says where it is.
wrapper = f"""#!/bin/sh
h=${{0%/*}}
[ ! -h "$0" ] || while read -r k _ v; do [ "$k" != home ] || h=$v; done <"${{0%/*}}/../pyvenv.cfg"
exec "$h/../lib/ld.so" --argv0 "$0" --library-path "$h/../lib" "$h/../lib/python" "$@"
"""


def loaded():
    """The files of all modules and their neighbors, with their compiled forms, and all mapped libraries."""
    modules = list(sys.modules.values())
    paths = {getattr(one, name, None) for one in modules for name in ("__file__", "__cached__")}
    files = {path for path in paths if path and os.path.isfile(path)}
    # Packages look at the names of neighbors that they do not load.
    for folder in {os.path.dirname(path) for path in files}:
        files |= {one.path for one in os.scandir(folder) if one.name.endswith(".py")}
    with open("/proc/self/maps") as maps:
        return files | {line.split(maxsplit=5)[5].strip() for line in maps if ".so" in line}


def standard_library():
    for top, _, names in os.walk(base):
        if not left_out.search(top[len(base):] + "/"):
            yield from (os.path.join(top, name) for name in names if name.endswith(".py"))


def tar_of(entries):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, source in sorted(entries.items()):
            if isinstance(source, str):
                tar.add(os.path.realpath(source), name)
                continue
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(source), 0o755
            tar.addfile(entry, io.BytesIO(source))
    return stream.getvalue()


def pack():
    python = {f"{home}/bin/python{minor}": wrapper.encode(), f"{home}/lib/python": sys._base_executable}
    packages = {f"{one}/METADATA": f"{site}/{one}/METADATA" for one in os.listdir(site) if one.endswith(".dist-info")}
    for path in {*loaded(), *standard_library()}:
        if path.startswith(site + "/"):
            packages[path[len(site) + 1:]] = path
        elif path.startswith(base + "/"):
            python[f"{home}/lib/python{minor}{path[len(base):]}"] = path
        elif os.path.basename(path).startswith("ld-linux"):
            python[f"{home}/lib/ld.so"] = path
        elif ".so" in path:
            python[f"{home}/lib/{os.path.basename(path)}"] = path
    with open(uv, "rb") as file:
        program = file.read()
    folder = "uv-aarch64-apple-darwin"
    tars = {f"{folder}/python.tar": tar_of(python), f"{folder}/site.tar": tar_of(packages)}
    whole = tar_of({f"{folder}/uv": program, **tars})
    with gzip.open(archive, "wb", compresslevel=1) as file:
        file.write(whole)


def ask(port):
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    for stream in (False, True):
        body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 2, "stream": stream}
        question = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
        urllib.request.urlopen(question, timeout=60).read()


def main():
    # The server does not tell which port it got, so it gets one that was free.
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    def work():
        code = 1
        try:
            for _ in range(600):
                time.sleep(0.1)
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/health")
                    break
                except OSError:
                    pass
            ask(port)
            pack()
            code = 0
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(code)

    threading.Thread(target=work).start()
    from mlx_lm import server

    sys.argv = ["mlx_lm.server", "--model", model, "--port", str(port)]
    server.main()


main()
