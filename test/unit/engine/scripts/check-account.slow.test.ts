import { describe, expect, it } from 'vitest';
import { ours } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { everyText, exampleDigest } from './script-examples.ts';
import { type Shell, scriptShells } from './shells.ts';
import { answer, type OddMac, wholeMac } from './whole-mac.ts';

const newMac = removedAfter((shell: Shell, odd: OddMac) => {
  const mac = wholeMac(shell, 'check-account', odd);
  return { ...mac.root, mac };
});

/** Checks the account `mesh`; returns the result and the stored record. */
async function check(shell: Shell, odd: OddMac = {}) {
  const { mac } = newMac(shell, odd);
  const text = new Map(everyText(mac.root.folder)).get('script check-account') ?? '';
  const run = async () => {
    const ran = await mac.run(text);
    return { said: answer(ran), isLoaded: ran.calls.some((call) => call.startsWith('launchctl bootstrap')) };
  };
  return { first: await run(), again: run, root: mac.root };
}

const kept = `${ours}/accounts/mesh.checked`;
const gpu = `gpu-${exampleDigest}`;
const files = 'files-534d6aaac6d895bd';
const unfit = (words: string) => `account-unfit: the account mesh fails here: ${words}`;
const untested = (words: string) => `account-untested: the account mesh could not be tested: ${words}`;

describe.each(scriptShells)('check-account in $name', (shell) => {
  it('runs the tests in a LaunchDaemon as the account, once per macOS build', async () => {
    const { first, again, root } = await check(shell);
    expect(first).toEqual({ said: 'changed', isLoaded: true });
    expect(root.read(kept)).toBe(`build=25E246 uid=4501\nhome\n${files}\nrdma\n${gpu}\n`);
    expect(root.has(`${ours}/accounts/folders/mesh/check`)).toBe(false);
    expect(await again()).toEqual({ said: 'unchanged', isLoaded: false });
    root.file(kept, `build=25E200 uid=4501\nhome\n${files}\nrdma\n${gpu}\n`);
    expect(await again()).toEqual({ said: 'changed', isLoaded: true });
  });

  it('runs only the missing tests', async () => {
    const tools = {
      'usr/bin/ibv_devinfo': 'printf started >"$s/started"; exit 1',
      'opt/llama-server': `[ "$GGML" = "it's" ] && printf '  MTL0: Apple\\n'`,
    };
    const { again, root } = await check(shell, {
      tools,
      files: { [kept]: `build=25E246 uid=4501\nhome\n${files}\nrdma\n` },
    });
    expect(root.read(kept)).toBe(`build=25E246 uid=4501\nhome\n${files}\nrdma\n${gpu}\n`);
    expect(root.has('../s/started')).toBe(false);
    expect(await again()).toEqual({ said: 'unchanged', isLoaded: false });
  });

  it.each<readonly [string, OddMac, string, readonly string[]]>([
    [
      'an RDMA device that cannot be opened',
      { tools: { 'usr/bin/ibv_devinfo': "printf 'x\\nOperation not permitted\\n' >&2; exit 1" } },
      unfit('rdma: the account cannot open rdma_en2: Operation not permitted'),
      ['home', files, '!rdma', gpu],
    ],
    [
      'RDMA devices different from those of the SSH user',
      { tools: { 'usr/bin/ibv_devinfo': "printf 'hca_id:\\trdma_en3\\n\\nhca_id:\\trdma_en20\\n\\n'" } },
      unfit('rdma: the account cannot open rdma_en2'),
      ['home', files, '!rdma', gpu],
    ],
    [
      'no RDMA device',
      { tools: { 'usr/bin/ibv_devinfo': 'exit 0' } },
      unfit('rdma: the account cannot open rdma_en2'),
      ['home', files, '!rdma', gpu],
    ],
    [
      'a verbs tool that has not returned',
      {
        tools: {
          'usr/bin/pgrep': "printf '77\\n'",
          'bin/ps': 'case $* in (*ucomm*) printf "77 77 U ibv_devinfo\\n" ;; esac',
          'usr/bin/ibv_devinfo': 'printf started >"$s/started"',
          'usr/bin/ibv_devices': 'printf started >"$s/started"',
        },
      },
      untested('ibv_devinfo (pid 77) has not returned'),
      ['home', files, gpu],
    ],
    [
      'a GPU runtime that finds no GPU',
      { tools: { 'opt/llama-server': "printf 'ggml_metal_init: none\\nAvailable devices:\\n'" } },
      unfit('gpu: the runtime finds no GPU'),
      ['home', files, 'rdma', `!${gpu}`],
    ],
    [
      'a runtime that fails',
      { tools: { 'opt/llama-server': "printf '  MTL0: Apple\\n'; printf 'killed\\n'; exit 9" } },
      unfit('gpu: killed'),
      ['home', files, 'rdma', `!${gpu}`],
    ],
    ['a test without an answer', { tools: { 'usr/bin/head': 'exit 0' } }, untested('no answer for home'), []],
  ])('fails for %s', async (_, odd, said, passed) => {
    const { first, root } = await check(shell, odd);
    expect(first).toEqual({ said, isLoaded: true });
    expect(root.read(kept)).toBe(`${['build=25E246 uid=4501', ...passed].join('\n')}\n`);
    expect(root.has('../s/started')).toBe(false);
  });

  it('fails if the account cannot read a file that root sees', async () => {
    const path = 'opt/of another member';
    const chmod = `case $* in (*answers) /bin/rm -f "$R/${path}" ;; esac; exec /bin/chmod "$@"`;
    const { first, root } = await check(shell, { tools: { 'bin/chmod': chmod }, files: { [path]: 'x' } });
    expect(first.said).toBe(unfit(`files: the account cannot read ${root.folder}/${path}`));
    expect(root.read(kept)).toBe(`build=25E246 uid=4501\nhome\n!${files}\nrdma\n${gpu}\n`);
  });

  it('reruns failed tests, and keeps recorded failures of other tests', async () => {
    const other = `!gpu-${'0'.repeat(64)}`;
    const { first, again, root } = await check(shell, {
      files: { [kept]: `build=25E246 uid=4501\nhome\n!rdma\n${other}\n!${files}\n` },
    });
    expect(first).toEqual({ said: 'changed', isLoaded: true });
    expect(root.read(kept)).toBe(`build=25E246 uid=4501\nhome\n${other}\n${files}\nrdma\n${gpu}\n`);
    expect(await again()).toEqual({ said: 'unchanged', isLoaded: false });
  });

  it('accepts additional RDMA cards and a runtime built without GPU support', async () => {
    const tools = {
      'usr/bin/ibv_devinfo': "printf 'hca_id:\\tmlx5_0\\n\\nhca_id:\\trdma_en2\\n\\n'",
      'opt/llama-server': "printf 'Available devices:\\n  BLAS: Accelerate\\n'",
    };
    expect((await check(shell, { tools })).first.said).toBe('changed');
  });

  // The script asks 300 times, so one shell is enough.
  it.runIf(shell === scriptShells[0])('unloads a service that does not finish', async () => {
    const launchctl = `case $1 in
(print) [ -e "$s/loaded" ] || { printf 'Could not find service\\n' >&2; exit 113; }
  printf 'x = {\\n\\tstate = running\\n\\tpid = 7\\n}\\n' ;;
(bootstrap) printf x >"$s/loaded" ;;
(bootout) /bin/rm "$s/loaded" ;;
esac`;
    const { first, root } = await check(shell, { tools: { 'bin/launchctl': launchctl } });
    expect(first.said).toBe(untested('its tests did not end within 60 seconds'));
    expect(root.has('../s/loaded')).toBe(false);
  });

  it('refuses an account that can become root', async () => {
    const { first, root } = await check(shell, { files: { '../s/groups': 'staff admin\n' } });
    expect(first).toEqual({ said: 'can-become-root: mesh is an administrator of this Mac', isLoaded: false });
    expect(root.has(kept)).toBe(false);
  });
});
