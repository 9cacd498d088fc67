import { describe, expect, it } from 'vitest';
import { logPattern, signatures } from '../../../../src/drivers/mlx/mlx.ts';
import { keptByAwk } from '../llamacpp/kept-by-awk.ts';

const found = (line: string): string | undefined => signatures.find(({ pattern }) => pattern.test(line))?.id;

/** Every signature, with a line as written by mlx, mlx-lm, Python or Metal. */
const lines: readonly (readonly [id: string, line: string, action: string])[] = [
  ['rtr-errno-22', 'ValueError: [jaccl] Changing queue pair to RTR failed with errno 22', 'apply'],
  [
    'no-ipv4-gid',
    'RuntimeError: [jaccl] No IPv4-mapped GID for this device. Thunderbolt RDMA ports only publish one once the interface has an IPv4 address; assign a link-local address to it',
    'apply',
  ],
  ['errno-60', 'ValueError: [jaccl] Changing queue pair to RTR failed with errno 60', 'check-cable'],
  ['errno-60', 'RuntimeError: [jaccl] Recv failed with errno=60', 'check-cable'],
  ['rtr-errno', 'ValueError: [jaccl] Changing queue pair to RTR failed with errno 96', 'apply'],
  ['rtr-errno', 'ValueError: [jaccl] Changing queue pair to INIT failed with errno 22', 'apply'],
  ['device-denied', 'ValueError: [jaccl] Changing queue pair to INIT failed with errno 1', 'change-file'],
  [
    'device-denied',
    "RuntimeError: [jaccl] Creating the queue pair failed with 'Permission denied (13)'.",
    'change-file',
  ],
  ['recv-errno-2', 'RuntimeError: [jaccl] Recv failed with errno=2', 'read-other-ranks'],
  ['queue-pairs-spent', "RuntimeError: [jaccl] Creating the queue pair failed with 'Resource busy (16)'.", 'reboot'],
  ['queue-pairs-spent', 'create_qp failed with errno 16', 'reboot'],
  ['queue-pairs-spent', 'RuntimeError: [jaccl] Creating the queue pair failed with errno 16', 'reboot'],
  ['queue-pair-refused', "RuntimeError: [jaccl] Creating the queue pair failed with 'Not supported (102)'.", 'reboot'],
  ['queue-pair-refused', "RuntimeError: [jaccl] Couldn't create completion queue", 'reboot'],
  ['device-shut', 'RuntimeError: [jaccl] Could not open device rdma_en4', 'reboot'],
  ['work-refused', 'ValueError: [jaccl] Send failed with error code 12', 'restart'],
  ['work-refused', 'ValueError: [jaccl] Recv failed with error code 22', 'restart'],
  ['protection-domain', "RuntimeError: [jaccl] Couldn't allocate protection domain", 'reboot'],
  ['no-device', 'RuntimeError: [jaccl] Could not find device rdma_en7 (3 available)', 'apply'],
  ['no-coordinator', "RuntimeError: [jaccl] Couldn't connect (error: 61)", 'read-other-ranks'],
  ['no-coordinator', "RuntimeError: [jaccl] Couldn't connect (error: 60)", 'read-other-ranks'],
  ['connecting', '[jaccl] Connection attempt 2 waiting 4000 ms', 'wait'],
  [
    'gpu-timeout',
    '[METAL] Command buffer execution failed: Caused GPU Timeout Error (00000002:kIOGPUCommandBufferCallbackErrorTimeout)',
    'restart',
  ],
  ['segfault', 'Fatal Python error: Segmentation fault', 'apply'],
  ['segfault', 'Thread 0 Crashed:: 0 librdma.dylib 0x1a2b ibv_reg_mr + 24', 'apply'],
  ['no-own-address', "RuntimeError: [jaccl] Couldn't bind socket (error: 49)", 'apply'],
  ['port-taken', "RuntimeError: [jaccl] Couldn't bind socket (error: 48)", 'restart'],
  ['port-taken', 'OSError: [Errno 48] Address already in use', 'restart'],
  ['foreign-connection', 'RuntimeError: [jaccl] Recv failed with errno=0', 'read-other-ranks'],
  ['foreign-connection', 'RuntimeError: [jaccl] Send failed with errno=22', 'read-other-ranks'],
  ['no-group', 'meshwright: group of 1 ranks over jaccl instead of 4', 'restart'],
  [
    'no-configuration',
    'RuntimeError: [jaccl] You need to provide via environment variables a rank (JACCL_RANK/MLX_RANK), a device file',
    'report',
  ],
  ['no-configuration', 'RuntimeError: [jaccl] The configuration should define a valid mesh or a valid ring.', 'report'],
  ['peer-lost', 'RuntimeError: [ring] connection to a peer was lost', 'restart'],
  [
    'gpu-memory',
    '[METAL] Command buffer execution failed: Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)',
    'change-file',
  ],
  ['gpu-memory', '[metal::malloc] Attempting to allocate 90194313216 bytes which is greater than', 'change-file'],
  ['register-memory', 'RuntimeError: [jaccl] Register memory region failed', 'reboot'],
  ['cannot-split', 'ValueError: The model does not support any sharding', 'change-file'],
  [
    'cannot-split',
    'ValueError: The model does not support tensor parallelism but a tensor_group was provided',
    'change-file',
  ],
  ['not-converted', 'ValueError: Pipeline loading is only supported for MLX converted models.', 'change-file'],
  ['unknown-model', 'ValueError: Model type deepseek_v9 not supported.', 'change-file'],
  ['unknown-option', 'rank.py: error: unrecognized arguments: --prompt-cache-bytes 2147483648', 'change-file'],
  [
    'generation-died',
    '2026-11-28 12:56:43,693 - ERROR - mlx_lm.server generation thread died: [load_safetensors] Perhaps an incomplete download',
    'restart',
  ],
  ['no-package', "ModuleNotFoundError: No module named 'sentencepiece'", 'change-file'],
];

describe('the log of an mlx rank', () => {
  it.each(lines)('shows %s: %s', (id, line, action) => {
    expect(found(line)).toBe(id);
    expect(signatures.find((one) => one.id === id)?.action).toBe(action);
  });

  it('shows each signature in a sample line, under a unique name', () => {
    const ids = signatures.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !lines.some(([known]) => known === id))).toEqual([]);
  });

  it('keeps every line that matches a signature, except those whose remedy is to wait', () => {
    const actionable = lines.filter(([, , action]) => action !== 'wait').map(([, line]) => line);
    expect(keptByAwk(logPattern, actionable)).toEqual(actionable);
  });

  it('shows no failure in normal or empty lines', () => {
    const well = [
      'meshwright: group of 4 ranks over jaccl',
      '2026-08-22 16:59:44,101 - INFO - Starting httpd at 127.0.0.1 on port 8080...',
      '127.0.0.1 - - [22/Aug/2026 17:00:00] "POST /v1/chat/completions HTTP/1.1" 200 -',
      '',
    ];
    expect(well.map(found)).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('is classified quickly even in a long repetitive line', () => {
    const long = "[jaccl] Creating the queue pair failed with '".repeat(2_000);
    expect(found(long)).toBe('queue-pair-refused');
  });
});
