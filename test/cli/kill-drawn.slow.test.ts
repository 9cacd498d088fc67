import { describe, it } from 'vitest';
import { isWhole, sampleOf, sampleSeed } from '../sample.ts';
import { endPlace } from './fleet.ts';
import { expectTwoKillsHeal } from './kill/kill-twice.ts';
import { killedCommands, servingPlace } from './kill/killed-commands.ts';

const draws = isWhole ? Math.ceil(200 / killedCommands.length) : 2;

// Each command has a separate rack, so that a failure of one command does not disturb the others.
describe.concurrent.each(sampleOf(killedCommands, { few: 1, oneIn: 5 }))('$name, killed twice in a row', (command) => {
  it('leaves nothing that the next apply cannot repair', { timeout: 3_600_000 }, async ({ onTestFinished }) => {
    const place = await servingPlace();
    onTestFinished(() => endPlace(place));
    const seed = sampleSeed + killedCommands.indexOf(command);
    await expectTwoKillsHeal(place, command, { draws, seed });
  });
});
