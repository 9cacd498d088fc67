import { aside, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { FailureSignature } from '../contract/driver.ts';

/** What a server and its workers say when they lose each other. */
const ofTheMesh: readonly FailureSignature[] = [
  {
    id: 'worker-absent',
    pattern: /Failed to connect to \S+:\d+/,
    meaning: 'A worker did not listen when the server started, so the server ended.',
    action: 'read-other-ranks',
    cure: prose`Read the log of that worker (\`${aside(meshwright('logs'))}\`) and look at the cable to it, then restart the placement.`,
    isUnreached: true,
  },
  {
    id: 'worker-lost',
    pattern: /Remote RPC server crashed or returned malformed response/,
    meaning: 'A worker ended, or was started anew, while the server held a connection to it.',
    action: 'restart',
    cure: 'Restart the placement: a server never takes a worker back, so all of its ranks start together.',
  },
  {
    id: 'handshake',
    pattern: /RPC handshake failed for \S+/,
    meaning: 'What answers at the address of a worker is no worker of this version.',
    action: 'restart',
    cure: 'Restart the placement; if it comes back, look at who listens on that port.',
  },
  {
    id: 'version-mismatch',
    pattern: /RPC server version mismatch|client needs upgrade to protocol|Expected HELLO command, update client/,
    meaning: 'The server and a worker are of different builds of llama.cpp.',
    action: 'apply',
    cure: 'Let apply install the one archive of the file on every node; end what else listens on that port.',
  },
  {
    id: 'bind-failed',
    pattern: /Failed to create server socket|couldn't bind HTTP server socket|Invalid host address/,
    meaning: 'A rank could not listen: its address is not on this Mac, or the port is taken.',
    action: 'apply',
    cure: 'Let apply set the addresses of the cables; if it comes back, look at who listens on the port.',
  },
  {
    id: 'send-failed',
    pattern: /^(?:\S+ \S )?(?:send|recv) failed \(bytes_/,
    meaning: 'A connection between the server and a worker broke.',
    action: 'restart',
    cure: prose`Look at the cable (\`${aside(meshwright('cables'))}\`), then restart the placement.`,
  },
];

/** RDMA, as llama.cpp has it on Macs; every one of these leaves a mesh on TCP, or ends it. */
const ofRdma: readonly FailureSignature[] = [
  {
    id: 'rdma-queue-pair',
    pattern: /RDMA\(Apple\/UC\) (?:RTR|RTS) failed: /,
    meaning: 'A queue pair could not be connected: no IPv4 address on the cable, a bridge, or rests of a crash.',
    action: 'apply',
    cure: 'Let apply set the addresses of the cables again and start once more; if it comes back, restart the members.',
  },
  {
    id: 'rdma-receive',
    pattern: /RDMA\(Apple\/UC\) post_recv \d+\/\d+ failed/,
    meaning: 'The RDMA device takes no more receives.',
    action: 'reboot',
    cure: 'Stop what else uses RDMA on this Mac, else restart it.',
  },
  {
    id: 'rdma-broken',
    pattern: /RDMA\(Apple\/UC\) (?:poll_cq failed|(?:recv|send) wc error|bad frame magic|frame len \d+ exceeds)/,
    meaning: 'RDMA between the server and a worker broke while it carried data.',
    action: 'restart',
    cure: 'Restart the placement; if it comes back, look at the cable, then restart the members.',
  },
  {
    id: 'rdma-fall-back',
    pattern: /RDMA activate failed, staying on TCP/,
    meaning: 'RDMA was there and did not come up, so this mesh runs over TCP.',
    action: 'apply',
    cure: prose`Look at RDMA on both Macs (\`${aside(meshwright('doctor'))}\`), then restart the placement.`,
  },
];

/** The model, and what there is room for. */
const ofTheModel: readonly FailureSignature[] = [
  {
    id: 'no-room',
    pattern:
      /unable to allocate \S+ buffer|failed to allocate (?:\S+ )?buffer|failed to allocate compute |kIOGPUCommandBufferCallbackErrorOutOfMemory/,
    meaning: 'The weights, or the cache of the context, do not fit where the shares put them.',
    action: 'change-file',
    cure: prose`Give the placement less context, other shares, or more nodes (\`${aside(meshwright('fit'))}\`).`,
  },
  {
    id: 'unknown-architecture',
    pattern: /unknown model architecture: '/,
    meaning: 'This build of llama.cpp does not know this kind of model.',
    action: 'change-file',
    cure: 'Put a newer llama.cpp into the archive.',
  },
  {
    id: 'broken-model',
    pattern:
      /invalid magic characters|tensor '\S+' data is not within the file bounds|failed to read (?:magic|tensor info)/,
    meaning: 'The file of the model is no GGUF, or only a part of one.',
    action: 'change-file',
    cure: 'Fetch the model again; its sha256 in the lock is that of the broken file.',
  },
  {
    id: 'split-missing',
    pattern: /invalid split (?:file|count)|failed to load GGUF split|illegal split file/,
    meaning: 'A part of a model of several files is not beside the others.',
    action: 'change-file',
    cure: 'Let the model have all of its files `…-00001-of-0000N.gguf`.',
  },
  {
    id: 'model-not-loaded',
    pattern: /failed to load model|error loading model/,
    meaning: 'The server could not load the model; the lines before this one say why.',
    action: 'read-other-ranks',
    cure: prose`Read the lines before it, and the logs of the workers (\`${aside(meshwright('logs'))}\`).`,
  },
  {
    id: 'unknown-word',
    pattern: /^error: (?:invalid argument|unknown argument|while handling argument)/,
    meaning: 'This build of llama.cpp does not know a word of its command line.',
    action: 'change-file',
    cure: 'Correct `args` of the placement, or put a build of 2026 into the archive.',
  },
  {
    id: 'cached-tensor',
    pattern: /^meshwright: cached tensor [0-9a-f]{16} was not what its name says/,
    meaning: 'A tensor in the cache of a worker had changed on its disk; it was thrown away and came over the cable.',
    action: 'wait',
    cure: 'Wait; if it comes back, look at the disk of this Mac.',
  },
  {
    id: 'library-not-loaded',
    pattern: /^dyld\[\d+\]: Library not loaded: /,
    meaning: 'The program needs a library that is not on this Mac.',
    action: 'change-file',
    cure: 'Take the build of llama.cpp for macOS on Apple silicon, with all its libraries.',
  },
];

/**
 * What the logs of a server and of its workers tell of. Three failures have no line at all, and only a token shows
 * them: a worker that hangs or lost its cable (the server waits), a worker that died when it wrote to a server that
 * was killed, and a changed tensor in a cache that nobody verifies.
 *
 * @see ggml/src/ggml-rpc of llama.cpp for the words; those of the mesh and of the model were seen with build 0.7.0
 */
export const signatures: readonly FailureSignature[] = [...ofTheMesh, ...ofRdma, ...ofTheModel];
