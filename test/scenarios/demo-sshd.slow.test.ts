import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { simFolder } from '../../src/cli/files/places.ts';
import { scenes } from '../../src/cli/sim/demo.ts';
import { prepareDemo } from '../../src/cli/sim/sim-example.ts';
import { endPlace } from '../cli/fleet.ts';
import { ended, type Ran, start } from '../cli/meshwright.ts';
import { makePlace, type Place } from '../cli/place.ts';
import { inTurn } from '../in-turn.ts';
import { type SshdFleet, serveBySshd } from '../sshd/sshd-fleet.ts';
import { hasSshd } from '../sshd/start-sshd.ts';

const longestMs = 120_000;

let place: Place | undefined;
let servers: SshdFleet | undefined;
afterEach(async () => {
  await servers?.stop();
  await endPlace(place);
});

/** Runs the commands of the demo. After `sim up`, every node is reached through an sshd. */
async function playOverSshd(at: Place): Promise<readonly Ran[]> {
  const rans: Ran[] = [];
  for (const { words } of scenes.flatMap(({ types }) => types)) {
    rans.push(await ended(start(at, words), words, longestMs));
    if (words.join(' ') !== 'sim up') continue;
    servers = await serveBySshd(simFolder(at.env, join(at.folder, 'cluster.yaml')), at.root);
  }
  return rans;
}

/** The whole output of a command. */
const printed = ({ stdout, stderr }: Ran): string => `${stdout}${stderr}`;

inTurn(0, 2).skipIf(!hasSshd())('the demo over OpenSSH', () => {
  it('returns the same exit codes as over the simulated servers', async () => {
    place = makePlace();
    await prepareDemo(place.folder);
    const rans = await playOverSshd(place);
    const typed = scenes.flatMap(({ types }) => types);
    expect(rans.map(({ words, code }) => ({ words, exits: code }))).toEqual(typed);

    const of = (verb: string): readonly string[] => rans.filter(({ words }) => words[0] === verb).map(printed);
    expect(of('plan')[0]).toContain('receptacles 2 and 3');
    expect(of('apply')[0]).toContain('Manual steps at the rack (2)');
    expect(of('status')[0]).toMatch(/^ {2}chat {3}serving$/m);
    expect(of('apply')[0]).toMatch(/^Manual steps needed: \d+ changed, /m);
    expect(of('apply')[1]).toMatch(/^Done: \d+ changed, \d+ already right\. Checked again: nothing left to do\.$/m);
    expect(of('doctor')[0]).toContain('meshwright restart chat --sim');
    expect(of('restart')[0]).toMatch(/^Done: 1 changed, /m);
    const answers = [of('ask')[0], of('ask')[1]].map((text) => /^[0-9a-f]{64}$/m.exec(text ?? '')?.[0]);
    expect(answers).not.toContain(undefined);
    expect(new Set(answers).size).toBe(1);

    for (const node of servers?.nodes ?? []) {
      const commands = (await servers?.commands(node)) ?? [];
      // This includes root scripts, whose text is sent on standard input.
      expect(commands.filter((one) => /sudo'? -n \S+\/bin\/sh'? -s$/.test(one)).length).toBeGreaterThan(5);
    }
  }, 300_000);
});
