import type { Session } from '../../apply/reach/session.ts';
import { pause } from '../../apply/run-timing.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import { type EndOutput, readTransport, type Transport } from '../../engine/cables/link-test.ts';
import type { MeasuredEnd } from '../../engine/cables/measure-plan.ts';
import type { NodeName } from '../../model/node.ts';
import { exitText, type NodePath } from '../../model/probe.ts';
import { below, place, renderPath, shellInputCommand } from '../../node/paths/node-paths.ts';
import { mutatingCommand } from '../../node/root-script.ts';
import { measureTcpProgram, measureTcpWords } from '../../rack/cables/measure-tcp-script.ts';
import {
  type LaunchAccount,
  type LaunchedRank,
  launchLoginScript,
  launchRankScript,
} from '../../rack/placement/launched-program-script.ts';
import { onAbort } from '../../remote/on-abort.ts';
import { printedText } from '../../remote/remote.ts';

/** What every measurement of a run shares. */
export interface MeasureParts {
  /** The native program for these Macs. */
  readonly program: Buffer;
  /** How long the latency and each direction are measured. */
  readonly seconds: number;
  /** The account that runs the programs on each Mac; undefined for the SSH user. */
  readonly accounts: ReadonlyMap<NodeName, LaunchAccount | undefined>;
  readonly sessions: ReadonlyMap<NodeName, Session>;
  /** Ends the running measurement; both programs then give back what they have opened. */
  readonly stop: AbortSignal;
}

const programName = 'meshwright-probe';
const tcpName = 'measure-tcp.pl';

/** The programs print a few lines; the probe prints up to 1,024 GIDs of each device. */
const maxBytes = 1_048_576;
/** Each program stops itself after three parts and 15 seconds; the script that runs it may take 20 more to end it. */
const beyondMs = 35_000;
/** The time for the other end to finish by itself after one end has exited. */
const graceMs = 2_000;

/** Runs the program of one transport at both ends of a cable, and relays the lines of each to the other. */
export async function measureTransport(
  transport: 'rdma' | 'tcp',
  ends: readonly [MeasuredEnd, MeasuredEnd],
  parts: MeasureParts & { readonly id: string },
): Promise<Transport> {
  const inputs = [createInput(), createInput()] as const;
  const stop = (): void => {
    for (const input of inputs) input.end();
  };
  const runAt = async (at: 0 | 1): Promise<EndOutput> => {
    const other = inputs[at === 0 ? 1 : 0];
    const role = at === 0 ? 'lead' : 'follow';
    const output = await runEnd(transport, ends[at], role, { ...parts, own: inputs[at], other });
    await pause(graceMs, other.ended);
    other.end();
    return output;
  };
  const forget = onAbort(parts.stop, stop);
  try {
    return readTransport(await Promise.all([runAt(0), runAt(1)]));
  } finally {
    forget();
  }
}

interface EndParts extends MeasureParts {
  readonly id: string;
  readonly own: LineInput;
  readonly other: LineInput;
}

async function runEnd(
  transport: 'rdma' | 'tcp',
  { end, device, address, gidIndex }: MeasuredEnd,
  role: 'lead' | 'follow',
  { own, other, ...parts }: EndParts,
): Promise<EndOutput> {
  const { program, seconds, id } = parts;
  const folder = folderOf(id);
  const rankOf = (rootPrefix: string): LaunchedRank => {
    const file = (name: string): string => `${renderPath(folder, rootPrefix)}/${name}`;
    return transport === 'rdma'
      ? {
          ...{ rootPrefix, folder, files: {}, environment: {}, isTalking: true },
          upload: { name: programName, base64: program.toString('base64') },
          words: [file(programName), 'measure', device, String(gidIndex), role, String(seconds)],
        }
      : {
          ...{ rootPrefix, folder, environment: {}, isTalking: true },
          files: { [tcpName]: measureTcpProgram },
          words: measureTcpWords(file(tcpName), address, role, seconds),
        };
  };
  return runRank(end.node, rankOf, {
    ...parts,
    own,
    onLines: (piece) => {
      own.open();
      other.add(piece);
    },
  });
}

/** The probe's report about a Mac's RDMA devices, as it was printed. Opens no protection domain and no queue pair. */
export async function askProbe(node: NodeName, parts: MeasureParts & { readonly id: string }): Promise<EndOutput> {
  const own = createInput();
  const folder = folderOf(parts.id);
  const forget = onAbort(parts.stop, own.end);
  const upload = { name: programName, base64: parts.program.toString('base64') };
  try {
    return await runRank(
      node,
      (rootPrefix) => ({
        ...{ rootPrefix, folder, files: {}, environment: {}, upload },
        words: [`${renderPath(folder, rootPrefix)}/${programName}`],
      }),
      { ...parts, own, onLines: () => undefined },
    );
  } finally {
    forget();
  }
}

const folderOf = (id: string): NodePath => below(place.temporary, `meshwright-measure-${id}`);

interface RankParts extends Omit<EndParts, 'other'> {
  /** Receives what the program prints. */
  readonly onLines: (piece: Uint8Array) => void;
}

/** Runs a program in a folder of its own, which its script removes on every way out. */
async function runRank(
  node: NodeName,
  rankOf: (rootPrefix: string) => LaunchedRank,
  { seconds, accounts, sessions, own, onLines }: RankParts,
): Promise<EndOutput> {
  const session = sessions.get(node);
  if (session === undefined) throw new Error(`no session for ${node}`);
  const account = accounts.get(node);
  const asked = await session.ask((rootPrefix) => {
    const rank = rankOf(rootPrefix);
    const isLogin = account === undefined || account.name === session.user;
    const scriptOf = (one: LaunchedRank): string => (isLogin ? launchLoginScript(one) : launchRankScript(one, account));
    own.begin(scriptOf(rank));
    return {
      name: 'measure-cable',
      command: isLogin ? shellInputCommand : mutatingCommand(rootPrefix),
      // The program itself is no text to record.
      script: scriptOf(rank.upload === undefined ? rank : { ...rank, upload: { ...rank.upload, base64: '' } }),
      stdin: own.pieces,
      deadlineMs: 3 * seconds * 1_000 + beyondMs,
      maxBytes,
      onOutput: (stream, piece) => {
        if (stream === 'stdout') onLines(piece);
      },
    };
  });
  own.end();
  if (asked.kind === 'unreached') return { stdout: '', ending: plainText(asked.diagnostics[0].summary) };
  const { stdout, stderr, exit } = printedText(asked.result);
  const last = stderr.trim().split('\n').at(-1) ?? '';
  return { stdout, ending: last === '' ? exitText(exit) : last };
}

type LineInput = ReturnType<typeof createInput>;

/** Standard input of one end. The lines wait until the program has printed: a shell may read beyond its script. */
function createInput() {
  const ready: Buffer[] = [];
  const waiting: Buffer[] = [];
  const ended = new AbortController();
  let isOpen = false;
  let wake: () => void = () => undefined;
  const give = (...pieces: readonly Buffer[]): void => {
    ready.push(...pieces);
    wake();
  };
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    while (ready.length === 0 && !ended.signal.aborted) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    const value = ready.shift();
    return value === undefined ? { done: true, value: undefined } : { done: false, value };
  };
  return {
    begin: (script: string): void => give(Buffer.from(script)),
    open: (): void => {
      if (!isOpen) give(...waiting.splice(0));
      isOpen = true;
    },
    add: (piece: Uint8Array): void => {
      // The caller may reuse the bytes.
      const copy = Buffer.from(piece);
      if (isOpen) give(copy);
      else waiting.push(copy);
    },
    end: (): void => {
      ended.abort();
      wake();
    },
    ended: ended.signal,
    pieces: { [Symbol.asyncIterator]: () => ({ next }) },
  };
}
