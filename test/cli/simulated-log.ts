import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Place } from './place.ts';

/** The log of `chat` on the disk of a simulated Mac. */
export function logOf(place: Place, node: string): string {
  const fleets = join(place.state, 'sim');
  const [fleet = ''] = readdirSync(fleets);
  return join(fleets, fleet, 'roots', node, 'Library/Application Support/meshwright/log/chat.log');
}

/** Writes a log of `chat`, as its rank would. */
export function writeLog(place: Place, node: string, text: string): void {
  mkdirSync(dirname(logOf(place, node)), { recursive: true });
  writeFileSync(logOf(place, node), text);
}
