import type { ScriptArgs, ScriptCall } from '../../../../src/model/node-script.ts';
import { keeperPlist } from '../../../../src/node/paths/keeper-files.ts';
import {
  closedFile,
  countsFolder,
  gatewayFolder,
  gatewayKeysFile,
  gatewayPlist,
} from '../../../../src/node/paths/own-paths.ts';
import { fileSeal } from '../../../../src/node/put-file.ts';
import { ours } from './mac-root.ts';
import { itInEachState, launchd } from './node-states.ts';
import { calls, common, login, reads, running, service, waiting } from './service-tools.ts';

const keeper = 'dev.meshwright.keeper';
const keeperRan = { '../launchd.next': 'state = not running\nruns = 1\nlast exit code = 0\n', [keeperPlist.path]: '' };
const load = (reload: boolean): ScriptCall => ({ name: 'load-keeper', args: { reload } });
const removeKeeper: ScriptCall = { name: 'remove-keeper', args: {} };

itInEachState(
  'the keeper',
  [
    [
      'is not loaded without its file',
      load(false),
      {},
      { ends: `no-keeper: there is no $R${keeperPlist.path}`, calls: [] },
    ],
    [
      'is loaded',
      load(false),
      { files: keeperRan },
      { ends: 'changed', calls: calls(keeper, keeperPlist.path, 'enable', 'bootstrap') },
    ],
    [
      'is loaded although launchd reports a failure',
      load(false),
      { files: keeperRan, tools: { 'bin/launchctl': `${launchd}\n[ "$1" != bootstrap ] || exit 5` } },
      { ends: 'changed', calls: calls(keeper, keeperPlist.path, 'enable', 'bootstrap') },
    ],
    [
      'is not loaded twice',
      load(false),
      { files: { ...keeperRan, ...service(keeper, ...waiting) } },
      { ends: 'unchanged', calls: [] },
    ],
    [
      'is loaded again on request',
      load(true),
      { files: { ...keeperRan, ...service(keeper, ...waiting) } },
      { ends: 'changed', calls: calls(keeper, keeperPlist.path, 'bootout', 'enable', 'bootstrap') },
    ],
    [
      'is not unloaded if it is not loaded',
      load(true),
      { files: keeperRan },
      { ends: 'changed', calls: calls(keeper, keeperPlist.path, 'enable', 'bootstrap') },
    ],
    [
      'is unloaded and removed',
      removeKeeper,
      { files: { [keeperPlist.path]: '', [`${ours}/keeper/data`]: '', ...service(keeper, ...waiting) } },
      {
        ends: 'changed',
        leaves: { [keeperPlist.path]: null, [`${ours}/keeper/`]: null },
        calls: calls(keeper, '', 'bootout'),
      },
    ],
    [
      'is only unloaded without its files',
      removeKeeper,
      { files: service(keeper, ...waiting) },
      { ends: 'changed', calls: calls(keeper, '', 'bootout') },
    ],
    [
      'is only removed if it is not loaded',
      removeKeeper,
      { files: { [keeperPlist.path]: '' } },
      { ends: 'changed', leaves: { [keeperPlist.path]: null }, calls: [] },
    ],
    ['is removed only once', removeKeeper, {}, { ends: 'unchanged', calls: [] }],
  ],
  common,
  reads,
);

const gateway = 'dev.meshwright.doorman.8080';
const plist = gatewayPlist(8080).path;
const loadGateway = (more: Partial<ScriptArgs['load-doorman']> = {}): ScriptCall => ({
  name: 'load-doorman',
  args: { port: 8080, reload: false, isTaken: false, left: [], user: '', ...more },
});
const ready = { [plist]: '', '../launchd.next': 'state = running\npid = 4711\n' };
const keys = gatewayKeysFile(8080, 'old');
const owned = [
  `chown ${login} $R${ours.replace(/^/, '/')}/log/doorman.8080.log`,
  `chown ${login} $R${countsFolder(8080).path}`,
];
const clearGateway: ScriptCall = { name: 'remove-doorman', args: { port: 8080, closed: ['chat'], keyed: ['chat'] } };
const closed = closedFile(8080, 'chat');
const open: ScriptCall = { name: 'open-door', args: { port: 8080, placement: 'chat' } };

itInEachState(
  'a gateway',
  [
    ['is not loaded without its file', loadGateway(), {}, { ends: `no-doorman: there is no $R${plist}`, calls: [] }],
    [
      'is loaded',
      loadGateway(),
      { files: ready },
      { ends: 'changed', calls: [...owned, ...calls(gateway, plist, 'enable', 'bootstrap')] },
    ],
    [
      'is not loaded twice',
      loadGateway({ left: ['old'] }),
      { files: { ...ready, [keys.path]: '', ...service(gateway, ...running) } },
      { ends: 'unchanged', leaves: { [keys.path]: '' }, calls: [] },
    ],
    [
      'is loaded again on request',
      loadGateway({ reload: true }),
      { files: { ...ready, ...service(gateway, ...running) } },
      {
        ends: 'changed',
        calls: [...calls(gateway, plist, 'bootout'), ...owned, ...calls(gateway, plist, 'enable', 'bootstrap')],
      },
    ],
    [
      'is not unloaded if it is not loaded',
      loadGateway({ reload: true }),
      { files: ready },
      { ends: 'changed', calls: [...owned, ...calls(gateway, plist, 'enable', 'bootstrap')] },
    ],
    [
      'loses the keys of placements that it no longer serves',
      loadGateway({ left: ['old'] }),
      { files: { ...ready, [keys.path]: '', [fileSeal(keys).path]: '', [gatewayKeysFile(8080, 'chat').path]: '' } },
      {
        ends: 'changed',
        leaves: { [keys.path]: null, [fileSeal(keys).path]: null, [gatewayKeysFile(8080, 'chat').path]: '' },
      },
    ],
    [
      'need not answer while its port is taken',
      loadGateway({ isTaken: true }),
      { files: ready, tools: { 'usr/bin/curl': 'exit 7' } },
      { ends: 'changed' },
    ],
    [
      'has to answer at its port',
      loadGateway(),
      { files: ready, tools: { 'usr/bin/curl': "printf '{}'" } },
      { ends: 'not-listening: the doorman does not listen on port 8080' },
    ],
    [
      'is unloaded and removed, with the folder of all gateways',
      clearGateway,
      { files: { [plist]: '', [closed.path]: '', [fileSeal(closed).path]: '', ...service(gateway, ...running) } },
      {
        ends: 'changed',
        leaves: {
          [plist]: null,
          [`${gatewayFolder(8080).path}/`]: null,
          [fileSeal(closed).path]: null,
          [`${ours}/doorman/`]: null,
        },
        calls: calls(gateway, '', 'bootout'),
      },
    ],
    [
      'leaves other gateways',
      clearGateway,
      { files: { [plist]: '', [`${gatewayFolder(8081).path}/config.json`]: '' } },
      { ends: 'changed', leaves: { [`${gatewayFolder(8081).path}/config.json`]: '' }, calls: [] },
    ],
    ['is removed only once', clearGateway, {}, { ends: 'unchanged', calls: [] }],
    [
      'opens by removing the file that closes it',
      open,
      { files: { [closed.path]: 'why\n', [fileSeal(closed).path]: '' } },
      { ends: 'changed', leaves: { [closed.path]: null, [fileSeal(closed).path]: null } },
    ],
    [
      'opens although only the seal is left',
      open,
      { files: { [fileSeal(closed).path]: '' } },
      { ends: 'changed', leaves: { [fileSeal(closed).path]: null } },
    ],
    ['is open already', open, {}, { ends: 'unchanged' }],
  ],
  common,
  reads,
);

const opt = 'opt/meshwright';
const label = 'dev.meshwright.keeper';
const clear = (models: boolean): ScriptCall => ({ name: 'clear-node', args: { labels: [label], models } });
const clearPlist = `Library/LaunchDaemons/${label}.plist`;
const version = '0123456789abcdef';

itInEachState(
  'clear-node',
  [
    [
      'unloads a service without a file',
      clear(false),
      { files: service(label, ...waiting) },
      { ends: 'changed', calls: calls(label, '', 'bootout') },
    ],
    [
      'removes the file of a service that is not loaded',
      clear(false),
      { files: { [clearPlist]: '' } },
      { ends: 'changed', leaves: { [clearPlist]: null }, calls: [] },
    ],
    ['changes nothing on an empty node', clear(true), {}, { ends: 'unchanged', calls: [] }],
    [
      'keeps models unless they are to go',
      clear(false),
      { files: { [`${opt}/models/tiny/${version}/a`]: '' } },
      { ends: 'unchanged', leaves: { [`${opt}/models/tiny/${version}/a`]: '' } },
    ],
    [
      'keeps what no model version is called like',
      clear(true),
      {
        files: {
          [`${opt}/models/tiny/${version}0/a`]: '',
          [`${opt}/models/tiny/${version.slice(1)}/a`]: '',
          [`${opt}/models/tiny/${version.replace('0', 'g')}/a`]: '',
          [`${opt}/models/tiny/f${version.slice(1)}`]: '',
        },
      },
      {
        ends: 'unchanged',
        leaves: {
          [`${opt}/models/tiny/${version}0/a`]: '',
          [`${opt}/models/tiny/${version.slice(1)}/a`]: '',
          [`${opt}/models/tiny/g${version.slice(1)}/a`]: '',
          [`${opt}/models/tiny/f${version.slice(1)}`]: '',
        },
      },
    ],
    [
      'keeps a link in place of a model version',
      clear(true),
      { files: { 'elsewhere/a': '' }, links: { [`${opt}/models/tiny/${version}`]: '../../../../elsewhere' } },
      { ends: 'unchanged', leaves: { 'elsewhere/a': '', [`${opt}/models/tiny/${version}/a`]: '' } },
    ],
    [
      'removes hidden folders and links',
      clear(false),
      { files: { [`${opt}/.x/a`]: '', 'elsewhere/a': '' }, links: { [`${opt}/odd`]: '../../elsewhere' } },
      { ends: 'changed', leaves: { [`${opt}/`]: null, 'elsewhere/a': '' } },
    ],
    [
      'keeps the folder above if it was there before',
      clear(false),
      { files: { [`${opt}/x/a`]: '', [`${ours}/baseline/opt-folder`]: 'present\n' } },
      { ends: 'changed', leaves: { [`${opt}/`]: null, 'opt/': '' } },
    ],
    [
      'keeps the folder above if that is unknown',
      clear(false),
      { files: { [`${opt}/x/a`]: '' } },
      { ends: 'changed', leaves: { [`${opt}/`]: null, 'opt/': '' } },
    ],
    [
      'keeps the folder above if others use it',
      clear(false),
      { files: { [`${opt}/x/a`]: '', 'opt/theirs': '', [`${ours}/baseline/opt-folder`]: 'missing\n' } },
      { ends: 'changed', leaves: { 'opt/theirs': '' } },
    ],
    [
      'removes the folder above if it was not there before',
      clear(false),
      { files: { [`${opt}/x/a`]: '', [`${ours}/baseline/opt-folder`]: 'missing\n' } },
      { ends: 'changed', leaves: { 'opt/': null } },
    ],
    [
      'leaves the process of a job that has ended',
      clear(false),
      { files: { [`${ours}/ops/k/pid`]: '1\n' }, tools: { 'bin/ps': "printf '/sbin/launchd\\n'" } },
      { ends: 'unchanged' },
    ],
  ],
  common,
  reads,
);
