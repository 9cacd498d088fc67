import type { DriverKeys } from '../../desired/rules/rule.ts';
import { isBelow } from '../../desired/version-range.ts';
import type { DesiredRuntime } from '../../model/desired.ts';
import { isProgram, isText } from '../contract/version-keys.ts';
import { newestExo } from '../known/model-types.ts';
import { exoReleases } from './releases.ts';

/** exo, from its app's disk image. */
export interface ExoRuntime extends DesiredRuntime {
  readonly driver: 'exo';
  readonly version: string;
  /** Flags and API of the release 1.0.71, or of the main branch since June 2026. */
  readonly dialect: '1.0.71' | 'main';
  /** Path of the program in the disk image. */
  readonly program: string;
}

export const keys: DriverKeys<ExoRuntime> = {
  needs: ['version'],
  takes: ['program'],
  releases: exoReleases,
  ofPlacements: ['args', 'parallel'],
  resolve: ({ version = '', program = 'EXO.app/Contents/Resources/exo/exo' }) => keysAt(version, program),
  ofVersion: ({ version, program }) => (isText(version) && isProgram(program) ? keysAt(version, program) : undefined),
};

/**
 * The keys of a version with its dialect: the release 1.0.71 is the newest one with libp2p, and nodes of different dialects never
 * meet. The schema requires a version to begin with three numbers.
 *
 * @see exo: dialects
 */
const keysAt = (version: string, program: string) => {
  const dialect = isBelow(newestExo.release, version) ? 'main' : newestExo.release;
  return { driver: 'exo', version, dialect, program } as const;
};
