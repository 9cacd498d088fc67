import type { DesiredRuntime } from '../model/desired.ts';
import { command } from './command/command.ts';
import type { RuntimeDriver } from './driver.ts';

/** Every driver by the word that the file has for it. */
export const drivers: Readonly<Record<DesiredRuntime['driver'], RuntimeDriver>> = { command };
