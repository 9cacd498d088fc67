import { describe, expect, it } from 'vitest';
import { codesOf, expectGolden, json } from './meshwright.ts';
import { bareFile, pairPlace } from './pair.ts';
import { schemaCheck } from './schema-check.ts';

const { place, run } = pairPlace(bareFile());

const night = `playbook: 1
about: What is done every night.
plays:
  - name: Look, one after another
    nodes: all
    serial: 1
    tasks:
      - run: { command: [sw_vers, -productVersion], effect: none }
      - converge: { only: [power] }
      - assert: { property: power/sleep, is: 0, says: "{nodes} falls asleep." }
  - nodes: targets
    tasks:
      - confirm: "Restart {nodes}?"
      - reboot: {}
      - wait: { for: observed, deadline: 2m }
      - converge: {}
      - verify: {}
`;

describe('a custom playbook', () => {
  it('runs its plays, but needs --allow reboot in addition to --yes', async () => {
    place.write('night.yaml', night);
    await run('sim', 'fault', 'power-wrong', 'studio-1');
    const refused = await run('run', 'night.yaml', 'studio-4', '--sim', '--yes');
    expect(refused.code).toBe(5);
    expect(refused.stdout).not.toMatch(/ changed \(/);
    expect(refused.stderr).toContain('Nothing was changed.');
    expect(refused.stderr).toContain('--allow reboot');
    const ran = await run('run', 'night.yaml', 'studio-4', '--sim', '--yes', '--allow', 'reboot');
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    expect(ran.stdout).toMatch(/^What is done every night\.$/m);
    expect(ran.stdout).toMatch(/studio-4 restarted/);
    const limit = await run('exec', '--sim', 'studio-4', '--', 'sysctl', '-n', 'iogpu.wired_limit_mb');
    expect(limit.stdout).toContain('245760');
  });

  it('prints one JSON document that matches its schema, even if an assertion fails', async () => {
    place.write(
      'asserts.yaml',
      'playbook: 1\nplays:\n  - nodes: [studio-1]\n    tasks:\n      - run: { command: [sleep, "4"], effect: none }\n      - assert: { property: power/sleep, is: 7 }\n',
    );
    // The command takes its real time, although the clocks of simulated Macs run twenty times faster.
    const ran = await run('run', 'asserts.yaml', '--sim', '--yes', '--json');
    const document = json(ran);
    expect(schemaCheck('report')(document)).toEqual([]);
    expect(document).toMatchObject({ verb: 'run', playbook: 'asserts.yaml', exit: 1 });
    expect([ran.code, codesOf(document)]).toEqual([1, ['task/assert-failed']]);
  });

  it('is rejected with a list of all its mistakes', async () => {
    place.write(
      'bad.yaml',
      night.replace('reboot', 'rebot').replace('nodes: all', 'nodes: [studio-7]').replace('{nodes}?', '{node}?'),
    );
    place.write('own.yaml', 'playbook: 1\nplays:\n  - nodes: [studio-1]\n    tasks: [verify: {}]\n');
    const rans = await Promise.all([
      run('run', 'bad.yaml', '--sim'),
      run('run', '--sim'),
      run('run', 'reboot', '--sim'),
      run('run', 'absent.yaml', '--sim'),
      run('run', 'night.yaml', '--sim'),
      run('run', 'own.yaml', 'studio-4', '--sim'),
      run('run', 'night.yaml', 'studio-4', '--sim', '--allow', 'reboots'),
    ]);
    expect(rans.map(({ code }) => code)).toEqual([65, 64, 64, 65, 64, 64, 64]);
    await expectGolden('playbook-refused', place, rans);
  });

  it('never replaces a built-in playbook', async () => {
    place.write('reboot.yaml', 'playbook: 1\nplays:\n  - nodes: targets\n    tasks: [confirm: "Mine?"]\n');
    const ran = await run('reboot', 'studio-1', '--sim', '--json');
    expect([ran.code, codesOf(json(ran))]).toEqual([5, ['cli/needs-yes']]);
    expect(ran.stdout).not.toContain('Mine?');
  });
});

describe('forget', () => {
  it('removes from the lock only nodes that are no longer in the file', async () => {
    expect((await run('apply', '--sim', '--yes')).code).toBe(0);
    place.write(
      'cluster.yaml',
      'schema: 1\nname: studio-rack\nssh: { user: mesh }\nnodes: { studio-1: { host: studio-1.lan } }\n',
    );
    const stopped = await run('plan', '--sim', '--json');
    expect([stopped.code, codesOf(json(stopped))]).toEqual([65, ['lock/node-left-file']]);
    const unsure = await run('forget', 'studio-4', '--sim', '--json');
    expect([unsure.code, codesOf(json(unsure))]).toEqual([5, ['cli/needs-yes']]);
    await expectGolden('forget', place, [
      await run('forget', '--sim'),
      await run('forget', 'studio-1', '--sim'),
      await run('forget', 'studio-4', '--sim', '--yes'),
      await run('forget', 'studio-4', '--sim', '--yes'),
    ]);
    expect((await run('plan', '--sim', '--json')).code).toBe(0);
    expect(schemaCheck('forget')({ formatVersion: 1, simulated: true, lock: '/a', forgotten: ['studio-4'] })).toEqual(
      [],
    );
  });
});
