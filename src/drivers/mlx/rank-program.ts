/** What the file of the rank program is called beside the other files of a rank. */
export const rankProgramName = 'rank.py';

/** The word for a placement of one node, which has no group at all. */
export const aloneWord = 'alone';

/**
 * The program of every rank, in Python: it joins the group, looks how many ranks there are before any model is loaded,
 * and becomes `mlx_lm.server` with the words that are left. It sets nothing: what a rank gets stands in its service.
 *
 * `rank.py BACKEND SIZE WORD...`, with `jaccl` or `ring` as the backend, or `alone`. Without `strict` a mistyped variable
 * would give every rank a group of its own, and each would load the whole model. The group stays the one that the
 * server asks for later, since mlx keeps the first one that was made.
 *
 * It says what Metal recommends to keep wired: nothing else on a Mac tells that. Where mlx does not say it the rank goes on.
 *
 * @see mlx/distributed/distributed.cpp of mlx 0.32: init() gives the group that is registered as "any"
 */
export const rankProgram = `"""One rank of a mesh: joins its group, counts it, then serves. Written by meshwright."""

import faulthandler
import os
import sys


def refuse(text):
    print("meshwright: " + text, file=sys.stderr, flush=True)
    sys.exit(1)


def join(backend, size):
    import mlx.core as mx

    group = mx.distributed.init(strict=True, backend=backend)
    if group.size() != size:
        refuse("group of %d ranks over %s instead of %d" % (group.size(), backend, size))
    if group.rank() != int(os.environ["MLX_RANK"]):
        refuse("this is rank %d of the group instead of %s" % (group.rank(), os.environ["MLX_RANK"]))
    print("meshwright: group of %d ranks over %s" % (size, backend), flush=True)


def tell_memory():
    import mlx.core as mx

    try:
        size = mx.device_info()["max_recommended_working_set_size"]
    except Exception:
        return
    print("meshwright: the GPU may use %d bytes" % size, flush=True)


def main():
    faulthandler.enable()
    backend, size = sys.argv[1], int(sys.argv[2])
    if backend == "${aloneWord}":
        print("meshwright: group of 1 ranks over none", flush=True)
    else:
        join(backend, size)
    tell_memory()
    from mlx_lm import server

    sys.argv = ["mlx_lm.server"] + sys.argv[3:]
    server.main()


main()
`;
