import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fnv1a64 } from '../../src/native/fnv.ts';
import { root } from '../architecture/sources.ts';
import { hasCompiler } from '../native/fake-verbs.ts';

/** Processor time of one round, in nanoseconds per byte, for the 64-bit FNV-1a of the same bytes. */
export interface FnvRound {
  readonly native: number;
  readonly plainC: number;
  readonly javaScript: number;
  readonly bigInt: number;
}

const fileBytes = 256 << 20;
/** Big integers take some twenty-five times as long per byte. */
const partBytes = 4 << 20;
const rounds = 7;

/** Times `fnv` of the native probe, a plain C loop, the version without the addon, and big integers. Undefined without a compiler. */
export function measureFnv(): readonly FnvRound[] | undefined {
  if (!hasCompiler()) return undefined;
  execFileSync(process.execPath, ['scripts/native.mjs'], { cwd: root, stdio: 'pipe' });
  const folder = mkdtempSync(join(tmpdir(), 'meshwright-bench-'));
  try {
    const [plainC, file] = [join(folder, 'plain-fnv'), join(folder, 'bytes')];
    execFileSync('cc', ['-O2', '-o', plainC, 'native/test/plain_fnv.c'], { cwd: root });
    const bytes = randomBytes(fileBytes);
    writeFileSync(file, bytes);
    return Array.from({ length: rounds }, () => timeRound(plainC, file, bytes.subarray(0, partBytes)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function timeRound(plainC: string, file: string, part: Uint8Array): FnvRound {
  const ours = timeProgram([join(root, 'native/build/meshwright-probe'), 'fnv', file]);
  const theirs = timeProgram([plainC, file]);
  if (ours.hash !== theirs.hash) throw new Error(`the hashes differ: ${ours.hash}, ${theirs.hash}`);
  const [javaScript = 0, bigInt = 0] = [fnv1a64, withBigIntegers].map((hash) => {
    const before = process.cpuUsage();
    hash(part);
    const { user, system } = process.cpuUsage(before);
    return ((user + system) * 1e3) / part.length;
  });
  return { native: ours.time, plainC: theirs.time, javaScript, bigInt };
}

/** The shell's second line of `times` has the processor time of the program, in user mode and in the kernel. */
function timeProgram(words: readonly string[]) {
  const text = execFileSync('sh', ['-c', '"$@"; times', 'sh', ...words], { encoding: 'utf8' });
  const [printed = '', , times = ''] = text.split('\n');
  const seconds = [...times.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, more]) => Number(minutes) * 60 + Number(more),
  );
  if (seconds.length !== 2) throw new Error(`the shell printed unknown times: ${text}`);
  return { hash: printed.slice(0, 16), time: (seconds.reduce((sum, one) => sum + one, 0) * 1e9) / fileBytes };
}

function withBigIntegers(bytes: Uint8Array): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}
