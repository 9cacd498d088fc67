import { afterAll, beforeAll, expect, it } from 'vitest';
import { root, textOf } from '../architecture/sources.ts';
import { inTurn } from '../in-turn.ts';
import { nativePartsTested } from '../native-parts.ts';
import { inOneLine } from '../page-text.ts';
import { endPlace } from './fleet.ts';
import { PageSession, type Row, stepsOf, unchecked } from './page-session.ts';
import { makePlace } from './place.ts';
import { install, program } from './shell.ts';

interface Page {
  /** Commands that a reader has run before. */
  readonly first: string;
  readonly rows: readonly Row[];
  /** True if a command needs the program that measures cables. */
  readonly needsNative?: true;
}

/** Gives the example the names that the pages use. */
const rename = `perl -pi -e 's/^  kimi:/  kimi-k2:/; s/model: kimi$/model: kimi-k2/; s/^  chat:/  kimi:/' cluster.yaml`;
const example = 'meshwright sim example .';
const renamed = `${example} && ${rename} && meshwright sim up`;

/** The disks of the simulated Macs. */
const macs = '"$MESHWRIGHT_STATE"/sim/*/roots/*';

const rehearsal: readonly Row[] = [
  {
    shows: 'meshwright status --sim',
    exit: 1,
    claims: { 'Every screen about a simulated fleet says `simulated`.': / simulated .*not placed/ },
  },
  { shows: 'meshwright sim down', claims: { 'stops everything': /all its processes have stopped/ } },
  { shows: 'meshwright status --sim', claims: { 'chat serving': / chat serving / } },
  {
    shows: 'meshwright enroll --all --sim',
    runs: 'meshwright enroll --all --sim --password-env PASSWORD',
    claims: { 'but your key and the sudo rule do not': /key installed: .*sudo rule installed: / },
  },
  {
    shows: 'meshwright plan --sim',
    claims: {
      'The Thunderbolt Bridge exists, every port uses DHCP, RDMA is off, and power, updates and Spotlight have the macOS defaults.':
        /rdma_ctl enable.*power\/sleep.*updates.*thunderbolt-bridge\/service.*link-address/,
      'FileVault already matches the file': /^(?!.*FileVault)/,
    },
  },
  {
    shows: 'meshwright apply --sim',
    claims: { 'a person has to enable RDMA': /rdma_ctl enable.*Manual steps needed: .*4 manual steps at the rack/ },
  },
  {
    shows: 'meshwright sim hands',
    claims: { 'in Recovery; from macOS 27 on in System Settings': /enabled RDMA on studio-1 in Recovery/ },
  },
  {
    shows: 'meshwright apply --sim',
    runs: 'meshwright apply --sim && meshwright apply --sim',
    claims: {
      'serving; the next apply has nothing to change':
        /placement\/chat changed \(serving\).*Nothing to change: 4 nodes match the file/,
    },
  },
  {
    shows: 'meshwright endpoints --sim',
    claims: { 'chat: http://127.0.0.1:21353/v1': /chat: http:\/\/127\.0\.0\.1:\d+\/v1 / },
  },
  {
    shows: 'meshwright sim fault --list',
    claims: { 'every fault, its effect and its target': /bridge-active NODE the Thunderbolt Bridge is back/ },
  },
  {
    shows: 'meshwright status --sim',
    exit: 3,
    claims: {
      'what each of the two links is really connected to, and the one cable move that fixes both':
        /studio-1:4 sees studio-4:3, .* studio-2:4 sees studio-4:2, .*Swap the cable ends in studio-4 receptacles 2 and 3/,
    },
  },
  { shows: 'meshwright sim fault --clear', claims: { repaired: /No faults: the simulated rack matches the file/ } },
  {
    shows: 'simulated: double of exo 1.0.71: a rehearsal downloads no release',
    before: `cp cluster.yaml whole.yaml && echo 'gateway: { node: ./dist/node-v22.22.0-darwin-arm64.tar.gz }' >> cluster.yaml`,
    runs: 'meshwright status && mv whole.yaml cluster.yaml',
  },
  {
    shows: 'meshwright apply --sim',
    before: 'meshwright sim fault rdma-disabled studio-3 && meshwright sim fault cable-swapped studio-4',
    claims: { 'manual steps remain': /Manual steps at the rack \(2\)/ },
  },
  {
    shows: 'meshwright sim hands',
    before: 'meshwright sim fault filevault-locked studio-1',
    claims: {
      'cables as declared, RDMA on, FileVault unlocked':
        /plugged in studio-1:4 <-> studio-4:2 .*enabled RDMA on studio-3 in Recovery, and restarted the Mac unlocked studio-1/,
    },
  },
  { shows: 'meshwright apply --sim', claims: { 'continues with the rest': /Checked again: nothing left to do/ } },
  {
    shows: 'meshwright sim power-on studio-2',
    before: 'meshwright shutdown studio-2',
    claims: { 'presses the button of a Mac that is off': /studio-2 is up again/ },
  },
  {
    shows: 'meshwright sim hands unplug studio-1:2',
    claims: { 'the cable now hangs from its other end': /the cable still hangs from studio-2:2/ },
  },
  {
    shows: 'meshwright sim hands plug studio-2:2 studio-1:5',
    runs: 'meshwright sim hands plug studio-2:2 studio-1:5 && meshwright sim hands plug studio-1:6 studio-3:6 40g',
    claims: {
      'that loose end, or a new cable; append 40g for an older cable':
        /plugged the loose end of the cable in studio-2:2 into studio-1:5 .*studio-3:6 with a 40 Gb\/s cable/,
    },
  },
];

const hang: readonly Row[] = [
  {
    shows: 'meshwright recover',
    runs: 'meshwright recover --allow reboot && meshwright history',
    claims: {
      'It measures all Macs at once and asks each placement for a token.': /Suspected: .*kimi is hung \(no token/,
      'Each cure runs at most once.':
        /1\. Restart kimi: failed .*2\. Measure the cables.*3\. Reboot studio-2: done .*kimi serves again/,
      '`meshwright history` lists the incident with its cures.': /kimi: Restart kimi \(failed.*; then it served/,
    },
  },
];

const firstRack: readonly Row[] = [
  { shows: 'meshwright fit --mesh 4xMac15,14', claims: { 'prints the links': /studio-1:2 <-> studio-2:2/ } },
  { shows: 'meshwright validate', before: rename },
  {
    shows: 'meshwright enroll --all --sim',
    runs: 'meshwright enroll --all --sim --password-env PASSWORD',
  },
  { shows: 'meshwright apply --sim', claims: { 'manual steps remain': /4 manual steps at the rack/ } },
  {
    shows: 'meshwright sim hands && meshwright apply --sim',
    claims: { 'A model with an `hf:` source is tiny in a rehearsal.': /placement\/kimi changed \(serving\)/ },
  },
  {
    shows: 'meshwright enroll --all',
    before: 'meshwright sim up --factory',
    runs: 'meshwright enroll --all --password-env PASSWORD',
    claims: {
      'shows host keys to compare; installs the SSH key and the sudo rule':
        /host key ssh-ed25519 SHA256:.*key installed: .*sudo rule installed: /,
    },
  },
  {
    shows: 'meshwright plan',
    claims: { 'If RDMA is still off in step 4, `plan` describes the manual step.': /rdma_ctl enable/ },
  },
  { shows: 'meshwright apply --nodes studio-1', exit: 3 },
  {
    shows: 'meshwright apply',
    claims: { 'removes the bridges, sets power and addresses': /thunderbolt-bridge.*power\/.*link-address/ },
  },
  {
    shows: 'meshwright cables --watch',
    before: 'meshwright sim hands unplug studio-1:2 && meshwright sim hands unplug studio-2:2',
    runs: `meshwright cables --watch > watched & until grep -q next: watched; do sleep 0.1; done
      meshwright sim hands; wait $!; cat watched`,
    claims: { 'shows the next cable to plug in': /next: connect studio-1 receptacle 2 and studio-2 receptacle 2/ },
  },
  {
    shows: 'meshwright apply',
    claims: { 'installs the runtime and the model, starts the placements': /placement\/kimi changed \(serving\)/ },
  },
  { shows: 'meshwright status', claims: { 'kimi serving': / kimi serving / } },
  {
    shows: 'meshwright ask kimi "What is a receptacle?"',
    runs: 'meshwright ask kimi "What is a receptacle?" && meshwright apply',
    claims: { 'Run `apply` once more: it should have nothing to do.': /Nothing to change/ },
  },
];

const models: readonly Row[] = [
  {
    shows: 'time  about 1.7 h if the uplink brings 940 Mbit/s, as on 2026-11-24',
    provenBy: 'test/unit/report/plan/transfer-lines.test.ts',
  },
  {
    shows: 'studio-1  412 of 735 GB  56 %  waits until 22:00 (downloads.window)',
    provenBy: 'test/unit/apply/progress/transfers.test.ts',
  },
  { shows: 'studio-1  735 of 735 GB  serving studio-2..4', provenBy: 'test/unit/apply/progress/transfers.test.ts' },
  {
    shows: 'meshwright models lock shelf',
    before: `for mac in ${macs}; do mkdir -p "$mac/Volumes/fast/shelf" && echo '{}' > "$mac/Volumes/fast/shelf/config.json"; done
      perl -pi -e 's/model: kimi-k2$/model: shelf/' cluster.yaml`,
    claims: {
      'Each node hashes its own files': /model shelf: one file/,
      'then `cluster.lock` gets the list with its digests': /cluster\.lock was written/,
    },
  },
  { shows: 'meshwright models lock kimi-k2', before: `perl -pi -e 's/model: shelf$/model: kimi-k2/' cluster.yaml` },
  {
    shows: 'meshwright models pull kimi-k2 --nodes studio-1',
    claims: { 'bring the model to that Mac alone': /^(?!.*studio-2).*studio-1 model\/kimi-k2 changed \(version/ },
  },
  {
    shows: 'meshwright models pull kimi-k2 --detach',
    claims: { 'the command ends as soon as the nodes are downloading': /The nodes continue without this computer/ },
  },
  {
    shows: 'meshwright models list kimi-k2',
    claims: {
      '`models list` and `status` show how far they are': /(?:not published yet|being prepared), .* of 447\.0 kB/,
    },
  },
  {
    shows: 'meshwright models list',
    claims: {
      'The list shows each model in the file with its source, its size and its state on every node that needs or has it.':
        /kimi-k2 447\.0 kB in 5 files from hf:mlx-community\/Kimi-K2-Thinking, .*complete on studio-1/,
    },
  },
  { shows: 'meshwright models list kimi-k2 --json', claims: { 'Which models are where': /"state": "complete"/ } },
  {
    shows: 'missing on studio-1',
    before: `for mac in ${macs}; do case $mac in */studio-1)
      mkdir -p "$mac/Users/mesh/.exo/models" && mv "$mac"/opt/meshwright/models/kimi-k2/* "$mac/Users/mesh/.exo/models/mlx-community--Kimi-K2-Thinking"
      esac; done`,
    runs: 'meshwright models list kimi-k2',
  },
  { shows: 'meshwright models verify', before: 'meshwright models pull kimi-k2', exit: 0 },
  {
    shows: 'meshwright models verify kimi-k2 --full',
    claims: { 'each complete copy is hashed on its node': /Every file that was hashed matches its SHA-256/ },
  },
  {
    shows: 'meshwright apply --verify=full',
    claims: {
      'it first hashes every complete copy that a placement uses, and then makes its plan':
        /hash.*placement\/kimi changed \(serving\)/,
    },
  },
  {
    shows: 'complete on studio-1..4, every file hashed on 2026-11-20',
    before: `for mac in ${macs}; do cat "$mac/bin/date" > date; printf '#!/bin/sh\nexec /bin/date -u -d "2 days" +%%s\n' > "$mac/bin/date"
      sh "$mac/Library/Application Support/meshwright/keeper/keep"; cat date > "$mac/bin/date"; done`,
    runs: 'meshwright models list kimi-k2',
  },
  {
    shows: 'meshwright models prune old-model',
    before: `cp cluster.yaml whole.yaml; for name in old-model odd-model
      do perl -pe "s/kimi-k2/$name/g" whole.yaml > cluster.yaml; meshwright models lock $name; meshwright models pull $name; done; mv whole.yaml cluster.yaml`,
    runs: 'meshwright models prune old-model --allow delete',
    claims: { 'The plan lists every version with its node and its size': /old-model.* kB/ },
  },
  {
    shows: 'meshwright models prune --all --nodes studio-1',
    runs: 'meshwright models prune --all --nodes studio-1 --allow delete',
    claims: { 'It changes nothing else': /odd-model/ },
  },
];

const pages: Readonly<Record<string, Page>> = {
  'rehearsal.md': { first: example, rows: rehearsal },
  'rdma-hang.md': {
    first: `${renamed} && meshwright apply && meshwright sim fault rdma-hang studio-2`,
    rows: hang,
    needsNative: true,
  },
  'first-rack.md': { first: `cp "${root}cluster.example.yaml" .`, rows: firstRack },
  'models.md': { first: renamed, rows: models },
};

for (const [at, [name, { first, rows, needsNative }]] of Object.entries(pages).entries()) {
  if (needsNative && !nativePartsTested) continue;
  inTurn(at, 4)(`docs/${name}`, () => testPage(name, first, rows));
}

function testPage(name: string, first: string, rows: readonly Row[]): void {
  const text = textOf(`docs/${name}`);
  const steps = stepsOf(text, rows);
  const place = makePlace();
  const session = new PageSession(place);

  beforeAll(async () => {
    install(place, 'meshwright', program);
    expect(await session.run(first)).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    await session.run('meshwright sim down');
    await endPlace(place);
  });

  it('contains the sentences that this test checks', () => {
    const claims = rows.flatMap(({ claims = {} }) => Object.keys(claims));
    expect(claims.filter((claim) => !inOneLine(text).includes(claim))).toEqual([]);
    expect(steps.filter((step) => unchecked(step) !== undefined)).toEqual([]);
  });

  it.each(steps.map((step) => [step.text.split('\n')[0], step] as const))('%s', async (_, step) => {
    await session.take(step);
  });
}
