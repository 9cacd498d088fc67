import type { DesiredPlacement } from '../desired.ts';

/** `studio-1, studio-2, context 64k`: where a placement runs, and with how much context. */
export const layoutText = ({ nodes, contextTokens }: Pick<DesiredPlacement, 'nodes' | 'contextTokens'>): string =>
  `${nodes.join(', ')}, context ${contextTokens % 1_024 === 0 ? `${contextTokens / 1_024}k` : contextTokens}`;
