import { beforeAll } from 'vitest';
import { plainText } from '../../../src/diagnostics/prose-text.ts';
import { driverOf } from '../../../src/drivers/registry.ts';
import type { DriverName } from '../../../src/model/desired.ts';
import { onOnePage, say } from '../one-page.ts';

const names: readonly DriverName[] = ['command', 'exo', 'llamacpp-rpc', 'mlx'];

onOnePage('signatures');

beforeAll(() => {
  for (const name of names) {
    for (const { id, pattern, meaning, action, cure, isUnreached = false } of driverOf({ driver: name }).signatures) {
      say([`${name} ${id}`, String(pattern), action, meaning, plainText(cure), isUnreached].join(' | '));
    }
  }
});
