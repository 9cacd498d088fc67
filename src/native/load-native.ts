import { createRequire } from 'node:module';
import { arch, platform } from 'node:process';
import { nativeFile, nativeProgram } from './program.ts';

/** The addon (`native/addon.cc`). Its calls run on other threads. A call that fails rejects with the reason. */
interface NativeAddon {
  /** The report of the native probe, as JSON. */
  readonly probe: () => Promise<string>;
  /** The FNV-1a-64 hash of a file. */
  readonly fnv: (path: string) => Promise<string>;
}

/** The addon with its path, or the reason why there is none. Everything works without it. */
export type LoadedNative =
  | { readonly addon: NativeAddon; readonly path: string }
  | { readonly addon?: undefined; readonly reason: string };

const addonPath = (): string | undefined => nativeFile('meshwright.node', { platform, arch });

/** Loads the addon, once per process. */
export function loadNative(path = addonPath()): LoadedNative {
  if (path === undefined) return { reason: `There is no compiled addon for ${platform}-${arch}.` };
  try {
    const addon = createRequire(import.meta.url)(path) as NativeAddon;
    return { addon, path };
  } catch (error) {
    return { reason: `Node could not load ${path}: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Which addon and which program this computer uses, for `--version --json`. */
export function nativeParts() {
  const loaded = loadNative();
  return {
    addon: loaded.addon === undefined ? null : loaded.path,
    program: nativeProgram(platform, arch) ?? null,
    ...(loaded.addon === undefined ? { reason: loaded.reason } : {}),
  };
}
