import { aside, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { FailureSignature } from '../contract/driver.ts';
import { macosSignatures } from './macos.ts';
import { logPatternOf, signaturesFrom } from './table.ts';

/** Messages of a server and workers that have lost each other. */
const ofTheMesh = signaturesFrom('ggml/src/ggml-rpc of llama.cpp; seen with build 0.7.0', {
  'worker-absent': {
    pattern: /Failed to connect to \S+:\d+/,
    meaning: 'A worker was not listening when the server started, so the server exited.',
    action: 'read-other-ranks',
    cure: prose`Read the log of that worker (\`${aside(meshwright('logs'))}\`) and check its cable, then restart the placement.`,
    isUnreached: true,
  },
  'worker-lost': {
    pattern: /Remote RPC server crashed or returned malformed response/,
    meaning: 'A worker exited or restarted while the server was connected to it.',
    action: 'read-other-ranks',
    cure: prose`Read the worker's own log first (\`${aside(meshwright('logs'))}\`), then restart the placement: a worker cannot rejoin a running server.`,
  },
  handshake: {
    pattern: /RPC handshake failed for \S+/,
    meaning: "The program at a worker's address is not a worker from this version.",
    action: 'restart',
    cure: 'Restart the placement; if the error returns, check which program listens on that port.',
  },
  'version-mismatch': {
    pattern: /RPC server version mismatch|client needs upgrade to protocol|Expected HELLO command, update client/,
    meaning: 'The server and a worker run different builds of llama.cpp.',
    action: 'apply',
    cure: 'Let apply install the same archive on every node, and stop other programs that listen on that port.',
  },
  'bind-failed': {
    pattern: /Failed to create server socket|couldn't bind HTTP server socket|Invalid host address/,
    source: 'llama.cpp; seen with build 0.7.0',
    meaning: 'A rank could not listen: this Mac lacks the address, or the port is taken.',
    action: 'apply',
    cure: 'Let apply set the cable addresses; if the error returns, check which program listens on the port.',
  },
  'send-failed': {
    pattern: /^(?:\S+ \S )?(?:send|recv) failed \(bytes_/,
    meaning: 'A connection between the server and a worker broke.',
    action: 'restart',
    cure: prose`Check the cable (\`${aside(meshwright('cables'))}\`), then restart the placement.`,
  },
});

/** RDMA errors of llama.cpp on Macs. After such an error, a mesh uses TCP or stops. */
const ofRdma = signaturesFrom('transport-apple.cpp of llama.cpp 1777b02b', {
  'rdma-queue-pair': {
    pattern: /RDMA\(Apple\/UC\) (?:RTR|RTS) failed: /,
    meaning:
      'An RDMA queue pair could not be connected: the cable has no IPv4 address, is in a bridge, or has stale state after a crash.',
    action: 'apply',
    cure: "Let apply set the cable addresses and start again; if the error returns, restart all of the placement's Macs.",
  },
  'rdma-receive': {
    pattern: /RDMA\(Apple\/UC\) post_recv \d+\/\d+ failed/,
    meaning: 'The RDMA device accepts no more receive requests.',
    action: 'reboot',
    cure: 'Stop other programs that use RDMA on this Mac, or restart it.',
  },
  'rdma-broken': {
    pattern: /RDMA\(Apple\/UC\) (?:poll_cq failed|(?:recv|send) wc error|bad frame magic|frame len \d+ exceeds)/,
    meaning: 'RDMA between the server and a worker broke during a transfer.',
    action: 'restart',
    cure: "Restart the placement; if the error returns, check the cable, then restart all of the placement's Macs.",
  },
  'rdma-fall-back': {
    pattern: /RDMA activate failed, staying on TCP/,
    meaning: 'RDMA is available but could not be activated, so this mesh runs over TCP.',
    action: 'apply',
    cure: prose`Check RDMA on both Macs (\`${aside(meshwright('doctor'))}\`), then restart the placement.`,
  },
});

/** Failures of the model, and failures due to lack of memory. */
const ofTheModel = signaturesFrom('llama.cpp; seen with build 0.7.0', {
  'no-room': {
    pattern: /unable to allocate \S+ buffer|failed to allocate (?:\S+ )?buffer|failed to allocate compute /,
    meaning: "The weights or the context cache do not fit into a rank's memory.",
    action: 'change-file',
    cure: prose`Give the placement a smaller context, different shares, or more nodes (\`${aside(meshwright('fit'))}\`).`,
  },
  'unsupported-operation': {
    pattern: /unsupported op\b|pre-allocated tensor .* cannot run the operation/,
    source: 'ggml-metal-ops.cpp of llama.cpp, issues 18882, 26424 and 28126; libggml-base of build 0.7.0',
    meaning: 'This build of llama.cpp cannot compute this model on this Mac, so the rank stopped.',
    action: 'change-file',
    cure: 'Use a different build of llama.cpp, or a different model: another start would end at the same operation.',
  },
  assertion: {
    pattern: /GGML_ASSERT\(/,
    source: 'ggml.h of llama.cpp; seen with build 0.7.0; comment in pull request 13601',
    meaning:
      'A check of llama.cpp failed, so the rank stopped: this build has a bug, or does not support the model or an option.',
    action: 'change-file',
    cure: "Search llama.cpp's issues for the condition in the line. Then use a different build, or change the model or the `args`: the next start would probably stop there again.",
  },
  'unknown-architecture': {
    pattern: /unknown model architecture: '/,
    meaning: 'This build of llama.cpp does not support this kind of model.',
    action: 'change-file',
    cure: 'Use an archive with a newer llama.cpp.',
  },
  'broken-model': {
    pattern:
      /invalid magic characters|tensor '\S+' data is not within the file bounds|failed to read (?:magic|tensor info)/,
    meaning: 'The model file is not a GGUF file, or it is truncated.',
    action: 'change-file',
    cure: 'Download the model to its source again; the sha256 in the lock belongs to the broken file.',
  },
  'split-missing': {
    pattern: /invalid split (?:file|count)|failed to load GGUF split|illegal split file/,
    meaning: 'One of the files of a multi-file model is missing.',
    action: 'change-file',
    cure: 'Add all files `…-00001-of-0000N.gguf` to the model.',
  },
  'model-not-loaded': {
    pattern: /failed to load model|error loading model/,
    meaning: 'The server could not load the model; the lines before this one say why.',
    action: 'read-other-ranks',
    cure: prose`Read the lines before this one and the workers' logs (\`${aside(meshwright('logs'))}\`).`,
  },
  'unknown-word': {
    pattern: /^error(?:: (?:invalid|unknown)| while handling) argument/,
    meaning: 'This build of llama.cpp does not support one of its arguments.',
    action: 'change-file',
    cure: "Correct the placement's `args`, or use an archive with a build from 2026.",
  },
  'cached-tensor': {
    pattern: /^meshwright: cached tensor [0-9a-f]{16} was not what its name says/,
    source: 'our program for workers',
    meaning: "A worker's cached tensor had changed on disk, so it was deleted and sent over the cable again.",
    action: 'wait',
    cure: "Wait; if the error returns, check this Mac's disk.",
  },
});

/**
 * Failures in the logs of a server and its workers. Three failures leave no line, and only a token check reveals them:
 * a worker that hangs or lost its cable while the server waits, a worker that died writing to a killed server, and a
 * changed tensor in an unverified cache.
 *
 * @see ggml/src/ggml-rpc of llama.cpp for the messages; those of the mesh and of the model were seen with build 0.7.0
 */
export const signatures: readonly FailureSignature[] = [...ofTheMesh, ...ofRdma, ...ofTheModel, ...macosSignatures];

/**
 * Log lines about the mesh and its failures. A worker logs each connection, and then RDMA if the connection uses it. The
 * server logs its devices, their memory use, and a fallback from RDMA.
 *
 * @see ggml/src/ggml-rpc/{ggml-rpc,transport,transport-apple}.cpp and `llama_prepare_model_devices` in src/llama.cpp
 */
export const logPattern = logPatternOf(
  signatures,
  '^Accepted client connection',
  'RDMA([(]Apple/UC[)])? activated: ',
  'staying on TCP',
  ': using device RPC[0-9]',
  '(model|KV|RS|compute) buffer size = ',
  'draft vocabs are not compatible',
);
