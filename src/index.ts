/**
 * The library behind the command: judge a cluster file, reach its nodes, observe them, say what is wrong.
 *
 * ```ts
 * const { fleet, diagnostics } = loadCluster(text, 'cluster.yaml');
 * const options = { sources, columns: 80, color: false, isSimulated: false };
 * if (fleet === undefined) throw new Error(renderDiagnostics(diagnostics, options));
 * const resolver = createReachResolver(localReachEnv());
 * const ways = await Promise.all(
 *   fleet.nodes.map(async ({ name, ...node }) => {
 *     const reach = await resolver.resolve({ label: name, ...node });
 *     const trust = await resolver.trust(reach, lock);
 *     return { node: name, way: { kind: 'way', target: reach.target, trust } } as const;
 *   }),
 * );
 * const newToken = () => randomBytes(16).toString('hex');
 * const observation = await observeFleet(ways, { parallel: 16, deadlineMs: 30_000, newToken });
 * const findings = diagnoseFleet(fleet, observation);
 * ```
 *
 * @module
 */
export { type ObserveOptions, observeFleet } from './apply/reach/observe.ts';
export type { NodeWay, Way } from './apply/reach/session.ts';
export type { LoadedCluster } from './config/load-cluster-with.ts';
export type { LoadedLock } from './config/lock.ts';
export type { Diagnostic } from './diagnostics/diagnostic.ts';
export { FleetError } from './diagnostics/diagnostic.ts';
export { plainText, proseText, type Reader } from './diagnostics/prose-text.ts';
export { type RenderOptions, renderDiagnostics } from './diagnostics/render.ts';
export { diagnoseFleet } from './engine/diagnose/diagnose-fleet.ts';
export { codes, type DiagnosticCode } from './engine/diagnose/rules.ts';
export { loadCluster, parseLock } from './engine/load-cluster.ts';
export { type FactName, type FactValues, readFact } from './engine/observe/facts.ts';
export type { ClusterLock } from './model/cluster-lock.ts';
export type { ClusterSpec } from './model/cluster-spec.generated.ts';
export type { DesiredFleet, DesiredNode } from './model/desired.ts';
export type { Facts, NodeObservation } from './model/facts/fact-values.ts';
export type { Known, UnknownReason } from './model/known.ts';
export { type Subject, subjectText } from './model/subject.ts';
export type { Prose } from './model/text/prose.ts';
export type { FleetObservation } from './rack/examination.ts';
export {
  createReachResolver,
  localReachEnv,
  type Reach,
  type ReachResolver,
  type ReachWish,
} from './remote/resolve-reach.ts';
