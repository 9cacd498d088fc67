#!/bin/sh
# Stands in for uv on simulated Macs, where nothing can be downloaded: Python and the packages are in the archive next to
# it (pack.py).
set -e
me=${0%/*}
case $1 in
python) cd "${UV_PYTHON_INSTALL_DIR%/*}" && tar -xf "$me/python.tar" ;;
venv)
  for v do :; done
  for p in "$UV_PYTHON_INSTALL_DIR"/*/bin/python3.*; do :; done
  mkdir -p "$v/bin" "$v/lib/${p##*/}/site-packages"
  ln -s "$p" "$v/bin/python"
  printf 'home = %s\ninclude-system-site-packages = false\nrelocatable = true\n' "${p%/*}" >"$v/pyvenv.cfg"
  ;;
pip)
  while [ "$1" != --python ]; do shift; done
  cd "${2%/bin/python}"/lib/python3.*/site-packages && tar -xf "$me/site.tar"
  ;;
esac
