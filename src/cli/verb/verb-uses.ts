import type { GlobalUse } from './verb.ts';

/** What a verb over nodes of the file uses. */
export const overNodes: readonly GlobalUse[] = ['file', 'nodes', 'reach', 'json'];

/** What a verb uses that asks many nodes at once. */
export const atOnce: readonly GlobalUse[] = [...overNodes, 'parallel'];

/** What a verb uses that changes nodes. */
export const withConsent: readonly GlobalUse[] = [...atOnce, 'consent'];

/** The same for a verb whose words are placements: nodes are not chosen. */
export const overPlacements: readonly GlobalUse[] = ['file', 'reach', 'json', 'parallel', 'consent'];
