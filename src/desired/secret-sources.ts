import type { KeySource as KeySpec, SecretSource as SourceSpec } from '../model/cluster-spec.generated.ts';
import type { DesiredFleet } from '../model/desired.ts';
import type { ApiKeySource, SecretSource } from '../model/secret.ts';

/** The source that a file names; undefined when it names none. */
export function resolveSecretSource(spec: SourceSpec | KeySpec | undefined): SecretSource | undefined {
  if (spec?.env !== undefined) return { kind: 'env', name: spec.env };
  if (spec?.file !== undefined) return { kind: 'file', path: spec.file };
  if (spec?.command !== undefined) return { kind: 'command', argv: spec.command };
  return spec !== undefined && 'prompt' in spec && spec.prompt === true ? { kind: 'prompt' } : undefined;
}

/** The sources of the keys of an endpoint, whether the file has one or a list. */
export const keySources = (spec: KeySpec | readonly KeySpec[] | undefined): readonly ApiKeySource[] =>
  (spec === undefined ? [] : [spec].flat()).flatMap((one) => {
    const source = resolveSecretSource(one);
    return source === undefined || source.kind === 'prompt' ? [] : source;
  });

/** The fleet, with programs for secrets that do not see the environment variables which hold other secrets of the file. */
export function withHiddenVariables(fleet: DesiredFleet): DesiredFleet {
  const all = [
    ...fleet.nodes.flatMap(({ password }) => password ?? []),
    ...fleet.placements.flatMap(({ publication }) => publication?.apiKeys ?? []),
  ];
  const hidden = [...new Set(all.flatMap((one) => (one.kind === 'env' ? one.name : [])))];
  if (hidden.length === 0) return fleet;
  const hiding = <Source extends SecretSource>(one: Source): Source =>
    one.kind === 'command' ? { ...one, hidden } : one;
  return {
    ...fleet,
    nodes: fleet.nodes.map((node) =>
      node.password === undefined ? node : { ...node, password: hiding(node.password) },
    ),
    placements: fleet.placements.map((placement) =>
      placement.publication?.apiKeys === undefined
        ? placement
        : {
            ...placement,
            publication: { ...placement.publication, apiKeys: placement.publication.apiKeys.map(hiding) },
          },
    ),
  };
}
