import type { DriverKeys } from '../../desired/rules/rule.ts';
import type { DesiredRuntime } from '../../model/desired.ts';
import { compareNumbers } from '../../model/lists.ts';
import { isProgram, isText } from '../contract/version-keys.ts';

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
  ofPlacements: ['args', 'parallel'],
  resolve: ({ version = '', program = 'EXO.app/Contents/Resources/exo/exo' }) => keysAt(version, program),
  ofVersion: ({ version, program }) => (isText(version) && isProgram(program) ? keysAt(version, program) : undefined),
};

const keysAt = (version: string, program: string) =>
  ({ driver: 'exo', version, dialect: dialectOf(version), program }) as const;

/** The newest release with libp2p; nodes of different dialects never meet. @see exo: dialects */
const lastOfOldDialect = [1, 0, 71] as const;

/** The dialect of a version. The schema requires a version to begin with three numbers. */
function dialectOf(version: string): ExoRuntime['dialect'] {
  const numbers = version.split(/[-+.]/, 3).map(Number);
  return compareNumbers(numbers, lastOfOldDialect) <= 0 ? '1.0.71' : 'main';
}
