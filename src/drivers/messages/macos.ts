import { aside, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { signaturesOf } from './table.ts';

/**
 * Messages of Metal, dyld and the network stack, with those that mlx makes of them: programs of every driver can log
 * them, `command` too can run mlx. The first pattern that matches a line wins.
 */
export const macosSignatures = signaturesOf({
  'gpu-buffers': {
    pattern: /\[metal::malloc\] Resource limit \(\d+\) exceeded/,
    source: 'metal/allocator.cpp:143 of mlx 846d176; mlx-lm issue 831; the limit is `sysctl iogpu.rsrc_limit`',
    meaning: 'The rank holds too many GPU buffers at the same time; memory may still be free.',
    action: 'restart',
    cure: 'Restart the placement; if the error returns, use a newer version of the runtime, or cache fewer prompts.',
  },
  'gpu-buffer-size': {
    pattern: /greater than the maximum allowed buffer size/,
    source: 'metal/allocator.cpp:116 of mlx 846d176',
    meaning: 'One GPU buffer would be larger than Metal allows: a prompt is too long to be read in one step.',
    action: 'change-file',
    cure: 'Send shorter prompts, or let the runtime read them in smaller steps (`--prefill-step-size` of mlx_lm.server).',
  },
  'gpu-memory': {
    pattern: /kIOGPUCommandBufferCallbackErrorOutOfMemory|\[metal::malloc\]|\[malloc\] Unable to allocate/,
    source: "metal/allocator.cpp of mlx 0.32; Metal's error names; llama.cpp pull request 7010",
    meaning: 'The GPU ran out of memory.',
    action: 'change-file',
    cure: prose`Give the placement a smaller context, fewer parallel requests, or more nodes (\`${aside(meshwright('fit'))}\`).`,
  },
  'gpu-timeout': {
    pattern: /\[METAL\].*GPU Timeout|kIOGPUCommandBufferCallbackErrorTimeout|\[Event::wait\] Timed out/,
    source: "mlx 846d176 (0.32.2); exo diagnostics.py at b5375f8; Metal's error names",
    meaning: 'A GPU operation did not finish in time.',
    action: 'restart',
    cure: prose`Restart the placement; if the GPU stays at 100 %, restart that Mac (\`${aside(meshwright('reboot'))}\`). If the error returns, try a different version of the runtime.`,
  },
  'gpu-interactivity': {
    pattern: /Impacting Interactivity|kIOGPUCommandBufferCallbackErrorImpactingInteractivity/,
    source: "mlx 846d176 (0.32.2); llama.cpp issue 22214; Metal's error names",
    meaning: 'macOS stopped a GPU operation that kept the screen from being drawn.',
    action: 'restart',
    cure: 'Restart the placement; if the error returns, log out at the screen of that Mac, or read prompts in smaller steps.',
  },
  'gpu-victim': {
    pattern: /\[METAL\].*Discarded|kIOGPUCommandBufferCallbackErrorInnocentVictim/,
    source: "mlx 846d176 (0.32.2); Metal's error names",
    meaning: "macOS reset the GPU because of a different operation's error, and discarded this one.",
    action: 'restart',
    cure: 'Restart the placement; if the error returns, stop other programs that use the GPU of that Mac.',
  },
  'gpu-failed': {
    pattern: /\[METAL\] Command buffer execution failed|kIO(?:GPU|Accel)CommandBufferCallbackError/,
    source: "mlx 846d176 (0.32.2); llama.cpp issue 8886; Metal's error names",
    meaning: 'A GPU operation failed.',
    action: 'restart',
    cure: prose`Restart the placement; if the error returns, restart that Mac (\`${aside(meshwright('reboot'))}\`), then try a different version of the runtime.`,
  },
  'metal-library': {
    pattern: /Unable to (?:build|load) (?:metal library|kernel)|Failed to load the default metallib/,
    source: 'mlx 846d176 (0.32.2)',
    meaning: 'The GPU kernels of this mlx do not work on this macOS.',
    action: 'change-file',
    cure: 'Use a build of the runtime, or the mlx and mlx-metal packages, for the macOS of these Macs.',
  },
  'library-not-loaded': {
    pattern: /(?:dyld\[\d+\]|dlopen\(.*\)): (?:Library not loaded|Symbol not found)/,
    source: 'dyld of macOS; Python shows the words of dlopen',
    meaning: 'The program needs a library that is not on this Mac, or a different version of it.',
    action: 'change-file',
    cure: 'Use a build of the program for macOS on Apple silicon, with all its libraries in its archive or packages.',
  },
  'port-taken': {
    pattern: /Couldn't bind socket \(error: (?:48|98)\)|[Aa]ddress already in use|EADDRINUSE/,
    source: 'mlx 0.32; on Linux with mlx 0.32.4: 98; strerror(48), Python, Node.js, Go',
    meaning: 'Another program listens on a port of this rank.',
    action: 'restart',
    cure: 'Start again, which picks a different port for the ranks. If the endpoint port is taken, stop that program, or give the placement a different port.',
  },
});
