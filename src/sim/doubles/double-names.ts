import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import type { DesiredDoorman, DesiredRuntime } from '../../model/desired.ts';

/** The keys of a runtime that its double needs. */
type DoubledKeys =
  | { readonly driver: 'exo'; readonly version: string; readonly dialect: '1.0.71' | 'main'; readonly program: string }
  | { readonly driver: 'llamacpp-rpc'; readonly server: string; readonly worker: string }
  | { readonly driver: 'mlx' | 'command' };

/** A runtime of the file, or Node for a published endpoint. */
export type DoubledProgram = (DesiredRuntime & DoubledKeys) | DesiredDoorman;

const versionIn = (text: string, pattern: RegExp): string => {
  const [, version] = pattern.exec(text) ?? [];
  return version === undefined ? '' : ` ${version}`;
};

/**
 * What a double is called on screens, after the version that the file names: `double of exo 1.0.71`. Undefined for a
 * runtime of the driver `command`: nobody but its owner knows what it does.
 */
export function doubleName(program: DoubledProgram): string | undefined {
  if (!('driver' in program)) return `double of Node${versionIn(program.archive, /v(\d+\.\d+\.\d+)/)}`;
  switch (program.driver) {
    case 'exo':
      return `double of exo ${program.version}`;
    case 'mlx':
      return 'double of uv and mlx-lm';
    case 'llamacpp-rpc':
      return `double of llama.cpp${versionIn(`${program.archive} ${program.server}`, /\b(b\d{3,})\b/)}`;
    case 'command':
      return undefined;
  }
}

/** The programs of an archive, as they are called there, that simulated Macs replace by their doubles. */
export function programNames(program: DoubledProgram): readonly string[] {
  const name = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
  if (!('driver' in program)) return [name(program.program)];
  return program.driver === 'llamacpp-rpc' ? [name(program.server), name(program.worker)] : [];
}

/** How an image begins that simulated Macs can mount: theirs are archives packed by gzip. */
const gzipMagic = 0x1f8b;

function isGzip(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(2);
    return readSync(file, bytes, 0, 2, 0) === 2 && bytes.readUInt16BE() === gzipMagic;
  } finally {
    closeSync(file);
  }
}

/** Why a file cannot be used by simulated Macs; undefined where it can. */
export function whyDoubled(path: string): string | undefined {
  if (!existsSync(path)) return 'is not there';
  return path.endsWith('.dmg') && !isGzip(path) ? 'is a disk image, which only a Mac can mount' : undefined;
}
