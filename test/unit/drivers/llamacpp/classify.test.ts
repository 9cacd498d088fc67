import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { logPattern, signatures } from '../../../../src/drivers/llamacpp/llamacpp-rpc.ts';
import { keptByAwk } from './kept-by-awk.ts';

const found = (line: string) => signatures.find(({ pattern }) => pattern.test(line));

/**
 * Every signature, with a line as llama.cpp writes it: from build 0.7.0 of Debian, or from the sources for lines that
 * only Macs print.
 */
const lines: readonly (readonly [id: string, line: string, action: string])[] = [
  ['worker-absent', 'Failed to connect to 10.77.0.2:50123', 'read-other-ranks'],
  [
    'worker-lost',
    './src/ggml-rpc/ggml-rpc.cpp:685: Remote RPC server crashed or returned malformed response',
    'restart',
  ],
  ['handshake', 'RPC handshake failed for 10.77.0.2:50123', 'restart'],
  ['version-mismatch', 'RPC server version mismatch: 7.0.0', 'apply'],
  ['version-mismatch', 'Expected HELLO command, update client', 'apply'],
  ['bind-failed', 'Failed to create server socket', 'apply'],
  [
    'bind-failed',
    "0.00.014.501 E srv  init_listene: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 8080",
    'apply',
  ],
  ['send-failed', 'send failed (bytes_sent=0, size_to_send=8)', 'restart'],
  ['send-failed', '0.01.501.322 E recv failed (bytes_recv=0, size_to_recv=8)', 'restart'],
  ['rdma-queue-pair', 'RDMA(Apple/UC) RTR failed: Invalid argument', 'apply'],
  ['rdma-receive', 'RDMA(Apple/UC) post_recv 3/16 failed', 'reboot'],
  ['rdma-broken', 'RDMA(Apple/UC) recv wc error: status=5', 'restart'],
  ['rdma-broken', 'RDMA(Apple/UC) bad frame magic', 'restart'],
  ['rdma-fall-back', 'RDMA activate failed, staying on TCP', 'apply'],
  [
    'no-room',
    '0.00.019.001 E alloc_tensor_range: failed to allocate RPC0[10.77.0.2:50123] buffer of size 70368744177664',
    'change-file',
  ],
  ['no-room', '0.00.019.002 E unable to allocate RPC0[10.77.0.2:50123] buffer', 'change-file'],
  ['no-room', '0.00.019.003 E failed to allocate buffer for kv cache', 'change-file'],
  ['unknown-architecture', "llama_model_load: error loading model: unknown model architecture: 'new'", 'change-file'],
  ['broken-model', "gguf_init_from_file_ptr: invalid magic characters: '<htm', expected 'GGUF'", 'change-file'],
  [
    'broken-model',
    "error loading model: tensor 'blk.3.ffn_up.weight' data is not within the file bounds, model is corrupted or incomplete",
    'change-file',
  ],
  ['split-missing', 'llama_model_loader: failed to load GGUF split from /m/a-00002-of-00003.gguf', 'change-file'],
  ['model-not-loaded', "0.00.022.500 E srv  load_model: failed to load model, '/m/a.gguf'", 'read-other-ranks'],
  ['unknown-word', 'error: invalid argument: --shiny', 'change-file'],
  [
    'unknown-word',
    'error while handling argument "--spec-type": unknown speculative type: draft-simple',
    'change-file',
  ],
  ['cached-tensor', 'meshwright: cached tensor 047db35283bef667 was not what its name says', 'wait'],
  ['library-not-loaded', 'dyld[812]: Library not loaded: @rpath/libggml-base.dylib', 'change-file'],
];

describe('the log of a llama.cpp mesh', () => {
  it.each(lines)('shows %s for "%s"', (id, line, action) => {
    expect([found(line)?.id, found(line)?.action]).toEqual([id, action]);
  });

  it('shows each signature in a sample line, with a one-sentence meaning and cure', () => {
    expect(signatures.map(({ id }) => id).filter((id) => !lines.some(([known]) => known === id))).toEqual([]);
    for (const { meaning, cure } of signatures)
      expect([meaning, plainText(cure)].every((text) => /^[A-Z].*\.$/.test(text))).toBe(true);
  });

  it('keeps every line that matches a signature, except those whose remedy is to wait', () => {
    const actionable = lines.filter(([, , action]) => action !== 'wait').map(([, line]) => line);
    expect(keptByAwk(logPattern, actionable)).toEqual(actionable);
  });

  it.each([
    'Accepted client connection',
    'recv returned 0 (peer closed?)',
    'Client connection closed',
    '0.00.029.597 I srv  llama_server: listening on http://127.0.0.1:50180',
    'ggml_backend_load_best: failed to enumerate /usr/lib/x86_64-linux-gnu/ggml/backends0: No such file or directory',
  ])('shows no failure for "%s"', (line) => {
    expect(found(line)).toBeUndefined();
  });
});
