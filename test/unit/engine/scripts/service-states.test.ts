import type { ScriptArgs, ScriptCall } from '../../../../src/model/node-script.ts';
import type { NodePath } from '../../../../src/model/probe.ts';
import { keeperPlist } from '../../../../src/node/paths/keeper-files.ts';
import {
  closedFile,
  countsFolder,
  gatewayFolder,
  gatewayKeysFile,
  gatewayPlist,
  gatewaySecret,
} from '../../../../src/node/paths/own-paths.ts';
import { fileSeal } from '../../../../src/node/put-file.ts';
import { ours } from './mac-root.ts';
import { at, comparesTraces, empty, gone, launchd, linked, tableOf } from './node-states.ts';
import { calls, common, login, running, service, waiting } from './service-tools.ts';

const keeper = 'dev.meshwright.keeper';
const keeperRan = { '../launchd.next': 'state = not running\nruns = 1\nlast exit code = 0\n', [keeperPlist.path]: '' };
const load: ScriptCall = { name: 'load-keeper', args: { reload: false } };
const reload: ScriptCall = { name: 'load-keeper', args: { reload: true } };
const keeperLoaded = service(keeper, waiting);
const keeperCalls = (...verbs: readonly string[]) => calls(keeper, keeperPlist.path, ...verbs);
const loadCalls = keeperCalls('enable', 'bootstrap');
const bootoutKeeper = keeperCalls('bootout');
const removeKeeper: ScriptCall = { name: 'remove-keeper', args: {} };

const keeperIs = tableOf('the keeper', common);
keeperIs('is not loaded without its file', load).ends(`no-keeper: there is no $R${keeperPlist.path}`, []);
keeperIs('is loaded', load).in(keeperRan).ends('changed', loadCalls);
keeperIs('is loaded even if launchd reports a failure', load)
  .in(keeperRan, at('bin/launchctl', `${launchd}\n[ "$1" != bootstrap ] || exit 5`))
  .ends('changed', loadCalls);
keeperIs('is not loaded twice', load).in(keeperRan, keeperLoaded).ends('unchanged', []);
keeperIs('is loaded again on request', reload)
  .in(keeperRan, keeperLoaded)
  .ends('changed', [...bootoutKeeper, ...loadCalls]);
keeperIs('is not unloaded if it is not loaded', reload).in(keeperRan).ends('changed', loadCalls);
keeperIs('is unloaded and removed', removeKeeper)
  .in(empty(keeperPlist.path, `${ours}/keeper/data`), keeperLoaded)
  .ends('changed', gone(keeperPlist.path, `${ours}/keeper/`), bootoutKeeper);
keeperIs('is only unloaded without its files', removeKeeper).in(keeperLoaded).ends('changed', bootoutKeeper);
keeperIs('is only removed if it is not loaded', removeKeeper)
  .in(empty(keeperPlist.path))
  .ends('changed', gone(keeperPlist.path), []);
keeperIs('is removed only once', removeKeeper).ends('unchanged', []);

const gateway = 'dev.meshwright.gateway.8080';
const plist = gatewayPlist(8080).path;
const loadGateway = (more: Partial<ScriptArgs['load-gateway']> = {}): ScriptCall => ({
  name: 'load-gateway',
  args: { port: 8080, reload: false, isTaken: false, left: [], user: '', ...more },
});
const loadPlain = loadGateway();
const loadLeft = loadGateway({ left: ['old'] });
const loadAgain = loadGateway({ reload: true });
const ready = { [plist]: '', '../launchd.next': 'state = running\npid = 4711\n' };
const keys = gatewayKeysFile(8080, 'old');
const secret = gatewaySecret(8080).path.slice(1);
const loadedNow = [
  ...[`${ours}/log/gateway.8080.log`, secret, countsFolder(8080).path.slice(1)].map(
    (one) => `chown ${login} $R/${one}`,
  ),
  ...calls(gateway, plist, 'enable', 'bootstrap'),
];
const unloaded = calls(gateway, '', 'bootout');
const busy = service(gateway, ...running);
const clearGateway: ScriptCall = { name: 'remove-gateway', args: { port: 8080, closed: ['chat'], keyed: ['chat'] } };
const closed = closedFile(8080, 'chat');
const open: ScriptCall = { name: 'open-endpoint', args: { port: 8080, placement: 'chat' } };

const keysOfChat = empty(gatewayKeysFile(8080, 'chat').path);
const withSeal = (file: NodePath) => empty(file.path, fileSeal(file).path);
const withoutSeal = (file: NodePath) => gone(file.path, fileSeal(file).path);
const gatewayIs = tableOf('a gateway', common);
gatewayIs('is not loaded without its file', loadPlain).ends(`no-gateway: there is no $R${plist}`, []);
gatewayIs('is loaded', loadPlain).in(ready).ends('changed', loadedNow);
gatewayIs('is not loaded twice', loadLeft).in(ready, empty(keys.path), busy).ends('unchanged', empty(keys.path), []);
gatewayIs('is loaded again on request', loadAgain)
  .in(ready, busy)
  .ends('changed', [...unloaded, ...loadedNow]);
gatewayIs("gets the node's new secret", loadAgain)
  .in(ready, at(secret, 'meshwright-own: old\n'))
  .ends('changed', loadedNow);
gatewayIs('is not unloaded if it is not loaded', loadAgain).in(ready).ends('changed', loadedNow);
gatewayIs('loses the keys of placements that it no longer serves', loadLeft)
  .in(ready, withSeal(keys), keysOfChat)
  .ends('changed', withoutSeal(keys), keysOfChat);
gatewayIs('need not answer while its port is taken', loadGateway({ isTaken: true }))
  .in(ready, at('usr/bin/curl', 'exit 7'))
  .ends('changed');
gatewayIs('has to answer on its port', loadPlain)
  .in(ready, at('usr/bin/curl', "printf '{}'"))
  .ends('not-listening: the gateway does not listen on port 8080');
gatewayIs('has to keep running', loadPlain)
  .in({ ...ready, '../launchd.next': `${waiting}\n\tlast exit code = 1\n` })
  .ends('gateway: the gateway does not keep running; its last exit: 1');
gatewayIs('shows why macOS ended it', loadPlain)
  .in({
    ...ready,
    '../launchd.next': 'state = spawn failed\n\tlast exit code = 9\n\tlast exit reason = OS_REASON_DYLD\n',
  })
  .ends('gateway: the gateway does not keep running; its last exit: OS_REASON_DYLD');
gatewayIs('is unloaded and removed, with the folder of all gateways', clearGateway)
  .in(empty(plist), withSeal(closed), busy)
  .ends('changed', withoutSeal(closed), gone(plist, `${gatewayFolder(8080).path}/`, `${ours}/gateway/`), unloaded);
gatewayIs('leaves other gateways', clearGateway)
  .in(empty(plist, `${gatewayFolder(8081).path}/config.json`))
  .ends('changed', empty(`${gatewayFolder(8081).path}/config.json`), []);
gatewayIs('is removed only once', clearGateway).ends('unchanged', []);
gatewayIs('opens by removing the file that closes it', open).in(withSeal(closed)).ends('changed', withoutSeal(closed));
gatewayIs('opens even if only the seal is left', open)
  .in(empty(fileSeal(closed).path))
  .ends('changed', gone(fileSeal(closed).path));
gatewayIs('is open already', open).ends('unchanged');

const opt = 'opt/meshwright';
const clear: ScriptCall = { name: 'clear-node', args: { labels: [keeper], models: false } };
const clearModels: ScriptCall = { name: 'clear-node', args: { labels: [keeper], models: true } };
const version = '0123456789abcdef';

const inModels = (...names: readonly string[]) => empty(...names.map((name) => `${opt}/models/tiny/${name}`));
const short = version.slice(1);
const unlike = inModels(`${version}0/a`, `${short}/a`, `g${short}/a`, `f${short}`);
const other = empty(`${opt}/x/a`);
const optWas = (state: string) => at(`${ours}/baseline/opt-folder`, `${state}\n`);
const nodeIs = tableOf('clear-node', common);
nodeIs('unloads a service without a file', clear).in(keeperLoaded).ends('changed', bootoutKeeper);
nodeIs('removes the file of a service that is not loaded', clear)
  .in(empty(keeperPlist.path))
  .ends('changed', gone(keeperPlist.path), []);
nodeIs('changes nothing on an empty node', clearModels).ends('unchanged', []);
nodeIs('keeps models unless they should be removed', clear)
  .in(inModels(`${version}/a`))
  .ends('unchanged', inModels(`${version}/a`));
nodeIs('keeps everything not named like a model version', clearModels).in(unlike).ends('unchanged', unlike);
nodeIs('keeps a link that replaces a model version', clearModels)
  .in(empty('elsewhere/a'), linked(`${opt}/models/tiny/${version}`, '../../../../elsewhere'))
  .ends('unchanged', empty('elsewhere/a', `${opt}/models/tiny/${version}/a`));
nodeIs('removes hidden folders and links', clear)
  .in(empty(`${opt}/.x/a`, 'elsewhere/a'), linked(`${opt}/odd`, '../../elsewhere'))
  .ends('changed', gone(`${opt}/`), empty('elsewhere/a'));
nodeIs('keeps the parent folder if it existed before', clear)
  .in(other, optWas('present'))
  .ends('changed', gone(`${opt}/`), empty('opt/'));
nodeIs('keeps the parent folder if it is unknown whether it existed before', clear)
  .in(other)
  .ends('changed', gone(`${opt}/`), empty('opt/'));
nodeIs('keeps the parent folder if others use it', clear)
  .in(other, empty('opt/theirs'), optWas('missing'))
  .ends('changed', empty('opt/theirs'));
nodeIs('removes the parent folder if it did not exist before', clear)
  .in(other, optWas('missing'))
  .ends('changed', gone('opt/'));
nodeIs('leaves the process of a job that has ended', clear)
  .in(at(`${ours}/ops/k/pid`, '1\n'), at('bin/ps', "printf '/sbin/launchd\\n'"))
  .ends('unchanged');

comparesTraces('service-states');
