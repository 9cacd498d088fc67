import { describe, it } from 'vitest';
import { sampleOf } from '../sample.ts';
import { endPlace } from './fleet.ts';
import { expectEveryKillHeals } from './kill/kill-verbs.ts';
import { killedCommands, servingPlace } from './kill/killed-commands.ts';

const commands = killedCommands.filter(({ continued }) => continued !== undefined);

// Each command has a separate rack. They run in parallel, because they mostly wait for leases to expire.
describe.concurrent.each(sampleOf(commands, { few: 1, oneIn: 3 }))('$name, killed at any instant', (command) => {
  it('can be completed from a different computer', { timeout: 7_200_000 }, async ({ onTestFinished }) => {
    const place = await servingPlace();
    onTestFinished(() => endPlace(place));
    await expectEveryKillHeals(place, command);
  });
});
