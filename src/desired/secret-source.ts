import type { SecretSource as SourceSpec } from '../model/cluster-spec.generated.ts';
import type { SecretSource } from '../model/secret.ts';

/** The source that a file names; undefined when it names none. */
export function resolveSecretSource(spec: SourceSpec | undefined): SecretSource | undefined {
  if (spec?.env !== undefined) return { kind: 'env', name: spec.env };
  if (spec?.file !== undefined) return { kind: 'file', path: spec.file };
  if (spec?.command !== undefined) return { kind: 'command', argv: spec.command };
  return spec?.prompt === true ? { kind: 'prompt' } : undefined;
}
