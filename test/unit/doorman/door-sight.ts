import type { DoormanSight, DoorSight } from '../../../src/model/gateway.ts';

/** What a door counts that nobody has asked for anything, and what else a test says of it. */
export const doorCounts = (more: Partial<DoorSight['counts']> = {}): DoorSight['counts'] => ({
  requests: 0,
  failed: 0,
  refused: 0,
  tokens: 0,
  firstToken: { count: 0, totalMs: 0, lastMs: 0 },
  generating: { tokens: 0, totalMs: 0, lastPerSecond: 0 },
  ...more,
});

/** A door of `kimi` that nobody has asked for anything, and what else a test says of it. */
export const doorSight = (more: Partial<DoorSight> = {}): DoorSight => ({
  placement: 'kimi',
  running: 0,
  waiting: 0,
  counts: doorCounts(),
  ...more,
});

/** What a doorman says that has these doors. */
export const doormanSight = (doors: readonly DoorSight[], port = 8_080): DoormanSight => ({
  kind: 'answered',
  port,
  strangers: 0,
  doors,
});
