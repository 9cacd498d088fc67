import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { DesiredRuntime, MlxRuntime } from '../../model/desired.ts';
import { runtimeSubject } from '../../model/subject.ts';
import { requirementsName } from '../resolve-placements.ts';
import { readRequirements } from './requirements-list.ts';
import { extraName, type SourceFacts } from './source-facts.ts';

/** What of a locked list has to be there for ranks to be started at all. */
const needed = ['mlx', 'mlx-lm'] as const;

/** A runtime with the versions of its packages, and everything that is wrong with their list. */
export interface SettledPackages {
  readonly runtime: DesiredRuntime;
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads the locked requirements of a runtime of mlx, where they lie on this machine; any other one stays as it is. */
export function settlePackages(runtime: DesiredRuntime, { archives }: SourceFacts): SettledPackages {
  if (runtime.driver !== 'mlx') return { runtime, diagnostics: [] };
  const lists = runtime.extras.filter((extra) => extra.name === requirementsName);
  const all = lists.map((extra) => {
    const name = extraName(runtime.name, extra.name);
    const seen = Object.hasOwn(archives, name) ? archives[name] : undefined;
    return seen?.kind === 'known' && seen.text !== undefined ? listOf(runtime, extra.source, seen.text) : undefined;
  });
  const [read] = all.filter((one) => one !== undefined);
  return read ?? { runtime, diagnostics: [] };
}

function listOf(runtime: MlxRuntime, path: string, text: string): SettledPackages {
  const { packages, problems } = readRequirements(text);
  const subject = runtimeSubject(runtime.name);
  const lines = problems.map((one) =>
    diagnose('mlx/unlocked-requirement', { subject, detail: escapeText(`${path}:${one.line}: ${one.text}`) }),
  );
  const missing = needed.filter((name) => !packages.some((one) => one.name === name));
  const without = missing.map((name) =>
    diagnose('mlx/package-missing', { subject, detail: escapeText(`${path} has no ${name}.`) }),
  );
  const versions = packages.flatMap(({ name, version }) => (version === undefined ? [] : [[name, version] as const]));
  return {
    runtime: { ...runtime, packages: Object.fromEntries(versions) },
    diagnostics: [...lines, ...(problems.length > 0 ? [] : without)],
  };
}
